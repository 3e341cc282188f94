//! The connection to a browser, as the commands need it. A session's bridge implements it; tests implement it
//! over a pipe.

pub use futures_util::future::BoxFuture;

use serde_json::Value;
use tokio::sync::broadcast;

/// A connection to the browser itself (not to one page), over which page sessions can be attached with
/// `Target.attachToTarget{flatten: true}`.
pub trait Cdp: Send + Sync {
    /// Sends a command; `session` is `None` for the browser itself. The command is sent when this is called,
    /// in the order of calls, also when the future is dropped before the response.
    fn call<'a>(
        &'a self,
        session: Option<&'a str>,
        method: &'a str,
        params: Value,
    ) -> BoxFuture<'a, Result<Value, CdpError>>;

    /// All events from now on, of the browser and of every attached session. A receiver that lags behind
    /// loses the oldest ones; the commands survive that.
    fn events(&self) -> broadcast::Receiver<CdpEvent>;
}

/// One event of the browser or of a page.
#[derive(Debug, Clone)]
pub struct CdpEvent {
    pub session: Option<String>,
    pub method: String,
    pub params: Value,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    #[error("the connection to the browser is closed")]
    Closed,
    #[error("{0}")]
    Rejected(String),
}
