//! The numbers of `/metrics` as metrics of OTLP. They are read from the text that Prometheus gets, so both say the
//! same, and counting costs nothing more.

use crate::protobuf::Protobuf;
use crate::record::{AttributeValue, write_attribute};

/// Numbers that only grow are sums since the start of the process.
const CUMULATIVE: u64 = 2;
/// Fields of the attributes of a point.
const NUMBER_ATTRIBUTES: u32 = 7;
const HISTOGRAM_ATTRIBUTES: u32 = 9;

/// When the numbers were taken, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Period {
    pub start: u64,
    pub now: u64,
}

/// The kinds of Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricKind {
    Counter,
    Gauge,
    Histogram,
    Summary,
}

#[derive(Debug)]
struct Family<'t> {
    name: &'t str,
    help: String,
    kind: MetricKind,
    points: Vec<Point<'t>>,
}

/// One line of numbers, or all lines of one histogram.
#[derive(Debug, Default)]
struct Point<'t> {
    labels: Labels<'t>,
    value: f64,
    count: f64,
    /// Limits of buckets with how much lies below each, or quantiles with their values.
    parts: Vec<(f64, f64)>,
}

/// Writes all metrics of a text, as entries of a list of them; how many there are.
pub fn write_metrics(out: &mut Protobuf, text: &str, period: Period) -> u64 {
    let families = parse(text);
    for family in &families {
        write_family(out, family, period);
    }
    families.len() as u64
}

fn parse(text: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut help = ("", String::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
            help = (name, unescape(text));
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        {
            let kind = match kind {
                "counter" => MetricKind::Counter,
                "histogram" => MetricKind::Histogram,
                "summary" => MetricKind::Summary,
                _ => MetricKind::Gauge,
            };
            let help = if help.0 == name { std::mem::take(&mut help.1) } else { String::new() };
            families.push(Family { name, help, kind, points: Vec::new() });
        } else if let Some(family) = families.last_mut()
            && let Some((name, labels, value)) = parse_line(line)
            && let Some(suffix) = name.strip_prefix(family.name)
        {
            family.add(suffix, labels, value);
        }
    }
    families.retain(|family| !family.points.is_empty());
    families
}

impl<'t> Family<'t> {
    fn add(&mut self, suffix: &str, mut labels: Labels<'t>, value: f64) {
        let part = match self.kind {
            MetricKind::Histogram => "le",
            MetricKind::Summary => "quantile",
            MetricKind::Counter | MetricKind::Gauge => {
                self.points.push(Point { labels, value, ..Point::default() });
                return;
            }
        };
        let place = labels.iter().position(|(name, _)| *name == part).map(|at| labels.remove(at).1);
        // Lines of one point stand together.
        if self.points.last().is_none_or(|last| last.labels != labels) {
            self.points.push(Point { labels, ..Point::default() });
        }
        let Some(point) = self.points.last_mut() else { return };
        match (suffix, place) {
            ("_sum", _) => point.value = value,
            ("_count", _) => point.count = value,
            (_, Some(place)) => point.parts.extend(place.parse().ok().map(|place: f64| (place, value))),
            _ => {}
        }
    }
}

type Labels<'t> = Vec<(&'t str, String)>;

/// `name{label="value"} 1.5`
fn parse_line(line: &str) -> Option<(&str, Labels<'_>, f64)> {
    let name_end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(name_end);
    let mut labels = Vec::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"")?;
            let end = end_of_value(after)?;
            labels.push((label, unescape(&after[..end])));
            rest = &after[end + 1..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = &rest[1..];
    }
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some((name, labels, value))
}

/// Where the quote stands that ends a value.
fn end_of_value(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => plain.push('\n'),
                Some(other) => plain.push(other),
                None => {}
            },
            other => plain.push(other),
        }
    }
    plain
}

