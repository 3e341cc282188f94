//! Decides about each request of a page while it is paused: continue, change its headers, or block it.

use super::credentials::VisitHeaders;
use super::events::PausedRequest;
use super::{OpenPage, parse_event};
use crate::ads::{Ads, RequestKind};
use crate::storage_state::EMPTY_DOCUMENT;
use net::{BotIdentity, SIGNATURE_HEADERS, UrlRule};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use url::Url;

/// The rules for all requests of one visit.
pub(crate) struct RequestRules {
    /// User name and password for the loopback proxy.
    pub(crate) login: (String, String),
    /// Whether images, fonts and media are loaded.
    pub(crate) load_images: bool,
    /// Headers of the caller.
    pub(crate) headers: VisitHeaders,
    /// Signs requests for the document of the main frame.
    pub(crate) bot_identity: Option<Arc<BotIdentity>>,
    /// Checked for every request.
    pub(crate) filter: Option<UrlRule>,
    /// Checked for documents of the main frame only.
    pub(crate) page_filter: Option<UrlRule>,
    /// Ad blocking lists.
    pub(crate) ads: Option<Ads>,
    /// The requested page, until a document is shown.
    pub(crate) page: Url,
    /// Sent to every frame of another site before it runs.
    pub(crate) frame_commands: Vec<(&'static str, Value)>,
}

enum RequestDecision {
    Continue,
    ContinueWith(Vec<(String, String)>),
    /// Continue once the caller's cookies are deleted: the browser would send them.
    ContinueWithoutCookies(Option<Vec<(String, String)>>),
    /// Not needed; not counted as blocked.
    Skip,
    /// Refused by the caller's filter, or an advertisement.
    Block,
}

impl RequestRules {
    /// Which requests are paused. Documents always, because only paused requests can authenticate at the
    /// proxy; all requests only where all are checked, since each pause costs time.
    pub(crate) fn patterns(&self) -> Value {
        let everything = self.filter.is_some() || self.ads.is_some() || !self.headers.is_empty();
        let kinds: &[&str] = if everything {
            return json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": "*" }] });
        } else if self.load_images {
            &["Document"]
        } else {
            &["Document", "Image", "Font", "Media"]
        };
        let patterns: Vec<Value> = kinds.iter().map(|kind| json!({ "resourceType": kind })).collect();
        json!({ "handleAuthRequests": true, "patterns": patterns })
    }

