//! How long the feeder rests between two rounds. A commit costs the same for one page as for a thousand, so that after
//! a round with pages it rests in proportion to what the round took. A search does not wait so long: it ends the rest,
//! and waits a moment for the pages that came in between.

use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How often the feed is looked at while next to nothing comes.
pub(super) const MIN_PAUSE: Duration = Duration::from_millis(500);
/// The longest rest.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// How many times the length of a round the rest after it is: feeding takes a twentieth of one processor at most.
const PAUSE_PER_ROUND: u32 = 20;
/// How long a search waits for pages that are being taken in.
const MAX_WAIT: Duration = Duration::from_millis(300);

/// The rest after a round with pages that took so long.
pub(super) fn after(round: Duration) -> Duration {
    (round * PAUSE_PER_ROUND).clamp(MIN_PAUSE, MAX_PAUSE)
}

#[derive(Debug, Default)]
pub(super) struct Rest {
    /// From the start of a long rest to the end of the round after it.
    behind: watch::Sender<bool>,
    ended_early: Notify,
}

impl Rest {
    /// Rests after a round that went well: less long when a search asks, but never less than the shortest pause. After a
    /// round that failed, no search ends the pause, nor waits for it.
    pub(super) async fn rest(&self, pause: Duration, failed: bool) {
        if failed {
            return tokio::time::sleep(pause).await;
        }
        tokio::time::sleep(pause.min(MIN_PAUSE)).await;
        let Some(more) = pause.checked_sub(MIN_PAUSE).filter(|more| !more.is_zero()) else { return };
        self.behind.send_replace(true);
        // Whether a search came or the time is over makes no difference.
        let _asked = tokio::time::timeout(more, self.ended_early.notified()).await;
    }

    /// A round is over.
    pub(super) fn round_ended(&self) {
        self.behind.send_replace(false);
    }

    /// Has the feeder take in what came during a long rest.
    pub(super) async fn end_early(&self) {
        if !*self.behind.borrow() {
            return;
        }
        self.ended_early.notify_one();
        let mut behind = self.behind.subscribe();
        let _late = tokio::time::timeout(MAX_WAIT, behind.wait_for(|behind| !behind)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::time::Instant;

    #[test]
    fn a_rest_is_as_long_as_its_round_deserves() {
        assert_eq!(after(Duration::from_millis(3)), MIN_PAUSE);
        assert_eq!(after(Duration::from_millis(100)), Duration::from_secs(2));
        assert_eq!(after(Duration::from_mins(1)), MAX_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_search_ends_a_long_rest_and_waits_for_the_round() {
        let rest = Arc::new(Rest::default());
        let (start, feeder) = (Instant::now(), rest.clone());
        let feeding = tokio::spawn(async move {
            feeder.rest(MAX_PAUSE, false).await;
            let rested = start.elapsed();
            tokio::time::sleep(Duration::from_millis(40)).await;
            feeder.round_ended();
            rested
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        rest.end_early().await;
        assert_eq!(start.elapsed().as_millis(), 1040);
        assert_eq!(feeding.await.unwrap().as_millis(), 1000);
        rest.end_early().await;
        assert_eq!(start.elapsed().as_millis(), 1040, "nothing is behind any more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_search_does_not_wait_for_a_round_without_end() {
        let rest = Arc::new(Rest::default());
        let feeder = rest.clone();
        let feeding = tokio::spawn(async move { feeder.rest(MAX_PAUSE, false).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        let start = Instant::now();
        rest.end_early().await;
        assert_eq!(start.elapsed(), MAX_WAIT);
        feeding.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_search_does_not_end_the_pause_after_a_failure() {
        let rest = Arc::new(Rest::default());
        let (start, feeder) = (Instant::now(), rest.clone());
        let feeding = tokio::spawn(async move { feeder.rest(MAX_PAUSE, true).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        rest.end_early().await;
        assert_eq!(start.elapsed(), Duration::from_secs(1), "it does not wait either");
        feeding.await.unwrap();
        assert_eq!(start.elapsed(), MAX_PAUSE);
    }
}
