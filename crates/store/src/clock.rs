//! Time as the store counts it: milliseconds, and calendar months in UTC. Reads the machine's clock
//! for SQLite only; PostgreSQL uses the database's own.
//!
//! Leases, delays and due times are compared with the clock. When somebody sets the machine's clock, all leases would end at once, or
//! everything that waits would wait for an hour more. So time here runs on steadily and follows the machine's clock slowly; it never
//! goes back.

use crate::Millis;
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest span that is kept as asked, so that no sum of a time and a span overflows.
const MAX_SPAN_MILLIS: Millis = 1_000 * 365 * 24 * 3_600 * 1_000;

/// A clock that is wrong by more is not followed slowly: it was never right.
const MAX_FOLLOWED: i64 = 24 * 3_600 * 1_000_000;
/// One in so many parts of the time that passes is what the clock gains or loses to follow.
const FOLLOW_SHARE: i64 = 10;

static CLOCK: Mutex<Option<SteadyClock>> = Mutex::new(None);

/// The time, which is that of this machine's clock unless somebody has just set it.
pub(crate) fn now() -> Millis {
    #[cfg(feature = "test-clock")]
    if let Some(held) = test_clock::held() {
        return held;
    }
    let mut clock = CLOCK.lock();
    let (passed, wall) = (time_since_boot(), wall_clock());
    let time = match clock.as_mut() {
        Some(clock) => clock.advance(passed, wall),
        None => clock.insert(SteadyClock { time: wall, passed }).time,
    };
    time / 1_000
}

/// A clock that a test holds still and moves by itself. It counts for the thread that made it, so a test with a runtime on one thread
/// has a store of its own time, and the tests beside it do not.
#[cfg(feature = "test-clock")]
pub mod test_clock {
    use super::{Millis, millis};
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        static HELD: Cell<Option<Millis>> = const { Cell::new(None) };
    }

    pub(super) fn held() -> Option<Millis> {
        HELD.get()
    }

    /// Time stands still on this thread until this is dropped, except for [`TestClock::advance`].
    #[derive(Debug)]
    pub struct TestClock(());

    impl TestClock {
        pub fn freeze() -> Self {
            HELD.set(Some(super::now()));
            Self(())
        }

        pub fn advance(&self, by: Duration) {
            HELD.set(held().map(|now| now + millis(by)));
        }
    }

    impl Drop for TestClock {
        fn drop(&mut self) {
            HELD.set(None);
        }
    }
}

/// Goes on from a time that was noted before, where the machine's clock was set back since. A note from far in the future is wrong.
pub(crate) fn go_on_from(noted: Millis) {
    let ahead = noted.saturating_sub(now()).saturating_mul(1_000);
    if (1..MAX_FOLLOWED).contains(&ahead)
        && let Some(clock) = CLOCK.lock().as_mut()
    {
        clock.time += ahead;
    }
}

/// Microseconds since the machine was started, those included for which it slept. Nobody can set this clock.
fn time_since_boot() -> i64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

/// Microseconds since the Unix epoch, as the machine says.
fn wall_clock() -> i64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[derive(Debug)]
struct SteadyClock {
    /// Microseconds since the Unix epoch when it was last read.
    time: i64,
    /// Since the machine was started, then.
    passed: i64,
}

impl SteadyClock {
    fn advance(&mut self, passed: i64, wall: i64) -> i64 {
        let elapsed = (passed - self.passed).max(0);
        let steady = self.time.saturating_add(elapsed);
        let behind = wall.saturating_sub(steady);
        let share = elapsed / FOLLOW_SHARE;
        self.time = if behind > MAX_FOLLOWED { wall } else { steady + behind.clamp(-share, share) };
        self.passed = passed.max(self.passed);
        self.time
    }
}

/// A span in whole milliseconds, at most a thousand years.
pub(crate) fn millis(span: Duration) -> Millis {
    Millis::try_from(span.as_millis()).unwrap_or(MAX_SPAN_MILLIS).min(MAX_SPAN_MILLIS)
}

/// A span of milliseconds read from a database; a negative one is none.
pub(crate) fn span(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

pub(crate) const DAY: Millis = 24 * 3_600 * 1_000;

/// The start of the day in UTC that holds `at`.
pub(crate) fn day_start(at: Millis) -> Millis {
    at - at.rem_euclid(DAY)
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

    const SECOND: i64 = 1_000_000;
    const HOUR: i64 = 3_600 * SECOND;

    #[test]
    fn time_runs_on_when_somebody_sets_the_clock() {
        for step in [HOUR, -HOUR] {
            let mut clock = SteadyClock { time: 1_000 * HOUR, passed: 5 * HOUR };
            for second in 1..=15 {
                let passed = second * SECOND;
                let before = clock.time;
                let time = clock.advance(5 * HOUR + passed, 1_000 * HOUR + step + passed);
                assert!(time > before, "never back");
                let error = (time - 1_000 * HOUR - passed).abs();
                assert!(error <= passed / 10, "a lease lasts as long as it should: {error}");
            }
            // In the end it agrees with the clock.
            for minute in 1..=12 * 60 {
                let passed = 15 * SECOND + minute * 60 * SECOND;
                clock.advance(5 * HOUR + passed, 1_000 * HOUR + step + passed);
            }
            let passed = 15 * SECOND + 12 * HOUR;
            assert_eq!(clock.time, 1_000 * HOUR + step + passed);
        }
    }

    #[test]
    fn a_clock_that_was_never_right_is_set_at_once() {
        let mut clock = SteadyClock { time: 0, passed: 0 };
        assert_eq!(clock.advance(SECOND, 490_000 * HOUR), 490_000 * HOUR);
        assert_eq!(clock.advance(2 * SECOND, 490_000 * HOUR + SECOND), 490_000 * HOUR + SECOND);
    }

    #[test]
    fn spans_do_not_overflow() {
        assert_eq!(millis(Duration::MAX), MAX_SPAN_MILLIS);
        assert!(now().checked_add(millis(Duration::MAX)).is_some());
        assert_eq!(span(-5), Duration::ZERO);
    }
}
