//! The layer of `tracing` that turns our spans, and the lines of the log, into records for the collector.

use crate::SPANS;
use crate::current::nearest;
use crate::open_span::{BoundedText, OpenSpan};
use crate::protobuf::Protobuf;
use crate::queue::Queue;
use crate::record::{self, AttributeValue, LOG_ATTRIBUTES, LogRecord, MAX_BODY_BYTES, MAX_TEXT_BYTES};
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};
use tracing::{Event, Id, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// What spans and log records may take in memory while the collector does not take them.
const MAX_SPAN_BYTES: usize = 8 << 20;
const MAX_LOG_BYTES: usize = 2 << 20;
/// The most that the fields of one line of the log may take.
const MAX_FIELD_BYTES: usize = 8 << 10;

/// What waits to be sent. Made before anything can be sent, so that the first lines of a start are not lost.
#[derive(Debug, Clone)]
pub struct Collected(pub(crate) Arc<Queues>);

#[derive(Debug)]
pub(crate) struct Queues {
    pub spans: Queue,
    pub logs: Queue,
}

impl Default for Collected {
    fn default() -> Self {
        Self::with_ceilings(MAX_SPAN_BYTES, MAX_LOG_BYTES)
    }
}

impl Collected {
    /// With these ceilings, in bytes.
    pub fn with_ceilings(spans: usize, logs: usize) -> Self {
        Self(Arc::new(Queues { spans: Queue::new(spans), logs: Queue::new(logs) }))
    }

    /// The layer that fills it.
    pub fn layer(&self) -> CollectorLayer {
        CollectorLayer(self.0.clone())
    }
}

#[derive(Debug)]
pub struct CollectorLayer(Arc<Queues>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for CollectorLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let metadata = attributes.metadata();
        if metadata.target() != SPANS {
            return;
        }
        let Some(span) = context.span(id) else { return };
        let above = span.parent().and_then(|parent| nearest(&parent));
        if above.is_none() && metadata.fields().field("otel.root").is_none() {
            return;
        }
        let mut open = OpenSpan::new(above);
        attributes.record(&mut open);
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(open);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(open) = span.extensions_mut().remove::<OpenSpan>() {
            open.end(span.name(), &self.0.spans);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut line = LogLine { body: BoundedText::new(MAX_BODY_BYTES), fields: Protobuf::default() };
        line.add("target", AttributeValue::Text(metadata.target()));
        event.record(&mut line);
        let running = context.event_span(event).and_then(|span| nearest(&span));
        let record = LogRecord {
            time: record::nanos(SystemTime::now()),
            level: *metadata.level(),
            body: &line.body.text,
            attributes: &line.fields.0,
            context: running.as_ref().map(|(context, _)| context),
        };
        self.0.logs.push(|out| record::write_log(out, &record));
    }
}

/// The text and the fields of one line of the log.
struct LogLine {
    body: BoundedText,
    fields: Protobuf,
}

impl LogLine {
    fn add(&mut self, name: &str, value: AttributeValue<'_>) {
        if self.fields.0.len() < MAX_FIELD_BYTES {
            record::write_attribute(&mut self.fields, LOG_ATTRIBUTES, name, value);
        }
    }
}

impl Visit for LogLine {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            let _ = self.body.write_str(value);
        } else {
            self.add(field.name(), AttributeValue::Text(value));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), AttributeValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), AttributeValue::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), AttributeValue::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), AttributeValue::Bool(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.body, "{value:?}");
        } else {
            let mut text = BoundedText::new(MAX_TEXT_BYTES);
            let _ = write!(text, "{value:?}");
            self.add(field.name(), AttributeValue::Text(&text.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal_sender::wrap;
    use crate::{SPANS, TraceContext, continue_trace, current_context, link_to, place_below_current};
    use testkit::otlp::{OtlpSpan, read_logs, read_spans};
    use tracing::{Instrument as _, info_span};
    use tracing_subscriber::layer::SubscriberExt;

    const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// What is collected of `work`.
    fn collect(work: impl FnOnce()) -> Collected {
        let collected = Collected::default();
        let subscriber = tracing_subscriber::registry().with(collected.layer());
        tracing::subscriber::with_default(subscriber, work);
        collected
    }

    fn spans(collected: &Collected) -> Vec<OtlpSpan> {
        read_spans(&wrap(&[], &collected.0.spans.take().bytes))
    }

    #[test]
    fn a_trace_begins_where_it_may_and_everything_is_below() {
        let collected = collect(|| {
            info_span!(target: SPANS, "nobody waits").in_scope(|| assert_eq!(current_context(), None));
            let root = info_span!(target: SPANS, "root", otel.root = true, otel.name = "POST /x", otel.kind = "server");
            root.in_scope(|| {
                let above = current_context().unwrap();
                // Spans of libraries have no record, and do not break the chain.
                info_span!("library").in_scope(|| {
                    assert_eq!(current_context(), Some(above));
                    let inner =
                        info_span!(target: SPANS, "inner", n = 3, yes = true, x = 0.5, "error.type" = "odd");
                    inner.in_scope(|| tracing::warn!(count = 2, "it happened"));
                });
            });
        });
        let found = spans(&collected);
        let [inner, root] = &found[..] else { panic!("{found:#?}") };
        assert_eq!((root.name.as_str(), root.kind, &root.parent), ("POST /x", 2, &None));
        assert_eq!((&inner.trace_id, inner.parent.as_ref()), (&root.trace_id, Some(&root.span_id)));
        let values = ["n", "yes", "x"].map(|name| inner.attributes[name].as_str());
        assert_eq!((values, inner.has_failed, root.has_failed), (["3", "true", "0.5"], true, false));
        let logs = read_logs(&wrap(&[], &collected.0.logs.take().bytes));
        let [line] = &logs[..] else { panic!("{logs:#?}") };
        assert_eq!((line.body.as_str(), line.severity.as_str()), ("it happened", "WARN"));
        assert_eq!((&line.trace_id, line.attributes["count"].as_str()), (&root.trace_id, "2"));
    }

    #[test]
    fn the_trace_of_a_caller_goes_on_and_one_that_is_not_sampled_is_only_passed_on() {
        let caller = TraceContext::parse(CALLER).unwrap().with_state(Some("v=1"));
        let root = || info_span!(target: SPANS, "root", otel.root = true);
        let collected = collect(|| {
            let span = root();
            continue_trace(&span, &caller);
            link_to(&span, &caller);
            // Whoever is below already cannot be moved.
            span.in_scope(|| continue_trace(&info_span!(target: SPANS, "child"), &caller));
            let unsampled = root();
            continue_trace(&unsampled, &TraceContext::parse(&CALLER.replace("-01", "-00")).unwrap());
            unsampled.in_scope(|| {
                info_span!(target: SPANS, "child").in_scope(|| {
                    let passed_on = current_context().unwrap().to_traceparent();
                    assert!(
                        passed_on.starts_with(&CALLER[..36]) && passed_on.ends_with("-00"),
                        "{passed_on}"
                    );
                });
            });
        });
        let found = spans(&collected);
        let [child, root] = &found[..] else { panic!("{found:#?}") };
        assert_eq!((root.trace_id.as_str(), root.parent.as_deref()), (&CALLER[3..35], Some(&CALLER[36..52])));
        assert_eq!((root.trace_state.as_str(), root.links.len()), ("v=1", 1));
        assert_eq!((&child.trace_id, child.parent.as_ref()), (&root.trace_id, Some(&root.span_id)));
    }

    #[test]
    fn nothing_is_said_of_the_page_of_a_private_scrape() {
        let collected = collect(|| {
            let scrape = info_span!(target: SPANS, "scrape", otel.root = true, otel.private = true, url.path = "/secret-page");
            scrape.in_scope(|| {
                let fetch =
                    info_span!(target: SPANS, "fetch", server.address = "secret-host", url.path = "/secret-page", n = 1);
                drop(fetch);
                let apart = info_span!(target: SPANS, parent: None, "apart", otel.root = true);
                place_below_current(&apart);
                apart.in_scope(|| drop(info_span!(target: SPANS, "visit", url.path = "/secret-page")));
            });
        });
        let found = spans(&collected);
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(!format!("{found:?}").contains("secret"), "{found:#?}");
        assert_eq!(found.iter().filter(|span| span.parent.is_none()).count(), 1);
    }

    /// A span that is placed below another one does not keep that one open.
    #[tokio::test]
    async fn a_span_may_outlive_the_one_that_it_is_below() {
        let collected = Collected::default();
        let subscriber = tracing_subscriber::registry().with(collected.layer());
        let _default = tracing::subscriber::set_default(subscriber);
        let request = info_span!(target: SPANS, "request", otel.root = true);
        let apart = request.in_scope(|| {
            let apart = info_span!(target: SPANS, parent: None, "apart", otel.root = true);
            place_below_current(&apart);
            apart
        });
        async {}.instrument(request).await;
        let first = spans(&collected);
        assert_eq!(first.iter().map(|span| span.name.as_str()).collect::<Vec<_>>(), ["request"]);
        drop(apart);
        let second = spans(&collected);
        assert_eq!(second[0].parent.as_ref(), Some(&first[0].span_id));
    }
}
