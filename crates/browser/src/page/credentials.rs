//! Which requests of a visit carry the caller's headers: the same as in `net`. These are documents of the
//! main frame on a named origin or reached from there by redirects on the same site, and what such a page
//! loads from these origins.
//!
//! The caller's cookies are in the browser's cookie jar, where pages expect them, and the browser sends them
//! to every port of their host. So a request to another port waits until they are deleted, or is blocked.

use super::events::PausedRequest;
use net::{CredentialScope, Credentials};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use url::Url;

pub(crate) struct VisitHeaders {
    /// Without those that the browser sends itself (cookies, user agent, languages).
    headers: Vec<(String, String)>,
    /// Names of the caller's cookies, all for the host of `page`.
    cookies: Vec<String>,
    cookies_deleted: AtomicBool,
    page: Url,
    credentials: Credentials,
    redirects: Mutex<Redirects>,
}

#[derive(Default)]
struct Redirects {
    /// The last request of the main frame that carried the headers: its id and URL.
    last: Option<(String, Url)>,
    /// The origins that redirects took them to.
    reached: CredentialScope,
}

impl VisitHeaders {
    /// Headers and cookie names for a visit of `page`. If they are not for `page`, no request carries them.
    pub(crate) fn new(
        headers: Vec<(String, String)>,
        cookies: Vec<String>,
        credentials: Credentials,
        page: &Url,
    ) -> Self {
        let headers = if credentials.covers(page) { headers } else { Vec::new() };
        let cookies_deleted = AtomicBool::new(cookies.is_empty());
        Self {
            headers,
            cookies,
            cookies_deleted,
            page: page.clone(),
            credentials,
            redirects: Mutex::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.cookies.is_empty()
    }

    /// Whether the browser would send the caller's cookies with a request to `url` although it must not.
    pub(crate) fn would_leak_cookies(&self, url: &Url) -> bool {
        !self.cookies_deleted.load(Ordering::Acquire)
            && url.host_str() == self.page.host_str()
            && !self.covers(url)
    }

    /// Parameters of the commands that delete the caller's cookies.
    pub(crate) fn cookie_deletions(&self) -> Vec<Value> {
        self.cookies.iter().map(|name| json!({ "name": name, "url": self.page.as_str() })).collect()
    }

    /// The cookies are deleted, for the rest of the visit.
    pub(crate) fn mark_cookies_deleted(&self) {
        self.cookies_deleted.store(true, Ordering::Release);
    }

    /// The headers of a request to `url`, if they must be changed: with the caller's headers added, or
    /// removed where a redirect took them too far. `moves_page`: the request is for the document of the main
    /// frame; `shown`: the current document.
    pub(crate) fn headers_for(
        &self,
        paused: &PausedRequest,
        url: &Url,
        moves_page: bool,
        shown: &Url,
    ) -> Option<Vec<(String, String)>> {
        if self.headers.is_empty() {
            return None;
        }
        let carries =
            if moves_page { self.page_carries(paused, url) } else { self.covers(url) && self.covers(shown) };
        let is_ours = |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let carried = paused.request.headers.keys().any(|name| is_ours(name));
        if !carries && !carried {
            return None;
        }
        let theirs = paused.request.headers.iter().filter(|(name, _)| !is_ours(name));
        let mut headers: Vec<(String, String)> =
            theirs.map(|(name, value)| (name.clone(), value.clone())).collect();
        if carries {
            headers.extend(self.headers.iter().cloned());
        }
        Some(headers)
    }

    fn page_carries(&self, paused: &PausedRequest, url: &Url) -> bool {
        let named = self.covers(url);
        let mut redirects = self.redirects();
        let carries = match &paused.redirected_request_id {
            None => named,
            // Once a redirect has left the site, credentials are not sent again.
            Some(before) => redirects
                .last
                .as_ref()
                .is_some_and(|(id, from)| id == before && (named || Credentials::may_follow(from, url))),
        };
        if carries {
            redirects.reached.add(url);
        }
        redirects.last = carries.then(|| (paused.request_id.clone(), url.clone()));
        carries
    }

    fn covers(&self, url: &Url) -> bool {
        self.credentials.covers(url) || self.redirects().reached.covers(url)
    }

    fn redirects(&self) -> MutexGuard<'_, Redirects> {
        self.redirects.lock()
    }
}
