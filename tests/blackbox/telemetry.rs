//! What a collector of OpenTelemetry sees of a server: traces of requests and of what they cause, logs and metrics; and
//! that a server is as it was without a collector, or with one that misbehaves.

mod collector;
mod harm;

use crate::agent::{started_id, wait_for_end};
use crate::http::{Http, HttpResponse};
use crate::scrape::{config, scrape_as};
use crate::server::{KEY, ServerConfig};
use crate::site::Site;
use crate::site_server::SiteServer;
use crate::wait::eventually;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::post;
use collector::Collector;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use testkit::model_server::{MODEL, ScriptedResponse};
use testkit::otlp::{OtlpSpan, read_resource};
use testkit::{ClosedPort, ModelServer, TempDir};

const CALLER_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER_SPAN: &str = "00f067aa0ba902b7";
/// A schedule that does not fire while tests run.
const RARELY: &str = "17 3 1 1 *";

/// Receives webhooks and keeps their headers.
struct WebhookReceiver {
    server: SiteServer,
    headers: Arc<Mutex<Vec<HeaderMap>>>,
}

impl WebhookReceiver {
    fn start() -> Self {
        let headers: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
        let kept = headers.clone();
        let keep = async move |headers: HeaderMap| kept.lock().unwrap().push(headers);
        Self { server: SiteServer::start(Router::new().route("/secret-hook-path", post(keep))), headers }
    }
}

/// The spans of one server that has stopped.
struct Traces(Vec<OtlpSpan>);

impl Traces {
    /// The one span of this name that `is_it`.
    #[track_caller]
    fn one(&self, name: &str, is_it: impl Fn(&OtlpSpan) -> bool) -> &OtlpSpan {
        let found: Vec<_> = self.0.iter().filter(|span| span.name == name && is_it(span)).collect();
        let [span] = found[..] else {
            panic!("{} spans {name}: {found:#?}\n{:#?}", found.len(), self.names())
        };
        span
    }

    fn names(&self) -> BTreeSet<&str> {
        self.0.iter().map(|span| span.name.as_str()).collect()
    }

    /// The one span of this name right below `parent`, in the same trace.
    #[track_caller]
    fn child<'s>(&'s self, parent: &OtlpSpan, name: &str) -> &'s OtlpSpan {
        let is_child = |span: &OtlpSpan| {
            span.parent.as_ref() == Some(&parent.span_id) && span.trace_id == parent.trace_id
        };
        self.one(name, is_child)
    }

    /// The names of all spans below one, at any depth.
    fn below(&self, parent: &OtlpSpan) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        let mut parents = vec![parent.span_id.as_str()];
        while let Some(parent) = parents.pop() {
            for span in self.0.iter().filter(|span| span.parent.as_deref() == Some(parent)) {
                names.insert(span.name.as_str());
                parents.push(&span.span_id);
            }
        }
        names
    }

    /// Every span is below another of its trace, below the caller's, or begins a trace where one may begin.
    fn assert_whole(&self) {
        let known: BTreeSet<(&str, &str)> =
            self.0.iter().map(|span| (span.trace_id.as_str(), span.span_id.as_str())).collect();
        assert_eq!(known.len(), self.0.len(), "ids are used twice");
        for span in &self.0 {
            match span.parent.as_deref() {
                Some(CALLER_SPAN) => assert_eq!(span.trace_id, CALLER_TRACE),
                Some(parent) => {
                    assert!(known.contains(&(span.trace_id.as_str(), parent)), "no parent: {span:?}");
                }
                None => assert!(
                    span.name.contains(" /")
                        || ["crawl page", "crawl lists", "agent run", "monitor check", "webhook"]
                            .contains(&span.name.as_str()),
                    "begins a trace: {span:?}"
                ),
            }
        }
    }
}

/// Settings of a server that sends to a collector.
fn collecting(dir: &TempDir, collector: &Collector) -> ServerConfig {
    config(dir)
        .set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")
        .set("otlp", collector.url())
        .set("otlp_headers", "Authorization=Bearer collector-key, X-Tenant=one")
}

