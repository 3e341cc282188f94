//! Politeness to hosts: their robots rules, cached for a while, and how fast they can be asked for pages,
//! which all processes share through the store.

use crate::Error;
use crate::robots_cache::RobotsCache;
use access::Caller;
use net::{Credentials, Fetcher};
use parking_lot::Mutex;
use sites::Robots;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use store::CrawlStore;
use store::crawls::Pace;
use url::Url;
use uuid::Uuid;

/// Hosts that are remembered; when there are more, all are forgotten.
const MAX_HOSTS: usize = 4096;
/// The first pause after a host answered 429 or 503, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_mins(2);
/// The gap between two pages after the first such answer, and the longest.
const FIRST_GAP: Duration = Duration::from_millis(200);
const MAX_GAP: Duration = Duration::from_secs(10);
/// So many pages in a row without such an answer halve the gap.
const SUCCESSES_TO_HALVE_GAP: u32 = 20;
/// A host that did not answer so many times in a row counts as dead: its pages get a short timeout.
const DEAD_AFTER_SILENCES: u32 = 8;
/// A host whose pages stayed empty shells so many times in a row has nothing else.
const MAX_LOST_SHELLS: u32 = 5;
const DEAD_HOST_TIMEOUT: Duration = Duration::from_secs(5);

/// One per process.
pub struct Politeness {
    store: Arc<dyn CrawlStore>,
    robots: RobotsCache,
    hosts: Mutex<HashMap<String, HostHealth>>,
    /// Pages that were empty shells at their last attempt, by their ids.
    shells: Mutex<HashSet<Uuid>>,
}

impl std::fmt::Debug for Politeness {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Politeness").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct HostHealth {
    /// The gap that robots.txt asks for, where it is obeyed; none where that is not known yet.
    robots_gap: Option<Duration>,
    /// The gap that answers of 429 and 503 brought about.
    gap: Duration,
    complaints: u32,
    successes_in_row: u32,
    /// Times in a row that nothing came.
    silences_in_row: u32,
    /// Pages in a row that stayed empty shells however often they were tried.
    shells_in_row: u32,
}

impl Politeness {
    pub fn new(store: Arc<dyn CrawlStore>, fetcher: Fetcher) -> Self {
        Self { store, robots: RobotsCache::new(fetcher), hosts: Mutex::default(), shells: Mutex::default() }
    }

    /// The robots rules of an address's host. Fails when the host does not answer.
    pub async fn robots(
        &self,
        url: &Url,
        agent: &str,
        credentials: &Credentials,
        caller: &Caller,
    ) -> Result<Arc<Robots>, Error> {
        self.robots.rules(url, agent, credentials, caller).await
    }

    /// From now on pages of a host are asked for with this gap at least: its `Crawl-delay`, or none where robots.txt is
    /// ignored or asks for none. The crawl that looked last decides.
    pub async fn set_robots_gap(&self, host: &str, gap: Duration) {
        let before = self.update(host, |health| health.robots_gap.replace(gap));
        if before != Some(gap) {
            self.publish_pace(host, Duration::ZERO).await;
        }
    }

    /// The host answered 429 or 503; how long to leave it alone.
    pub async fn note_throttled(&self, host: &str, retry_after: Option<Duration>) -> Duration {
        let pause = self.update(host, |health| {
            health.complaints += 1;
            health.successes_in_row = 0;
            health.gap = (health.gap * 2).clamp(FIRST_GAP, MAX_GAP);
            let own = FIRST_PAUSE * (1 << (health.complaints - 1).min(7));
            retry_after.unwrap_or(own).clamp(FIRST_PAUSE, MAX_PAUSE)
        });
        self.publish_pace(host, pause).await;
        pause
    }

    /// A page was fetched from the host.
    pub async fn note_success(&self, host: &str) {
        let eased = self.update(host, |health| {
            health.silences_in_row = 0;
            health.shells_in_row = 0;
            if health.gap.is_zero() {
                return false;
            }
            health.successes_in_row += 1;
            if health.successes_in_row < SUCCESSES_TO_HALVE_GAP {
                return false;
            }
            health.successes_in_row = 0;
            health.complaints = health.complaints.saturating_sub(1);
            health.gap = if health.gap <= FIRST_GAP { Duration::ZERO } else { health.gap / 2 };
            true
        });
        if eased {
            self.publish_pace(host, Duration::ZERO).await;
        }
    }

    /// The host did not answer in time, or could not be reached.
    pub fn note_silence(&self, host: &str) {
        self.update(host, |health| health.silences_in_row = health.silences_in_row.saturating_add(1));
    }

    /// The timeout for a page of the host: a dead host must not cost the whole timeout for every page.
    pub fn timeout_for(&self, host: &str, asked: Duration) -> Duration {
        let silent = self.hosts.lock().get(host).map_or(0, |health| health.silences_in_row);
        if silent >= DEAD_AFTER_SILENCES { asked.min(DEAD_HOST_TIMEOUT) } else { asked }
    }

    /// Whether a failed page of the host is worth another try.
    pub fn is_dead(&self, host: &str) -> bool {
        self.hosts.lock().get(host).is_some_and(|health| health.silences_in_row >= DEAD_AFTER_SILENCES)
    }

    /// A page was an empty shell and is tried again.
    pub fn note_shell(&self, page: Uuid) {
        let mut shells = self.shells.lock();
        if shells.len() >= MAX_HOSTS {
            shells.clear();
        }
        shells.insert(page);
    }

    /// Whether a page was an empty shell at its last attempt. Another process may not know; then it is tried as
    /// before.
    pub fn was_shell(&self, page: Uuid) -> bool {
        self.shells.lock().contains(&page)
    }

    /// A page stayed an empty shell.
    pub fn note_lost_shell(&self, host: &str, page: Uuid) {
        self.shells.lock().remove(&page);
        self.update(host, |health| health.shells_in_row = health.shells_in_row.saturating_add(1));
    }

    /// Whether pages of the host that are empty shells are not worth another try.
    pub fn has_only_shells(&self, host: &str) -> bool {
        self.hosts.lock().get(host).is_some_and(|health| health.shells_in_row >= MAX_LOST_SHELLS)
    }

    fn update<T>(&self, host: &str, change: impl FnOnce(&mut HostHealth) -> T) -> T {
        let mut hosts = self.hosts.lock();
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(host) {
            hosts.clear();
        }
        // Nearly always it is known.
        match hosts.get_mut(host) {
            Some(health) => change(health),
            None => change(hosts.entry(host.to_owned()).or_default()),
        }
    }

    /// Tells all processes how fast the host may be asked.
    async fn publish_pace(&self, host: &str, pause: Duration) {
        let gap = self.update(host, |health| health.robots_gap.unwrap_or_default().max(health.gap));
        if let Err(error) = self.store.set_pace(host, Pace { gap, pause }).await {
            tracing::warn!(%error, host, "could not store the pace of a host");
        }
    }
}
