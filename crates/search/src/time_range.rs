//! `tbs`: how old results may be, and whether the newest come first.

use jiff::civil::Date;
use jiff::tz::TimeZone;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// The unit of a time range that ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl TimeUnit {
    fn letter(self) -> char {
        match self {
            Self::Hour => 'h',
            Self::Day => 'd',
            Self::Week => 'w',
            Self::Month => 'm',
            Self::Year => 'y',
        }
    }

    fn from_letter(letter: char) -> Option<Self> {
        [Self::Hour, Self::Day, Self::Week, Self::Month, Self::Year]
            .into_iter()
            .find(|unit| unit.letter() == letter)
    }

    fn millis(self) -> i64 {
        match self {
            Self::Hour => HOUR,
            Self::Day => DAY,
            Self::Week => 7 * DAY,
            Self::Month => 31 * DAY,
            Self::Year => 366 * DAY,
        }
    }
}

/// When results may have been published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// The last N units.
    pub last: Option<(TimeUnit, u16)>,
    pub from: Option<Date>,
    /// This day included.
    pub to: Option<Date>,
    pub newest_first: bool,
}

impl TimeRange {
    /// Parses `qdr:d`, `qdr:h6`, `cdr:1,cd_min:1/31/2026,cd_max:…`, `sbd:1`, in any combination. The error
    /// says what is wrong.
    pub fn parse(tbs: &str) -> Result<Self, String> {
        let mut time_range = Self::default();
        let mut bounded = false;
        for part in tbs.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once(':').ok_or_else(|| invalid_part(part))?;
            match (name.trim(), value.trim()) {
                ("qdr", value) => {
                    time_range.last = Some(parse_last(value).ok_or_else(|| invalid_part(part))?);
                }
                ("cdr", "1") => bounded = true,
                ("cd_min", value) => {
                    time_range.from = Some(parse_day(value).ok_or_else(|| invalid_part(part))?);
                }
                ("cd_max", value) => {
                    time_range.to = Some(parse_day(value).ok_or_else(|| invalid_part(part))?);
                }
                ("sbd", "1") => time_range.newest_first = true,
                ("sbd" | "cdr", "0") => {}
                _ => return Err(invalid_part(part)),
            }
        }
        if bounded != (time_range.from.is_some() || time_range.to.is_some()) {
            return Err("cdr:1 needs cd_min or cd_max, and cd_min and cd_max need cdr:1".to_owned());
        }
        match (time_range.from, time_range.to) {
            (Some(from), Some(to)) if from > to => Err("cd_min is after cd_max".to_owned()),
            _ => Ok(time_range),
        }
    }

    /// Whether results of any age are accepted.
    pub fn is_open(&self) -> bool {
        self.last.is_none() && self.from.is_none() && self.to.is_none()
    }

    /// The earliest time, in milliseconds since the Unix epoch.
    pub fn since(&self, now: i64) -> Option<i64> {
        let last = self.last.map(|(unit, count)| now.saturating_sub(unit.millis() * i64::from(count)));
        last.into_iter().chain(self.from.and_then(start_of_day)).max()
    }

    /// The latest time, likewise.
    pub fn until(&self) -> Option<i64> {
        start_of_day(self.to?.tomorrow().ok()?).map(|next| next - 1)
    }

    /// The first and the last day, for providers that take days. The last is today if none was given.
    pub fn day_range(&self, now: i64) -> Option<(Date, Date)> {
        let today = day_of(now);
        let first = match self.since(now) {
            Some(since) => day_of(since),
            None => self.to.map(|_| Date::constant(1990, 1, 1))?,
        };
        Some((first, self.to.unwrap_or(today)))
    }

    /// The shortest of day, week, month and year that covers the range, for providers that take only these.
    pub fn shortest_range(&self, now: i64) -> Option<&'static str> {
        let length = now.saturating_sub(self.since(now)?);
        let ranges = [(TimeUnit::Day, "day"), (TimeUnit::Week, "week"), (TimeUnit::Month, "month")];
        let holds = ranges.into_iter().find(|(unit, _)| length <= unit.millis());
        Some(holds.map_or("year", |(_, name)| name))
    }

    /// The range written as a `tbs` parameter.
    pub fn tbs(&self) -> Option<String> {
        let american = |date: Date| format!("{}/{}/{}", date.month(), date.day(), date.year());
        let mut parts = Vec::new();
        if let Some((unit, count)) = self.last {
            let count = if count == 1 { String::new() } else { count.to_string() };
            parts.push(format!("qdr:{}{count}", unit.letter()));
        }
        if self.from.is_some() || self.to.is_some() {
            parts.push("cdr:1".to_owned());
        }
        parts.extend(self.from.map(|from| format!("cd_min:{}", american(from))));
        parts.extend(self.to.map(|to| format!("cd_max:{}", american(to))));
        if self.newest_first {
            parts.push("sbd:1".to_owned());
        }
        (!parts.is_empty()).then(|| parts.join(","))
    }
}