fn write_family(out: &mut Protobuf, family: &Family<'_>, period: Period) {
    out.message(2, |metric| {
        metric.text(1, family.name);
        metric.text(2, &family.help);
        let data = match family.kind {
            MetricKind::Gauge => 5,
            MetricKind::Counter => 7,
            MetricKind::Histogram => 9,
            MetricKind::Summary => 11,
        };
        metric.message(data, |data| {
            for point in &family.points {
                data.message(1, |out| match family.kind {
                    MetricKind::Counter | MetricKind::Gauge => write_number(out, point, period),
                    MetricKind::Histogram => write_histogram(out, point, period),
                    MetricKind::Summary => write_summary(out, point, period),
                });
            }
            if matches!(family.kind, MetricKind::Counter | MetricKind::Histogram) {
                data.uint(2, CUMULATIVE);
            }
            if family.kind == MetricKind::Counter {
                data.bool_always(3, true);
            }
        });
    });
}

fn write_labels(out: &mut Protobuf, field: u32, point: &Point<'_>, period: Period) {
    for (name, value) in &point.labels {
        write_attribute(out, field, name, AttributeValue::Text(value));
    }
    out.fixed64(2, period.start);
    out.fixed64(3, period.now);
}

fn write_number(out: &mut Protobuf, point: &Point<'_>, period: Period) {
    write_labels(out, NUMBER_ATTRIBUTES, point, period);
    out.double(4, point.value);
}

fn write_histogram(out: &mut Protobuf, point: &Point<'_>, period: Period) {
    write_labels(out, HISTOGRAM_ATTRIBUTES, point, period);
    out.fixed64(4, whole(point.count));
    out.double(5, point.value);
    // Prometheus counts what lies below each limit, OTLP what lies in each bucket.
    let below = point.parts.iter().map(|(_, below)| whole(*below));
    let before = std::iter::once(0).chain(below.clone());
    let counts: Vec<u64> = below.zip(before).map(|(below, before)| below.saturating_sub(before)).collect();
    out.packed_fixed64(6, &counts);
    let limits = point.parts.iter().map(|(limit, _)| *limit).filter(|limit| limit.is_finite());
    let limits: Vec<u64> = limits.map(f64::to_bits).collect();
    out.packed_fixed64(7, &limits);
}

fn write_summary(out: &mut Protobuf, point: &Point<'_>, period: Period) {
    write_labels(out, NUMBER_ATTRIBUTES, point, period);
    out.fixed64(4, whole(point.count));
    out.double(5, point.value);
    for (quantile, value) in &point.parts {
        out.message(6, |out| {
            out.double(1, *quantile);
            out.double(2, *value);
        });
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts; wrong ones are held at the ends"
)]
fn whole(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# HELP gannet_http_requests_total HTTP requests
# TYPE gannet_http_requests_total counter
gannet_http_requests_total{route=\"/v2/scrape\",status=\"200\"} 7
gannet_http_requests_total{route=\"a \\\"b\\\", c=\\\\\"} 1

# TYPE gannet_http_seconds histogram
gannet_http_seconds_bucket{route=\"/v2\",le=\"0.5\"} 2
gannet_http_seconds_bucket{route=\"/v2\",le=\"1\"} 5
gannet_http_seconds_bucket{route=\"/v2\",le=\"+Inf\"} 6
gannet_http_seconds_sum{route=\"/v2\"} 4.5
gannet_http_seconds_count{route=\"/v2\"} 6

# TYPE gannet_search_seconds summary
gannet_search_seconds{quantile=\"0.5\"} 0.25
gannet_search_seconds_sum 3
gannet_search_seconds_count 12

# TYPE gannet_disk_free_bytes gauge
gannet_disk_free_bytes 1e9
nonsense
";

    #[test]
    fn every_kind_of_line_is_read() {
        let families = parse(TEXT);
        let [requests, seconds, search, disk] = &families[..] else { panic!("{families:?}") };
        let first = (requests.kind, requests.help.as_str(), requests.points[0].value);
        assert_eq!(first, (MetricKind::Counter, "HTTP requests", 7.0));
        assert_eq!(requests.points[1].labels, [("route", "a \"b\", c=\\".to_owned())]);
        let [point] = &seconds.points[..] else { panic!("{seconds:?}") };
        assert_eq!((point.value, point.count), (4.5, 6.0));
        assert_eq!(point.parts, [(0.5, 2.0), (1.0, 5.0), (f64::INFINITY, 6.0)]);
        assert_eq!(search.points[0].parts, [(0.5, 0.25)]);
        assert_eq!((disk.kind, disk.points[0].value), (MetricKind::Gauge, 1e9));
    }
}
