//! Authentication, scopes and rate limits of the routes that need a key.

use crate::app::{App, Cors, Settings};
use crate::base_url::base_url;
use crate::error::ApiError;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::{Caller, RateGroup};
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Kind, Scope, WireError};

/// Longer values cannot be a key.
const MAX_KEY_BYTES: usize = 512;
/// How the page that sent a request is related to this server; set by browsers, pages cannot change it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a group of routes requires of its callers.
#[derive(Clone, Debug)]
pub struct RouteAccess {
    pub app: App,
    pub group: RateGroup,
    /// `None`: any valid key is accepted.
    pub scope: Option<Scope>,
}

pub async fn guard(State(access): State<RouteAccess>, mut request: Request, next: Next) -> Response {
    match check_access(&access, request.method(), request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error_response(&access.app, error, request.headers()),
    }
}

async fn check_access(
    access: &RouteAccess,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, WireError> {
    let caller = identify(&access.app, headers).await?;
    if let Some(scope) = access.scope {
        caller.require(scope)?;
    }
    // Requests that start work need disk space for results; requests that only read work on a full disk too.
    if method == Method::POST && access.group != RateGroup::Status {
        access.app.storage.require_room(access.group)?;
    }
    access.app.services.limiter.admit(&caller, access.group).await?;
    Ok(caller)
}

/// The caller identified by the `Authorization` header.
pub async fn identify(app: &App, headers: &HeaderMap) -> Result<Arc<Caller>, WireError> {
    if !app.settings.auth {
        reject_web_pages(&app.settings, headers)?;
        return Ok(app.callers.anyone().await?);
    }
    let key = bearer(headers).ok_or(Kind::Unauthorized)?;
    Ok(app.callers.authenticate(key).await?)
}

/// Without keys, the loopback address is the only protection, and any web page in a browser on this machine
/// can send requests to it: under a name that resolves to it (DNS rebinding), or from an origin that is not
/// allowed. Both are rejected.
fn reject_web_pages(settings: &Settings, headers: &HeaderMap) -> Result<(), WireError> {
    if has_loopback_host(headers) && !is_from_foreign_page(settings, headers) {
        Ok(())
    } else {
        Err(Kind::Forbidden.into())
    }
}

/// With authentication off, for all routes: requests to a name that an attacker made resolve to this machine
/// (DNS rebinding) are rejected, even on routes that never need a key.
pub async fn require_loopback_host(request: Request, next: Next) -> Response {
    if has_loopback_host(request.headers()) {
        next.run(request).await
    } else {
        ApiError::from(Kind::Forbidden).into_response()
    }
}

/// Whether the `Host` header names this machine. A request without `Host` is not from a browser.
fn has_loopback_host(headers: &HeaderMap) -> bool {
    text(headers, HOST).is_none_or(|host| {
        let name = host_name(host);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Whether the host is an IP address or `localhost`, not a name that an attacker could make resolve to this
/// machine.
pub fn has_literal_host(headers: &HeaderMap) -> bool {
    text(headers, HOST).is_none_or(|host| {
        let name = host_name(host);
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

/// Whether a browser sent this for a web page of another origin that `cors` does not allow. Simple GETs
/// (images, scripts, links) have no `Origin`, only `Sec-Fetch-Site`; other programs send neither.
pub fn is_from_foreign_page(settings: &Settings, headers: &HeaderMap) -> bool {
    let allowed = |origin: &str| match &settings.cors {
        Cors::None => false,
        Cors::Any => true,
        Cors::Origins(origins) => origins.iter().any(|known| known == origin),
    };
    if let Some(origin) = text(headers, ORIGIN) {
        return !allowed(origin);
    }
    let site = text(headers, SEC_FETCH_SITE);
    settings.cors != Cors::Any && site.is_some_and(|site| !["same-origin", "none"].contains(&site))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = text.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() && key.len() <= MAX_KEY_BYTES).then_some(key)
}

/// The error as a response; a 401 points to the document that describes authentication.
pub fn error_response(app: &App, error: WireError, headers: &HeaderMap) -> Response {
    let unauthorized = error.kind == Kind::Unauthorized;
    let mut response = ApiError(error).into_response();
    if unauthorized {
        let base = base_url(&app.settings, headers);
        let challenge = format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
    response
}

/// The authenticated caller, in handlers of routes with a [`RouteAccess`].
#[derive(Debug, Clone)]
pub struct Authenticated(pub Arc<Caller>);

impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Arc<Caller>>().cloned();
        Ok(Self(caller.ok_or(Kind::Unauthorized)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn accepts_bearer_keys_only() {
        assert_eq!(bearer(&with("Bearer gn-x")), Some("gn-x"));
        assert_eq!(bearer(&with("bearer   gn-x ")), Some("gn-x"));
        for wrong in ["Basic gn-x", "Bearer", "Bearer ", "gn-x", "Bearergn-x"] {
            assert_eq!(bearer(&with(wrong)), None, "{wrong}");
        }
        assert_eq!(bearer(&with(&format!("Bearer {}", "x".repeat(600)))), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn recognizes_loopback_and_literal_hosts() {
        let host = |name: &str| HeaderMap::from_iter([(HOST, HeaderValue::from_str(name).unwrap())]);
        for local in ["localhost", "LOCALHOST:3002", "127.0.0.1:3002", "127.9.9.9", "[::1]:3002"] {
            assert!(has_loopback_host(&host(local)) && has_literal_host(&host(local)), "{local}");
        }
        for other in ["evil.example", "localhost.evil.example:80", "10.0.0.1", "[2001:db8::1]", "", "?"] {
            assert!(!has_loopback_host(&host(other)), "{other}");
        }
        assert!(has_literal_host(&host("10.0.0.1:3002")) && has_literal_host(&host("[2001:db8::1]")));
        assert!(!has_literal_host(&host("evil.example")) && !has_literal_host(&host("1.evil.example")));
    }

    #[test]
    fn distinguishes_foreign_pages_from_programs() {
        let settings = |cors: Cors| Settings { cors, ..crate::base_url::tests::settings(None) };
        let sent = |pairs: &[(HeaderName, &'static str)]| {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
                .collect::<HeaderMap>()
        };
        let foreign = |cors: Cors, pairs: &[(HeaderName, &'static str)]| {
            is_from_foreign_page(&settings(cors), &sent(pairs))
        };
        let app = || Cors::Origins(vec!["https://app.example".to_owned()]);
        assert!(!foreign(Cors::None, &[]));
        for (site, refused) in
            [("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false)]
        {
            assert_eq!(foreign(Cors::None, &[(SEC_FETCH_SITE, site)]), refused, "{site}");
            assert_eq!(foreign(app(), &[(SEC_FETCH_SITE, site)]), refused, "{site}");
            assert!(!foreign(Cors::Any, &[(SEC_FETCH_SITE, site)]), "{site}");
        }
        let from = |origin: &'static str| [(ORIGIN, origin), (SEC_FETCH_SITE, "cross-site")];
        assert!(!foreign(app(), &from("https://app.example")));
        assert!(foreign(app(), &from("https://evil.example")) && foreign(Cors::None, &from("null")));
    }
}
