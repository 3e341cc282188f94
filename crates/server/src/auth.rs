//! Authentication, scopes and rate limits of the routes that need a key.

mod keyless;

use crate::app::{App, Cors, Settings};
use crate::base_url::{ClientAddress, base_url};
use crate::error::ApiError;
use crate::response_memory::ResponseTeam;
use access::audit_log::Actor;
use access::keyless::Quota;
use access::{Caller, CallerError, RateGroup};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN, UPGRADE, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;
use wire::{Kind, Scope, WireError};

/// Longer values cannot be a key.
const MAX_KEY_BYTES: usize = 512;
/// Holds the token of a sign-in.
pub const SIGN_IN_COOKIE: &str = "gannet_sign_in";
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
    let keyless = keyless::caller(&access, &request);
    let address = client_address(request.extensions());
    let checked = check_access(&access, request.method(), request.headers(), address, keyless).await;
    match checked {
        Ok((caller, quota)) => {
            let team = ResponseTeam(caller.counted_as());
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            response.extensions_mut().insert(team);
            keyless::with_quota(response, quota)
        }
        Err(error) => error_response(&access.app, error, request.headers()),
    }
}

async fn check_access(
    access: &RouteAccess,
    method: &Method,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    keyless: Option<Arc<Caller>>,
) -> Result<(Arc<Caller>, Option<Quota>), WireError> {
    let caller = match keyless {
        Some(caller) => caller,
        None => identify(&access.app, method, headers, address).await?,
    };
    if let Some(scope) = access.scope {
        caller.require(scope)?;
    }
    // Requests that start work need disk space for results; requests that only read work on a full disk too.
    if method == Method::POST && access.group != RateGroup::Status {
        access.app.storage.require_room(access.group)?;
        access.app.response_memory.require_room(caller.counted_as())?;
    }
    let admitted = access.app.services.limiter.admit(&caller, access.group).await.map_err(WireError::from);
    admitted.map_err(|error| if caller.keyless.is_some() { error.without_key() } else { error })?;
    let quota = match (&access.app.keyless, caller.keyless) {
        (Some(keyless), Some(_)) if access.group != RateGroup::Status => Some(keyless.count(&caller).await?),
        _ => None,
    };
    Ok((caller, quota))
}

/// The caller identified by the `Authorization` header, or by the cookie of a sign-in.
/// That a key which has expired was used from `address` is noted.
pub async fn identify(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Result<Arc<Caller>, WireError> {
    if !app.settings.auth {
        reject_web_pages(&app.settings, headers)?;
        return Ok(app.callers.anyone().await?);
    }
    if headers.contains_key(AUTHORIZATION) {
        let key = bearer(headers).ok_or(Kind::Unauthorized)?;
        return noted(app, app.callers.authenticate(key).await, address).await;
    }
    let token = sign_in_token(headers).ok_or_else(|| keyless::key_needed(app))?;
    require_own_page(app, method, headers)?;
    noted(app, app.callers.authenticate_sign_in(token).await, address).await
}

async fn noted(
    app: &App,
    authenticated: Result<Arc<Caller>, CallerError>,
    address: Option<IpAddr>,
) -> Result<Arc<Caller>, WireError> {
    if let Err(CallerError::KeyExpired(expired)) = &authenticated {
        app.callers.note_expired_use(expired, address).await;
    }
    Ok(authenticated?)
}

/// None for tools of this process, which have no connection.
pub fn client_address(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ClientAddress>().map(|address| address.0)
}

/// The token of a sign-in, which browsers send by themselves, whatever page asks.
pub fn sign_in_token(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let token = pairs.find(|(name, _)| *name == SIGN_IN_COOKIE)?.1;
    (!token.is_empty() && token.len() <= MAX_KEY_BYTES).then_some(token)
}

/// `Forbidden` unless a page of this server sent the request, or for reading also a person who typed its address.
/// Browsers state this in headers that pages cannot change; a write, or an upgrade to a WebSocket, without any of
/// them is refused.
pub fn require_own_page(app: &App, method: &Method, headers: &HeaderMap) -> Result<(), WireError> {
    let reads = method.is_safe() && !headers.contains_key(UPGRADE);
    let is_own = match (text(headers, ORIGIN), text(headers, SEC_FETCH_SITE)) {
        (Some(origin), site) => {
            is_own_origin(app, origin, headers) && site.is_none_or(|site| site == "same-origin")
        }
        (None, Some(site)) => site == "same-origin" || (reads && site == "none"),
        (None, None) => reads,
    };
    if is_own { Ok(()) } else { Err(Kind::Forbidden.into()) }
}

/// Whether an origin is where callers reach this server: the configured URL, or the host that they asked.
fn is_own_origin(app: &App, origin: &str, headers: &HeaderMap) -> bool {
    origin == base_url(&app.settings, headers) || is_same_host(origin, headers)
}

fn is_same_host(origin: &str, headers: &HeaderMap) -> bool {
    let host = origin.split_once("://").map(|(_, host)| host);
    host.is_some_and(|host| text(headers, HOST) == Some(host))
}

/// Without keys, the loopback address is the only protection, and any web page in a browser on this machine
/// can send requests to it: under a name that resolves to it (DNS rebinding), or from an origin that is not
/// allowed. Both are rejected.
fn reject_web_pages(settings: &Settings, headers: &HeaderMap) -> Result<(), WireError> {
    // The dashboard is a page too, of the loopback address itself.
    let own = || text(headers, ORIGIN).is_some_and(|origin| is_same_host(origin, headers));
    if has_loopback_host(headers) && (own() || !is_from_foreign_page(settings, headers)) {
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
    let unauthorized = matches!(error.kind, Kind::Unauthorized | Kind::KeyNeeded);
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

/// The authenticated caller as the audit log names it, with its address.
#[derive(Debug, Clone)]
pub struct AuditActor(pub Actor);

impl<S: Send + Sync> FromRequestParts<S> for AuditActor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Arc<Caller>>().ok_or(Kind::Unauthorized)?;
        Ok(Self(caller.actor(client_address(&parts.extensions))))
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
    fn finds_the_token_among_cookies() {
        let cookies = |line: &str| HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(line).unwrap())]);
        assert_eq!(sign_in_token(&cookies("a=b; gannet_sign_in=t0ken; c=d")), Some("t0ken"));
        for other in ["gannet_sign_in=", "xgannet_sign_in=t", "gannet_sign_in", "a=gannet_sign_in"] {
            assert_eq!(sign_in_token(&cookies(other)), None, "{other}");
        }
    }

    #[test]
    fn a_page_of_the_same_host_is_recognized() {
        let host = HeaderMap::from_iter([(HOST, HeaderValue::from_static("127.0.0.1:3002"))]);
        assert!(is_same_host("http://127.0.0.1:3002", &host));
        for other in
            ["http://127.0.0.1:3003", "http://evil.example", "null", "http://127.0.0.1:3002.evil.example"]
        {
            assert!(!is_same_host(other, &host), "{other}");
        }
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
