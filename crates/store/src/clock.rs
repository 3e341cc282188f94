//! Time as the store counts it: milliseconds, and calendar months in UTC. Reads the machine's clock
//! for SQLite only; PostgreSQL uses the database's own.

use crate::Millis;
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest span that is kept as asked, so that no sum of a time and a span overflows.
const LONGEST: Millis = 1_000 * 365 * 24 * 3_600 * 1_000;

/// This machine's clock.
pub(crate) fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A span in whole milliseconds, at most a thousand years.
pub(crate) fn millis(span: Duration) -> Millis {
    Millis::try_from(span.as_millis()).unwrap_or(LONGEST).min(LONGEST)
}

/// A span of milliseconds read from a database; a negative one is none.
pub(crate) fn span(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Start and end of the calendar month in UTC that holds `at`; the end is the next month's start.
pub(crate) fn period(at: Millis) -> (Millis, Millis) {
    let month = Timestamp::from_millisecond(at).ok().and_then(|stamp| {
        let day = stamp.to_zoned(TimeZone::UTC).date().first_of_month();
        let next = day.checked_add(1.month()).ok()?;
        let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
        let end = next.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond();
        Some((start, end))
    });
    // Only a clock beyond the year 9999 has no month; it then has one endless period.
    month.unwrap_or((0, Millis::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_cut_in_utc() {
        // 2024-02-29T23:59:59.999Z and the millisecond after it.
        assert_eq!(period(1_709_251_199_999), (1_706_745_600_000, 1_709_251_200_000));
        assert_eq!(period(1_709_251_200_000).0, 1_709_251_200_000);
        // December runs into the next year.
        assert_eq!(period(1_735_689_599_999), (1_733_011_200_000, 1_735_689_600_000));
        assert_eq!(period(Millis::MAX), (0, Millis::MAX));
    }

    #[test]
    fn spans_do_not_overflow() {
        assert_eq!(millis(Duration::MAX), LONGEST);
        assert!(now().checked_add(millis(Duration::MAX)).is_some());
        assert_eq!(span(-5), Duration::ZERO);
    }
}
