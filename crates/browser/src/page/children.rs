//! Frames of other sites, which have their own processes, and workers: they belong to a page but have
//! sessions of their own. Their requests follow the rules of the page, and those of frames count for whether
//! the page is quiet.

use super::events::{ChildAttached, ChildDetached, LoadingEnded, RequestSent};
use super::{OpenPage, parse_event};
use crate::cdp::Listener;
use serde_json::json;
use serde_json::value::RawValue;
use sites::public_suffix::registrable_domain;
use std::collections::HashMap;
use std::sync::Arc;
use url::{Host, Url};

/// Workers of one page that may run. More than this is an attack.
const MAX_WORKERS: usize = 32;
/// Frames in processes of their own that may run at once.
const MAX_FRAMES: usize = 64;
/// Other sites that a page may show in frames.
const MAX_FRAME_SITES: usize = 24;

/// The running frames and workers of a page, by session.
#[derive(Default)]
pub(crate) struct Children(HashMap<String, ChildInfo>);

struct ChildInfo {
    parent: String,
    is_frame: bool,
}

impl Children {
    /// Adds a child, unless the limit for its kind is reached.
    fn add(&mut self, session: &str, parent: &str, is_frame: bool, limit: usize) -> bool {
        if self.0.values().filter(|known| known.is_frame == is_frame).count() >= limit {
            return false;
        }
        self.0.insert(session.to_owned(), ChildInfo { parent: parent.to_owned(), is_frame });
        true
    }

    /// Removes a child with all its descendants, whose end is not reported; returns their sessions.
    fn remove(&mut self, session: &str) -> Vec<String> {
        let mut removed = vec![session.to_owned()];
        let mut at = 0;
        while at < removed.len() {
            let parent = &removed[at];
            let below: Vec<String> = self
                .0
                .iter()
                .filter(|(_, known)| known.parent == *parent)
                .map(|(session, _)| session.clone())
                .collect();
            self.0.remove(parent);
            removed.extend(below);
            at += 1;
        }
        removed
    }
}

/// The session of a frame or a worker.
struct Child {
    page: Arc<OpenPage>,
    session: String,
    is_frame: bool,
}

impl OpenPage {
    /// Starts to track a frame or worker. It is paused until we let it run, so nothing of it escapes the
    /// rules.
    pub(super) fn attach_child(&self, parent: &str, attached: &ChildAttached) {
        let session = attached.session_id.as_str();
        let is_frame = attached.target_info.kind == "iframe";
        let limit = if is_frame { MAX_FRAMES } else { MAX_WORKERS };
        let admitted = self.state().children.add(session, parent, is_frame, limit);
        // A child above the limit stays paused.
        let Some(page) = self.this.upgrade().filter(|_| admitted) else { return };
        let child = Child { page, session: session.to_owned(), is_frame };
        self.connection.listen(session, Arc::new(child));
        let post = |method: &str, params: &_| self.connection.post(Some(session), method, params);
        let rules = self.rules.get();
        if let Some(rules) = rules {
            post("Fetch.enable", &rules.patterns());
        }
        if is_frame {
            // As on the page itself: bodies are not read over the protocol.
            post(
                "Network.enable",
                &json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 }),
            );
            for (method, params) in rules.iter().flat_map(|rules| &rules.frame_commands) {
                post(method, params);
            }
        }
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        post("Target.setAutoAttach", &attach);
        post("Runtime.runIfWaitingForDebugger", &json!({}));
    }

    /// Whether a frame may show a document of this URL. Every site has a process of its own, so a page could
    /// otherwise start any number of processes.
    pub(super) fn may_show_frame(&self, url: &str) -> bool {
        let Some(site) = Url::parse(url).ok().as_ref().and_then(site_of) else { return true };
        let mut state = self.state();
        if state.shown.as_ref().and_then(site_of).as_ref() == Some(&site) || state.frame_sites.contains(&site)
        {
            return true;
        }
        let allowed = state.frame_sites.len() < MAX_FRAME_SITES;
        if allowed {
            state.frame_sites.insert(site);
        }
        allowed
    }

    /// A frame or worker has ended.
    pub(super) fn detach_child(&self, session: &str) {
        let gone = self.state().children.remove(session);
        for session in &gone {
            self.connection.remove_listener(session);
        }
        self.update_state(|state| state.forget_requests(&gone));
    }
}

/// The site of a URL as Chromium defines it: scheme and registrable domain, or the whole host if there is
/// none.
fn site_of(url: &Url) -> Option<(String, String)> {
    let host = match url.host()? {
        Host::Domain(name) => registrable_domain(name).unwrap_or(name).to_owned(),
        address => address.to_string(),
    };
    Some((url.scheme().to_owned(), host))
}

impl Listener for Child {
    fn event(&self, method: &str, params: &RawValue) {
        let page = &self.page;
        match method {
            "Fetch.requestPaused" | "Fetch.authRequired" => page.handle_paused(&self.session, method, params),
            "Network.requestWillBeSent" if self.is_frame => {
                let Some(sent) = parse_event::<RequestSent<'_>>(params) else { return };
                page.update_state(|state| state.sent(&page.frame, &self.session, &sent));
            }
            "Network.loadingFinished" | "Network.loadingFailed" if self.is_frame => {
                let Some(done) = parse_event::<LoadingEnded<'_>>(params) else { return };
                page.update_state(|state| state.done(&done));
            }
            "Target.attachedToTarget" => {
                if let Some(attached) = parse_event(params) {
                    page.attach_child(&self.session, &attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(gone) = parse_event::<ChildDetached>(params) {
                    page.detach_child(&gone.session_id);
                }
            }
            _ => {}
        }
    }

    fn closed(&self) {}
}
