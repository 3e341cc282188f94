//! What a collector of OpenTelemetry sees of a fetch, and which servers see the trace. Never a query, a login, a
//! header or a body: any of them may hold a secret.

use super::{Request, ResponseMeta};
use crate::allow::Purpose;
use crate::error::{FetchError, Phase};
use hyper::http::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;
use tracing::field::Empty;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The span of a fetch over all its redirects and retries. Sending spans makes none.
pub(super) fn fetch_span(request: &Request) -> Span {
    if request.purpose == Purpose::Telemetry {
        return Span::none();
    }
    // The path of a webhook or of an address of a chat service is often its password.
    let path = (request.purpose != Purpose::Webhook).then(|| request.url.path());
    tracing::info_span!(
        target: otlp::SPANS,
        "fetch",
        otel.kind = "client",
        http.request.method = request.method.as_str(),
        server.address = request.url.host_str(),
        server.port = request.url.port_or_known_default(),
        url.scheme = request.url.scheme(),
        url.path = path,
        gannet.purpose = request.purpose.name(),
        http.response.status_code = Empty,
        http.response.body.size = Empty,
        gannet.redirects = Empty,
        "error.type" = Empty,
    )
}

pub(super) fn record_outcome(span: &Span, outcome: &Result<ResponseMeta, FetchError>) {
    if span.is_disabled() {
        return;
    }
    match outcome {
        Ok(meta) => {
            span.record("http.response.status_code", meta.head.status.as_u16());
            span.record("http.response.body.size", meta.body_bytes);
            if !meta.head.hops.is_empty() {
                span.record("gannet.redirects", meta.head.hops.len());
            }
            if meta.head.status.as_u16() >= 400 {
                span.record("error.type", meta.head.status.as_str());
            }
        }
        Err(error) => {
            span.record("error.type", error_type(error));
        }
    }
}

/// Tells model servers and receivers of webhooks which trace a request belongs to. Sites that are scraped are never
/// told, and a header of the caller's own stays.
pub(super) fn pass_on(request: &Request, headers: &mut HeaderMap) {
    let is_told = matches!(request.purpose, Purpose::Model | Purpose::Webhook);
    if !is_told || headers.contains_key(TRACEPARENT) {
        return;
    }
    let Some(context) = otlp::current_context() else { return };
    if let Ok(value) = HeaderValue::try_from(context.to_traceparent()) {
        headers.insert(TRACEPARENT, value);
    }
    if let Some(Ok(value)) = context.tracestate().map(HeaderValue::from_str) {
        headers.insert(TRACESTATE, value);
    }
}

/// One word for each kind of failure, without what it says of the address.
fn error_type(error: &FetchError) -> &'static str {
    match error {
        FetchError::BadUrl(_) => "bad_url",
        FetchError::BadRequest(_) => "bad_request",
        FetchError::Refused(_) => "refused",
        FetchError::NameNotFound { .. } => "name_not_found",
        FetchError::NameLookupFailed { .. } => "name_lookup_failed",
        FetchError::Connect { .. } => "connect",
        FetchError::Tls { .. } => "tls",
        FetchError::Proxy(_) => "proxy",
        FetchError::Timeout { phase: Phase::Resolve | Phase::Connect | Phase::Tls, .. } => "connect_timeout",
        FetchError::Timeout { .. } => "timeout",
        FetchError::TooLarge { .. } => "too_large",
        FetchError::BadProtocol(_) => "bad_protocol",
        FetchError::Incomplete(_) => "incomplete",
        FetchError::CutOff(_) => "cut_off",
        FetchError::TooManyRedirects { .. } | FetchError::RedirectLoop { .. } => "redirects",
        FetchError::BadRedirect(_) => "bad_redirect",
        FetchError::BadEncoding { .. } => "bad_encoding",
    }
}
