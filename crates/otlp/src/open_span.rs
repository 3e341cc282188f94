//! A span from its beginning to its end: its place in a trace, and its attributes as they are recorded. Kept with the
//! span in the registry of `tracing`.

use crate::context::TraceContext;
use crate::protobuf::Protobuf;
use crate::queue::Queue;
use crate::record::{self, AttributeValue, EndedSpan, Parent, SPAN_ATTRIBUTES, SpanKind};
use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::time::{Instant, SystemTime};
use tracing::field::{Field, Visit};

/// The most that attributes and links of one span may take.
const MAX_FIELD_BYTES: usize = 16 << 10;
/// What would tell which page somebody read who wants nothing of it kept.
const ADDRESSES: [&str; 2] = ["server.address", "url.path"];

#[derive(Debug)]
pub struct OpenSpan {
    pub context: TraceContext,
    pub parent: Option<Parent>,
    /// Nothing may be said of its page, nor by spans below it.
    pub is_private: bool,
    name: Option<String>,
    kind: SpanKind,
    start: u64,
    begun: Instant,
    fields: Protobuf,
    has_failed: bool,
}

impl OpenSpan {
    /// Below another span, or at the beginning of a trace.
    pub fn new(above: Option<(TraceContext, bool)>) -> Self {
        let span_id = random_id();
        let parent = above.as_ref().map(|(above, _)| Parent { span_id: above.span_id, is_remote: false });
        let (context, is_private) = if let Some((above, is_private)) = above {
            (TraceContext { span_id, ..above }, is_private)
        } else {
            let trace_id = (u128::from(random_id()) << 64) | u128::from(random_id());
            (TraceContext { trace_id, span_id, is_sampled: true, state: None }, false)
        };
        Self {
            context,
            parent,
            is_private,
            name: None,
            kind: SpanKind::Internal,
            start: record::nanos(SystemTime::now()),
            begun: Instant::now(),
            fields: Protobuf::default(),
            has_failed: false,
        }
    }

    /// Goes on with the trace of another process.
    pub fn continue_trace(&mut self, caller: &TraceContext) {
        self.parent = Some(Parent { span_id: caller.span_id, is_remote: true });
        self.context = TraceContext { span_id: self.context.span_id, ..caller.clone() };
    }

    /// Goes on with a trace of this process; where none is running, nothing is collected.
    pub fn place_below(&mut self, above: Option<(TraceContext, bool)>) {
        let Some((above, is_private)) = above else {
            self.context.is_sampled = false;
            return;
        };
        self.parent = Some(Parent { span_id: above.span_id, is_remote: false });
        self.context = TraceContext { span_id: self.context.span_id, ..above };
        self.is_private |= is_private;
    }

    pub fn link_to(&mut self, other: &TraceContext) {
        if self.has_room() {
            record::write_link(&mut self.fields, other);
        }
    }

    fn has_room(&self) -> bool {
        self.context.is_sampled && self.fields.0.len() < MAX_FIELD_BYTES
    }

    /// Ends it: it is queued for the collector.
    pub fn end(&self, name: &str, queue: &Queue) {
        if !self.context.is_sampled {
            return;
        }
        let took = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ended = EndedSpan {
            context: &self.context,
            parent: self.parent,
            name: self.name.as_deref().unwrap_or(name),
            kind: self.kind,
            start: self.start,
            end: self.start.saturating_add(took),
            fields: &self.fields.0,
            has_failed: self.has_failed,
        };
        queue.push(|out| record::write_span(out, &ended));
    }

    fn add(&mut self, field: &Field, value: AttributeValue<'_>) {
        let name = field.name();
        match (name, value) {
            ("otel.root", _) => {}
            ("otel.private", AttributeValue::Bool(is_private)) => self.is_private |= is_private,
            ("otel.name", AttributeValue::Text(name)) => self.name = Some(record::cut(name, 128).to_owned()),
            ("otel.kind", AttributeValue::Text("server")) => self.kind = SpanKind::Server,
            ("otel.kind", AttributeValue::Text("client")) => self.kind = SpanKind::Client,
            _ if self.is_private && ADDRESSES.contains(&name) => {}
            _ => {
                self.has_failed |= name == "error.type";
                if self.has_room() {
                    record::write_attribute(&mut self.fields, SPAN_ATTRIBUTES, name, value);
                }
            }
        }
    }
}

impl Visit for OpenSpan {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, AttributeValue::Text(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, AttributeValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, AttributeValue::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, AttributeValue::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, AttributeValue::Bool(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = BoundedText::new(record::MAX_TEXT_BYTES);
        let _ = write!(text, "{value:?}");
        self.add(field, AttributeValue::Text(&text.text));
    }
}

/// Text that stops growing at a limit, whatever writes to it.
#[derive(Debug)]
pub struct BoundedText {
    pub text: String,
    max: usize,
}

impl BoundedText {
    pub fn new(max: usize) -> Self {
        Self { text: String::new(), max }
    }
}

impl fmt::Write for BoundedText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = self.max.saturating_sub(self.text.len());
        self.text.push_str(record::cut(more, room));
        if more.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

/// A number that is no other span's, and not 0. Ids need not be secret; asking the system for each would cost more
/// than the rest of a span.
fn random_id() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(getrandom::u64().unwrap_or_else(|_| record::nanos(SystemTime::now())));
    }
    let next = STATE.try_with(|state| {
        // SplitMix64.
        let next = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    });
    // A thread that ends may have lost its state already.
    next.unwrap_or_else(|_| record::nanos(SystemTime::now())).max(1)
}
