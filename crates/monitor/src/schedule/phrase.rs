//! Schedules in words, as people type them, as cron expressions.
//!
//! What the words leave open (the minute of "hourly", the time of "daily") is chosen by the monitor's id, so
//! that not all monitors run at once. What they name is kept exactly.

use super::ScheduleError;
use super::words::{
    FILLERS, clock_time, number, ordinal, split_days, starting_minute, times_per_day, words_of,
};
use std::collections::BTreeSet;
use uuid::Uuid;

/// The forms that an unknown text is answered with.
pub const FORMS: [&str; 14] = [
    "\"every 30 minutes\"",
    "\"every 15 minutes starting at :07\"",
    "\"hourly\"",
    "\"hourly at :15\"",
    "\"every 2 hours\"",
    "\"twice a day\"",
    "\"daily\"",
    "\"daily at 9:00\" (or 9am, 5:30 PM, noon)",
    "\"every weekday at 9\"",
    "\"every monday at 8:30\"",
    "\"every 2 days\"",
    "\"weekly\"",
    "\"weekly on friday at 17:00\"",
    "\"monthly\" or \"monthly on the 15th at 9:00\"",
];

/// Longer texts are no schedule.
const MAX_TEXT_BYTES: usize = 200;
const MAX_DAYS_BETWEEN: u32 = 15;

/// What a monitor adds to a schedule that leaves the exact time open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread(u64);

impl Spread {
    /// The last bytes of the id: the first ones are the time at which it was made.
    pub fn for_monitor(monitor: Uuid) -> Self {
        let (_, random) = monitor.as_u64_pair();
        Self(random & (u64::MAX >> 2))
    }

    pub fn second(self) -> i64 {
        i64::try_from(self.0 % 60).unwrap_or_default()
    }

    /// A minute of a span of so many.
    fn minute(self, span: u64) -> u64 {
        (self.0 / 60) % span.max(1)
    }
}

/// Turns words into a cron expression.
pub(super) fn to_cron(text: &str, spread: Spread) -> Result<String, ScheduleError> {
    let unknown = || ScheduleError::Phrase(text.chars().take(MAX_TEXT_BYTES).collect());
    if text.len() > MAX_TEXT_BYTES {
        return Err(unknown());
    }
    let words = words_of(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let uneven = |reason: &str| ScheduleError::Uneven { text: text.to_owned(), reason: reason.to_owned() };
    let phrase = Phrase { words: &words, spread };
    match phrase.to_cron() {
        Ok(Some(cron)) => Ok(cron),
        Ok(None) => Err(unknown()),
        Err(Refusal::TooOften) => Err(ScheduleError::TooOften),
        Err(Refusal::Uneven(reason)) => Err(uneven(reason)),
    }
}

/// Why words that were understood are no schedule.
enum Refusal {
    TooOften,
    Uneven(&'static str),
}

struct Phrase<'a> {
    words: &'a [&'a str],
    spread: Spread,
}

