//! The result of a visit.

use crate::storage_state::StorageState;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// A page after it became ready. URL, status, headers and HTML always belong to the same document.
#[derive(Debug, Clone)]
pub struct Visited {
    /// The final URL, after redirects of every kind.
    pub url: Url,
    /// `None` for documents that did not come over HTTP.
    pub status: Option<u16>,
    /// Names in lower case; repeated headers are joined by line breaks.
    pub headers: Vec<(String, String)>,
    pub content_type: Option<String>,
    /// The document after its scripts have run.
    pub html: String,
    /// Whether `html` was truncated at the size limit.
    pub truncated: bool,
    /// Results of the actions that have one, in order.
    pub results: Vec<ActionResult>,
    pub screenshot: Option<ScreenshotImage>,
    pub collected: Option<Value>,
    pub state: Option<StorageState>,
    pub ready: Ready,
    pub timings: Timings,
    /// Requests blocked by a filter or by ad blocking.
    pub blocked_requests: u32,
    /// Dialogs that were dismissed.
    pub dialogs: u32,
    /// Windows the page opened; they were closed.
    pub windows: u32,
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionResult {
    Screenshot(ScreenshotImage),
    Scrape {
        url: String,
        html: String,
    },
    /// `kind` is the JavaScript type of the value.
    Javascript {
        kind: String,
        value: Value,
    },
    Pdf(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenshotImage {
    pub bytes: Vec<u8>,
    pub mime: &'static str,
}

/// Why a page was considered ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ready {
    /// No requests were in flight and the content no longer changed.
    Quiet,
    /// Requests continued, but the content no longer changed.
    Stable,
    /// The content still changed when the time was over.
    TimedOut,
    /// A script did not end and was stopped.
    Interrupted,
}

/// Durations of the phases of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Until a session was open.
    pub session: Duration,
    /// Until the response head arrived.
    pub response: Duration,
    /// Until the page was ready.
    pub ready: Duration,
    pub actions: Duration,
    /// Reading the page.
    pub read: Duration,
}
