//! Who may send now: so many deliveries at once, so many of them to one host, and a short line before each host. What
//! finds the line full is turned away and comes back later, so a receiver that hangs holds up its own deliveries and
//! nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Those who wait for a host, for each that sends to it.
const LINE: usize = 3;
const FIRST_RETURN: Duration = Duration::from_secs(1);
const LAST_RETURN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Turnstile {
    all: Arc<Semaphore>,
    per_host: usize,
    hosts: Mutex<HashMap<String, Host>>,
}

#[derive(Debug)]
struct Host {
    sending: Arc<Semaphore>,
    /// Those who send and those in the line.
    inside: usize,
    /// Those who were turned away, less those who left since.
    away: u32,
}

/// A place in the line before a host, given up when dropped.
#[derive(Debug)]
pub(super) struct Place {
    turnstile: Arc<Turnstile>,
    host: String,
    sending: Arc<Semaphore>,
}

/// A turn to send.
#[derive(Debug)]
pub(super) struct Turn {
    _host: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Turnstile {
    pub fn new(at_once: usize, per_host: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(at_once));
        Arc::new(Self { all, per_host, hosts: Mutex::default() })
    }

    /// A place in the line, or how long to stay away when it is full: the longer, the more were sent away.
    pub fn enter(self: &Arc<Self>, host: &str) -> Result<Place, Duration> {
        let mut hosts = self.hosts();
        let known = hosts.entry(host.to_owned()).or_insert_with(|| Host {
            sending: Arc::new(Semaphore::new(self.per_host)),
            inside: 0,
            away: 0,
        });
        let room = self.per_host * (1 + LINE);
        if known.inside >= room {
            known.away = known.away.saturating_add(1);
            let lines = known.away / u32::try_from(room).unwrap_or(u32::MAX);
            return Err((FIRST_RETURN * (1 + lines.min(100))).min(LAST_RETURN));
        }
        known.inside += 1;
        let sending = known.sending.clone();
        Ok(Place { turnstile: self.clone(), host: host.to_owned(), sending })
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Waits for a turn. The host comes first: who waits for a slow one must not hold one of everybody's turns.
    pub async fn turn(&self) -> Option<Turn> {
        let host = self.sending.clone().acquire_owned().await.ok()?;
        let all = self.turnstile.all.clone().acquire_owned().await.ok()?;
        Some(Turn { _host: host, _all: all })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut hosts = self.turnstile.hosts();
        let Some(host) = hosts.get_mut(&self.host) else { return };
        host.inside = host.inside.saturating_sub(1);
        host.away = host.away.saturating_sub(1);
        if host.inside == 0 {
            hosts.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn has_turn(place: &Place) -> Option<Turn> {
        tokio::time::timeout(Duration::from_millis(20), place.turn()).await.ok().flatten()
    }

    #[tokio::test]
    async fn a_slow_host_holds_up_only_itself() {
        let turnstile = Turnstile::new(3, 2);
        let places: Vec<_> = (0..8).map(|_| turnstile.enter("slow").unwrap()).collect();
        let first = has_turn(&places[0]).await.unwrap();
        let _second = has_turn(&places[1]).await.unwrap();
        assert!(has_turn(&places[2]).await.is_none(), "two at once to one host");
        assert!(turnstile.enter("slow").is_err(), "the line is full");
        let other = turnstile.enter("other").unwrap();
        let _third = has_turn(&other).await.expect("another host has its turn");
        let more = turnstile.enter("more").unwrap();
        assert!(has_turn(&more).await.is_none(), "three at once in all");
        drop(first);
        assert!(has_turn(&more).await.is_some());
        drop((places, other, more));
        assert!(turnstile.hosts().is_empty(), "nothing is left behind");
    }

    #[tokio::test]
    async fn the_longer_the_queue_the_later_the_return() {
        let turnstile = Turnstile::new(8, 1);
        let places: Vec<_> = (0..4).map(|_| turnstile.enter("slow").unwrap()).collect();
        assert_eq!(turnstile.enter("slow").unwrap_err(), FIRST_RETURN);
        let last = (0..1_000).map(|_| turnstile.enter("slow").unwrap_err()).max();
        assert_eq!(last, Some(LAST_RETURN));
        drop(places);
        assert!(turnstile.enter("slow").is_ok(), "and forgotten when the line is empty");
    }
}
