//! Times as callers read them.

use store::Millis;

/// ISO 8601 in UTC with milliseconds, for instance `2026-11-15T09:30:00.000Z`.
pub fn iso(millis: Millis) -> String {
    // The store's times lie far inside what a timestamp can hold; the fallback only spares a panic.
    let stamp = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{stamp:.3}")
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
}
