//! What a page has done so far: its documents and their answers, the requests under way, what was stopped. Pure.

use super::children::Children;
use super::events::{Done, Frame, Received, Sent};
use crate::error::VisitError;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Answers that are remembered. Only the last counts, but they may come before the document they belong to.
const MOST_ANSWERS: usize = 16;
/// Requests under way that are told apart.
const MOST_REQUESTS: usize = 4096;
const MOST_HEADERS: usize = 256;
/// A request that takes longer holds nobody up: it is a long poll or a stream, or nothing will come of it.
const PATIENCE: Duration = Duration::from_secs(3);
/// A move that the page has announced for later than this is not waited for.
const SOON: f64 = 2.0;

/// The head of an answer to a document's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) content_type: Option<String>,
}

#[derive(Default)]
pub(crate) struct Book {
    /// The document that is shown now. Its id is also that of its request.
    pub(crate) document: Option<String>,
    /// Its address when it came.
    pub(crate) shown: Option<Url>,
    /// Instead of a document, the browser shows an error for this address.
    pub(crate) unreachable: Option<String>,
    /// Documents there have been.
    pub(crate) documents: u32,
    /// Whether the document is parsed, and whether its parts are there.
    pub(crate) parsed: bool,
    pub(crate) loaded: bool,
    /// When the page will move on by itself.
    pub(crate) scheduled: Option<Instant>,
    pub(crate) blocked: u32,
    pub(crate) dialogs: u32,
    pub(crate) windows: u32,
    /// Workers, and frames in processes of their own.
    pub(super) children: Children,
    /// Sites that frames of the page have shown, beside its own.
    pub(super) frame_sites: HashSet<(String, String)>,
    /// The document whose banners are hidden.
    pub(crate) tidied: Option<String>,
    /// The request that last logged in at the proxy.
    pub(super) last_login: Option<String>,
    /// The main document's address if the filter stopped it.
    pub(crate) filtered: Option<String>,
    /// Where our own scripts run in this document.
    pub(crate) world: Option<i64>,
    pub(crate) end: Option<VisitError>,
    /// The request that failed last, and how.
    pub(crate) last_failure: Option<(String, String)>,
    answers: VecDeque<(String, Answer)>,
    under_way: HashMap<String, UnderWay>,
    last_activity: Option<Instant>,
}

/// A request that has not ended.
struct UnderWay {
    since: Instant,
    /// The session that it was made in. The end of a request is told in the same one, or in that of the frame it made.
    session: String,
}

impl Book {
    pub(super) fn sent(&mut self, main: &str, session: &str, sent: &Sent<'_>) {
        let moves = sent.kind == "Document" && sent.frame_id == main && sent.request_id == sent.loader_id;
        if moves {
            self.scheduled = None;
        }
        // These are never over, or matter to nobody who reads.
        let lasting =
            matches!(&*sent.kind, "WebSocket" | "EventSource" | "Media" | "Ping" | "Prefetch" | "Manifest");
        if lasting || self.under_way.len() >= MOST_REQUESTS {
            return;
        }
        let now = Instant::now();
        let request = UnderWay { since: now, session: session.to_owned() };
        self.under_way.insert(sent.request_id.to_string(), request);
        self.last_activity = Some(now);
    }

    pub(super) fn received(&mut self, main: &str, received: Received<'_>) {
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
            .take(MOST_HEADERS)
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        headers.sort();
        let declared =
            headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.clone());
        let content_type = declared.or_else(|| Some(response.mime_type).filter(|kind| !kind.is_empty()));
        let answer = Answer { url: response.url, status: response.status, headers, content_type };
        if self.answers.len() >= MOST_ANSWERS {
            self.answers.pop_front();
        }
        self.answers.push_back((received.loader_id.into_owned(), answer));
    }

    pub(super) fn done(&mut self, done: &Done<'_>) {
        if self.under_way.remove(&*done.request_id).is_some() {
            self.last_activity = Some(Instant::now());
        }
        if let Some(error) = &done.error_text {
            self.last_failure = Some((done.request_id.to_string(), error.clone()));
        }
    }

    /// These sessions are gone, and nobody will tell how their requests ended.
    pub(super) fn forget_requests(&mut self, sessions: &[String]) {
        self.under_way.retain(|_, request| !sessions.contains(&request.session));
    }

    pub(super) fn navigated(&mut self, frame: Frame) {
        // What the document before had asked for is of no interest any more.
        self.under_way.retain(|request, _| *request == frame.loader_id);
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
        self.scheduled =
            (0.0..=SOON).contains(&delay).then(|| Instant::now() + Duration::from_secs_f64(delay));
    }

    /// The answer that a document came with.
    pub(crate) fn answer(&self, document: &str) -> Option<&Answer> {
        self.answers.iter().rev().find(|(id, _)| id == document).map(|(_, answer)| answer)
    }

    /// For how long nothing has been under way; `None` while something is.
    pub(crate) fn quiet_for(&self) -> Option<Duration> {
        let now = Instant::now();
        let waited_for = |request: &UnderWay| now.duration_since(request.since) < PATIENCE;
        // An announced move that did not come is not waited for long.
        let moving = self.scheduled.is_some_and(|at| now < at + Duration::from_millis(500));
        if moving || self.under_way.values().any(waited_for) {
            return None;
        }
        Some(self.last_activity.map_or(Duration::MAX, |last| now.duration_since(last)))
    }
}
