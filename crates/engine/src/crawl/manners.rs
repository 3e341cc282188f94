//! How hosts want to be asked: their robots rules, remembered for a while, and the pace they can bear, which all processes share
//! through the store.

use super::order::host_of;
use crate::scrape::cache::Fields;
use crate::scrape::of_fetch;
use net::{AtLimit, Credentials, Deadline, Fetcher, Limits, Purpose, Request};
use sites::Robots;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store::Store;
use store::crawls::Pace;
use tokio::sync::OnceCell;
use url::Url;
use wire::WireError;

const ROBOTS_TIME: Duration = Duration::from_secs(15);
/// More than the standard's least, and more than any site needs.
const LARGEST_ROBOTS: u64 = 1 << 20;
const ROBOTS_BELIEVED: Duration = Duration::from_mins(30);
/// Hosts remembered; past it the memory starts afresh.
const MOST_HOSTS: usize = 4096;
/// The first pause after a host said that it is asked too much, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(2);
/// The first gap between two pages then, and the longest that a host brings about by that.
const FIRST_GAP: Duration = Duration::from_millis(200);
const LONGEST_GAP: Duration = Duration::from_secs(10);
/// So many pages in a row without a complaint make the gap half as long.
const CONTENT_FOR: u32 = 20;
/// A host that did not answer so often in a row is asked with little patience.
const SILENT: u32 = 8;
const LITTLE_PATIENCE: Duration = Duration::from_secs(5);

type RobotsCell = Arc<OnceCell<Arc<Robots>>>;

/// One per process.
pub struct Manners {
    store: Arc<dyn Store>,
    fetcher: Fetcher,
    robots: Mutex<HashMap<(String, String), (Instant, RobotsCell)>>,
    hosts: Mutex<HashMap<String, Health>>,
}

impl std::fmt::Debug for Manners {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Manners").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Health {
    /// The gap that robots.txt asks for.
    asked: Duration,
    /// The gap that complaints brought about.
    gap: Duration,
    complaints: u32,
    content: u32,
    /// Times in a row that nothing came.
    silent: u32,
}

impl Manners {
    pub fn new(store: Arc<dyn Store>, fetcher: Fetcher) -> Self {
        Self { store, fetcher, robots: Mutex::default(), hosts: Mutex::default() }
    }

    /// The robots rules of an address's host. Fails when nobody answers there: then nothing else will come from it either.
    pub async fn robots(
        &self,
        url: &Url,
        agent: &str,
        credentials: &Credentials,
    ) -> Result<Arc<Robots>, WireError> {
        let mut origin = url[..url::Position::BeforePath].to_owned();
        // A host may have other rules for who is logged in; they are for nobody else.
        if credentials.cover(url) && credentials.are_secret() {
            let mut known_by = Fields::new("robots with credentials");
            known_by.add(&origin);
            known_by.add(&credentials.identity());
            origin = crate::hex(&known_by.finish());
        }
        let cell = {
            let mut book = lock(&self.robots);
            if book.len() >= MOST_HOSTS {
                book.clear();
            }
            let place = book.entry((origin, agent.to_owned())).or_insert_with(fresh);
            if place.0.elapsed() > ROBOTS_BELIEVED {
                *place = fresh();
            }
            place.1.clone()
        };
        cell.get_or_try_init(|| self.read_robots(url, agent, credentials)).await.cloned()
    }

    async fn read_robots(
        &self,
        url: &Url,
        agent: &str,
        credentials: &Credentials,
    ) -> Result<Arc<Robots>, WireError> {
        let Ok(file) = url.join("/robots.txt") else { return Ok(Arc::default()) };
        let limits = Limits {
            at_limit: AtLimit::Cut,
            wire_bytes: LARGEST_ROBOTS,
            body_bytes: LARGEST_ROBOTS,
            ..Limits::default()
        };
        let request = Request::get(Purpose::Scrape, file.as_str(), credentials.clone());
        let request = request.map_err(|error| of_fetch(&error))?;
        let request = request.limits(limits).skip_tls_verification(true);
        let answer = self.fetcher.fetch(request, Deadline::after(ROBOTS_TIME)).await;
        let answer = answer.map_err(|error| of_fetch(&error))?;
        let status = answer.outcome.head.status.as_u16();
        let robots = Robots::from_answer(Some(status), &answer.body, agent);
        if let Some(delay) = robots.delay().filter(|delay| !delay.is_zero()) {
            let host = host_of(url);
            self.change(&host, |health| health.asked = delay);
            self.tell(&host, Duration::ZERO).await;
        }
        Ok(Arc::new(robots))
    }

    /// The host says that it is asked too much; how long to leave it alone.
    pub async fn complained(&self, host: &str, retry_after: Option<Duration>) -> Duration {
        let pause = self.change(host, |health| {
            health.complaints += 1;
            health.content = 0;
            health.gap = (health.gap * 2).clamp(FIRST_GAP, LONGEST_GAP);
            let own = FIRST_PAUSE * (1 << (health.complaints - 1).min(7));
            retry_after.unwrap_or(own).clamp(FIRST_PAUSE, LONGEST_PAUSE)
        });
        self.tell(host, pause).await;
        pause
    }

    /// A page came.
    pub async fn answered(&self, host: &str) {
        let eased = self.change(host, |health| {
            health.silent = 0;
            if health.gap.is_zero() {
                return false;
            }
            health.content += 1;
            if health.content < CONTENT_FOR {
                return false;
            }
            health.content = 0;
            health.complaints = health.complaints.saturating_sub(1);
            health.gap = if health.gap <= FIRST_GAP { Duration::ZERO } else { health.gap / 2 };
            true
        });
        if eased {
            self.tell(host, Duration::ZERO).await;
        }
    }

    /// Nothing came in time, or nobody was there.
    pub fn was_silent(&self, host: &str) {
        self.change(host, |health| health.silent = health.silent.saturating_add(1));
    }

    /// How long a page of the host is worth waiting for: a dead host must not cost its whole time for every page.
    pub fn patience(&self, host: &str, asked: Duration) -> Duration {
        let silent = lock(&self.hosts).get(host).map_or(0, |health| health.silent);
        if silent >= SILENT { asked.min(LITTLE_PATIENCE) } else { asked }
    }

    /// Whether a failed page of the host is worth another try.
    pub fn is_dead(&self, host: &str) -> bool {
        lock(&self.hosts).get(host).is_some_and(|health| health.silent >= SILENT)
    }

    fn change<T>(&self, host: &str, change: impl FnOnce(&mut Health) -> T) -> T {
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MOST_HOSTS && !hosts.contains_key(host) {
            hosts.clear();
        }
        // Nearly always it is known.
        match hosts.get_mut(host) {
            Some(health) => change(health),
            None => change(hosts.entry(host.to_owned()).or_default()),
        }
    }

    /// Lets all processes know.
    async fn tell(&self, host: &str, pause: Duration) {
        let gap = self.change(host, |health| health.asked.max(health.gap));
        if let Err(error) = self.store.set_pace(host, Pace { gap, pause }).await {
            tracing::warn!(%error, host, "could not note the pace of a host");
        }
    }
}

fn fresh() -> (Instant, RobotsCell) {
    (Instant::now(), RobotsCell::default())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
