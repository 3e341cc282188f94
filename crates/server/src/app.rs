//! What every handler can reach: the store, the gate, the callers, and the settings of this server.

use engine::agent::Agents;
use engine::crawl::Crawler;
use engine::map::Mapper;
use engine::research::Research;
use engine::scrape::Scraper;
use engine::search::Searcher;
use engine::search::collections::Collections;
use engine::storage::Storage;
use engine::{Callers, Gate};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Store;
use tokio_util::sync::CancellationToken;
use wire::{Kind, WireError};

use crate::telemetry::Telemetry;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Where this server listens, for links when a request does not say how it was reached.
    pub listen: SocketAddr,
    /// A worker only tells how it is.
    pub api: bool,
    /// With authentication off every request is the first team's. Only for loopback.
    pub auth: bool,
    /// How callers reach us, when a proxy in front hides it.
    pub public_url: Option<String>,
    pub cors: Cors,
    /// The largest JSON body, in bytes.
    pub body_limit: usize,
    /// How long open requests may go on after a stop.
    pub shutdown_grace: Duration,
    /// Drills may rehearse faults of the server itself.
    pub drill_faults: bool,
}

/// Which other origins' pages may call us from a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    None,
    Any,
    Origins(Vec<String>),
}

/// Shared by all handlers. One pointer: it is cloned several times for every request.
#[derive(Clone)]
pub struct App(Arc<Parts>);

impl App {
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// What an [`App`] is made of.
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub gate: Arc<Gate>,
    /// Whether there is room to store what new work would bring.
    pub storage: Arc<Storage>,
    pub callers: Arc<Callers>,
    pub research: Arc<Research>,
    pub scraper: Arc<Scraper>,
    pub mapper: Mapper,
    pub searcher: Searcher,
    pub collections: Collections,
    pub crawler: Arc<Crawler>,
    pub agents: Arc<Agents>,
    pub settings: Settings,
    pub telemetry: Telemetry,
    pub readiness: Readiness,
    /// Cancelled when the process has been told to stop: no longer ready.
    pub stopping: CancellationToken,
}

/// Whether the store works, asked at most once a second: `/ready` needs no key, and must cost no more.
#[derive(Debug, Default)]
pub struct Readiness(tokio::sync::Mutex<Option<Instant>>);

impl Readiness {
    /// Why the store does not work, as callers are told.
    pub async fn check(&self, store: &dyn Store) -> Result<(), WireError> {
        let mut last_ready = self.0.lock().await;
        if last_ready.is_some_and(|at| at.elapsed() < Duration::from_secs(1)) {
            return Ok(());
        }
        let answer = store.ping().await;
        *last_ready = answer.is_ok().then(Instant::now);
        answer.map_err(|error| {
            tracing::warn!(%error, "not ready");
            let told = engine::from_store(error);
            // Whatever is wrong with it, it is not ready.
            if told.kind == Kind::Unavailable {
                told
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

impl std::fmt::Debug for Parts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("App").field("settings", &self.settings).finish_non_exhaustive()
    }
}
