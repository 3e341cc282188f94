//! Waits for what happens a little later, instead of for a fixed time. Never says what is right: its callers
//! assert.

use std::time::{Duration, Instant};

/// Longer than anything takes on a machine with much else to do.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// Asks again and again until the answer is yes; fails when it does not become one.
#[track_caller]
pub fn eventually(what: &str, mut ask: impl AsyncFnMut() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let end = Instant::now() + MAX_WAIT;
        while !ask().await {
            assert!(Instant::now() < end, "{caller}: not within {MAX_WAIT:?}: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
