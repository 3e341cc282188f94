//! The state of a page: its documents and their responses, requests in flight, what was blocked. Pure.

use super::children::Children;
use super::events::{Frame, LoadingEnded, RequestSent, ResponseReceived};
use crate::error::VisitError;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Responses that are kept. Only the last counts, but they may arrive before the document they belong to.
const MAX_RESPONSES: usize = 16;
/// Requests in flight that are tracked.
const MAX_TRACKED_REQUESTS: usize = 4096;
const MAX_HEADERS: usize = 256;
/// A slower request is not waited for: it is a long poll or a stream, or it will never end.
const SLOW_REQUEST_AFTER: Duration = Duration::from_secs(3);
/// A navigation scheduled for later than this is not waited for.
const MAX_SCHEDULED_SECONDS: f64 = 2.0;

/// The response head of a document request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentResponse {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: Option<String>,
}

#[derive(Default)]
pub(crate) struct PageState {
    /// The current document. Its id is also the id of its request.
    pub(crate) document: Option<String>,
    /// The URL of the current document when it was loaded.
    pub(crate) shown: Option<Url>,
    /// The browser shows an error page for this URL instead of a document.
    pub(crate) unreachable: Option<String>,
    /// Number of documents so far.
    pub(crate) documents: u32,
    /// Whether the document is parsed, and whether its resources are loaded.
    pub(crate) parsed: bool,
    pub(crate) loaded: bool,
    /// When the page will navigate by itself.
    pub(crate) scheduled: Option<Instant>,
    pub(crate) blocked: u32,
    pub(crate) dialogs: u32,
    pub(crate) windows: u32,
    /// Workers, and frames in processes of their own.
    pub(super) children: Children,
    /// Sites of the frames of the page, other than its own.
    pub(super) frame_sites: HashSet<(String, String)>,
    /// The document whose banners are hidden.
    pub(crate) banners_hidden_in: Option<String>,
    /// The last request that authenticated at the proxy.
    pub(super) last_login: Option<String>,
    /// The URL of the main document, if a filter blocked it.
    pub(crate) filtered: Option<String>,
    /// The isolated world of our scripts in this document.
    pub(crate) world: Option<i64>,
    pub(crate) end: Option<VisitError>,
    /// The last failed request and its error.
    pub(crate) last_error: Option<(String, String)>,
    responses: VecDeque<(String, DocumentResponse)>,
    in_flight: HashMap<String, InFlightRequest>,
    last_activity: Option<Instant>,
}

/// A request in flight.
struct InFlightRequest {
    since: Instant,
    /// The session it was made in. Its end is reported in the same session, or in that of the frame it
    /// created.
    session: String,
}

impl PageState {
    pub(super) fn sent(&mut self, main: &str, session: &str, sent: &RequestSent<'_>) {
        let is_navigation =
            sent.kind == "Document" && sent.frame_id == main && sent.request_id == sent.loader_id;
        if is_navigation {
            self.scheduled = None;
        }
        // These never end, or do not matter to a reader.
        let never_ends =
            matches!(&*sent.kind, "WebSocket" | "EventSource" | "Media" | "Ping" | "Prefetch" | "Manifest");
        if never_ends || self.in_flight.len() >= MAX_TRACKED_REQUESTS {
            return;
        }
        let now = Instant::now();
        let request = InFlightRequest { since: now, session: session.to_owned() };
        self.in_flight.insert(sent.request_id.to_string(), request);
        self.last_activity = Some(now);
    }

    pub(super) fn received(&mut self, main: &str, received: ResponseReceived<'_>) {
        let is_main = received.kind == "Document"
            && received.frame_id == main
            && received.request_id == received.loader_id;
        if !is_main {
            return;
        }
        let response = received.response;
        let mut headers: Vec<(String, String)> = response
            .headers
            .into_iter()
            .take(MAX_HEADERS)
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        headers.sort();
        let declared =
            headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.clone());
        let content_type = declared.or_else(|| Some(response.mime_type).filter(|kind| !kind.is_empty()));
        let response = DocumentResponse { url: response.url, status: response.status, headers, content_type };
        if self.responses.len() >= MAX_RESPONSES {
            self.responses.pop_front();
        }
        self.responses.push_back((received.loader_id.into_owned(), response));
    }

    pub(super) fn done(&mut self, done: &LoadingEnded<'_>) {
        if self.in_flight.remove(&*done.request_id).is_some() {
            self.last_activity = Some(Instant::now());
        }
        if let Some(error) = &done.error_text {
            self.last_error = Some((done.request_id.to_string(), error.clone()));
        }
    }

    /// These sessions are gone; the end of their requests will not be reported.
    pub(super) fn forget_requests(&mut self, sessions: &[String]) {
        self.in_flight.retain(|_, request| !sessions.contains(&request.session));
    }

    pub(super) fn navigated(&mut self, frame: Frame) {
        // Requests of the previous document no longer matter.
        self.in_flight.retain(|request, _| *request == frame.loader_id);
        self.shown = Url::parse(&frame.url).ok();
        self.document = Some(frame.loader_id);
        self.unreachable = frame.unreachable_url;
        self.world = None;
        self.documents = self.documents.saturating_add(1);
        self.parsed = false;
        self.loaded = false;
        self.scheduled = None;
        self.last_activity = Some(Instant::now());
    }

    pub(super) fn schedule(&mut self, delay: f64) {
        self.scheduled = (0.0..=MAX_SCHEDULED_SECONDS)
            .contains(&delay)
            .then(|| Instant::now() + Duration::from_secs_f64(delay));
    }

    /// The response of a document.
    pub(crate) fn response(&self, document: &str) -> Option<&DocumentResponse> {
        self.responses.iter().rev().find(|(id, _)| id == document).map(|(_, response)| response)
    }

    /// How long no request has been in flight; `None` while there is one.
    pub(crate) fn quiet_for(&self) -> Option<Duration> {
        let now = Instant::now();
        let is_recent = |request: &InFlightRequest| now.duration_since(request.since) < SLOW_REQUEST_AFTER;
        // A scheduled navigation that is late is not waited for much longer.
        let moving = self.scheduled.is_some_and(|at| now < at + Duration::from_millis(500));
        if moving || self.in_flight.values().any(is_recent) {
            return None;
        }
        Some(self.last_activity.map_or(Duration::MAX, |last| now.duration_since(last)))
    }
}
