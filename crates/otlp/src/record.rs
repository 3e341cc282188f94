//! The records of OTLP: attributes, spans and log records, as messages. Numbers of fields are those of
//! `opentelemetry/proto`, which never change.

use crate::context::TraceContext;
use crate::protobuf::Protobuf;
use std::time::SystemTime;

/// The longest text of an attribute.
pub const MAX_TEXT_BYTES: usize = 1024;
/// The longest text of a log line.
pub const MAX_BODY_BYTES: usize = 8192;
/// Field of the attributes of a span, of a log record and of a resource.
pub const SPAN_ATTRIBUTES: u32 = 9;
pub const LOG_ATTRIBUTES: u32 = 6;
pub const RESOURCE_ATTRIBUTES: u32 = 1;
/// The flags of a span whose parent is known; another process has it.
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;

/// A value of an attribute.
#[derive(Debug, Clone, Copy)]
pub enum AttributeValue<'v> {
    Text(&'v str),
    Int(i64),
    Float(f64),
    Bool(bool),
}

/// `text` up to a limit, whole characters only.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

fn write_value(out: &mut Protobuf, value: AttributeValue<'_>) {
    match value {
        AttributeValue::Text(text) => out.text_always(1, text),
        AttributeValue::Bool(value) => out.bool_always(2, value),
        AttributeValue::Int(value) => out.int_always(3, value),
        AttributeValue::Float(value) => out.double(4, value),
    }
}

/// One attribute, as an entry of a list of them.
pub fn write_attribute(out: &mut Protobuf, field: u32, name: &str, value: AttributeValue<'_>) {
    let value = match value {
        AttributeValue::Text(text) => AttributeValue::Text(cut(text, MAX_TEXT_BYTES)),
        value => value,
    };
    out.message(field, |attribute| {
        attribute.text(1, name);
        attribute.message(2, |any| write_value(any, value));
    });
}

/// What a span is to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// The span that a span is below.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    pub span_id: u64,
    pub is_remote: bool,
}

/// A span that has ended.
#[derive(Debug)]
pub struct EndedSpan<'s> {
    pub context: &'s TraceContext,
    pub parent: Option<Parent>,
    pub name: &'s str,
    pub kind: SpanKind,
    pub start: u64,
    pub end: u64,
    /// Attributes and links, as they are written already.
    pub fields: &'s [u8],
    pub has_failed: bool,
}

/// Writes a span as an entry of a list of spans.
pub fn write_span(out: &mut Protobuf, span: &EndedSpan<'_>) {
    out.message(2, |out| {
        out.bytes(1, &span.context.trace_id.to_be_bytes());
        out.bytes(2, &span.context.span_id.to_be_bytes());
        out.text(3, span.context.tracestate().unwrap_or_default());
        let mut flags = 1;
        if let Some(parent) = span.parent {
            out.bytes(4, &parent.span_id.to_be_bytes());
            flags |= HAS_IS_REMOTE | if parent.is_remote { IS_REMOTE } else { 0 };
        }
        out.fixed32(16, flags);
        out.text(5, span.name);
        out.uint(6, span.kind as u64);
        out.fixed64(7, span.start);
        out.fixed64(8, span.end);
        out.0.extend_from_slice(span.fields);
        if span.has_failed {
            out.message(15, |status| status.uint(3, 2));
        }
    });
}

/// Writes a link to a span of another trace, as an entry of the links of a span.
pub fn write_link(out: &mut Protobuf, to: &TraceContext) {
    out.message(13, |link| {
        link.bytes(1, &to.trace_id.to_be_bytes());
        link.bytes(2, &to.span_id.to_be_bytes());
        link.text(3, to.tracestate().unwrap_or_default());
    });
}

/// A line of the log.
#[derive(Debug)]
pub struct LogRecord<'r> {
    pub time: u64,
    pub level: tracing::Level,
    pub body: &'r str,
    /// As they are written already.
    pub attributes: &'r [u8],
    pub context: Option<&'r TraceContext>,
}

/// Writes a line of the log as an entry of a list of them.
pub fn write_log(out: &mut Protobuf, record: &LogRecord<'_>) {
    let severity = match record.level {
        tracing::Level::TRACE => 1,
        tracing::Level::DEBUG => 5,
        tracing::Level::INFO => 9,
        tracing::Level::WARN => 13,
        tracing::Level::ERROR => 17,
    };
    out.message(2, |out| {
        out.fixed64(1, record.time);
        out.fixed64(11, record.time);
        out.uint(2, severity);
        out.text(3, record.level.as_str());
        out.message(5, |body| body.text_always(1, cut(record.body, MAX_BODY_BYTES)));
        out.0.extend_from_slice(record.attributes);
        if let Some(context) = record.context {
            out.fixed32(8, u32::from(context.is_sampled));
            out.bytes(9, &context.trace_id.to_be_bytes());
            out.bytes(10, &context.span_id.to_be_bytes());
        }
    });
}

/// Nanoseconds since 1970.
pub fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
