//! What a collector of OpenTelemetry sees of a scrape, and of work that a request asked for and that is done later.

use super::ScrapePlan;
use crate::Error;
use tracing::Span;
use tracing::field::Empty;
use uuid::Uuid;

/// The span of a scrape; it says nothing of the page of one that is private.
pub(super) fn scrape_span(endpoint: &'static str, id: Uuid, plan: &ScrapePlan) -> Span {
    tracing::info_span!(
        target: otlp::SPANS,
        "scrape",
        otel.private = plan.private,
        gannet.capability = endpoint,
        gannet.scrape.id = %id,
        server.address = plan.url.host_str(),
        url.path = plan.url.path(),
        "error.type" = Empty,
    )
}

/// The span of obtaining a page. Requests for the same page share it, and it may outlive the one that begins it.
pub(super) fn page_span() -> Span {
    let span = tracing::info_span!(target: otlp::SPANS, parent: None, "get page", otel.root = true);
    otlp::place_below_current(&span);
    span
}

/// The span of reading a file in a sandboxed process.
pub(super) fn document_span() -> Span {
    tracing::info_span!(target: otlp::SPANS, "document")
}

/// Marks a span as failed, by the kind of error that callers see.
pub(super) fn note_error(span: &Span, error: Option<&Error>) {
    if let Some(error) = error.filter(|_| !span.is_disabled()) {
        span.record("error.type", error.to_wire().kind.name());
    }
}

/// Makes the span of work that is done in the background name the request that asked for it, by the `traceparent` that
/// is stored with the work.
pub(crate) fn link_to_request(span: &Span, traceparent: Option<&str>) {
    if let Some(request) = traceparent.and_then(otlp::TraceContext::parse) {
        otlp::link_to(span, &request);
    }
}
