//! Whose turn it is to open the session of a scrape: two first calls for one scrape must not open two. Each scrape of
//! each team has a turn of its own, as opening one waits for pages of strangers.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use uuid::Uuid;

/// Held by whoever opens a scrape.
type Turn = AsyncMutex<()>;

/// The scrapes of teams that are being opened now.
#[derive(Debug, Default)]
pub struct Openings(Mutex<HashMap<(Uuid, Uuid), Weak<Turn>>>);

impl Openings {
    /// Waits until nobody else opens this scrape of this team.
    pub async fn turn(&self, team: Uuid, scrape: Uuid) -> OwnedMutexGuard<()> {
        self.lock_of(team, scrape).lock_owned().await
    }

    fn lock_of(&self, team: Uuid, scrape: Uuid) -> Arc<Turn> {
        let mut open = self.0.lock();
        open.retain(|_, lock| lock.strong_count() > 0);
        let known = open.get(&(team, scrape)).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let lock = Arc::<Turn>::default();
            open.insert((team, scrape), Arc::downgrade(&lock));
            lock
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_slow_opening_holds_up_its_own_scrape_only() {
        let openings = Openings::default();
        let (team, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let scrape = |number: u128| Uuid::from_u128(number << 8);
        let slow = openings.turn(team, scrape(1)).await;
        let soon = Duration::from_millis(50);
        // The ids end alike.
        for (team, number) in [(team, 2), (other, 1), (other, 3)] {
            assert!(timeout(soon, openings.turn(team, scrape(number))).await.is_ok(), "{number}");
        }
        assert!(timeout(soon, openings.turn(team, scrape(1))).await.is_err(), "one session for one scrape");
        drop(slow);
        drop(openings.turn(team, scrape(1)).await);
        drop(openings.turn(team, scrape(4)).await);
        assert_eq!(openings.0.lock().len(), 1, "what is over is forgotten");
    }
}
