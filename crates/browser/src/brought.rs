//! What a visit brings back.

use crate::state::StorageState;
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// A page as it stood when it was ready. Address, status, headers and text are always of one and the same document.
#[derive(Debug, Clone)]
pub struct Visited {
    /// Where the visit ended, after redirects of every kind.
    pub url: Url,
    /// `None` for documents that did not come over HTTP.
    pub status: Option<u16>,
    /// In lower case; repeated headers are joined by line breaks.
    pub headers: Vec<(String, String)>,
    pub content_type: Option<String>,
    /// The document as it stood, scripts done.
    pub html: String,
    /// Whether `html` was cut at the limit.
    pub truncated: bool,
    /// Of those actions that have one, in their order.
    pub results: Vec<ActionResult>,
    pub screenshot: Option<Picture>,
    pub collected: Option<Value>,
    pub state: Option<StorageState>,
    pub ready: Ready,
    pub timings: Timings,
    /// Requests that a filter or the blocking of advertisements stopped.
    pub blocked_requests: u32,
    /// Dialogs that were dismissed.
    pub dialogs: u32,
    /// Windows the page opened, which were closed.
    pub windows: u32,
}

/// What an action brought.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionResult {
    Screenshot(Picture),
    Scrape {
        url: String,
        html: String,
    },
    /// `kind` is the type of the value as JavaScript names it.
    Javascript {
        kind: String,
        value: Value,
    },
    Pdf(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Vec<u8>,
    pub mime: &'static str,
}

/// How it was known that the page is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ready {
    /// Nothing was under way and nothing changed any more.
    Quiet,
    /// Requests went on, but what they brought changed nothing.
    Stable,
    /// It still changed when its time was over.
    TimedOut,
    /// A script would not end and was stopped.
    Interrupted,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Until a page of the browser was there.
    pub seat: Duration,
    /// Until the answer's head was there.
    pub response: Duration,
    /// Until the page was ready.
    pub settle: Duration,
    pub actions: Duration,
    /// Reading it out.
    pub harvest: Duration,
}
