//! What becomes of each request of a page, decided while it waits: let through, given headers of the visit, or stopped.

use super::credentials::VisitHeaders;
use super::events::Paused;
use super::{Page, read};
use crate::ads::{Ads, RequestKind};
use net::HopRule;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use url::Url;

/// What holds for the requests of one visit.
pub(crate) struct Rules {
    /// What the loopback proxy wants to hear.
    pub(crate) login: (String, String),
    /// Whether images, fonts and media are loaded.
    pub(crate) pictures: bool,
    /// Headers of the caller.
    pub(crate) headers: VisitHeaders,
    /// Asked about every request.
    pub(crate) filter: Option<HopRule>,
    /// Asked about documents of the main frame only.
    pub(crate) page_filter: Option<HopRule>,
    /// Lists of what a page does without.
    pub(crate) ads: Option<Ads>,
    /// The page that was asked for, until one is shown.
    pub(crate) page: Url,
    /// Sent to every frame of another site before it runs.
    pub(crate) frame_commands: Vec<(&'static str, Value)>,
}

enum Word {
    Go,
    GoWith(Vec<(String, String)>),
    /// The same, once the caller's cookies are gone: the browser would send them along.
    GoWithoutCookies(Option<Vec<(String, String)>>),
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
        let moves_page = in_main_frame && paused.resource_type == "Document";
        let page_filter = self.page_filter.as_ref().filter(|_| moves_page);
        for filter in self.filter.iter().chain(page_filter) {
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
        let headers = self.headers.headers_of(paused, &url, moves_page, shown.unwrap_or(&self.page));
        match headers {
            headers if self.headers.would_leak_cookies(&url) => {
                // A part of a page is not worth the cookies that the page still needs.
                if moves_page { Word::GoWithoutCookies(headers) } else { Word::Skip }
            }
            Some(headers) => Word::GoWith(headers),
            None => Word::Go,
        }
    }
}

/// The command that lets a request go, with all of its headers where they are given.
fn go(id: &str, headers: Option<&[(String, String)]>) -> Value {
    let header = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    match headers {
        None => json!({ "requestId": id }),
        Some(headers) => {
            json!({ "requestId": id, "headers": headers.iter().map(header).collect::<Vec<_>>() })
        }
    }
}

impl Page {
    /// Answers a request that waits, on the session it waits in.
    pub(super) fn decide(&self, session: &str, method: &str, params: &RawValue) {
        let (Some(paused), Some(rules)) = (read::<Paused>(params), self.rules.get()) else { return };
        if let Some(challenge) = &paused.auth_challenge {
            let answer = if challenge.source == "Proxy" && self.may_log_in(session, &paused.request_id) {
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
        let mut word = rules.word(&paused, in_main_frame, shown.as_ref());
        if paused.resource_type == "Document" && !in_main_frame && !self.may_show_frame(&paused.request.url) {
            word = Word::Stop;
        }
        let (method, answer) = match word {
            Word::Go => ("Fetch.continueRequest", go(id, None)),
            Word::GoWith(headers) => ("Fetch.continueRequest", go(id, Some(&headers))),
            Word::GoWithoutCookies(headers) => {
                return self.go_without_cookies(session, id, go(id, headers.as_deref()));
            }
            word @ (Word::Skip | Word::Stop) => {
                if matches!(word, Word::Stop) {
                    let is_main = paused.resource_type == "Document" && in_main_frame;
                    self.note(|book| {
                        book.blocked = book.blocked.saturating_add(1);
                        if is_main {
                            book.filtered = Some(bounded(&paused.request.url));
                        }
                    });
                }
                ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }))
            }
        };
        self.connection.post(Some(session), method, &answer);
    }

    /// Lets a request go once the caller's cookies are deleted; where they cannot be, it fails.
    fn go_without_cookies(&self, session: &str, id: &str, go: Value) {
        let (Some(page), session) = (self.this.upgrade(), session.to_owned()) else { return };
        let fail = json!({ "requestId": id, "errorReason": "BlockedByClient" });
        tokio::spawn(async move {
            let Some(rules) = page.rules.get() else { return };
            for cookie in rules.headers.deletions() {
                if page.connection.send(Some(&page.session), "Network.deleteCookies", &cookie).await.is_err()
                {
                    return page.connection.post(Some(&session), "Fetch.failRequest", &fail);
                }
            }
            rules.headers.note_deleted();
            page.connection.post(Some(&session), "Fetch.continueRequest", &go);
        });
    }

    /// The proxy's question is answered once for each request: asked again, the answer was wrong. Sessions number their requests each
    /// for itself.
    fn may_log_in(&self, session: &str, request: &str) -> bool {
        let request = format!("{session} {request}");
        let mut book = self.book();
        let first = book.last_login.as_ref() != Some(&request);
        book.last_login = Some(request);
        first
    }
}

/// An address as it is reported: whole, or its origin alone where it is longer than any address we would ask for.
fn bounded(url: &str) -> String {
    if url.len() <= net::LONGEST_URL {
        return url.to_owned();
    }
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}
