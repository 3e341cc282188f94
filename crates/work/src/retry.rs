//! How long to wait before something is tried again.

use std::time::Duration;
use store::{StoreError, StoreResult};
use tokio::time::{Instant, sleep};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// The pause before the next attempt at a page: doubling from one second to a minute.
pub fn backoff(attempt: u32) -> Duration {
    Duration::from_secs(1 << attempt.saturating_sub(1).min(6)).min(Duration::from_mins(1))
}

/// Writes something, and again while the store is away or full, for at most `limit`. `on_retry` hears of each
/// error that is not the last.
pub async fn while_unavailable<T, F>(
    limit: Duration,
    mut write: impl FnMut() -> F,
    mut on_retry: impl FnMut(&StoreError),
) -> StoreResult<T>
where
    F: Future<Output = StoreResult<T>>,
{
    let give_up = Instant::now() + limit;
    let mut pause = FIRST_PAUSE;
    loop {
        match write().await {
            Err(error) if error.is_retryable() && Instant::now() + pause < give_up => {
                on_retry(&error);
                sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            done => return done,
        }
    }
}