    fn decide(&self, paused: &PausedRequest, in_main_frame: bool, shown: Option<&Url>) -> RequestDecision {
        if !self.load_images && matches!(paused.resource_type.as_str(), "Image" | "Font" | "Media") {
            return RequestDecision::Skip;
        }
        // URLs without a host (`blob:`, `data:`) cause no network request.
        let Some(url) = Url::parse(&paused.request.url).ok().filter(Url::has_host) else {
            return RequestDecision::Continue;
        };
        let moves_page = in_main_frame && paused.resource_type == "Document";
        let page_filter = self.page_filter.as_ref().filter(|_| moves_page);
        for filter in self.filter.iter().chain(page_filter) {
            // A filter that panics forbids.
            let allowed = catch_unwind(AssertUnwindSafe(|| filter(&url))).unwrap_or(false);
            if !allowed {
                return RequestDecision::Block;
            }
        }
        if let Some(ads) = &self.ads {
            let kind = RequestKind::from_devtools(&paused.resource_type, in_main_frame);
            if ads.blocks(&url, shown.unwrap_or(&self.page), kind) {
                return RequestDecision::Block;
            }
        }
        let headers = self.headers.headers_for(paused, &url, moves_page, shown.unwrap_or(&self.page));
        let headers = if moves_page { self.signed(paused, &url, headers) } else { headers };
        match headers {
            headers if self.headers.would_leak_cookies(&url) => {
                // A resource is not worth the cookies that the page still needs.
                if moves_page {
                    RequestDecision::ContinueWithoutCookies(headers)
                } else {
                    RequestDecision::Skip
                }
            }
            Some(headers) => RequestDecision::ContinueWith(headers),
            None => RequestDecision::Continue,
        }
    }
}

impl RequestRules {
    /// The headers of a request with a signature for its host; that of the request before a redirect goes.
    fn signed(
        &self,
        paused: &PausedRequest,
        url: &Url,
        headers: Option<Vec<(String, String)>>,
    ) -> Option<Vec<(String, String)>> {
        let Some(identity) = &self.bot_identity else { return headers };
        let sent = || paused.request.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut headers = headers.unwrap_or_else(|| sent().collect());
        headers.retain(|(name, _)| !SIGNATURE_HEADERS.iter().any(|ours| name.eq_ignore_ascii_case(ours)));
        let signature = identity.sign_request(url).into_iter();
        headers.extend(signature.map(|(name, value)| (name.to_owned(), value)));
        Some(headers)
    }
}

/// Parameters that continue a request, with all of its headers if they are given.
fn continue_params(id: &str, headers: Option<&[(String, String)]>) -> Value {
    let header = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    match headers {
        None => json!({ "requestId": id }),
        Some(headers) => {
            json!({ "requestId": id, "headers": headers.iter().map(header).collect::<Vec<_>>() })
        }
    }
}

impl OpenPage {
    /// Decides about a paused request, on the session it belongs to.
    pub(super) fn handle_paused(&self, session: &str, method: &str, params: &RawValue) {
        let Some(paused) = parse_event::<PausedRequest>(params) else { return };
        let Some(rules) = self.rules.get() else {
            // No visit yet: an origin is opened to restore its storage, and nothing may leave.
            let document = json!({
                "requestId": paused.request_id, "responseCode": 200, "body": EMPTY_DOCUMENT,
                "responseHeaders": [{ "name": "Content-Type", "value": "text/html" }],
            });
            self.connection.post(Some(session), "Fetch.fulfillRequest", &document);
            return;
        };
        if let Some(challenge) = &paused.auth_challenge {
            let response = if challenge.source == "Proxy" && self.may_log_in(session, &paused.request_id) {
                let (username, password) = &rules.login;
                json!({ "response": "ProvideCredentials", "username": username, "password": password })
            } else {
                // A page that requires a login is shown as it is without one.
                json!({ "response": "CancelAuth" })
            };
            let response = json!({ "requestId": paused.request_id, "authChallengeResponse": response });
            self.connection.post(Some(session), "Fetch.continueWithAuth", &response);
            return;
        }
        debug_assert_eq!(method, "Fetch.requestPaused");
        let id = &paused.request_id;
        let in_main_frame = paused.frame_id == self.frame;
        let shown = self.state().shown.clone();
        let mut decision = rules.decide(&paused, in_main_frame, shown.as_ref());
        if paused.resource_type == "Document" && !in_main_frame && !self.may_show_frame(&paused.request.url) {
            decision = RequestDecision::Block;
        }
        let (method, response) = match decision {
            RequestDecision::Continue => ("Fetch.continueRequest", continue_params(id, None)),
            RequestDecision::ContinueWith(headers) => {
                ("Fetch.continueRequest", continue_params(id, Some(&headers)))
            }
            RequestDecision::ContinueWithoutCookies(headers) => {
                return self.continue_without_cookies(session, id, continue_params(id, headers.as_deref()));
            }
            decision @ (RequestDecision::Skip | RequestDecision::Block) => {
                if matches!(decision, RequestDecision::Block) {
                    let is_main = paused.resource_type == "Document" && in_main_frame;
                    self.update_state(|state| {
                        state.blocked = state.blocked.saturating_add(1);
                        if is_main {
                            state.filtered = Some(shorten_url(&paused.request.url));
                        }
                    });
                }
                ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }))
            }
        };
        self.connection.post(Some(session), method, &response);
    }

    /// Continues a request once the caller's cookies are deleted; fails it if they cannot be.
    fn continue_without_cookies(&self, session: &str, id: &str, params: Value) {
        let (Some(page), session) = (self.this.upgrade(), session.to_owned()) else { return };
        let fail = json!({ "requestId": id, "errorReason": "BlockedByClient" });
        tokio::spawn(async move {
            let Some(rules) = page.rules.get() else { return };
            for cookie in rules.headers.cookie_deletions() {
                if page.connection.send(Some(&page.session), "Network.deleteCookies", &cookie).await.is_err()
                {
                    return page.connection.post(Some(&session), "Fetch.failRequest", &fail);
                }
            }
            rules.headers.mark_cookies_deleted();
            page.connection.post(Some(&session), "Fetch.continueRequest", &params);
        });
    }

    /// Proxy credentials are sent once per request: if the proxy asks again, they were wrong. Request ids are
    /// unique within a session only.
    fn may_log_in(&self, session: &str, request: &str) -> bool {
        let request = format!("{session} {request}");
        let mut state = self.state();
        let first = state.last_login.as_ref() != Some(&request);
        state.last_login = Some(request);
        first
    }
}

/// A URL for reports: complete, or only its origin if it is longer than any URL we would request.
fn shorten_url(url: &str) -> String {
    if url.len() <= net::MAX_URL_BYTES {
        return url.to_owned();
    }
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}
