//! Callers that watch a crawl, a batch or a run hold a connection and read the store again and again, so there
//! is a limit to how many do.

use crate::Error;
use access::CallerError;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Watchers at once: of one team, and in all.
const MAX_WATCHERS_PER_TEAM: usize = 100;
const MAX_WATCHERS: usize = 1_000;

/// How many watch, by team.
#[derive(Debug, Default)]
pub struct WatcherLimits(Mutex<HashMap<Uuid, usize>>);

#[derive(Debug)]
pub struct WatcherPermit {
    limits: Arc<WatcherLimits>,
    team: Uuid,
}

impl WatcherLimits {
    /// Counts one more watcher of the team until the permit is dropped, or refuses it.
    pub fn acquire(self: &Arc<Self>, team: Uuid) -> Result<WatcherPermit, Error> {
        let mut taken = self.taken();
        if taken.values().sum::<usize>() >= MAX_WATCHERS {
            return Err(Error::Unavailable {
                reason: "too many clients are watching crawls and runs",
                retry_after: 5,
            });
        }
        let of_team = taken.entry(team).or_default();
        if *of_team >= MAX_WATCHERS_PER_TEAM {
            let max = u32::try_from(MAX_WATCHERS_PER_TEAM).unwrap_or(u32::MAX);
            return Err(CallerError::ConcurrencyLimited { max }.into());
        }
        *of_team += 1;
        Ok(WatcherPermit { limits: self.clone(), team })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        self.0.lock()
    }
}

impl Drop for WatcherPermit {
    fn drop(&mut self) {
        let mut taken = self.limits.taken();
        if let Some(of_team) = taken.get_mut(&self.team) {
            *of_team -= 1;
            if *of_team == 0 {
                taken.remove(&self.team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Kind;

    #[test]
    fn seats_are_given_back() {
        let limits = Arc::new(WatcherLimits::default());
        let (ours, theirs) = (Uuid::now_v7(), Uuid::now_v7());
        let held: Vec<WatcherPermit> =
            (0..MAX_WATCHERS_PER_TEAM).map(|_| limits.acquire(ours).unwrap()).collect();
        assert_eq!(limits.acquire(ours).unwrap_err().kind(), Kind::ConcurrencyLimited);
        assert!(limits.acquire(theirs).is_ok(), "one team does not keep another out");
        drop(held);
        assert!(limits.acquire(ours).is_ok());
        assert!(limits.taken().is_empty());
    }
}