impl Phrase<'_> {
    fn to_cron(&self) -> Result<Option<String>, Refusal> {
        let words: Vec<&str> = match self.words {
            ["every" | "each", rest @ ..] => std::iter::once("every").chain(rest.iter().copied()).collect(),
            words => words.to_vec(),
        };
        Ok(match words[..] {
            ["hourly", ref rest @ ..]
            | ["every", "hour", ref rest @ ..]
            | ["once", "an" | "every", "hour", ref rest @ ..] => self.every_hours(1, rest)?,
            ["half-hourly"]
            | ["every", "half", "hour"]
            | ["every", "half-hour"]
            | ["every", "half", "an", "hour"]
            | ["twice", "an" | "every" | "per", "hour"] => self.every_minutes(30, &[])?,
            ["every", "quarter", "hour"] | ["every", "quarter", "of", "an", "hour"] => {
                self.every_minutes(15, &[])?
            }
            ["every", count, "m" | "min" | "mins" | "minute" | "minutes", ref rest @ ..] => {
                match number(count) {
                    Some(count) => self.every_minutes(count, rest)?,
                    None => None,
                }
            }
            ["every", "minute", ..] => return Err(Refusal::TooOften),
            ["every", count, "s" | "sec" | "secs" | "second" | "seconds"] if number(count).is_some() => {
                return Err(Refusal::TooOften);
            }
            ["every", count, "h" | "hr" | "hrs" | "hour" | "hours", ref rest @ ..] => match number(count) {
                Some(count) => self.every_hours(count, rest)?,
                None => None,
            },
            [times, "a" | "per" | "every" | "each", "day"]
            | [times, "times", "a" | "per" | "every" | "each", "day"]
            | [times, "daily"]
            | [times, "times", "daily"] => match times_per_day(times) {
                Some(times) => self.times_per_day(times)?,
                None => None,
            },
            ["twice", "a" | "per" | "every", "week"] | ["twice", "weekly"] => self.on_days("*", "1,4", &[]),
            ["every", count, "d" | "day" | "days", ref rest @ ..]
                if number(count).is_some_and(|count| count > 1) =>
            {
                self.every_days(number(count).unwrap_or_default(), rest)?
            }
            ["every", "other" | "second", "day", ref rest @ ..] => self.every_days(2, rest)?,
            ["daily" | "nightly" | "everyday", ref rest @ ..]
            | ["every", "day", ref rest @ ..]
            | ["once", "a" | "per" | "every", "day", ref rest @ ..]
            | ["every", "1" | "24", "day" | "days", ref rest @ ..] => self.on_days("*", "*", rest),
            ["weekly", ref rest @ ..]
            | ["every", "week", ref rest @ ..]
            | ["once", "a" | "per" | "every", "week", ref rest @ ..] => self.weekly(rest),
            ["twice", "a" | "per" | "every", "month"] => self.on_days("1,15", "*", &[]),
            ["monthly", ref rest @ ..]
            | ["every", "month", ref rest @ ..]
            | ["once", "a" | "per" | "every", "month", ref rest @ ..] => self.monthly(rest),
            ["every", ref rest @ ..] | ref rest => self.on_named_days(rest),
        })
    }

    /// "every 15 minutes", "every 15 minutes starting at :07".
    fn every_minutes(&self, count: u32, rest: &[&str]) -> Result<Option<String>, Refusal> {
        if count < 5 {
            return Err(Refusal::TooOften);
        }
        if count >= 60 && count.is_multiple_of(60) {
            return self.every_hours(count / 60, rest);
        }
        if 60 % count != 0 {
            return Err(Refusal::Uneven("minutes must divide an hour: 5, 6, 10, 12, 15, 20 or 30"));
        }
        let count = u64::from(count);
        let Some(start) = starting_minute(rest) else { return Ok(None) };
        let start = start.or(self.spread.minute(count)) % count;
        Ok(Some(match start {
            0 => format!("*/{count} * * * *"),
            start => format!("{start}-59/{count} * * * *"),
        }))
    }

    /// "every 2 hours", "hourly at :15".
    fn every_hours(&self, count: u32, rest: &[&str]) -> Result<Option<String>, Refusal> {
        let Some(minute) = starting_minute(rest) else { return Ok(None) };
        if count == 0 {
            return Err(Refusal::TooOften);
        }
        let span = u64::from(count) * 60;
        let chosen = self.spread.minute(span);
        let minute = minute.or(chosen % 60);
        if count == 1 {
            return Ok(Some(format!("{minute} * * * *")));
        }
        if count == 24 {
            return Ok(Some(format!("{minute} {} * * *", chosen / 60)));
        }
        if 24 % count != 0 {
            return Err(Refusal::Uneven("hours must divide a day: 1, 2, 3, 4, 6, 8, 12 or 24"));
        }
        Ok(Some(match chosen / 60 {
            0 => format!("{minute} */{count} * * *"),
            first => format!("{minute} {first}-23/{count} * * *"),
        }))
    }

    fn times_per_day(&self, times: u32) -> Result<Option<String>, Refusal> {
        match times {
            1 => Ok(self.on_days("*", "*", &[])),
            2..=24 if 24 % times == 0 => self.every_hours(24 / times, &[]),
            25..=288 if 1440 % times == 0 && 60 % (1440 / times) == 0 => {
                self.every_minutes(1440 / times, &[])
            }
            2..=288 => Err(Refusal::Uneven("the times of a day must divide it: 1, 2, 3, 4, 6, 8, 12 or 24")),
            _ => Err(Refusal::TooOften),
        }
    }

    /// "every 2 days at 9": days of the month, counted anew in every month.
    fn every_days(&self, count: u32, rest: &[&str]) -> Result<Option<String>, Refusal> {
        if count > MAX_DAYS_BETWEEN {
            return Err(Refusal::Uneven("days between checks are 1 to 15; use \"weekly\" or \"monthly\""));
        }
        Ok(self.on_days(&format!("*/{count}"), "*", rest))
    }

    fn weekly(&self, rest: &[&str]) -> Option<String> {
        let (days, times) = split_days(rest)?;
        // Where no day is named, the monitor's id chooses one.
        let chosen = (self.spread.minute(7 * 24 * 60) / (24 * 60)).to_string();
        let days = if days.is_empty() { chosen } else { list(&days) };
        self.on_days("*", &days, &times)
    }

    fn monthly(&self, rest: &[&str]) -> Option<String> {
        let mut day = 1;
        let mut times = Vec::new();
        for word in rest {
            match ordinal(word) {
                Some(named) => day = named,
                None if matches!(*word, "day" | "month") => {}
                None => times.push(*word),
            }
        }
        self.on_days(&day.to_string(), "*", &times)
    }

    /// "every monday and thursday at 9", "weekdays at 8:30".
    fn on_named_days(&self, rest: &[&str]) -> Option<String> {
        let (days, times) = split_days(rest)?;
        if days.is_empty() { None } else { self.on_days("*", &list(&days), &times) }
    }

    /// Certain days at the times that the rest of the words name, or at one that the monitor's id chooses.
    fn on_days(&self, days: &str, weekdays: &str, rest: &[&str]) -> Option<String> {
        let mut hours = BTreeSet::new();
        let mut minutes = BTreeSet::new();
        for word in
            rest.iter().filter(|word| !FILLERS.contains(word) && !matches!(**word, "and" | "every" | "day"))
        {
            let time = clock_time(word)?;
            hours.insert(time.hour);
            minutes.insert(time.minute);
        }
        let chosen = self.spread.minute(24 * 60);
        let (hours, minute) = match minutes.len() {
            0 => ((chosen / 60).to_string(), chosen % 60),
            1 => (list(&hours), minutes.first().copied()?),
            // One expression cannot say 9:00 and 17:30.
            _ => return None,
        };
        let cron = format!("{minute} {hours} {days} * {weekdays}");
        Some(cron)
    }
}

fn list<T: ToString>(numbers: &BTreeSet<T>) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}
