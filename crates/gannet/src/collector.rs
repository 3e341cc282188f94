//! The collector of OpenTelemetry: what it is sent, and the HTTP client that sends it. Only processes that serve send
//! anything.

use crate::settings::{CollectorSettings, Settings};
use anyhow::Result;
use bytes::Bytes;
use net::{AtLimit, Deadline, Fetcher, Limits, retry_after};
use otlp::{Answer, Collected, Exporter, MetricsText, Post, Resource};
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Metadata;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};
use uuid::Uuid;

/// The HTML parser logs the text of pages at `trace`, also of private scrapes; this must be enabled
/// explicitly.
const HTML_PARSER_FILTER: &str = "html5ever=error";
/// What clients of the Model Context Protocol do wrong is told to them.
const MCP_FILTER: &str = "rmcp=error";
/// How long a collector may take for one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of an answer.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// Starts the log, which goes to standard error: standard output is for results. Where a collector is configured, it
/// gets the same lines, and spans, which are off otherwise.
pub fn start_log(settings: &Settings) -> Option<Collected> {
    let spans = if settings.collector.is_some() { "info" } else { "off" };
    let filter =
        EnvFilter::new(format!("{HTML_PARSER_FILTER},{MCP_FILTER},{}={spans},{}", otlp::SPANS, settings.log));
    let Some(_) = &settings.collector else {
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            // Without this a failed write is reported with `eprintln!`, which panics when standard error itself is
            // what failed (a closed pipe, a terminal that is gone), and takes the task that logged with it: the one
            // that waits for SIGTERM, for example.
            .log_internal_errors(false)
            .with_ansi(std::io::stderr().is_terminal());
        if settings.log_json {
            log.json().flatten_event(true).init();
        } else {
            log.with_target(false).init();
        }
        return None;
    };
    let collected = Collected::default();
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = if settings.log_json {
        lines.json().flatten_event(true).boxed()
    } else {
        lines.with_target(false).boxed()
    };
    // Lines say nothing of our spans: the collector shows which belong together.
    let is_line = |metadata: &Metadata<'_>| metadata.target() != otlp::SPANS;
    // The filter comes last, which is outermost: only so its level is the highest that anybody asks for, and what
    // libraries log below it costs a comparison. The HTML parser does that for every token.
    tracing_subscriber::registry()
        .with(lines.with_filter(filter_fn(is_line)))
        .with(collected.layer())
        .with(filter)
        .init();
    Some(collected)
}

/// What sends to the collector while a process serves.
#[derive(Debug)]
pub struct CollectorTask {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl CollectorTask {
    /// Starts to send, if there is a collector.
    pub fn start(
        settings: &Settings,
        collected: Option<Collected>,
        fetcher: &Fetcher,
        metrics: MetricsText,
    ) -> Option<Self> {
        let (collector, collected) = (settings.collector.clone()?, collected?);
        let stop = CancellationToken::new();
        let exporter = Exporter::new(collected, resource(), post(collector, fetcher), metrics);
        Some(Self { task: tokio::spawn(exporter.run(stop.clone())), stop })
    }

    /// Sends what is left; it takes a second or two at most.
    pub async fn finish(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

/// Which process it is.
fn resource() -> Resource {
    let resource = Resource::default()
        .with("service.name", "gannet")
        .with("service.version", env!("CARGO_PKG_VERSION"))
        .with("service.instance.id", &Uuid::new_v4().to_string())
        .with("telemetry.sdk.language", "rust")
        .with("telemetry.sdk.name", "gannet");
    match std::fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(host) if !host.trim().is_empty() => resource.with("host.name", host.trim()),
        _ => resource,
    }
}

fn post(collector: CollectorSettings, fetcher: &Fetcher) -> Post {
    let fetcher = fetcher.clone();
    Arc::new(move |path, body| {
        let (collector, fetcher) = (collector.clone(), fetcher.clone());
        Box::pin(async move { send(&collector, &fetcher, path, body).await })
    })
}

async fn send(
    collector: &CollectorSettings,
    fetcher: &Fetcher,
    path: &str,
    body: Bytes,
) -> Result<Answer, String> {
    let limits = Limits {
        // When to try again is decided by the exporter.
        retries: 0,
        wire_bytes: MAX_ANSWER_BYTES,
        body_bytes: MAX_ANSWER_BYTES,
        at_limit: AtLimit::Truncate,
        ..Limits::default()
    };
    let request = collector.post(path, body).map_err(|error| error.to_string())?.limits(limits);
    let fetched =
        fetcher.fetch(request, Deadline::after(TIMEOUT)).await.map_err(|error| error.to_string())?;
    let head = &fetched.meta.head;
    Ok(Answer { status: head.status.as_u16(), retry_after: retry_after(&head.headers), body: fetched.body })
}

/// What the collector answers to an empty request.
pub async fn probe(collector: &CollectorSettings, fetcher: &Fetcher) -> Result<Answer, String> {
    otlp::probe(&post(collector.clone(), fetcher)).await
}
