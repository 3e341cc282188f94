//! `/mcp` and `/v2/mcp`: the Model Context Protocol over HTTP. Each tool sends requests through the same
//! router with the caller's key, so scopes, rates, credits and errors are those of the routes under `/v2`.

use crate::app::{App, Cors, Settings};
use crate::auth::{client_address, error_response, identify};
use crate::response_memory::ResponseTeam;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::any;
use http_body_util::BodyExt;
use mcp::{Api, ApiRequest, Handler, HandlerOptions, HttpOptions, HttpService, Sent, Unreachable};
use serde_json::json;
use std::sync::Arc;
use tower::ServiceExt;

/// Longest request: arguments with a page of code or a large schema.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Longest text of an error that the transport writes.
const MAX_ERROR_BYTES: usize = 4096;

/// The routes, for tools that use `v2`.
pub fn routes(app: &App, v2: Router) -> Router {
    let options = HttpOptions {
        hosts: allowed_hosts(&app.settings),
        origins: allowed_origins(&app.settings),
        max_body_bytes: MAX_BODY_BYTES.min(app.settings.body_limit),
        stop: app.stopping.clone(),
    };
    let handler = Handler::new(Arc::new(RouterApi(v2)), HandlerOptions::default());
    let service = HttpService::new(handler, options);
    let memory = app.body_memory.clone();
    let serve = any(move |request: Request| {
        let (service, request) = (service.clone(), request.map(|body| memory.limit(body)));
        async move {
            let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
            to_json_errors(service.handle(request).await.map(Body::new)).await
        }
    });
    Router::new()
        .route("/mcp", serve.clone())
        .route("/v2/mcp", serve)
        .route_layer(from_fn_with_state(app.clone(), require_key))
}

/// Answers tools of this process without a connection.
pub struct RouterApi(pub Router);

impl std::fmt::Debug for RouterApi {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RouterApi").finish_non_exhaustive()
    }
}

impl Api for RouterApi {
    fn send(&self, request: ApiRequest) -> Sent<'_> {
        let router = self.0.clone();
        Box::pin(async move {
            let response = match router.oneshot(request.map(Body::from)).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| Unreachable(error.to_string()))?;
            Ok(Response::from_parts(parts, body.to_bytes()))
        })
    }
}

/// A key is needed for every request, not only for calls: the list of tools is no secret, but a client should
/// learn of a wrong key when it connects.
async fn require_key(State(app): State<App>, mut request: Request, next: Next) -> Response {
    // A page of this server itself is not a foreign one.
    if is_own_origin(request.headers()) {
        request.headers_mut().remove(ORIGIN);
    }
    let address = client_address(request.extensions());
    match identify(&app, request.method(), request.headers(), address).await {
        Ok(caller) => {
            let mut response = next.run(request).await;
            response.extensions_mut().insert(ResponseTeam(caller.counted_as()));
            response
        }
        Err(error) => error_response(&app, error, request.headers()),
    }
}

fn is_own_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(ORIGIN), text(HOST)) else { return false };
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

/// The names under which this server is reached. A page that made its own name resolve to this machine (DNS
/// rebinding) is refused. Empty for any name: a server that listens on all addresses and was not told its
/// name cannot know it, and then a key is always needed.
fn allowed_hosts(settings: &Settings) -> Vec<String> {
    let address = settings.listen.ip();
    let public = settings.public_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
    let public = public.and_then(|url| url.host().map(str::to_owned));
    if address.is_unspecified() && settings.auth && public.is_none() {
        return Vec::new();
    }
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    hosts.push(address.to_string());
    hosts.extend(public);
    hosts
}

/// The origins of `cors`, each with its port; `None` for any.
fn allowed_origins(settings: &Settings) -> Option<Vec<String>> {
    let with_port = |origin: &String| {
        let uri = origin.parse::<Uri>().ok()?;
        let port = match (uri.port_u16(), uri.scheme_str()) {
            (Some(_), _) => return Some(origin.clone()),
            (None, Some("https")) => 443,
            (None, _) => 80,
        };
        Some(format!("{}:{port}", origin.trim_end_matches('/')))
    };
    match &settings.cors {
        Cors::Any => None,
        Cors::None => Some(Vec::new()),
        Cors::Origins(origins) => Some(origins.iter().filter_map(with_port).collect()),
    }
}

/// Errors of the transport are plain text; clients of this protocol read JSON.
async fn to_json_errors(response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let failed = response.status().is_client_error() || response.status().is_server_error();
    if !failed || kind.starts_with(b"application/json") {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_ERROR_BYTES)]);
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": text } });
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_knows_its_names_and_origins() {
        let settings = |public: Option<&str>, listen: [u8; 4], cors: Cors| Settings {
            listen: (listen, 3002).into(),
            cors,
            ..crate::base_url::tests::settings(public)
        };
        let hosts = |public, listen| allowed_hosts(&settings(public, listen, Cors::None));
        assert!(hosts(None, [0, 0, 0, 0]).is_empty());
        assert!(hosts(Some("https://web.example/x"), [0, 0, 0, 0]).contains(&"web.example".to_owned()));
        assert!(hosts(None, [10, 0, 0, 5]).contains(&"10.0.0.5".to_owned()));
        let origins = |cors| allowed_origins(&settings(None, [127, 0, 0, 1], cors));
        assert_eq!(origins(Cors::None), Some(Vec::new()));
        assert_eq!(origins(Cors::Any), None);
        let listed = Cors::Origins(vec!["https://a.example".to_owned(), "http://b.example:8080".to_owned()]);
        let expected = ["https://a.example:443", "http://b.example:8080"].map(str::to_owned);
        assert_eq!(origins(listed), Some(expected.into()));
    }
}
