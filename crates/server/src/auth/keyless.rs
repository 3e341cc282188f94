//! Requests without a key, where the operator allows them: which routes they may use, and what they are told about
//! their quota.

use super::{RouteAccess, is_from_foreign_page, sign_in_token};
use crate::app::App;
use crate::base_url::ClientAddress;
use access::Caller;
use access::keyless::Quota;
use axum::extract::{MatchedPath, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use std::sync::Arc;
use wire::{Kind, Scope, WireError};

/// Beside all routes of papers. What a team has in common, such as its activity and its earlier scrapes, is not among
/// them: the callers do not know each other.
const PATHS: [&str; 3] = ["/v2/scrape", "/v2/search", "/v2/parse"];

/// The caller of a request that brings no key and needs none.
pub fn caller(access: &RouteAccess, request: &Request) -> Option<Arc<Caller>> {
    let keyless = access.app.keyless.as_ref()?;
    let headers = request.headers();
    let path = request.extensions().get::<MatchedPath>()?.as_str();
    let is_open = access.scope == Some(Scope::Research) || PATHS.contains(&path);
    let has_credentials = headers.contains_key(AUTHORIZATION) || sign_in_token(headers).is_some();
    if !is_open || has_credentials || is_from_foreign_page(&access.app.settings, headers) {
        return None;
    }
    let address = request.extensions().get::<ClientAddress>()?;
    Some(Arc::new(keyless.caller(address.0)))
}

/// Why a request without a key is refused: where some need none, what those are.
pub fn key_needed(app: &App) -> WireError {
    if app.keyless.is_none() {
        let reason = "no API key was sent; send it as `Authorization: Bearer <key>`";
        return WireError::because(Kind::Unauthorized, reason);
    }
    let reason = "this needs an API key. Without one this server scrapes, searches, parses files and finds papers, for \
        programs and not for pages of other sites; /auth.md says how to get one";
    WireError::because(Kind::KeyNeeded, reason)
}

/// The response with what is left, in the headers that clients know for it.
pub fn with_quota(mut response: Response, quota: Option<Quota>) -> Response {
    if let Some(Quota { limit, remaining, resets_in }) = quota {
        let values = [u64::from(limit), u64::from(remaining), resets_in.as_secs().max(1)];
        let names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
        for (name, value) in names.into_iter().zip(values) {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
    response
}
