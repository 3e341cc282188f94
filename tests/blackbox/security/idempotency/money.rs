//! Everything handed out is charged, and requests to an operator's model are paid for.

use super::{count_activity, remaining_credits};
use crate::agent::{started_id, wait_for_end};
use crate::http::Http;
use crate::scrape::{ScrapeFixture, config};
use crate::server::{Server, ServerConfig};
use crate::site_server::SiteServer;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::model_server::{MODEL, ScriptedResponse};
use testkit::{ModelServer, TempDir};

/// A shop with a list of feeders; one of their pages never loads, so a run over it does not end by itself.
fn shop() -> SiteServer {
    const FILLER: &str =
        "<p>Every feeder is made by hand in a small workshop by the sea, of wood that grew there.</p>";
    let page = |title: &str, body: &str| {
        Html(format!(
            "<!doctype html><html lang=en><title>{title}</title><main><h1>{title}</h1>{body}{FILLER}{FILLER}</main>"
        ))
    };
    let list = page(
        "Feeders",
        "<ul><li><a href=/oaken>Oaken Perch</a></li><li><a href=/larch>Larch Ledge</a></li></ul>",
    );
    let oaken = page("Oaken Perch", "<dl><dt>Price</dt><dd>£12.00</dd><dt>Wood</dt><dd>Oak</dd></dl>");
    SiteServer::start(
        Router::new()
            .route("/", get(async || list))
            .route("/oaken", get(async || oaken))
            .route("/larch", get(std::future::pending::<Html<String>>)),
    )
}

fn feeders() -> Value {
    let row = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "price": { "type": "number" }, "wood": { "type": "string" } } });
    json!({ "type": "object", "properties": { "feeders": { "type": "array", "items": row } } })
}

