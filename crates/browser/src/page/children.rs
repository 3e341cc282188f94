//! What belongs to a page but lives in sessions of its own: frames of other sites, which have their own processes, and workers. Their
//! requests go by the rules of the page, and those of frames count for whether the page is at rest.

use super::events::{Attached, Detached, Done, Sent};
use super::{Page, read};
use crate::cdp::Listener;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use url::{Host, Url};

/// Workers of one page that are let run. More than this is an attack.
const MAX_WORKERS: usize = 32;
/// Frames in processes of their own that are let run at once.
const MAX_FRAMES: usize = 64;
/// Sites beside its own that a page may show in frames.
const MAX_FRAME_SITES: usize = 24;

/// The frames and workers of a page that are let run, by their sessions.
#[derive(Default)]
pub(crate) struct Children(HashMap<String, Kinship>);

struct Kinship {
    parent: String,
    is_frame: bool,
}

impl Children {
    /// Adds one, unless there are as many of its kind as may be.
    fn add(&mut self, session: &str, parent: &str, is_frame: bool, limit: usize) -> bool {
        if self.0.values().filter(|known| known.is_frame == is_frame).count() >= limit {
            return false;
        }
        self.0.insert(session.to_owned(), Kinship { parent: parent.to_owned(), is_frame });
        true
    }

    /// Removes one with everything below it, whose end nobody tells; returns their sessions.
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
    page: Arc<Page>,
    session: String,
    is_frame: bool,
}

impl Page {
    /// Takes in a frame or a worker. It waits until it is told to run, so nothing of it escapes the rules.
    pub(super) fn attach_child(&self, parent: &str, attached: &Attached) {
        let session = attached.session_id.as_str();
        let is_frame = attached.target_info.kind == "iframe";
        let limit = if is_frame { MAX_FRAMES } else { MAX_WORKERS };
        let admitted = self.book().children.add(session, parent, is_frame, limit);
        // One too many is left waiting for a start that never comes.
        let Some(page) = self.this.upgrade().filter(|_| admitted) else { return };
        let child = Child { page, session: session.to_owned(), is_frame };
        self.connection.listen(session, Arc::new(child));
        let post = |method: &str, params: &_| self.connection.post(Some(session), method, params);
        let rules = self.rules.get();
        if let Some(rules) = rules {
            post("Fetch.enable", &rules.patterns());
        }
        if is_frame {
            // As on the page itself: bodies are not asked for over the protocol.
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

    /// Whether a frame may show a document of this address. Every site has a process of its own, so a page could have any number of
    /// them made.
    pub(super) fn may_show_frame(&self, url: &str) -> bool {
        let Some(site) = Url::parse(url).ok().as_ref().and_then(site_of) else { return true };
        let mut book = self.book();
        if book.shown.as_ref().and_then(site_of).as_ref() == Some(&site) || book.frame_sites.contains(&site) {
            return true;
        }
        let allowed = book.frame_sites.len() < MAX_FRAME_SITES;
        if allowed {
            book.frame_sites.insert(site);
        }
        allowed
    }

    /// A frame or a worker is gone.
    pub(super) fn detach_child(&self, session: &str) {
        let gone = self.book().children.remove(session);
        for session in &gone {
            self.connection.forget(session);
        }
        self.note(|book| book.forget_requests(&gone));
    }
}

/// The site of an address as Chromium means it: scheme and registrable domain, or the whole host where there is none.
fn site_of(url: &Url) -> Option<(String, String)> {
    let host = match url.host()? {
        Host::Domain(name) => psl::domain_str(name).unwrap_or(name).to_owned(),
        address => address.to_string(),
    };
    Some((url.scheme().to_owned(), host))
}

impl Listener for Child {
    fn event(&self, method: &str, params: &RawValue) {
        let page = &self.page;
        match method {
            "Fetch.requestPaused" | "Fetch.authRequired" => page.decide(&self.session, method, params),
            "Network.requestWillBeSent" if self.is_frame => {
                let Some(sent) = read::<Sent<'_>>(params) else { return };
                page.note(|book| book.sent(&page.frame, &self.session, &sent));
            }
            "Network.loadingFinished" | "Network.loadingFailed" if self.is_frame => {
                let Some(done) = read::<Done<'_>>(params) else { return };
                page.note(|book| book.done(&done));
            }
            "Target.attachedToTarget" => {
                if let Some(attached) = read(params) {
                    page.attach_child(&self.session, &attached);
                }
            }
            "Target.detachedFromTarget" => {
                if let Some(gone) = read::<Detached>(params) {
                    page.detach_child(&gone.session_id);
                }
            }
            _ => {}
        }
    }

    fn closed(&self) {}
}
