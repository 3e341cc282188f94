//! The time limit of a request. It is a point in time rather than a duration, so passing it on costs nothing
//! and no child can outlive its parent.

use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Longer than any limit we set, and safe to add to any clock.
const MAX_DURATION: Duration = Duration::from_hours(24 * 365 * 100);

/// The time by which all work for a request must have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

/// The deadline passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the deadline passed")]
pub struct Elapsed;

impl Deadline {
    pub fn after(length: Duration) -> Self {
        Self(Instant::now() + length.min(MAX_DURATION))
    }

    pub fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// The same deadline, or an earlier one: a child gets `length` at most and never more than is left.
    #[must_use]
    pub fn child(self, length: Duration) -> Self {
        self.min(Self::after(length))
    }

    pub fn instant(self) -> Instant {
        self.0
    }

    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }

    /// Runs `work` until it is done or the deadline passes; then it is dropped.
    pub async fn run<T>(self, work: impl Future<Output = T>) -> Result<T, Elapsed> {
        timeout_at(self.0, work).await.map_err(|_| Elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_never_outlives_its_parent() {
        let parent = Deadline::after(Duration::from_millis(200));
        assert_eq!(parent.child(Duration::from_secs(9)), parent);
        assert!(parent.child(Duration::from_millis(1)) < parent);
        assert!(parent.child(Duration::MAX) == parent, "no length overflows the clock");
        let waiting = std::future::pending::<()>();
        assert_eq!(parent.child(Duration::from_mins(1)).run(waiting).await, Err(Elapsed));
        assert!(parent.has_passed());
    }
}
