//! Cron expressions of five fields: minute, hour, day of the month, month, day of the week.
//!
//! Numbers, names of months and days, lists, ranges and steps, as crontab has them. Where both kinds of days
//! are restricted, a day that fits either of them counts.

use super::ScheduleError;
use jiff::civil::{Date, Time};
use std::fmt;

/// Names that stand for an expression.
const NAMED: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// An expression longer than this is a mistake.
const MAX_EXPRESSION_BYTES: usize = 256;

/// A parsed cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    expression: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether a day fits when either of its two fields fits, and not only when both do.
    either_day: bool,
}

impl fmt::Display for Cron {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.expression)
    }
}

impl Cron {
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        if text.len() > MAX_EXPRESSION_BYTES {
            return Err(ScheduleError::Cron("the expression is too long".to_owned()));
        }
        let lower = text.trim().to_ascii_lowercase();
        let named = NAMED.iter().find(|(name, _)| *name == lower);
        let expression = named.map_or(lower.as_str(), |(_, expression)| *expression);
        let fields: Vec<&str> = expression.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(ScheduleError::Cron(format!(
                "expected 5 fields (minute, hour, day of the month, month, day of the week), found {}",
                fields.len()
            )));
        };
        let either_day = !days.contains(['*', '?']) && !weekdays.contains(['*', '?']);
        let field = |text, field: &CronField| field.parse(text).map_err(ScheduleError::Cron);
        Ok(Self {
            expression: fields.join(" "),
            minutes: field(minutes, &CronField { name: "minute", first: 0, last: 59, names: &[] })?,
            hours: field(hours, &CronField { name: "hour", first: 0, last: 23, names: &[] })?,
            days: field(days, &CronField { name: "day of the month", first: 1, last: 31, names: &[] })?,
            months: field(months, &CronField { name: "month", first: 1, last: 12, names: &MONTHS })?,
            // Sunday is 0 and 7.
            weekdays: field(
                weekdays,
                &CronField { name: "day of the week", first: 0, last: 7, names: &WEEKDAYS },
            )?,
            either_day,
        })
    }

    /// Whether it runs in every hour of a day. Such a schedule counts elapsed time: an hour that the clocks
    /// repeat has all its firings twice, and one that they leave out has none.
    pub(super) fn runs_every_hour(&self) -> bool {
        self.hours == (1 << 24) - 1
    }

    pub(super) fn has_day(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        let is_sunday_as_seven = weekday == 0 && has(self.weekdays, 7);
        let fits_weekday = has(self.weekdays, weekday) || is_sunday_as_seven;
        let fits_day = has(self.days, date.day());
        let fits = if self.either_day { fits_day || fits_weekday } else { fits_day && fits_weekday };
        fits && has(self.months, date.month())
    }

    /// The times of a day at which it runs, in order.
    pub(super) fn times(&self) -> impl Iterator<Item = Time> + '_ {
        let hours = (0..24).filter(|hour| has(self.hours, *hour));
        hours.flat_map(|hour| {
            let minutes = (0..60).filter(|minute| has(self.minutes, *minute));
            minutes.filter_map(move |minute| Time::new(hour, minute, 0, 0).ok())
        })
    }
}

fn has(set: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| set & (1 << number) != 0)
}

/// What may stand in one field.
struct CronField {
    name: &'static str,
    first: u32,
    last: u32,
    /// Names for the numbers from `first` on.
    names: &'static [&'static str],
}

impl CronField {
    /// The numbers that a field names, as bits.
    fn parse(&self, text: &str) -> Result<u64, String> {
        let mut set = 0;
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, Some(self.parse_step(step)?)),
                None => (part, None),
            };
            let (first, last) = match range.split_once('-') {
                _ if matches!(range, "*" | "?") => (self.first, self.last),
                Some((first, last)) => (self.parse_number(first)?, self.parse_number(last)?),
                // "5/15" counts from 5 to the end of the field.
                None if step.is_some() => (self.parse_number(range)?, self.last),
                None => (self.parse_number(range)?, self.parse_number(range)?),
            };
            if first > last {
                return Err(format!("the range \"{range}\" of the {} ends before it begins", self.name));
            }
            set |= (first..=last).step_by(step.unwrap_or(1)).fold(0, |set, number| set | 1 << number);
        }
        Ok(set)
    }

    fn parse_step(&self, text: &str) -> Result<usize, String> {
        let step = text.parse().ok().filter(|step| (1..=60).contains(step));
        step.ok_or_else(|| format!("\"{text}\" is no step of the {}", self.name))
    }

    fn parse_number(&self, text: &str) -> Result<u32, String> {
        if let Some(place) = self.names.iter().position(|name| *name == text) {
            return u32::try_from(place).map(|place| self.first + place).map_err(|error| error.to_string());
        }
        let number = text.parse().ok().filter(|number| (self.first..=self.last).contains(number));
        number.ok_or_else(|| {
            format!("\"{text}\" is no {} (it is a number from {} to {})", self.name, self.first, self.last)
        })
    }
}
