//! Reads requests of OTLP as a collector does: protocol buffers, by the numbers of `opentelemetry/proto`. Whatever is not
//! well-formed panics.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A span as a collector has it. Ids are hexadecimal.
#[derive(Debug, Clone, PartialEq)]
pub struct OtlpSpan {
    pub trace_id: String,
    pub span_id: String,
    pub parent: Option<String>,
    pub trace_state: String,
    pub name: String,
    /// 1 internal, 2 server, 3 client.
    pub kind: u64,
    pub start: u64,
    pub end: u64,
    pub attributes: BTreeMap<String, String>,
    /// Trace and span of each.
    pub links: Vec<(String, String)>,
    pub has_failed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OtlpLog {
    pub body: String,
    pub severity: String,
    pub attributes: BTreeMap<String, String>,
    pub trace_id: String,
}

/// A metric with the sum of its points: values of gauges and counters, counts of histograms and summaries.
#[derive(Debug, Clone, PartialEq)]
pub struct OtlpMetric {
    pub name: String,
    /// 5 gauge, 7 sum, 9 histogram, 11 summary.
    pub kind: u32,
    pub points: usize,
    pub total: f64,
}

/// A field of a message.
#[derive(Debug, Clone, Copy)]
enum Field<'m> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'m [u8]),
}

impl<'m> Field<'m> {
    fn bytes(self) -> &'m [u8] {
        let Self::Bytes(bytes) = self else { panic!("{self:?} is not a message") };
        bytes
    }

    fn number(self) -> u64 {
        match self {
            Self::Varint(value) | Self::Fixed64(value) => value,
            other => panic!("{other:?} is not a number"),
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).expect("UTF-8")
    }

    fn hex(self) -> String {
        self.bytes().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number without end");
}

fn take<'m>(bytes: &mut &'m [u8], count: u64) -> &'m [u8] {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(count).unwrap()).expect("as many bytes");
    *bytes = rest;
    taken
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let field = match tag & 7 {
            0 => Field::Varint(varint(&mut message)),
            1 => Field::Fixed64(u64::from_le_bytes(take(&mut message, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut message);
                Field::Bytes(take(&mut message, length))
            }
            5 => {
                take(&mut message, 4);
                Field::Fixed32
            }
            other => panic!("unknown wire type {other}"),
        };
        fields.push((tag >> 3, field));
    }
    fields
}

fn all(message: &[u8], number: u64) -> Vec<Field<'_>> {
    fields(message).into_iter().filter(|(field, _)| *field == number).map(|(_, field)| field).collect()
}

fn one(message: &[u8], number: u64) -> Option<Field<'_>> {
    let found = all(message, number);
    assert!(found.len() <= 1, "field {number} is there {} times", found.len());
    found.into_iter().next()
}

fn text(message: &[u8], number: u64) -> String {
    one(message, number).map(Field::text).unwrap_or_default()
}

/// Attributes by their names, values as text.
fn attributes(message: &[u8], number: u64) -> BTreeMap<String, String> {
    let pair = |field: Field<'_>| {
        let value = one(field.bytes(), 2).expect("a value").bytes();
        let [(kind, value)] = fields(value)[..] else { panic!("not one value") };
        let value = match kind {
            1 => value.text(),
            2 => (value.number() == 1).to_string(),
            3 => value.number().cast_signed().to_string(),
            4 => f64::from_bits(value.number()).to_string(),
            other => panic!("a value of kind {other}"),
        };
        (text(field.bytes(), 1), value)
    };
    all(message, number).into_iter().map(pair).collect()
}

/// The records of a request: those of all scopes of all resources.
fn records(request: &[u8]) -> Vec<&[u8]> {
    let of_resources = all(request, 1).into_iter().map(Field::bytes);
    let of_scopes = of_resources.flat_map(|resource| all(resource, 2)).map(Field::bytes);
    of_scopes.flat_map(|scope| all(scope, 2)).map(Field::bytes).collect()
}

/// The attributes of the resource of a request.
pub fn read_resource(request: &[u8]) -> BTreeMap<String, String> {
    let resource = one(request, 1).expect("a resource").bytes();
    attributes(one(resource, 1).expect("its attributes").bytes(), 1)
}

pub fn read_spans(request: &[u8]) -> Vec<OtlpSpan> {
    let read = |span: &[u8]| {
        let hex = |number| one(span, number).map(Field::hex).unwrap_or_default();
        let link = |link: Field<'_>| {
            let id = |number| one(link.bytes(), number).map(Field::hex).unwrap_or_default();
            (id(1), id(2))
        };
        let read = OtlpSpan {
            trace_id: hex(1),
            span_id: hex(2),
            parent: one(span, 4).map(Field::hex),
            trace_state: text(span, 3),
            name: text(span, 5),
            kind: one(span, 6).expect("a kind").number(),
            start: one(span, 7).expect("a start").number(),
            end: one(span, 8).expect("an end").number(),
            attributes: attributes(span, 9),
            links: all(span, 13).into_iter().map(link).collect(),
            has_failed: one(span, 15).is_some_and(|status| one(status.bytes(), 3).unwrap().number() == 2),
        };
        assert_eq!((read.trace_id.len(), read.span_id.len()), (32, 16), "{read:?}");
        assert!(read.end >= read.start, "{read:?}");
        read
    };
    records(request).into_iter().map(read).collect()
}

pub fn read_logs(request: &[u8]) -> Vec<OtlpLog> {
    let read = |record: &[u8]| OtlpLog {
        body: text(one(record, 5).expect("a body").bytes(), 1),
        severity: text(record, 3),
        attributes: attributes(record, 6),
        trace_id: one(record, 9).map(Field::hex).unwrap_or_default(),
    };
    records(request).into_iter().map(read).collect()
}

pub fn read_metrics(request: &[u8]) -> Vec<OtlpMetric> {
    let read = |metric: &[u8]| {
        let (kind, data) = fields(metric).into_iter().find(|(number, _)| *number >= 5).expect("data");
        let points = all(data.bytes(), 1);
        let value = |point: &Field<'_>| {
            let value = one(point.bytes(), 4).expect("a value or a count").number();
            if kind < 9 { f64::from_bits(value) } else { value as f64 }
        };
        OtlpMetric {
            name: text(metric, 1),
            kind: u32::try_from(kind).unwrap(),
            total: points.iter().map(value).sum(),
            points: points.len(),
        }
    };
    records(request).into_iter().map(read).collect()
}
