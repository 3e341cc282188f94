//! Times as callers read them.

use store::Millis;

/// ISO 8601 in UTC with milliseconds, for instance `2026-11-15T09:30:00.000Z`.
pub fn iso(millis: Millis) -> String {
    // The store's times lie far inside what a timestamp can hold; the fallback only spares a panic.
    let stamp = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{stamp:.3}")
}

/// A time in ISO 8601 with its offset from UTC, or a date, which begins at midnight in UTC.
pub fn parse_iso(text: &str) -> Option<Millis> {
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(stamp.as_millisecond());
    }
    let date = text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == 10)?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// The clock of this process; the store has its own.
pub fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    #[test]
    fn writes_what_clients_parse() {
        assert_eq!(super::iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(super::iso(1_763_198_400_123), "2025-11-15T09:20:00.123Z");
        assert_eq!(super::iso(i64::MAX), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn reads_what_it_writes_and_dates() {
        assert_eq!(super::parse_iso("2025-11-15T09:20:00.123Z"), Some(1_763_198_400_123));
        assert_eq!(super::parse_iso("2025-11-15T10:20:00.123+01:00"), Some(1_763_198_400_123));
        assert_eq!(super::parse_iso("1970-01-02"), Some(86_400_000));
        for wrong in ["", "yesterday", "1970", "2025-13-01", "2025-11-15T09:20:00", "12:00"] {
            assert_eq!(super::parse_iso(wrong), None, "{wrong}");
        }
    }
}
