//! What becomes of each request of a page, decided while it waits: let through, given headers of the visit, or stopped.

use super::events::Paused;
use super::{Page, read};
use crate::ads::{Ads, RequestKind};
use net::HopRule;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use url::{Origin, Url};

/// What holds for the requests of one visit.
pub(crate) struct Rules {
    /// What the loopback proxy wants to hear.
    pub(crate) login: (String, String),
    /// Whether images, fonts and media are loaded.
    pub(crate) pictures: bool,
    /// Headers of the caller, and the only origin they are for.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) origin: Origin,
    pub(crate) filter: Option<HopRule>,
    /// Lists of what a page does without.
    pub(crate) ads: Option<Ads>,
    /// The page that was asked for, until one is shown.
    pub(crate) page: Url,
}

enum Word {
    Go,
    GoWith(Vec<(String, String)>),
    /// Not wanted here; nothing is said about it.
    Skip,
    /// Forbidden by the caller, or an advertisement.
    Stop,
}

impl Rules {
    /// Which requests must wait for our word. Documents always, because only those that wait can log in at the proxy;
    /// everything only where everything is looked at, since each wait costs.
    pub(crate) fn patterns(&self) -> Value {
        let everything = self.filter.is_some() || self.ads.is_some() || !self.headers.is_empty();
        let kinds: &[&str] = if everything {
            return json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": "*" }] });
        } else if self.pictures {
            &["Document"]
        } else {
            &["Document", "Image", "Font", "Media"]
        };
        let patterns: Vec<Value> = kinds.iter().map(|kind| json!({ "resourceType": kind })).collect();
        json!({ "handleAuthRequests": true, "patterns": patterns })
    }

    fn word(&self, paused: &Paused, in_main_frame: bool, shown: Option<&Url>) -> Word {
        if !self.pictures && matches!(paused.resource_type.as_str(), "Image" | "Font" | "Media") {
            return Word::Skip;
        }
        // What has no network address of its own (`blob:`, `data:`) asks nobody for anything.
        let Some(url) = Url::parse(&paused.request.url).ok().filter(Url::has_host) else {
            return Word::Go;
        };
        if let Some(filter) = &self.filter {
            // A filter that breaks forbids.
            let allowed = catch_unwind(AssertUnwindSafe(|| filter(&url))).unwrap_or(false);
            if !allowed {
                return Word::Stop;
            }
        }
        if let Some(ads) = &self.ads {
            let kind = RequestKind::from_devtools(&paused.resource_type, in_main_frame);
            if ads.blocks(&url, shown.unwrap_or(&self.page), kind) {
                return Word::Stop;
            }
        }
        self.with_headers(paused, &url)
    }

    /// Adds the caller's headers for their origin, and takes them away where a redirect has carried them elsewhere.
    fn with_headers(&self, paused: &Paused, url: &Url) -> Word {
        if self.headers.is_empty() {
            return Word::Go;
        }
        let is_ours = |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let carried = paused.request.headers.keys().any(|name| is_ours(name));
        let at_home = url.origin() == self.origin;
        if !at_home && !carried {
            return Word::Go;
        }
        let theirs = paused.request.headers.iter().filter(|(name, _)| !is_ours(name));
        let mut headers: Vec<(String, String)> =
            theirs.map(|(name, value)| (name.clone(), value.clone())).collect();
        if at_home {
            headers.extend(self.headers.iter().cloned());
        }
        Word::GoWith(headers)
    }
}

impl Page {
    /// Answers a request that waits, on the session it waits in.
    pub(super) fn decide(&self, session: &str, method: &str, params: &RawValue) {
        let (Some(paused), Some(rules)) = (read::<Paused>(params), self.rules.get()) else { return };
        if let Some(challenge) = &paused.auth_challenge {
            let answer = if challenge.source == "Proxy" && self.may_log_in(&paused.request_id) {
                let (username, password) = &rules.login;
                json!({ "response": "ProvideCredentials", "username": username, "password": password })
            } else {
                // A page that wants a login is shown as it is without one.
                json!({ "response": "CancelAuth" })
            };
            let answer = json!({ "requestId": paused.request_id, "authChallengeResponse": answer });
            self.connection.post(Some(session), "Fetch.continueWithAuth", &answer);
            return;
        }
        debug_assert_eq!(method, "Fetch.requestPaused");
        let id = &paused.request_id;
        let in_main_frame = paused.frame_id == self.frame;
        let shown = self.book().shown.clone();
        let (method, answer) = match rules.word(&paused, in_main_frame, shown.as_ref()) {
            Word::Go => ("Fetch.continueRequest", json!({ "requestId": id })),
            Word::GoWith(headers) => {
                let headers: Vec<Value> =
                    headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
                ("Fetch.continueRequest", json!({ "requestId": id, "headers": headers }))
            }
            word @ (Word::Skip | Word::Stop) => {
                if matches!(word, Word::Stop) {
                    let is_main = paused.resource_type == "Document" && in_main_frame;
                    self.note(|book| {
                        book.blocked = book.blocked.saturating_add(1);
                        if is_main {
                            book.filtered = Some(paused.request.url.clone());
                        }
                    });
                }
                ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }))
            }
        };
        self.connection.post(Some(session), method, &answer);
    }

    /// The proxy's question is answered once for each request: asked again, the answer was wrong.
    fn may_log_in(&self, request: &str) -> bool {
        let mut book = self.book();
        let first = book.last_login.as_deref() != Some(request);
        book.last_login = Some(request.to_owned());
        first
    }
}
