//! The door of every route that needs a key: who calls, may they, and not too often.

use crate::app::{App, Cors, Settings};
use crate::error::Failure;
use crate::public::base_url;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::{Caller, RateGroup};
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Kind, Scope, WireError};

/// Longer headers hold no key of ours.
const MAX_KEY: usize = 512;

/// What a group of routes asks of its callers.
#[derive(Clone, Debug)]
pub struct Door {
    pub app: App,
    pub group: RateGroup,
    /// `None`: any valid key will do.
    pub scope: Option<Scope>,
}

pub async fn guard(State(door): State<Door>, mut request: Request, next: Next) -> Response {
    match admit(&door, request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => refuse(&door.app, error, request.headers()),
    }
}

async fn admit(door: &Door, headers: &HeaderMap) -> Result<Arc<Caller>, WireError> {
    let caller = identify(&door.app, headers).await?;
    if let Some(scope) = door.scope {
        caller.require(scope)?;
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
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let local = text(HOST).is_none_or(is_loopback_host);
    let allowed = text(ORIGIN).is_none_or(|origin| match &settings.cors {
        Cors::None => false,
        Cors::Any => true,
        Cors::Origins(origins) => origins.iter().any(|known| known == origin),
    });
    if local && allowed { Ok(()) } else { Err(Kind::Forbidden.into()) }
}

fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
        for local in ["localhost", "LOCALHOST:3002", "127.0.0.1:3002", "127.9.9.9", "[::1]:3002"] {
            assert!(is_loopback_host(local), "{local}");
        }
        for other in ["evil.example", "localhost.evil.example:80", "10.0.0.1", "[2001:db8::1]", "", "?"] {
            assert!(!is_loopback_host(other), "{other}");
        }
    }
}