/// Starts a run over the shop and waits until it has found something; returns its ID and a snapshot.
async fn run_with_rows(http: &Http, shop: &SiteServer) -> (String, String) {
    let body = json!({ "prompt": "Every feeder with its name, price and wood", "urls": [shop.url("/")],
        "schema": feeders(), "effort": "low", "maxCredits": 100 });
    let id = started_id(&http.post("/v2/agent", &body).await.unwrap());
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let trace = http.get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        let events = trace.expect_success()["events"].as_array().unwrap();
        let read = events.iter().filter(|event| event["type"] == "tool_call.finished").count();
        let artifact = events.iter().find(|event| event["type"] == "artifact.updated");
        // What pages cost is written a moment after they are told of.
        let is_counted = trace.json["creditsUsed"].as_i64() >= Some(2);
        if let (Some(artifact), true) = (artifact, read >= 2 && is_counted) {
            return (id, artifact["artifact"]["snapshotId"].as_str().unwrap().to_owned());
        }
        assert!(Instant::now() < end, "nothing is found: {}", trace.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn server(change: impl FnOnce(ServerConfig) -> ServerConfig) -> (TempDir, Server) {
    let dir = TempDir::new();
    let server = change(config(&dir).set("browser", "off")).start().await;
    (dir, server)
}

#[tokio::test]
async fn a_run_that_is_not_paid_for_returns_no_rows() {
    let shop = shop();
    let (_dir, server) = server(|config| config.tiny_plan("credits = 1000")).await;
    let http = &server.http;
    let (id, snapshot) = run_with_rows(http, &shop).await;
    let path = format!("/v2/agent/{id}");
    let nothing_is_shown = async |when: &str| {
        let trace = http.get(&format!("{path}/trace")).await.unwrap();
        assert!(
            !trace.text.contains("Oaken Perch") && !trace.text.contains("12.00"),
            "{when}: {}",
            trace.text
        );
        let snapshot = http.get(&format!("{path}/snapshots/{snapshot}")).await.unwrap();
        assert_eq!(snapshot.status, 404, "{when}: {}", snapshot.text);
        trace.json["creditsUsed"].as_i64().unwrap()
    };
    assert!(nothing_is_shown("while it runs").await >= 2, "pages were read");
    http.delete(&path).await.unwrap().expect_success();
    let status = wait_for_end(http, &id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    assert!(status.get("partial").is_none() && status.get("data").is_none(), "{status}");
    nothing_is_shown("after it was cancelled").await;
    let thread = status["threadId"].as_str().unwrap();
    let thread = http.get(&format!("/v2/agent/threads/{thread}?includeData=true")).await.unwrap();
    assert!(!thread.expect_success().to_string().contains("Oaken"), "{}", thread.text);
    assert_eq!(remaining_credits(http).await, 1000, "what was not handed out is not charged");

    // Once paid for, everything is shown.
    let body = json!({ "prompt": "Every feeder with its name, price and wood", "urls": [shop.url("/oaken")],
        "schema": feeders(), "effort": "low", "strictConstrainToURLs": true, "maxCredits": 100 });
    let paid = started_id(&http.post("/v2/agent", &body).await.unwrap());
    let status = wait_for_end(http, &paid).await;
    assert_eq!(status["status"], "completed", "{status}");
    let used = status["creditsUsed"].as_i64().unwrap();
    assert!(used > 0);
    assert_eq!(remaining_credits(http).await, 1000 - used);
}

#[tokio::test]
async fn without_billing_a_cancelled_run_still_shows_its_data() {
    let shop = shop();
    let (_dir, server) = server(|config| config).await;
    let (id, snapshot) = run_with_rows(&server.http, &shop).await;
    let path = format!("/v2/agent/{id}");
    let seen = server.http.get(&format!("{path}/snapshots/{snapshot}")).await.unwrap();
    assert!(seen.expect_success()["snapshot"].as_str().unwrap().contains("Oaken Perch"));
    server.http.delete(&path).await.unwrap().expect_success();
    let status = wait_for_end(&server.http, &id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)));
    assert!(status["partial"].to_string().contains("Oaken Perch"), "{status}");
}

/// Pages of a crawl are charged as they are settled: a caller who cancels keeps the delivered pages, and has
/// paid for them.
#[tokio::test]
async fn delivered_pages_of_a_cancelled_crawl_are_charged() {
    let fixture = ScrapeFixture::with(|config| config.set("browser", "off").tiny_plan("credits = 100")).await;
    let urls = [fixture.site.url("/article"), fixture.site.url("/page/1"), fixture.site.url("/hang")];
    let body = json!({ "urls": urls, "timeout": 60_000 });
    let id = started_id(&fixture.http().post("/v2/batch/scrape", &body).await.unwrap());
    let path = format!("/v2/batch/scrape/{id}");
    let end = Instant::now() + Duration::from_secs(30);
    while fixture.http().get(&path).await.unwrap().expect_success()["completed"] != 2 {
        assert!(Instant::now() < end, "two pages come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    fixture.http().delete(&path).await.unwrap();
    let status = fixture.http().get(&path).await.unwrap();
    let data = status.expect_success()["data"].as_array().unwrap().len();
    assert_eq!((data, &status.json["creditsUsed"]), (2, &json!(2)), "{}", status.text);
    assert_eq!(remaining_credits(fixture.http()).await, 98, "and nothing is held back");
}

#[tokio::test]
async fn a_prompt_read_by_a_model_is_charged_and_counted() {
    let answer = ScriptedResponse::json(&json!({ "includePaths": ["birds/.*"], "limit": 1 }));
    let model = ModelServer::start(move |_| answer.clone());
    let url = model.url();
    let fixture = ScrapeFixture::with(|config| {
        let config = config.set("browser", "off").set("model_url", &url).set("model_name", MODEL);
        config.tiny_plan("credits = 10")
    })
    .await;
    let http = fixture.http();
    let preview = json!({ "url": fixture.site.url("/"), "prompt": "the birds" });
    let response = http.post("/v2/crawl/params-preview", &preview).await.unwrap();
    assert_eq!(response.expect_success()["data"]["includePaths"], json!(["birds/.*"]));
    assert_eq!(remaining_credits(http).await, 6, "as a format that asks a model");
    assert_eq!(count_activity(http, "crawl_params_preview").await, 1);

    // The prompt of a crawl is read by the same model for the same price, in addition to the pages.
    let crawl =
        json!({ "url": fixture.site.url("/article"), "prompt": "the birds", "limit": 1, "sitemap": "skip" });
    let started = http.post("/v2/crawl", &crawl).await.unwrap();
    let id = started.expect_success()["id"].as_str().unwrap().to_owned();
    crate::crawl::wait_for_end(http, &format!("/v2/crawl/{id}")).await;
    assert_eq!((remaining_credits(http).await, count_activity(http, "crawl_params_preview").await), (1, 2));
    let requests_before = model.requests().len();

    // Without enough credits the request is refused before the model is asked.
    http.post("/v2/crawl/params-preview", &preview)
        .await
        .unwrap()
        .expect_error(402, "Payment Required: Insufficient credits");
    http.post("/v2/crawl", &crawl).await.unwrap().expect_error(402, "Payment Required: Insufficient credits");
    assert_eq!(model.requests().len(), requests_before);
    assert_eq!(remaining_credits(http).await, 1);
}

/// A model without a usable response costs nothing, and neither do the rules that read the prompt instead.
#[tokio::test]
async fn a_prompt_read_by_rules_is_free() {
    let model = ModelServer::start(|_| ScriptedResponse::text("Sure, I can help you crawl!"));
    let url = model.url();
    let fixture = ScrapeFixture::with(|config| {
        let config = config.set("browser", "off").set("model_url", &url).set("model_name", MODEL);
        config.tiny_plan("credits = 10")
    })
    .await;
    let preview = json!({ "url": fixture.site.url("/"), "prompt": "only the blog" });
    let response = fixture.http().post("/v2/crawl/params-preview", &preview).await.unwrap();
    assert_eq!(response.expect_success()["data"]["includePaths"], json!(["blog/.*"]));
    assert!(!model.requests().is_empty());
    assert_eq!(remaining_credits(fixture.http()).await, 10);
}
