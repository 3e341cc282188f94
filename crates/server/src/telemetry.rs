//! Prometheus metrics.

use axum::http::Method;
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Seconds; from a cached response to a slow page of a crawl.
const BUCKETS_SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0];

const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The recorder of this process.
#[derive(Clone)]
pub struct Telemetry(PrometheusHandle);

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Telemetry")
    }
}

impl Telemetry {
    /// Installs the recorder; once per process.
    pub fn install() -> Result<Self, String> {
        let handle = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full("gannet_http_seconds".to_owned()), &BUCKETS_SECONDS)
            .and_then(|all| {
                all.set_buckets_for_metric(Matcher::Prefix("gannet_work_".to_owned()), &BUCKETS_SECONDS)
            })
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(|error| error.to_string())?;
        metrics::describe_counter!("gannet_http_requests_total", "HTTP requests by route, method and status");
        metrics::describe_histogram!("gannet_http_seconds", "Seconds from request to response, by route");
        metrics::describe_counter!("gannet_panics_total", "Handlers that panicked; each failed one request");
        metrics::describe_counter!(
            "gannet_connections_cut_total",
            "Connections closed by the server, by reason: the client did not read, read slowly, sent too much, or had too \
             many connections"
        );
        metrics::describe_counter!(
            "gannet_responses_refused_total",
            "Responses that were refused because too many others were not read yet"
        );
        metrics::describe_histogram!(
            "gannet_work_cpu_seconds",
            "CPU seconds of parsing a page and writing its document, by capability"
        );
        metrics::describe_histogram!(
            "gannet_work_wait_seconds",
            "Seconds that such work waited for a free CPU thread, by capability"
        );
        metrics::describe_counter!(
            "gannet_otlp_records_total",
            "Spans, lines of the log and metrics for the collector, by what became of them"
        );
        metrics::describe_counter!("gannet_webhooks_total", "Webhook delivery attempts by outcome");
        metrics::describe_counter!("gannet_search_asked_total", "Requests to search providers by outcome");
        metrics::describe_histogram!("gannet_search_seconds", "Response time of search providers in seconds");
        metrics::describe_gauge!("gannet_search_resting", "1 while a search provider is paused after errors");
        metrics::describe_gauge!("gannet_search_index_documents", "Pages in the local search index");
        metrics::describe_gauge!("gannet_search_index_bytes", "Size of the local search index in bytes");
        metrics::describe_gauge!("gannet_objects_bytes", "Size of stored objects in bytes");
        metrics::describe_gauge!("gannet_database_bytes", "Size of the database in bytes");
        metrics::describe_gauge!(
            "gannet_browser_sandboxed",
            "1 if pages run in Chromium's sandbox, 0 if not; absent before the first start of the browser"
        );
        Ok(Self(handle))
    }

    /// Merges samples regularly, so that they do not pile up if the metrics are never read.
    pub async fn run_upkeep(self, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(UPKEEP_INTERVAL)).await.is_some() {
            self.0.run_upkeep();
        }
    }

    /// The metrics in Prometheus' text format.
    pub fn render(&self) -> String {
        self.0.render()
    }
}

/// The instruments of one route, method and status, cached: looking them up by their labels for every
/// request would cost more than the rest of a small one.
struct Instruments {
    requests: Counter,
    seconds: Histogram,
}

type InstrumentMap = HashMap<String, HashMap<(&'static str, u16), Instruments>>;

static INSTRUMENTS: LazyLock<RwLock<InstrumentMap>> = LazyLock::new(RwLock::default);

/// Counts one request. `route` is the pattern and never the path, so that there are few labels.
pub fn count_request(route: &str, method: &Method, status: u16, took: Duration) {
    let kind = (method_label(method), status);
    let note = |instruments: &Instruments| {
        instruments.requests.increment(1);
        instruments.seconds.record(took.as_secs_f64());
    };
    let known = INSTRUMENTS.read();
    if let Some(instruments) = known.get(route).and_then(|of_route| of_route.get(&kind)) {
        return note(instruments);
    }
    drop(known);
    let labels = [("route", route.to_owned()), ("method", kind.0.to_owned()), ("status", status.to_string())];
    let instruments = Instruments {
        requests: metrics::counter!("gannet_http_requests_total", &labels),
        seconds: metrics::histogram!("gannet_http_seconds", "route" => route.to_owned()),
    };
    note(&instruments);
    let mut known = INSTRUMENTS.write();
    known.entry(route.to_owned()).or_default().insert(kind, instruments);
}

/// Unknown methods share one label.
pub fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
