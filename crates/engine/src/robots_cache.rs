//! The robots rules of hosts, kept for a while: crawls hold to them, and scrapes in safe mode.

use crate::Error;
use crate::host_rules::HostRules;
use access::Caller;
use net::{AtLimit, Credentials, Deadline, Fetcher, Limits, Purpose, Request};
use parking_lot::Mutex;
use sites::Robots;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stored_data::hashed_keys::KeyHasher;
use tokio::sync::OnceCell;
use url::Url;

/// Our name in robots.txt.
pub const AGENT: &str = "gannet";
const TIMEOUT: Duration = Duration::from_secs(15);
/// More than the standard demands, and more than any site needs.
const MAX_BYTES: u64 = 1 << 20;
const RETENTION: Duration = Duration::from_mins(30);
/// Hosts that are remembered; when there are more, all are forgotten.
const MAX_HOSTS: usize = 4096;

type RobotsCell = Arc<OnceCell<Arc<Robots>>>;

/// The rules of hosts, by origin and agent.
pub struct RobotsCache {
    fetcher: Fetcher,
    cells: Mutex<HashMap<(String, String), (Instant, RobotsCell)>>,
}

impl std::fmt::Debug for RobotsCache {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RobotsCache").finish_non_exhaustive()
    }
}

/// A request that goes nowhere but to the hosts of the caller's key.
pub fn held_to(caller: &Caller, request: Request) -> Request {
    match HostRules::of_caller(caller) {
        Some(rules) => request.allowed(Arc::new(move |url: &Url| rules.allow(url))),
        None => request,
    }
}

/// Whether the rules allow an address.
pub fn allows(robots: &Robots, url: &Url) -> bool {
    robots.allows(&url[url::Position::BeforePath..url::Position::AfterQuery])
}

impl RobotsCache {
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher, cells: Mutex::default() }
    }

    /// The robots rules of an address's host. Fails when the host does not answer: then its pages will not
    /// come either.
    pub async fn rules(
        &self,
        url: &Url,
        agent: &str,
        credentials: &Credentials,
        caller: &Caller,
    ) -> Result<Arc<Robots>, Error> {
        let mut origin = url[..url::Position::BeforePath].to_owned();
        // Where the file leads to decides whether such a caller may have it.
        if !caller.hosts.is_empty() {
            origin = format!("{origin} {:?}", caller.hosts);
        }
        // A host may have other rules for a caller that is logged in; they are for nobody else.
        if credentials.covers(url) && credentials.contain_secrets() {
            let mut known_by = KeyHasher::new("robots with credentials");
            known_by.add(&origin);
            known_by.add(&credentials.identity());
            origin = stored_data::hex(&known_by.finish());
        }
        let cell = {
            let mut cells = self.cells.lock();
            if cells.len() >= MAX_HOSTS {
                cells.clear();
            }
            let cell_at = cells.entry((origin, agent.to_owned())).or_insert_with(new_cell);
            if cell_at.0.elapsed() > RETENTION {
                *cell_at = new_cell();
            }
            cell_at.1.clone()
        };
        cell.get_or_try_init(|| self.fetch(url, agent, credentials, caller)).await.cloned()
    }

    async fn fetch(
        &self,
        url: &Url,
        agent: &str,
        credentials: &Credentials,
        caller: &Caller,
    ) -> Result<Arc<Robots>, Error> {
        let Ok(file) = url.join("/robots.txt") else { return Ok(Arc::default()) };
        let limits = Limits {
            at_limit: AtLimit::Truncate,
            wire_bytes: MAX_BYTES,
            body_bytes: MAX_BYTES,
            ..Limits::default()
        };
        let request = Request::get(Purpose::Scrape, file.as_str(), credentials.clone());
        let request = held_to(caller, request?.limits(limits).skip_tls_verification(true));
        let response = self.fetcher.fetch(request, Deadline::after(TIMEOUT)).await;
        let response = response?;
        let status = response.meta.head.status.as_u16();
        Ok(Arc::new(Robots::from_response(Some(status), &response.body, agent)))
    }
}

fn new_cell() -> (Instant, RobotsCell) {
    (Instant::now(), RobotsCell::default())
}
