//! Webhooks, as a receiver sees them: the events of a crawl, their signature, and that none is lost.

mod receiver;

use crate::crawl::site::{CrawlSite, PAGES};
use crate::http::Http;
use crate::server::{KEY, Server, ServerConfig, shared_server};
pub use receiver::{Delivery, Receiver};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::{TempDir, shared_database};

/// A server that may scrape loopback and send webhooks there, with quick retries.
const SETTINGS: [(&str, &str); 5] = [
    ("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8"),
    ("webhook_retries", "30ms,30ms"),
    ("webhook_timeout", "700ms"),
    ("lease", "500ms"),
    ("browser", "off"),
];

fn config(dir: &TempDir) -> ServerConfig {
    SETTINGS.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value))
}

/// A server that other tests use too.
async fn shared() -> Server {
    shared_server(&SETTINGS).await.1
}

async fn crawl(http: &Http, url: &str, webhook: Value) -> String {
    let body = json!({ "url": url, "sitemap": "skip", "webhook": webhook });
    let response = http.post("/v2/crawl", &body).await.unwrap();
    response.expect_success()["id"].as_str().unwrap().to_owned()
}

/// Polls until a question has an answer.
async fn poll_until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn fetch_failed_deliveries(http: &Http, count: usize) -> Vec<Value> {
    poll_until(&format!("{count} dead letters"), || async {
        let response = http.get("/v2/team/webhooks/failed").await.unwrap();
        let data = response.expect_success()["data"].as_array().unwrap().clone();
        (data.len() >= count).then_some(data)
    })
    .await
}

fn kinds(got: &[Delivery]) -> Vec<String> {
    got.iter().map(|got| got.json()["type"].as_str().unwrap().to_owned()).collect()
}

/// Writes a program from a code block of the documentation into a folder.
fn program_from_docs(dir: &Path, language: &str, name: &str) -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/webhooks.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let block = text.split(&format!("```{language}\n")).nth(1).expect("a block").split("```").next().unwrap();
    let file = dir.join(name);
    std::fs::write(&file, block).unwrap();
    file
}

