//! The trace context of the span that is running, and of a span in hand. Without a collector there is none, and
//! asking costs next to nothing.

use crate::context::TraceContext;
use crate::open_span::OpenSpan;
use tracing::{Dispatch, Id, Span};
use tracing_subscriber::Registry;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

/// The context of the span that is running: what `traceparent` says in requests that it causes.
pub fn current_context() -> Option<TraceContext> {
    running().map(|(context, _)| context)
}

fn running() -> Option<(TraceContext, bool)> {
    find(&Span::current())
}

fn find(span: &Span) -> Option<(TraceContext, bool)> {
    let found = span.with_subscriber(|(id, dispatch): (&Id, &Dispatch)| {
        nearest(&dispatch.downcast_ref::<Registry>()?.span(id)?)
    });
    found.flatten()
}

/// The same as a text, to be kept with work that is done later.
pub fn current_traceparent() -> Option<String> {
    current_context().map(|context| context.to_traceparent())
}

/// The id of the trace of a span, where it is collected: for answers and lines of the log.
pub fn trace_id_of(span: &Span) -> Option<String> {
    let (context, _) = find(span)?;
    context.is_sampled.then(|| context.trace_id_text())
}

/// Makes `span`, which begins a trace, a part of the trace of whoever sent the request.
pub fn continue_trace(span: &Span, caller: &TraceContext) {
    change(span, |open| {
        if open.parent.is_none() {
            open.continue_trace(caller);
        }
    });
}

/// Puts `span`, which was made without a parent, below the span that is running, which it may outlive: the span that is
/// running ends when it ends, and not with this one.
pub fn place_below_current(span: &Span) {
    let above = running();
    change(span, |open| open.place_below(above));
}

/// Makes `span` name a span of another trace, such as the request that asked for the work.
pub fn link_to(span: &Span, other: &TraceContext) {
    change(span, |open| open.link_to(other));
}

fn change(span: &Span, change: impl FnOnce(&mut OpenSpan)) {
    span.with_subscriber(|(id, dispatch): (&Id, &Dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        span.extensions_mut().get_mut::<OpenSpan>().map(change)
    });
}

/// The context of a span, or of the nearest above it that has one, and whether it is private. Spans of libraries have
/// none.
pub fn nearest<'r, R: LookupSpan<'r>>(span: &SpanRef<'r, R>) -> Option<(TraceContext, bool)> {
    span.scope().find_map(|span| {
        let extensions = span.extensions();
        extensions.get::<OpenSpan>().map(|open| (open.context.clone(), open.is_private))
    })
}
