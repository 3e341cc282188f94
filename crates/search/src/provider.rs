//! The interface of every provider: a name, what it supports, and the search itself.

use crate::hit::Hit;
use crate::question::{Question, SourceKind};
use net::Deadline;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A source of search results.
#[async_trait::async_trait]
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// As settings, warnings and metrics name it.
    fn name(&self) -> &str;

    /// Whether it is this server's own index: free of charge and always available.
    fn is_local(&self) -> bool {
        false
    }

    fn supports(&self, kind: SourceKind) -> bool;

    /// The filters it applies itself; all others are applied to its results afterwards.
    fn abilities(&self) -> Abilities;

    /// Options that it does not support and that cannot be applied to its results either; for the warning.
    fn unsupported(&self, question: &Question) -> Vec<&'static str>;

    /// The most requests that a question takes.
    fn max_requests(&self, question: &Question) -> u32;

    async fn search(
        &self,
        question: &Question,
        budget: &RequestBudget,
    ) -> Result<ProviderResponse, ProviderError>;
}

/// The filters that a provider applies itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// `-word`, phrases, `intitle:` and `inurl:`, and these joined by `OR`.
    pub words: bool,
    pub file_type: bool,
    pub time_range: bool,
}

/// What a provider returned.
#[derive(Debug, Clone, Default)]
pub struct ProviderResponse {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Remarks for the caller's warning.
    pub notes: Vec<String>,
    /// The number of pages searched, if known.
    pub searched: Option<u64>,
}

/// The time and the number of requests that one search may use at a provider.
#[derive(Debug)]
pub struct RequestBudget {
    pub deadline: Deadline,
    requests: u32,
    spent: AtomicU32,
}

impl RequestBudget {
    pub fn new(deadline: Deadline, requests: u32) -> Self {
        Self { deadline, requests, spent: AtomicU32::new(0) }
    }

    /// Counts one more request; false if none is left.
    pub fn try_spend(&self) -> bool {
        let more = |spent| (spent < self.requests).then_some(spent + 1);
        self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub fn spent(&self) -> u32 {
        self.spent.load(Ordering::Relaxed)
    }
}

/// Why a provider did not deliver results. The texts reach callers: they contain no address of ours, no key
/// and no part of a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    #[error("did not respond within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("could not be reached")]
    Unreachable,
    #[error("rejected the API key")]
    KeyRejected,
    #[error("is limiting requests{}", retry_after_text(*.0))]
    RateLimited(Option<Duration>),
    #[error("responded with status {0}")]
    Status(u16),
    #[error("sent an invalid response: {0}")]
    InvalidResponse(&'static str),
    #[error("sent a response larger than {0} MB")]
    TooLarge(u64),
    /// A sentence of our own that continues the provider's name.
    #[error("{0}")]
    Message(String),
    #[error("is paused for {} s after failing: {last}", .wait.as_secs().max(1))]
    Paused { wait: Duration, last: String },
    #[error("has used up its quota for this {0}")]
    Quota(&'static str),
}

fn retry_after_text(wait: Option<Duration>) -> String {
    wait.map(|wait| format!(" (retry after {} s)", wait.as_secs())).unwrap_or_default()
}

impl ProviderError {
    /// Whether a request was sent at all.
    pub fn was_asked(&self) -> bool {
        !matches!(self, Self::Paused { .. } | Self::Quota(_))
    }
}
