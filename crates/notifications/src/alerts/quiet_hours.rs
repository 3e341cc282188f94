//! Hours in which nobody is told: what a check finds then is told when they end.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// A part of each day, in a time zone. It may pass midnight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    until: Time,
    zone: TimeZone,
}

/// What is wrong with quiet hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuietHoursError {
    #[error("quiet hours must be times such as 22:00, from 00:00 to 23:59")]
    Time,
    #[error("quiet hours must not begin and end at the same time")]
    Empty,
    #[error("the time zone must be an IANA name such as Europe/Berlin")]
    Zone,
}

impl QuietHours {
    /// `22:00`, `07:30`, `Europe/Berlin`.
    pub fn parse(from: &str, until: &str, zone: &str) -> Result<Self, QuietHoursError> {
        let (from, until) = (parse_time(from)?, parse_time(until)?);
        if from == until {
            return Err(QuietHoursError::Empty);
        }
        let zone = TimeZone::get(zone).map_err(|_| QuietHoursError::Zone)?;
        Ok(Self { from, until, zone })
    }

    /// When a message that is ready `now` may be sent: now, or at the end of the quiet hours.
    pub fn send_at(&self, now: Timestamp) -> Timestamp {
        let local = now.to_zoned(self.zone.clone());
        let time = local.time();
        let is_quiet = if self.from < self.until {
            self.from <= time && time < self.until
        } else {
            self.from <= time || time < self.until
        };
        if !is_quiet {
            return now;
        }
        // The end is today, or tomorrow when midnight is still to come.
        let days = i64::from(time >= self.until);
        let end = local.date().checked_add(days.days()).ok().and_then(|date| {
            // A local time that a moved clock skips is the first moment after it.
            self.zone.to_ambiguous_zoned(date.to_datetime(self.until)).later().ok()
        });
        // Where clocks are set back the end may come before now; then the quiet hours are over.
        end.map_or(now, |end| end.timestamp().max(now))
    }
}

fn parse_time(text: &str) -> Result<Time, QuietHoursError> {
    let parse = || {
        let (hour, minute) = text.split_once(':')?;
        let number = |part: &str, digits: std::ops::RangeInclusive<usize>| {
            let is_number = digits.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| part.parse::<i8>().ok()).flatten()
        };
        Time::new(number(hour, 1..=2)?, number(minute, 2..=2)?, 0, 0).ok()
    };
    parse().ok_or(QuietHoursError::Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_sent(hours: &QuietHours, now: &str, expected: &str) {
        let now: Timestamp = now.parse().unwrap();
        assert_eq!(hours.send_at(now), expected.parse::<Timestamp>().unwrap(), "{now}");
    }

    #[test]
    fn messages_wait_for_the_morning() {
        let hours = QuietHours::parse("22:00", "07:30", "Europe/Berlin").unwrap();
        assert_sent(&hours, "2026-01-10T20:59:59Z", "2026-01-10T20:59:59Z");
        assert_sent(&hours, "2026-01-10T21:00:00Z", "2026-01-11T06:30:00Z");
        assert_sent(&hours, "2026-01-11T02:00:00Z", "2026-01-11T06:30:00Z");
        assert_sent(&hours, "2026-01-11T06:30:00Z", "2026-01-11T06:30:00Z");
    }

    #[test]
    fn hours_within_one_day() {
        let hours = QuietHours::parse("9:00", "17:00", "UTC").unwrap();
        assert_sent(&hours, "2026-01-10T08:59:00Z", "2026-01-10T08:59:00Z");
        assert_sent(&hours, "2026-01-10T12:00:00Z", "2026-01-10T17:00:00Z");
        assert_sent(&hours, "2026-12-31T16:59:59Z", "2026-12-31T17:00:00Z");
    }

    #[test]
    fn moved_clocks() {
        // On 29 March 2026 Berlin's clocks skip from 02:00 to 03:00, on 25 October they pass 02:00 to 03:00
        // twice.
        let skipped = QuietHours::parse("23:00", "02:30", "Europe/Berlin").unwrap();
        assert_sent(&skipped, "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z");
        let doubled = QuietHours::parse("23:00", "02:30", "Europe/Berlin").unwrap();
        assert_sent(&doubled, "2026-10-25T00:00:00Z", "2026-10-25T01:30:00Z");
        assert_sent(&doubled, "2026-10-25T00:45:00Z", "2026-10-25T00:45:00Z");
    }

    #[test]
    fn wrong_settings_are_refused() {
        for (from, until, zone, error) in [
            ("24:00", "07:00", "UTC", QuietHoursError::Time),
            ("7", "08:00", "UTC", QuietHoursError::Time),
            ("07:60", "08:00", "UTC", QuietHoursError::Time),
            ("+7:00", "08:00", "UTC", QuietHoursError::Time),
            ("07:00", "7:00", "UTC", QuietHoursError::Empty),
            ("07:00", "8:00", "Mars/Base", QuietHoursError::Zone),
        ] {
            assert_eq!(QuietHours::parse(from, until, zone), Err(error), "{from} {until} {zone}");
        }
    }
}
