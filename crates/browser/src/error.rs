//! What can become of a visit that brings nothing back. Each kind tells the caller what to answer; texts are for
//! people and bounded.

use crate::find::NotFound;
use net::FetchError;
use std::fmt;

/// Why a visit failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VisitError {
    /// There is no browser on this machine.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// There is one, and it does not start.
    #[error("the browser did not start: {0}")]
    StartFailed(String),
    /// The browser ended in the middle of the visit.
    #[error("the browser ended during the visit")]
    Died,
    /// The page took its own process down: too much memory, or a fault.
    #[error("the page crashed its renderer")]
    RendererCrashed,
    /// The page closed itself.
    #[error("the page closed itself")]
    Closed,
    #[error("time ran out while {phase}")]
    Timeout { phase: Phase },
    /// The page could not be opened.
    #[error("the page could not be opened: {0}")]
    Navigation(NavigationError),
    #[error("action {index} failed: {message}")]
    Action { index: usize, selector: Option<String>, message: String },
    /// All places were taken until the deadline.
    #[error("all browser pages are busy")]
    Busy,
    /// What was asked for cannot be done as it stands.
    #[error("{0}")]
    Invalid(String),
    /// The browser said something we did not expect.
    #[error("the browser refused a command: {0}")]
    Protocol(String),
}

/// Why a page could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NavigationError {
    #[error("only http and https pages are visited, not {0}")]
    Scheme(String),
    /// The way out said no, or failed there: names, connections, proxies, the egress guard.
    #[error(transparent)]
    Network(FetchError),
    #[error("TLS failed: {0}")]
    Tls(String),
    #[error("no connection: {0}")]
    Connection(String),
    #[error("too many redirects")]
    TooManyRedirects,
    /// The address answered with a file instead of a page.
    #[error("the address is a download")]
    Download { content_type: Option<String> },
    /// The caller's own filter forbade it. The address is whole, so that the caller can tell by which of its rules.
    #[error("the address is not allowed: {}", clip(.0))]
    Filtered(String),
    #[error("{0}")]
    Other(String),
}

impl From<NavigationError> for VisitError {
    fn from(error: NavigationError) -> Self {
        Self::Navigation(error)
    }
}

/// What a visit was doing when its time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    Start,
    /// Waiting for the first answer of the page.
    Response,
    Actions,
    Screenshot,
    /// Reading the page out.
    Harvest,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Start => "starting the browser",
            Self::Response => "waiting for the page to answer",
            Self::Actions => "carrying out actions",
            Self::Screenshot => "taking a picture",
            Self::Harvest => "reading the page",
        })
    }
}

/// A text from outside, short enough for a log line.
pub(crate) fn clip(text: &str) -> String {
    const LONGEST: usize = 300;
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(LONGEST)])
}
