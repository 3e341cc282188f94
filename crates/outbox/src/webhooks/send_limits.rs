//! How many webhooks are sent at once: a slot of the process for each, and so many of them to one host, with
//! a short line before each host. What finds the line full is turned away and comes back later, so a receiver
//! that hangs holds up its own deliveries and nobody else's.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use work::{Slot, SlotShare};

/// Deliveries that wait for a host, for each that is sent to it.
const WAITING_PER_SENDING: usize = 3;
const FIRST_RETURN: Duration = Duration::from_secs(1);
const MAX_RETURN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct SendLimits {
    slots: SlotShare,
    per_host: usize,
    hosts: Mutex<HashMap<String, Host>>,
}

#[derive(Debug)]
struct Host {
    sending: Arc<Semaphore>,
    /// Deliveries that are sent and those in the line.
    inside: usize,
    /// Deliveries that were turned away, less those that left since.
    away: u32,
}

/// A place in the line before a host, given up when dropped.
#[derive(Debug)]
pub(super) struct HostPlace {
    limits: Arc<SendLimits>,
    host: String,
    sending: Arc<Semaphore>,
}

/// The permission to send one delivery now.
#[derive(Debug)]
pub(super) struct SendPermit {
    _host: OwnedSemaphorePermit,
    _slot: Slot,
}

impl SendLimits {
    pub fn new(slots: SlotShare, per_host: usize) -> Arc<Self> {
        Arc::new(Self { slots, per_host, hosts: Mutex::default() })
    }

    /// A place in the line, or how long to stay away when it is full: the longer, the more were sent away.
    pub fn enter(self: &Arc<Self>, host: &str) -> Result<HostPlace, Duration> {
        let mut hosts = self.hosts();
        let known = hosts.entry(host.to_owned()).or_insert_with(|| Host {
            sending: Arc::new(Semaphore::new(self.per_host)),
            inside: 0,
            away: 0,
        });
        let room = self.per_host * (1 + WAITING_PER_SENDING);
        if known.inside >= room {
            known.away = known.away.saturating_add(1);
            let lines = known.away / u32::try_from(room).unwrap_or(u32::MAX);
            return Err((FIRST_RETURN * (1 + lines.min(100))).min(MAX_RETURN));
        }
        known.inside += 1;
        let sending = known.sending.clone();
        Ok(HostPlace { limits: self.clone(), host: host.to_owned(), sending })
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.hosts.lock()
    }
}

impl HostPlace {
    /// Waits until it may be sent. The host comes first: what waits for a slow one must not hold a slot.
    pub async fn permit(&self) -> Option<SendPermit> {
        let host = self.sending.clone().acquire_owned().await.ok()?;
        let slot = self.limits.slots.acquire().await?;
        Some(SendPermit { _host: host, _slot: slot })
    }
}

impl Drop for HostPlace {
    fn drop(&mut self) {
        let mut hosts = self.limits.hosts();
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
    use work::WorkSlots;

    async fn has_permit(place: &HostPlace) -> Option<SendPermit> {
        tokio::time::timeout(Duration::from_millis(20), place.permit()).await.ok().flatten()
    }

    #[tokio::test]
    async fn a_slow_host_holds_up_only_itself() {
        let limits = SendLimits::new(WorkSlots::new(8).share(3), 2);
        let places: Vec<_> = (0..8).map(|_| limits.enter("slow").unwrap()).collect();
        let first = has_permit(&places[0]).await.unwrap();
        let _second = has_permit(&places[1]).await.unwrap();
        assert!(has_permit(&places[2]).await.is_none(), "two at once to one host");
        assert!(limits.enter("slow").is_err(), "the line is full");
        let other = limits.enter("other").unwrap();
        let _third = has_permit(&other).await.expect("another host has its turn");
        let more = limits.enter("more").unwrap();
        assert!(has_permit(&more).await.is_none(), "three at once in all");
        drop(first);
        assert!(has_permit(&more).await.is_some());
        drop((places, other, more));
        assert!(limits.hosts().is_empty(), "nothing is left behind");
    }

    #[tokio::test]
    async fn the_longer_the_queue_the_later_the_return() {
        let limits = SendLimits::new(WorkSlots::new(8).share(8), 1);
        let places: Vec<_> = (0..4).map(|_| limits.enter("slow").unwrap()).collect();
        assert_eq!(limits.enter("slow").unwrap_err(), FIRST_RETURN);
        let last = (0..1_000).map(|_| limits.enter("slow").unwrap_err()).max();
        assert_eq!(last, Some(MAX_RETURN));
        drop(places);
        assert!(limits.enter("slow").is_ok(), "and forgotten when the line is empty");
    }
}