/// Whether both example programs of the documentation accept the signature of a delivery.
fn signature_is_accepted(dir: &Path, got: &Delivery, secret: &str) -> [bool; 2] {
    std::fs::write(dir.join("body"), &got.body).unwrap();
    program_from_docs(dir, "python", "hook.py");
    program_from_docs(dir, "javascript", "hook.mjs");
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let node = std::env::var("GANNET_TEST_NODE_DIR").expect("GANNET_TEST_NODE_DIR; run through `make test`");
    let in_python =
        "import sys, hook; print(hook.is_genuine(open('body', 'rb').read(), sys.argv[1], [sys.argv[2]]))";
    let in_node = "import { readFileSync } from 'node:fs'; import { isGenuine } from './hook.mjs'; \
                   console.log(isGenuine(readFileSync('body'), process.argv[1], [process.argv[2]]))";
    let mut runs = [
        (Command::new(python), vec!["-c", in_python]),
        (
            Command::new(Path::new(&node).join("node_modules/.bin/node")),
            vec!["--input-type=module", "-e", in_node],
        ),
    ];
    let signature = got.headers.get("x-firecrawl-signature").cloned().unwrap_or_default();
    runs.each_mut().map(|(command, program)| {
        let output = command.current_dir(dir).args(program).args([&signature, secret]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().eq_ignore_ascii_case("true")
    })
}

#[tokio::test]
async fn a_crawl_sends_its_events_in_order_and_signed() {
    let (dir, site, receiver) = (TempDir::new(), CrawlSite::start(), Receiver::start());
    let server = shared().await;
    let http = &server.http;
    let secret = http.get("/v2/team/webhook-secret").await.unwrap();
    let secret = secret.expect_success()["data"]["secret"].as_str().unwrap().to_owned();
    let webhook = json!({
        "url": receiver.url("/ok"), "headers": { "X-Login": "me" }, "metadata": { "run": "7" },
    });
    let id = crawl(http, &site.url("/site/"), webhook).await;
    let got = receiver.wait_for("/ok", PAGES.len() + 3).await;
    let status = http.get(&format!("/v2/crawl/{id}")).await.unwrap().json;
    assert_eq!(status["status"], "completed", "{status}");

    let events = kinds(&got);
    assert_eq!(
        (events.first().unwrap(), events.last().unwrap()),
        (&"crawl.started".into(), &"crawl.completed".into())
    );
    assert!(events[1..events.len() - 1].iter().all(|kind| kind == "crawl.page"), "{events:?}");
    let (good, bad): (Vec<Value>, Vec<Value>) =
        got[1..got.len() - 1].iter().map(Delivery::json).partition(|page| page["success"] == true);
    let documents: Vec<&Value> = good.iter().map(|page| &page["data"][0]).collect();
    let kept: Vec<&Value> = status["data"].as_array().unwrap().iter().collect();
    assert_eq!(documents, kept, "the documents of the crawl, in their order");
    assert_eq!(bad.len(), 1);
    assert!(bad[0]["error"].is_string());
    assert_eq!(bad[0]["data"][0]["metadata"]["sourceURL"], site.url("/site/broken"));

    let ids: BTreeSet<String> = got.iter().map(|got| got.json()["webhookId"].to_string()).collect();
    assert_eq!(ids.len(), got.len(), "each delivery has an id of its own");
    for one in &got {
        assert_eq!((&one.json()["id"], &one.json()["metadata"]), (&json!(id), &json!({ "run": "7" })));
        assert_eq!(one.headers["x-login"], "me");
        assert_eq!(one.headers["content-type"], "application/json");
    }
    assert_eq!(signature_is_accepted(dir.path(), &got[1], &secret), [true, true]);
    let mut changed = got[1].clone();
    changed.body = got[2].body.clone();
    assert_eq!(signature_is_accepted(dir.path(), &changed, &secret), [false, false], "another body");
    let metrics = http.get("/metrics").await.unwrap().text;
    assert!(metrics.contains("gannet_webhooks_total{outcome=\"delivered\"}"), "{metrics}");
}

#[tokio::test]
async fn a_batch_sends_only_the_events_it_was_asked_for() {
    let (site, receiver) = (CrawlSite::start(), Receiver::start());
    let server = shared().await;
    let body = json!({
        "urls": [site.url("/site/one"), site.url("/site/two")],
        "webhook": { "url": receiver.url("/ok"), "events": ["completed", "page"] },
    });
    let response = server.http.post("/v2/batch/scrape", &body).await.unwrap();
    let id = response.expect_success()["id"].clone();
    let got = receiver.wait_for("/ok", 3).await;
    assert_eq!(kinds(&got), ["batch_scrape.page", "batch_scrape.page", "batch_scrape.completed"]);
    assert!(got.iter().all(|got| got.json()["id"] == id));
}

#[tokio::test]
async fn webhooks_that_can_never_be_delivered_are_refused_at_the_start() {
    let site = CrawlSite::start();
    let server = shared().await;
    for (webhook, word) in [
        (json!("ftp://a.example/"), "http://"),
        (json!("http://10.0.0.1/"), "egress_allow"),
        (json!({ "url": "https://a.example/", "headers": { "X-Firecrawl-Signature": "x" } }), "signature"),
        (json!({ "url": "https://a.example/", "events": ["crawl.page"] }), "started, page"),
        (json!({ "url": "https://a.example/", "surprise": 1 }), "surprise"),
    ] {
        for (path, mut body) in [
            ("/v2/crawl", json!({ "url": site.url("/site/") })),
            ("/v2/batch/scrape", json!({ "urls": [site.url("/site/")] })),
        ] {
            body["webhook"] = webhook.clone();
            let response = server.http.post(path, &body).await.unwrap();
            assert_eq!(response.status, 400, "{path} {webhook}: {}", response.text);
            assert!(response.text.contains(word), "{path} {webhook}: {}", response.text);
        }
    }
}

#[tokio::test]
async fn failed_deliveries_are_retried_or_kept_as_dead_letters() {
    let (site, receiver) = (CrawlSite::start(), Receiver::start());
    let server = shared().await;
    let http = &server.http;
    let only = |path: &str, event: &str| json!({ "url": receiver.url(path), "events": [event] });
    let page = site.url("/alone");
    // Twice 500, then accepted: the same delivery every time.
    crawl(http, &page, only("/fails/2", "completed")).await;
    let got = receiver.wait_for("/fails/2", 3).await;
    let ids: BTreeSet<String> = got.iter().map(|got| got.json()["webhookId"].to_string()).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    // Never accepted: given up, without an effect on the crawl.
    let mut jobs = Vec::new();
    for path in ["/fails/999", "/redirects", "/hangs"] {
        jobs.push(crawl(http, &page, only(path, "started")).await);
    }
    let dead = fetch_failed_deliveries(http, 3).await;
    let by_job: BTreeMap<&str, &Value> =
        dead.iter().map(|letter| (letter["jobId"].as_str().unwrap(), letter)).collect();
    for (job, word) in jobs.iter().zip(["500", "redirects are not followed", "timed out"]) {
        let letter = by_job[job.as_str()];
        assert!(letter["error"].as_str().unwrap().contains(word), "{letter}");
        assert_eq!((&letter["type"], &letter["attempts"]), (&json!("crawl.started"), &json!(3)));
        assert!(letter["url"].as_str().unwrap().starts_with(&receiver.url("/")), "{letter}");
        poll_until("the crawl ends", || async {
            let status = http.get(&format!("/v2/crawl/{job}")).await.unwrap().json;
            (status["status"] == "completed").then_some(())
        })
        .await;
    }
    assert!(receiver.deliveries("/ok").is_empty(), "nobody followed the redirect");
    // Listed in pages, newest first.
    let first = http.get("/v2/team/webhooks/failed?limit=2").await.unwrap().json;
    let cursor = first["cursor"].as_str().expect("more to come");
    let rest = http.get(&format!("/v2/team/webhooks/failed?limit=2&cursor={cursor}")).await.unwrap().json;
    assert_eq!((first["data"].as_array().unwrap().len(), rest["data"].as_array().unwrap().len()), (2, 1));
    assert_eq!(rest["cursor"], Value::Null);
    assert_eq!(rest["data"][0]["jobId"], json!(jobs[0]));
    // And sent again on request.
    receiver.accept_everything();
    let letter = by_job[jobs[0].as_str()]["id"].as_str().unwrap();
    let retry = format!("/v2/team/webhooks/failed/{letter}/retry");
    http.post(&retry, &json!({})).await.unwrap().expect_success();
    let got = receiver.wait_for("/fails/999", 4).await;
    assert_eq!(got[3].json()["webhookId"], json!(letter));
    http.post(&retry, &json!({})).await.unwrap().expect_error(404, "Not Found");
    assert_eq!(http.post("/v2/team/webhooks/failed/x/retry", &json!({})).await.unwrap().status, 400);
}

#[tokio::test]
async fn the_webhook_secret_is_created_once_and_rotated() {
    let server = shared().await;
    let http = &server.http;
    let first = http.get("/v2/team/webhook-secret").await.unwrap().expect_success()["data"].clone();
    assert_eq!(first["previous"], Value::Null);
    assert_eq!(http.get("/v2/team/webhook-secret").await.unwrap().json["data"], first, "the same for ever");
    let rotate = async |query: &str| {
        let path = format!("/v2/team/webhook-secret/rotate{query}");
        http.post(&path, &json!({})).await.unwrap()
    };
    let second = rotate("").await.expect_success()["data"].clone();
    assert_ne!(second["secret"], first["secret"]);
    assert_eq!(second["previous"]["secret"], first["secret"]);
    assert!(second["previous"]["until"].is_string());
    let third = rotate("?phaseOutHours=0").await.expect_success()["data"].clone();
    assert_eq!(third["previous"], Value::Null, "a leaked one is gone at once");
    assert_eq!(rotate("?phaseOutHours=169").await.status, 400);
    let none = http.with_key(None);
    assert_eq!(none.get("/v2/team/webhook-secret").await.unwrap().status, 401);
    let key = http.post("/admin/keys", &json!({ "name": "reader", "scopes": ["search"] })).await.unwrap();
    let reader = http.with_key(key.expect_success()["key"].as_str());
    assert_eq!(reader.get("/v2/team/webhook-secret").await.unwrap().status, 403, "not for every key");
    assert!(!server.log().contains(third["secret"].as_str().unwrap()), "and in no log");
}

/// Every event of every crawl arrives, in order, however often the server is killed.
async fn killed_servers_lose_nothing(config: ServerConfig) {
    let (site, receiver) = (CrawlSite::start(), Receiver::start());
    let mut server: Server = config.start().await;
    let mut jobs = Vec::new();
    let rounds = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 40 } else { 3 };
    for round in 0..rounds {
        for _ in 0..2 {
            jobs.push(crawl(&server.http, &site.url("/site/"), json!(receiver.url("/slow"))).await);
        }
        tokio::time::sleep(Duration::from_millis(150 + round * 70 % 400)).await;
        server.kill();
        server = config.start().await;
    }
    for job in &jobs {
        let arrived = poll_until("every crawl has sent its last event", || async {
            let first = without_repeats(&receiver.deliveries("/slow"), job);
            (first.last().is_some_and(|got| got["type"] == "crawl.completed")).then_some(first)
        })
        .await;
        let events: Vec<&str> = arrived.iter().map(|got| got["type"].as_str().unwrap()).collect();
        assert_eq!(events.len(), PAGES.len() + 3, "{events:?}");
        assert_eq!(events[0], "crawl.started");
        let pages: BTreeSet<String> =
            arrived.iter().map(|got| got["data"][0]["metadata"]["sourceURL"].to_string()).collect();
        // Each page once, and `null` for the start and the end.
        assert_eq!(pages.len(), PAGES.len() + 2, "{pages:?}");
    }
    let dead = server.http.get("/v2/team/webhooks/failed").await.unwrap();
    assert_eq!(dead.expect_success()["data"], json!([]));
}

/// The events of a crawl in order, without repeated deliveries.
fn without_repeats(got: &[Delivery], job: &str) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mine = got.iter().map(Delivery::json).filter(|body| body["id"] == job);
    mine.filter(|body| seen.insert(body["webhookId"].to_string())).collect()
}

#[tokio::test]
async fn killed_servers_on_sqlite_lose_no_webhook() {
    let dir = TempDir::new();
    killed_servers_lose_nothing(config(&dir).set("webhook_retries", "100ms,100ms,100ms,100ms")).await;
}

#[tokio::test]
async fn killed_servers_on_postgresql_lose_no_webhook() {
    let dir = TempDir::new();
    let on_postgres = config(&dir).set("database_url", &shared_database()).set("api_key", KEY);
    killed_servers_lose_nothing(on_postgres.set("webhook_retries", "100ms,100ms,100ms,100ms")).await;
}
