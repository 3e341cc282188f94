//! Wraps every request: request id, timing, log line, panic handling, and errors always as JSON in the error
//! format.

use crate::error::{ApiError, for_status};
use crate::telemetry;
use crate::v1;
use axum::extract::{MatchedPath, Request};
use axum::http::header::{ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};
use uuid::Uuid;
use wire::{Kind, WireError};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Leads from an answer to its trace, where traces are collected.
const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");
/// What machines ask for every few seconds.
const UNTRACED: [&str; 3] = ["/health", "/ready", "/metrics"];
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

pub async fn wrap_request(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers().get(REQUEST_ID));
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let unmatched = v1::route_label(request.uri().path()).unwrap_or("unmatched");
    let route = route.as_ref().map_or(unmatched, MatchedPath::as_str);

    let span = request_span(&request, route, &id);
    let trace_id = otlp::trace_id_of(&span);
    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let panicked = outcome.is_err();
    let mut response = outcome.unwrap_or_else(|_| ApiError(Kind::Internal.into()).into_response());

    let status = response.status();
    let took = started.elapsed();
    telemetry::count_request(route, &method, status.as_u16(), took);
    let request_id = id.to_str().unwrap_or_default();
    let (millis, trace_id) = (took.as_millis(), trace_id.as_deref());
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("error.type", if panicked { "panic" } else { status.as_str() });
    }
    span.in_scope(|| {
        if panicked {
            metrics::counter!("gannet_panics_total").increment(1);
            tracing::error!(request_id, trace_id, %method, route, "handler panicked; responded with status 500");
        } else if status.is_server_error() {
            let status = status.as_u16();
            tracing::warn!(request_id, trace_id, %method, route, status, millis, "request failed");
        } else {
            let status = status.as_u16();
            tracing::debug!(request_id, trace_id, %method, route, status, millis, "request");
        }
    });
    response.headers_mut().insert(REQUEST_ID, id);
    if let Some(Ok(trace_id)) = trace_id.map(HeaderValue::from_str) {
        response.headers_mut().insert(TRACE_ID, trace_id);
    }
    response
}

/// What a collector of OpenTelemetry sees of a request. It goes on with the trace of the caller, if that has one.
/// The route stands for the path, which may hold a token.
fn request_span(request: &Request, route: &str, id: &HeaderValue) -> Span {
    if UNTRACED.contains(&route) {
        return Span::none();
    }
    let span = tracing::info_span!(
        target: otlp::SPANS,
        "request",
        otel.root = true,
        otel.kind = "server",
        otel.name = %format_args!("{} {route}", telemetry::method_label(request.method())),
        http.request.method = telemetry::method_label(request.method()),
        http.route = route,
        gannet.request.id = id.to_str().ok(),
        http.response.status_code = Empty,
        "error.type" = Empty,
    );
    if !span.is_disabled() {
        let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(caller) = header(TRACEPARENT).and_then(otlp::TraceContext::parse) {
            otlp::continue_trace(&span, &caller.with_state(header(TRACESTATE)));
        }
    }
    span
}

/// The caller's id if it is valid, else a new one.
fn request_id(given: Option<&HeaderValue>) -> HeaderValue {
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
    let good = |value: &&HeaderValue| (1..=128).contains(&value.len()) && value.as_bytes().iter().all(legal);
    given.filter(good).cloned().unwrap_or_else(|| {
        // Unique across processes, without asking the system for randomness every time.
        static PROCESS: LazyLock<u32> = LazyLock::new(|| Uuid::new_v4().as_fields().0);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let text = format!("{:08x}-{:08x}", *PROCESS, NEXT.fetch_add(1, Ordering::Relaxed));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("unknown"))
    })
}

/// Rewrites error responses of the framework (wrong method, unreadable path) into our format. Pages are for people, and are
/// all ours.
pub fn to_error_format(response: Response) -> Response {
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let content_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_ours = content_type.starts_with(b"application/json") || content_type.starts_with(b"text/html");
    if !failed || is_ours {
        return response;
    }
    let mut headers = response.headers().clone();
    let error = match headers.get(ALLOW).filter(|_| status == StatusCode::METHOD_NOT_ALLOWED) {
        Some(allow) => {
            let names = allow.to_str().unwrap_or_default().split(',').map(str::trim);
            WireError::method_not_allowed(&names.filter(|name| !name.is_empty()).collect::<Vec<_>>())
        }
        None => for_status(status),
    };
    let mut rewritten = ApiError(error).into_response();
    // Keep headers of other layers, except those that describe the old body.
    for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING] {
        headers.remove(name);
    }
    headers.extend(std::mem::take(rewritten.headers_mut()));
    *rewritten.headers_mut() = headers;
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt;

    #[tokio::test]
    async fn a_panic_costs_one_request() {
        async fn panics() -> &'static str {
            panic!("as a test asked for")
        }
        let router = Router::new()
            .route("/bad", get(panics))
            .route("/good", get(async || "fine"))
            .layer(from_fn(wrap_request));
        let ask = async |path: &str| {
            let request = Request::get(path).header(REQUEST_ID, "panic-1").body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.headers()[REQUEST_ID], "panic-1");
            response.status()
        };
        assert_eq!(ask("/bad").await, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(ask("/good").await, StatusCode::OK);
    }

    #[test]
    fn keeps_valid_ids_and_replaces_others() {
        let given = HeaderValue::from_static("abc.DEF:1_2-3");
        assert_eq!(request_id(Some(&given)), given);
        for bad in ["", "with space", "<script>"] {
            let bad = HeaderValue::from_static(bad);
            assert_ne!(request_id(Some(&bad)), bad);
        }
        assert_ne!(request_id(Some(&HeaderValue::from_str(&"x".repeat(129)).unwrap())).len(), 129);
    }
}
