//! What every handler can reach: the store, the gate, the callers, and the settings of this server.

use engine::research::Research;
use engine::{Callers, Gate};
use std::net::SocketAddr;
use std::sync::Arc;
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::telemetry::Telemetry;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Where this server listens, for links when a request does not say how it was reached.
    pub listen: SocketAddr,
    /// With authentication off every request is the first team's. Only for loopback.
    pub auth: bool,
    /// How callers reach us, when a proxy in front hides it.
    pub public_url: Option<String>,
    pub cors: Cors,
    /// The largest JSON body, in bytes.
    pub body_limit: usize,
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

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Arc<dyn Store>,
    pub gate: Arc<Gate>,
    pub callers: Arc<Callers>,
    pub research: Arc<Research>,
    pub settings: Arc<Settings>,
    pub telemetry: Telemetry,
    /// Cancelled when the process has been told to stop: no longer ready.
    pub stopping: CancellationToken,
}

impl std::fmt::Debug for App {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("App").field("settings", &self.settings).finish_non_exhaustive()
    }
}
