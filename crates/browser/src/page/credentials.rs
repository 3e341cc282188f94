//! Which requests of a visit carry the headers that the caller gave: those that `net` would let carry them. The documents of the main
//! frame on a named origin, where a redirect on the same site takes them from there, and what such a page loads from these origins.
//!
//! Cookies of the caller lie in the browser's jar, where pages expect them, and the browser sends them to every port of their host. So a
//! request to another port waits until they are gone, or is not made.

use super::events::Paused;
use net::{CredentialScope, Credentials};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use url::Url;

pub(crate) struct VisitHeaders {
    /// Without those that the browser says in another way (cookies, its own name, its languages).
    headers: Vec<(String, String)>,
    /// Names of the caller's cookies, all of them for the host of `page`.
    cookies: Vec<String>,
    cookies_deleted: AtomicBool,
    page: Url,
    credentials: Credentials,
    redirects: Mutex<Redirects>,
}

#[derive(Default)]
struct Redirects {
    /// The last request of the main frame that carried the headers: its id and address.
    last: Option<(String, Url)>,
    /// The origins that redirects took them to.
    reached: CredentialScope,
}

impl VisitHeaders {
    /// Headers and the names of cookies for a visit of `page`. A page that they are not for carries none, and leads to none that does.
    pub(crate) fn new(
        headers: Vec<(String, String)>,
        cookies: Vec<String>,
        credentials: Credentials,
        page: &Url,
    ) -> Self {
        let headers = if credentials.cover(page) { headers } else { Vec::new() };
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

    /// Whether the browser would send the caller's cookies with a request to `url`, and must not.
    pub(crate) fn would_leak_cookies(&self, url: &Url) -> bool {
        !self.cookies_deleted.load(Ordering::Acquire)
            && url.host_str() == self.page.host_str()
            && !self.covers(url)
    }

    /// The commands that delete the caller's cookies.
    pub(crate) fn deletions(&self) -> Vec<Value> {
        self.cookies.iter().map(|name| json!({ "name": name, "url": self.page.as_str() })).collect()
    }

    /// They are gone, for the rest of the visit.
    pub(crate) fn note_deleted(&self) {
        self.cookies_deleted.store(true, Ordering::Release);
    }

    /// All headers of a request to `url`, where they are not to be sent as they are: with the caller's added, or taken away where a redirect
    /// carried them too far. `moves_page`: it is for the document of the main frame; `shown`: the document that is there now.
    pub(crate) fn headers_of(
        &self,
        paused: &Paused,
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

    fn page_carries(&self, paused: &Paused, url: &Url) -> bool {
        let named = self.covers(url);
        let mut redirects = self.redirects();
        let carries = match &paused.redirected_request_id {
            None => named,
            // Once a redirect has left the site, nothing comes back.
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
        self.credentials.cover(url) || self.redirects().reached.covers(url)
    }

    fn redirects(&self) -> MutexGuard<'_, Redirects> {
        self.redirects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