fn invalid_part(part: &str) -> String {
    let part: String = part.chars().take(40).collect();
    format!(
        "`{part}` is not a valid tbs value: use qdr:h, d, w, m or y, cdr:1 with cd_min and cd_max as M/D/YYYY, sbd:1"
    )
}

fn parse_last(value: &str) -> Option<(TimeUnit, u16)> {
    let mut characters = value.chars();
    let unit = TimeUnit::from_letter(characters.next()?)?;
    let count = characters.as_str();
    let count = if count.is_empty() { 1 } else { count.parse().ok()? };
    (1..=1000).contains(&count).then_some((unit, count))
}

fn parse_day(value: &str) -> Option<Date> {
    let mut parts = value.split('/');
    let (month, day, year) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    let year = (year.len() == 4).then(|| year.parse().ok())??;
    if parts.next().is_some() {
        return None;
    }
    Date::new(year, month, day).ok()
}

fn start_of_day(date: Date) -> Option<i64> {
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

fn day_of(millis: i64) -> Date {
    jiff::Timestamp::from_millisecond(millis)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_zoned(TimeZone::UTC)
        .date()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15T12:00:00Z
    const NOW: i64 = 1_794_744_000_000;

    #[test]
    fn reads_and_writes_every_form() {
        for written in ["qdr:h", "qdr:d3", "qdr:y,sbd:1", "cdr:1,cd_min:1/31/2026,cd_max:2/1/2026", "sbd:1"] {
            assert_eq!(TimeRange::parse(written).unwrap().tbs().as_deref(), Some(written));
        }
        assert_eq!(TimeRange::parse("").unwrap(), TimeRange::default());
    }

    #[test]
    fn says_what_it_does_not_understand() {
        for wrong in [
            "qdr:x",
            "qdr:",
            "qdr:d0",
            "qdr:d9999",
            "nope",
            "a:b",
            "cd_min:1/1/2026",
            "cdr:1",
            "cdr:1,cd_min:13/1/2026",
            "cdr:1,cd_min:1/1/26",
            "cdr:1,cd_min:2/1/2026,cd_max:1/1/2026",
            "qdr:d&x=y",
        ] {
            assert!(TimeRange::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn knows_moments_days_and_ranges() {
        let week = TimeRange::parse("qdr:w").unwrap();
        assert_eq!(week.since(NOW), Some(NOW - 7 * DAY));
        assert_eq!((week.shortest_range(NOW), week.until()), (Some("week"), None));
        let days = week.day_range(NOW).unwrap();
        assert_eq!(
            (days.0.to_string(), days.1.to_string()),
            ("2026-11-08".to_owned(), "2026-11-15".to_owned())
        );
        let between = TimeRange::parse("cdr:1,cd_min:11/1/2026,cd_max:11/2/2026").unwrap();
        assert_eq!(between.until().unwrap() - between.since(NOW).unwrap(), 2 * DAY - 1);
        assert_eq!(between.shortest_range(NOW), Some("month"));
    }
}
