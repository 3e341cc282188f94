//! The door of every route that needs a key: who calls, may they, and not too often.

use crate::app::{App, Cors, Settings};
use crate::error::Failure;
use crate::public::base_url;
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

/// Longer headers hold no key of ours.
const MAX_KEY: usize = 512;
/// Where the page that sent a request comes from, relative to us; set by browsers only, and not by pages.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a group of routes asks of its callers.
#[derive(Clone, Debug)]
pub struct Door {
    pub app: App,
    pub group: RateGroup,
    /// `None`: any valid key will do.
    pub scope: Option<Scope>,
}

pub async fn guard(State(door): State<Door>, mut request: Request, next: Next) -> Response {
    match admit(&door, request.method(), request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => refuse(&door.app, error, request.headers()),
    }
}

async fn admit(door: &Door, method: &Method, headers: &HeaderMap) -> Result<Arc<Caller>, WireError> {
    let caller = identify(&door.app, headers).await?;
    if let Some(scope) = door.scope {
        caller.require(scope)?;
    }
    // What starts work stores what comes of it; what only reads is answered also from a full disk.
    if method == Method::POST && door.group != RateGroup::Status {
        door.app.storage.require_room(door.group)?;
    }
    door.app.gate.admit(&caller, door.group).await?;
    Ok(caller)
}

/// The caller behind the `Authorization` header.
pub async fn identify(app: &App, headers: &HeaderMap) -> Result<Arc<Caller>, WireError> {
    if !app.settings.auth {
        refuse_web_pages(&app.settings, headers)?;
        return app.callers.anyone().await;
    }
    let key = bearer(headers).ok_or(Kind::Unauthorized)?;
    app.callers.authenticate(key).await
}

/// Without keys, only the address protects us, and any web page in a browser on this machine can send
/// requests to it: under a name that resolves here, or from an origin nobody allowed. Neither passes.
fn refuse_web_pages(settings: &Settings, headers: &HeaderMap) -> Result<(), WireError> {
    if has_loopback_host(headers) && !is_from_foreign_page(settings, headers) {
        Ok(())
    } else {
        Err(Kind::Forbidden.into())
    }
}

/// With authentication off, round all routes: a name that an attacker made resolve to this machine (DNS rebinding) gets no answer,
/// not even from the routes that never need a key.
pub async fn require_loopback_host(request: Request, next: Next) -> Response {
    if has_loopback_host(request.headers()) {
        next.run(request).await
    } else {
        Failure::from(Kind::Forbidden).into_response()
    }
}

/// Whether the request names this machine as its host. A missing `Host` is not from a browser.
fn has_loopback_host(headers: &HeaderMap) -> bool {
    text(headers, HOST).is_none_or(|host| {
        let name = host_name(host);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// Whether the host is an address or `localhost`: no name that somebody else could make resolve to this machine.
pub fn has_literal_host(headers: &HeaderMap) -> bool {
    text(headers, HOST).is_none_or(|host| {
        let name = host_name(host);
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

/// Whether a web page of another origin, which `cors` does not allow, made its reader's browser send this. `Origin` is missing on
/// plain GETs (pictures, scripts, links), where only `Sec-Fetch-Site` tells; programs send neither.
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
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() && key.len() <= MAX_KEY).then_some(key)
}

/// The error as a response; a 401 points to where the way in is described.
pub fn refuse(app: &App, error: WireError, headers: &HeaderMap) -> Response {
    let unauthorized = error.kind == Kind::Unauthorized;
    let mut response = Failure(error).into_response();
    if unauthorized {
        let base = base_url(&app.settings, headers);
        let challenge = format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource\"");
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
    response
}

/// The caller, in handlers behind a [`Door`].
#[derive(Debug, Clone)]
pub struct Who(pub Arc<Caller>);

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
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
    fn reads_bearer_keys_only() {
        assert_eq!(bearer(&with("Bearer gn-x")), Some("gn-x"));
        assert_eq!(bearer(&with("bearer   gn-x ")), Some("gn-x"));
        for wrong in ["Basic gn-x", "Bearer", "Bearer ", "gn-x", "Bearergn-x"] {
            assert_eq!(bearer(&with(wrong)), None, "{wrong}");
        }
        assert_eq!(bearer(&with(&format!("Bearer {}", "x".repeat(600)))), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn knows_its_own_names() {
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
    fn tells_pages_of_others_from_programs() {
        let settings = |cors: Cors| Settings { cors, ..crate::public::tests::settings(None) };
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