/// Scrapes as a caller who is traced.
async fn scrape_traced(http: &Http, body: &Value) -> HttpResponse {
    let request = http.request(Method::POST, "/v2/scrape").json(body);
    let request = request.header("traceparent", format!("00-{CALLER_TRACE}-{CALLER_SPAN}-01"));
    http.send(request.header("tracestate", "vendor=7")).await.unwrap()
}

async fn crawl(http: &Http, body: &Value) {
    let started = http.post("/v2/crawl", body).await.unwrap();
    let id = started_id(&started);
    eventually("the crawl ends", async || {
        let status = http.get(&format!("/v2/crawl/{id}")).await.unwrap();
        status.json["status"] == "completed"
    })
    .await;
}

async fn check_monitor(http: &Http, url: &str) -> String {
    let body = json!({ "name": "page", "schedule": { "cron": RARELY },
        "targets": [{ "type": "scrape", "urls": [url] }] });
    let created = http.post("/v2/monitor", &body).await.unwrap();
    let monitor = created.expect_success()["data"]["id"].as_str().unwrap().to_owned();
    let run = http.post(&format!("/v2/monitor/{monitor}/run"), &json!({})).await.unwrap();
    let check = run.expect_success()["id"].as_str().unwrap().to_owned();
    eventually("the check ends", async || {
        let check = http.get(&format!("/v2/monitor/{monitor}/checks/{check}")).await.unwrap();
        !["queued", "running"].contains(&check.json["data"]["status"].as_str().unwrap_or("queued"))
    })
    .await;
    monitor
}

/// The metrics that came, and what every request to the collector says of itself.
fn check_metrics_and_heads(collector: &Collector) {
    let metrics = collector.metrics();
    let metric =
        |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}"));
    assert!(metric("gannet_http_requests_total").total >= 5.0);
    assert_eq!((metric("gannet_http_requests_total").kind, metric("gannet_http_seconds").kind), (7, 9));
    for export in collector.exports() {
        let resource = read_resource(&export.body);
        assert_eq!(resource["service.name"], "gannet");
        assert!(!resource["service.version"].is_empty() && !resource["service.instance.id"].is_empty());
        assert_eq!(export.headers["authorization"], "Bearer collector-key");
        assert_eq!(export.headers["content-type"], "application/x-protobuf");
    }
}

