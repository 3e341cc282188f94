//! The state shared by all handlers: the services of the engine and the settings of this server.

use access::Callers;
use access::authorization::Authorizations;
use access::keyless::Keyless;
use access::registration::Registrations;
use access::sign_ins::SignIns;
use dashboard::Dashboard;
use engine::Services;
use engine::agent::Agents;
use engine::crawl::Crawler;
use engine::interact::Sessions;
use engine::map::Mapper;
use engine::monitor::Monitors;
use engine::parse::FileParser;
use engine::research::Research;
use engine::scrape::Scraper;
use engine::search::Searcher;
use engine::search::collections::Collections;
use engine::storage::Storage;
use engine::teams::Teams;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wire::WireError;

use crate::message_meter::ClientMemory;
use crate::report::Report;
use crate::response_memory::ResponseMemory;
use crate::shared_memory::SharedMemory;
use crate::telemetry::Telemetry;

#[derive(Debug, Clone)]
pub struct Settings {
    /// The listening address, used in links if a request does not tell how the server was reached.
    pub listen: SocketAddr,
    /// False for a worker, which serves only health, readiness and metrics.
    pub api: bool,
    /// With authentication off, every request acts for the first team. Only allowed on loopback addresses.
    pub auth: bool,
    /// The URL under which callers reach this server, if a proxy hides it.
    pub public_url: Option<String>,
    pub cors: Cors,
    /// The largest JSON body, in bytes.
    pub body_limit: usize,
    /// Days until a new key expires, where its request does not say; never without.
    pub key_days: Option<u32>,
}

/// The origins whose pages may call this server from a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    None,
    Any,
    Origins(Vec<String>),
}

/// Shared by all handlers. A single pointer, because it is cloned several times for every request.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

impl App {
    pub fn new(parts: AppParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl std::ops::Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.0
    }
}

/// The contents of an [`App`].
pub struct AppParts {
    pub services: Services,
    /// Watches whether there is disk space for the results of new work.
    pub storage: Arc<Storage>,
    pub callers: Arc<Callers>,
    pub sign_ins: SignIns,
    /// None: it is switched off.
    pub dashboard: Option<Dashboard>,
    pub report: Report,
    pub teams: Teams,
    pub research: Arc<Research>,
    pub scraper: Arc<Scraper>,
    pub parser: FileParser,
    pub mapper: Mapper,
    pub searcher: Searcher,
    pub collections: Collections,
    pub crawler: Arc<Crawler>,
    pub agents: Arc<Agents>,
    pub sessions: Arc<Sessions>,
    pub monitors: Monitors,
    pub registrations: Registrations,
    /// None: every request needs a key.
    pub keyless: Option<Keyless>,
    /// None: people cannot allow applications.
    pub authorizations: Option<Authorizations>,
    pub settings: Settings,
    pub body_memory: SharedMemory,
    pub response_memory: Arc<ResponseMemory>,
    pub client_memory: ClientMemory,
    pub telemetry: Telemetry,
    pub readiness: Readiness,
    /// Cancelled when the process is stopping: `/ready` then fails.
    pub stopping: CancellationToken,
}

/// Whether the store works; checked at most once a second, because `/ready` needs no key.
#[derive(Debug, Default)]
pub struct Readiness(tokio::sync::Mutex<Option<Instant>>);

impl Readiness {
    /// The error tells callers why the store does not work.
    pub async fn check(&self, storage: &Storage) -> Result<(), WireError> {
        let mut last_ready = self.0.lock().await;
        if last_ready.is_some_and(|at| at.elapsed() < Duration::from_secs(1)) {
            return Ok(());
        }
        let pong = storage.ping().await;
        *last_ready = pong.is_ok().then(Instant::now);
        pong.map_err(|error| {
            tracing::warn!(%error, "not ready");
            // Any other store error also means not ready.
            if error.is_unavailable() {
                error.into()
            } else {
                WireError::unavailable("the database is not available", 1)
            }
        })
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl std::fmt::Debug for AppParts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("App").field("settings", &self.settings).finish_non_exhaustive()
    }
}
