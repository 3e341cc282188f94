//! Errors of a visit. Callers match on the kind; texts are for people and bounded in length.

use net::FetchError;
use std::fmt;
use std::path::PathBuf;

/// Why a visit failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VisitError {
    /// No browser is installed on this machine.
    #[error(transparent)]
    NotFound(#[from] ChromiumNotFound),
    /// The browser does not start.
    #[error("could not start the browser: {0}")]
    StartFailed(String),
    /// The browser died during the visit.
    #[error("the browser died during the visit")]
    Died,
    /// The page crashed its own process: out of memory, or a bug.
    #[error("the page crashed its renderer")]
    RendererCrashed,
    /// The page closed itself.
    #[error("the page closed itself")]
    Closed,
    #[error("timed out while {phase}")]
    Timeout { phase: Phase },
    /// The page could not be opened.
    #[error("could not open the page: {0}")]
    Navigation(NavigationError),
    #[error("action {index} failed: {message}")]
    Action { index: usize, selector: Option<String>, message: String },
    /// All page slots were in use until the deadline.
    #[error("all browser pages are busy")]
    Busy,
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The browser rejected a command.
    #[error("the browser rejected a command: {0}")]
    Protocol(String),
}

impl VisitError {
    /// One word for each kind of failure, without what it says of the page.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "no_browser",
            Self::StartFailed(_) => "start_failed",
            Self::Died => "died",
            Self::RendererCrashed => "renderer_crashed",
            Self::Closed => "closed",
            Self::Timeout { .. } => "timeout",
            Self::Navigation(_) => "navigation",
            Self::Action { .. } => "action",
            Self::Busy => "busy",
            Self::Invalid(_) => "invalid",
            Self::Protocol(_) => "protocol",
        }
    }
}

/// No usable browser was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChromiumNotFound {
    #[error("{0} is not an executable program")]
    Configured(PathBuf),
    #[error("Chromium was not found; install it or set its path in the settings")]
    NotInstalled,
}

/// Why a page could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NavigationError {
    #[error("only http and https URLs can be visited, not {0}")]
    Scheme(String),
    /// The loopback proxy refused or failed: DNS, connection, upstream proxy, egress guard.
    #[error(transparent)]
    Network(FetchError),
    #[error("TLS failed: {0}")]
    Tls(String),
    #[error("connection failed: {0}")]
    Connection(String),
    #[error("too many redirects")]
    TooManyRedirects,
    /// The URL is a file download instead of a page.
    #[error("the URL is a file download")]
    Download { content_type: Option<String> },
    /// The caller's own filter refused it. The URL is complete, so that the caller can tell which of its
    /// rules did.
    #[error("the URL is not allowed: {}", shorten(.0))]
    Filtered(String),
    #[error("{0}")]
    Other(String),
}

impl From<NavigationError> for VisitError {
    fn from(error: NavigationError) -> Self {
        Self::Navigation(error)
    }
}

/// What a visit was doing when it timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    Start,
    /// Waiting for the response to the page request.
    Response,
    Actions,
    Screenshot,
    /// Reading the page.
    Read,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Start => "starting the browser",
            Self::Response => "waiting for the page to respond",
            Self::Actions => "running actions",
            Self::Screenshot => "taking a screenshot",
            Self::Read => "reading the page",
        })
    }
}

/// A text from outside, shortened for a log line.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_BYTES: usize = 300;
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_BYTES)])
}