/// One server, because each start costs: a scrape with a model and a browser, one that fails, a private one, a crawl with
/// a webhook, an agent run and a check of a monitor.
#[tokio::test]
async fn what_requests_cause_is_in_traces_with_the_right_parents() {
    let (dir, collector, site, hooks) =
        (TempDir::new(), Collector::start(), Site::start(), WebhookReceiver::start());
    let model = ModelServer::start(|_| ScriptedResponse::text("A summary."));
    let settings = collecting(&dir, &collector)
        .set("model_url", &model.url())
        .set("model_name", MODEL)
        .set("log", "debug");
    let server = settings.start().await;
    let http = &server.http;

    let page = site.url("/article?token=secret-query");
    let body = json!({ "url": page, "formats": ["markdown", "summary"], "maxAge": 0 });
    let scraped = scrape_traced(http, &body).await;
    scraped.expect_success();
    assert_eq!(scraped.header("x-trace-id"), CALLER_TRACE);
    let rendered = scrape_as(http, &site.url("/article"), json!({ "waitFor": 1, "maxAge": 0 })).await;
    rendered.expect_success();
    let closed = ClosedPort::hold();
    let failed = scrape_as(http, &format!("http://{}/", closed.address()), json!({ "maxAge": 0 })).await;
    assert!(failed.status >= 500, "{}", failed.text);
    let private = json!({ "zeroDataRetention": true, "maxAge": 0 });
    let _ = scrape_as(http, &site.url("/private-path"), private).await;
    let webhook = json!({ "url": hooks.server.url("/secret-hook-path"), "events": ["completed"] });
    crawl(http, &json!({ "url": site.url("/article"), "limit": 1, "webhook": webhook })).await;
    eventually("the webhook comes", async || !hooks.headers.lock().unwrap().is_empty()).await;
    let run = json!({ "prompt": "What is it about?", "urls": [site.url("/article")], "strictConstrainToURLs": true });
    let run = started_id(&http.post("/v2/agent", &run).await.unwrap());
    wait_for_end(http, &run).await;
    let monitor = check_monitor(http, &site.url("/article")).await;
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");

    let traces = Traces(collector.spans());
    traces.assert_whole();
    let request = traces.one("POST /v2/scrape", |span| span.parent.as_deref() == Some(CALLER_SPAN));
    assert_eq!((request.trace_id.as_str(), request.trace_state.as_str()), (CALLER_TRACE, "vendor=7"));
    assert_eq!((request.kind, request.attributes["http.response.status_code"].as_str()), (2, "200"));
    assert_eq!(request.attributes["gannet.request.id"], scraped.header("x-request-id"));
    let scrape = traces.child(request, "scrape");
    let got = traces.child(scrape, "get page");
    let fetch = traces.child(got, "fetch");
    assert_eq!((fetch.kind, fetch.attributes["url.path"].as_str()), (3, "/article"));
    assert_eq!(fetch.attributes["http.response.status_code"], "200");
    traces.child(got, "cpu");
    traces.child(scrape, "store record");
    assert!(
        traces.0.iter().any(|span| span.attributes.contains_key("db.system.name")),
        "{:?}",
        traces.names()
    );
    let chat = traces.child(scrape, "chat");
    assert_eq!(chat.attributes["gen_ai.request.model"], MODEL);
    let asked = traces.child(chat, "fetch");
    let told = format!("00-{CALLER_TRACE}-{}-01", asked.span_id);
    assert!(
        model.requests().iter().any(|request| request.traceparent.as_deref() == Some(&told)),
        "the model is told"
    );
    let visits = site.requests("/article");
    assert!(
        visits.len() > 2 && visits.iter().all(|visit| visit.header("traceparent").is_empty()),
        "sites are not"
    );

    assert!(traces.names().contains("browser"), "{:?}", traces.names());
    let failure = traces.one("POST /v2/scrape", |span| span.has_failed);
    assert_eq!(failure.trace_id, failed.header("x-trace-id"));
    let line = log.lines().find(|line| line.contains("request failed")).expect("a line of the log");
    assert!(line.contains(failed.header("x-request-id")) && line.contains(&failure.trace_id), "{line}");
    let logs = collector.logs();
    let logged = logs.iter().find(|line| line.body == "request failed").expect("the same line");
    assert_eq!((&logged.trace_id, logged.severity.as_str()), (&failure.trace_id, "WARN"));

    let asked = traces.one("POST /v2/crawl", |_| true);
    let page = traces.one("crawl page", |_| true);
    assert_eq!(page.links, [(asked.trace_id.clone(), asked.span_id.clone())]);
    let below = traces.below(page);
    assert!(["scrape", "fetch", "cpu"].iter().all(|name| below.contains(name)), "{below:?}");
    let sent = traces.one("webhook", |_| true);
    assert_eq!(sent.attributes["gannet.job.id"], page.attributes["gannet.job.id"]);
    assert_eq!(sent.links, page.links);
    let told = hooks.headers.lock().unwrap()[0]["traceparent"].to_str().unwrap().to_owned();
    assert_eq!(told, format!("00-{}-{}-01", sent.trace_id, traces.child(sent, "fetch").span_id));

    let asked = traces.one("POST /v2/agent", |_| true);
    let worked = traces.one("agent run", |span| span.attributes["gannet.job.id"] == run);
    assert_eq!(worked.links, [(asked.trace_id.clone(), asked.span_id.clone())]);
    assert!(traces.below(worked).contains("fetch"), "{:?}", traces.below(worked));
    let check = traces.one("monitor check", |span| span.attributes["gannet.monitor.id"] == monitor);
    assert!(traces.below(check).contains("scrape"), "{:?}", traces.below(check));

    check_metrics_and_heads(&collector);
    assert!(!log.contains("collector-key"));
    for secret in [KEY, "secret-query", "collector-key", "secret-hook-path"] {
        let tells = |span: &OtlpSpan| format!("{span:?}").contains(secret);
        assert!(!traces.0.iter().any(tells), "{secret}");
    }
    assert!(!format!("{:?}", traces.0).contains("private-path"), "a private page");
}
