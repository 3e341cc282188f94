//! A collector that is away, slow or wrong harms nobody, and what it does not take is counted and said. Without the
//! setting nothing is sent.

use super::collecting;
use super::collector::{Behaviour, Collector};
use crate::http::Http;
use crate::scrape::{config, scrape_as};
use crate::server::Server;
use crate::site::Site;
use crate::wait::eventually;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::model_server::{MODEL, ScriptedResponse};
use testkit::{ModelServer, TempDir};

/// What the metrics say became of records.
async fn counted(http: &Http, outcome: &str) -> u64 {
    let metrics = http.get("/metrics").await.unwrap().text;
    let of_outcome = format!("outcome=\"{outcome}\"");
    let lines = metrics.lines().filter(|line| line.starts_with("gannet_otlp_records_total{"));
    let lines = lines.filter(|line| line.contains(&of_outcome));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

async fn scrape(server: &Server, site: &Site) {
    let scraped = scrape_as(&server.http, &site.url("/article"), json!({ "maxAge": 0 })).await;
    scraped.expect_success();
}

#[tokio::test]
async fn a_collector_that_misbehaves_harms_no_request_and_what_is_lost_is_counted() {
    let (dir, collector, site) = (TempDir::new(), Collector::start(), Site::start());
    let server = collecting(&dir, &collector).set("browser", "off").start().await;
    let http = &server.http;
    scrape(&server, &site).await;
    eventually("spans come by themselves", async || !collector.spans().is_empty()).await;
    assert!(counted(http, "sent").await > 0);

    collector.set(Behaviour::TooMany);
    let refused = collector.refused();
    scrape(&server, &site).await;
    eventually("it is asked", async || collector.refused() > refused).await;
    let before = collector.spans().len();
    collector.set(Behaviour::Takes);
    eventually("what it put off comes later", async || collector.spans().len() > before).await;
    assert_eq!(counted(http, "dropped").await, 0, "nothing was lost");

    collector.set(Behaviour::Status(400));
    scrape(&server, &site).await;
    eventually("what it refuses is counted", async || counted(http, "dropped").await > 0).await;
    eventually("and said", async || server.log().contains("did not take what it was sent")).await;

    collector.set(Behaviour::RejectsOne);
    scrape(&server, &site).await;
    eventually("what it rejects is counted", async || counted(http, "rejected").await > 0).await;
    collector.set(Behaviour::Garbage);
    let before = collector.exports().len();
    scrape(&server, &site).await;
    eventually("an answer that is no OTLP is one", async || collector.exports().len() > before).await;

    collector.set(Behaviour::Hangs);
    let refused = collector.refused();
    scrape(&server, &site).await;
    eventually("it hangs", async || collector.refused() > refused).await;
    let began = Instant::now();
    scrape(&server, &site).await;
    assert!(began.elapsed() < Duration::from_secs(5), "nobody waits for it: {:?}", began.elapsed());
    let (code, took, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(10), "the end does not wait for it either: {took:?}");
}

/// The variables that other programs read change nothing.
#[tokio::test]
async fn without_the_setting_nothing_is_sent_and_nobody_is_told() {
    let (dir, collector, site) = (TempDir::new(), Collector::start(), Site::start());
    let model = ModelServer::start(|_| ScriptedResponse::text("A summary."));
    let mut settings =
        config(&dir).set("browser", "off").set("model_url", &model.url()).set("model_name", MODEL);
    settings.launcher = vec!["env".into(), format!("OTEL_EXPORTER_OTLP_ENDPOINT={}", collector.url())];
    let server = settings.set("log", "trace").start().await;
    let options = json!({ "formats": ["summary"], "maxAge": 0 });
    let scraped = scrape_as(&server.http, &site.url("/article"), options).await;
    scraped.expect_success();
    assert_eq!(scraped.header("x-trace-id"), "");
    assert!(model.requests().iter().all(|request| request.traceparent.is_none()));
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0));
    assert!(!log.contains("gannet_spans"), "spans are off whatever the log filter says");
    assert!(collector.exports().is_empty());
}
