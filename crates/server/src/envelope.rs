//! Round every request: an id, a clock, a log line, a net for panics, and the promise that whatever is
//! not a success is JSON in the error format.

use crate::error::{Failure, for_status};
use crate::telemetry;
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
use uuid::Uuid;
use wire::{Kind, WireError};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub async fn envelope(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers().get(REQUEST_ID));
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);

    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let panicked = answer.is_err();
    let mut response = answer.unwrap_or_else(|_| Failure(Kind::Internal.into()).into_response());

    let status = response.status();
    let took = started.elapsed();
    telemetry::count(route, &method, status.as_u16(), took);
    let request_id = id.to_str().unwrap_or_default();
    let millis = took.as_millis();
    if panicked {
        metrics::counter!("gannet_panics_total").increment(1);
        tracing::error!(request_id, %method, route, "a handler panicked; the request was answered 500");
    } else if status.is_server_error() {
        tracing::warn!(request_id, %method, route, status = status.as_u16(), millis, "request failed");
    } else {
        tracing::debug!(request_id, %method, route, status = status.as_u16(), millis, "request");
    }
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The caller's id when it is one we would repeat, else a new one.
fn request_id(given: Option<&HeaderValue>) -> HeaderValue {
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
    let good = |value: &&HeaderValue| (1..=128).contains(&value.len()) && value.as_bytes().iter().all(legal);
    given.filter(good).cloned().unwrap_or_else(|| {
        // Unique among processes and within ours, without asking the system for randomness every time.
        static PROCESS: LazyLock<u32> = LazyLock::new(|| Uuid::new_v4().as_fields().0);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let text = format!("{:08x}-{:08x}", *PROCESS, NEXT.fetch_add(1, Ordering::Relaxed));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("unknown"))
    })
}

/// Rewrites error responses that the framework wrote (wrong method, unreadable path) into ours.
pub fn in_error_format(response: Response) -> Response {
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let content_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if !failed || content_type.starts_with(b"application/json") {
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
    let mut rewritten = Failure(error).into_response();
    // What other layers said stays; what described the old body goes.
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

    #[test]
    fn repeats_harmless_ids_and_replaces_the_rest() {
        let given = HeaderValue::from_static("abc.DEF:1_2-3");
        assert_eq!(request_id(Some(&given)), given);
        for bad in ["", "with space", "<script>"] {
            let bad = HeaderValue::from_static(bad);
            assert_ne!(request_id(Some(&bad)), bad);
        }
        assert_ne!(request_id(Some(&HeaderValue::from_str(&"x".repeat(129)).unwrap())).len(), 129);
    }
}
