//! What is handed out was charged, and what an operator's model is asked for is paid for.

use super::{activity, remaining_credits};
use crate::agent::{ended, started};
use crate::http::Http;
use crate::scrape::{House, recipe};
use crate::server::{Recipe, Server};
use crate::stand::Stand;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::model_server::{MODEL, Said};
use testkit::{ModelServer, TempDir};

/// A shop with a list of feeders; the page of one of them never comes, so a run over it does not end by itself.
fn shop() -> Stand {
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
    Stand::start(
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

/// Starts a run over the shop and waits until it has found something; its id, and the snapshot of that.
async fn run_with_rows(http: &Http, shop: &Stand) -> (String, String) {
    let body = json!({ "prompt": "Every feeder with its name, price and wood", "urls": [shop.url("/")],
        "schema": feeders(), "effort": "low", "maxCredits": 100 });
    let id = started(&http.post("/v2/agent", &body).await.unwrap());
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let trace = http.get(&format!("/v2/agent/{id}/trace")).await.unwrap();
        let events = trace.is_success()["events"].as_array().unwrap();
        let read = events.iter().filter(|event| event["type"] == "tool_call.finished").count();
        let artifact = events.iter().find(|event| event["type"] == "artifact.updated");
        if let (Some(artifact), true) = (artifact, read >= 2) {
            return (id, artifact["artifact"]["snapshotId"].as_str().unwrap().to_owned());
        }
        assert!(Instant::now() < end, "nothing is found: {}", trace.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn server(change: impl FnOnce(Recipe) -> Recipe) -> (TempDir, Server) {
    let dir = TempDir::new();
    let server = change(recipe(&dir).set("browser", "off")).start().await;
    (dir, server)
}

#[tokio::test]
async fn a_run_that_is_not_paid_for_hands_out_no_rows() {
    let shop = shop();
    let (_dir, server) = server(|recipe| recipe.tiny_plan("credits = 1000")).await;
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
    http.delete(&path).await.unwrap().is_success();
    let status = ended(http, &id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    assert!(status.get("partial").is_none() && status.get("data").is_none(), "{status}");
    nothing_is_shown("after it was cancelled").await;
    let thread = status["threadId"].as_str().unwrap();
    let thread = http.get(&format!("/v2/agent/threads/{thread}?includeData=true")).await.unwrap();
    assert!(!thread.is_success().to_string().contains("Oaken"), "{}", thread.text);
    assert_eq!(remaining_credits(http).await, 1000, "what was not handed out is not charged");

    // What is paid for is shown, all of it.
    let body = json!({ "prompt": "Every feeder with its name, price and wood", "urls": [shop.url("/oaken")],
        "schema": feeders(), "effort": "low", "strictConstrainToURLs": true, "maxCredits": 100 });
    let paid = started(&http.post("/v2/agent", &body).await.unwrap());
    let status = ended(http, &paid).await;
    assert_eq!(status["status"], "completed", "{status}");
    let used = status["creditsUsed"].as_i64().unwrap();
    assert!(used > 0);
    assert_eq!(remaining_credits(http).await, 1000 - used);
}

#[tokio::test]
async fn where_nothing_is_sold_a_cancelled_run_still_shows_what_it_had() {
    let shop = shop();
    let (_dir, server) = server(|recipe| recipe).await;
    let (id, snapshot) = run_with_rows(&server.http, &shop).await;
    let path = format!("/v2/agent/{id}");
    let seen = server.http.get(&format!("{path}/snapshots/{snapshot}")).await.unwrap();
    assert!(seen.is_success()["snapshot"].as_str().unwrap().contains("Oaken Perch"));
    server.http.delete(&path).await.unwrap().is_success();
    let status = ended(&server.http, &id).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)));
    assert!(status["partial"].to_string().contains("Oaken Perch"), "{status}");
}

/// Pages of a crawl are charged as they are settled: who cancels keeps what was delivered, and has paid for it.
#[tokio::test]
async fn pages_that_a_cancelled_crawl_delivered_are_charged() {
    let house = House::with(|recipe| recipe.set("browser", "off").tiny_plan("credits = 100")).await;
    let urls = [house.site.url("/article"), house.site.url("/page/1"), house.site.url("/hang")];
    let body = json!({ "urls": urls, "timeout": 60_000 });
    let id = started(&house.http().post("/v2/batch/scrape", &body).await.unwrap());
    let path = format!("/v2/batch/scrape/{id}");
    let end = Instant::now() + Duration::from_secs(30);
    while house.http().get(&path).await.unwrap().is_success()["completed"] != 2 {
        assert!(Instant::now() < end, "two pages come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    house.http().delete(&path).await.unwrap();
    let status = house.http().get(&path).await.unwrap();
    let data = status.is_success()["data"].as_array().unwrap().len();
    assert_eq!((data, &status.json["creditsUsed"]), (2, &json!(2)), "{}", status.text);
    assert_eq!(remaining_credits(house.http()).await, 98, "and nothing is held back");
}

#[tokio::test]
async fn a_prompt_that_a_model_reads_is_charged_and_counted() {
    let answer = Said::json(&json!({ "includePaths": ["birds/.*"], "limit": 1 }));
    let model = ModelServer::start(move |_| answer.clone());
    let url = model.url();
    let house = House::with(|recipe| {
        let recipe = recipe.set("browser", "off").set("model_url", &url).set("model_name", MODEL);
        recipe.tiny_plan("credits = 10")
    })
    .await;
    let http = house.http();
    let preview = json!({ "url": house.site.url("/"), "prompt": "the birds" });
    let reply = http.post("/v2/crawl/params-preview", &preview).await.unwrap();
    assert_eq!(reply.is_success()["data"]["includePaths"], json!(["birds/.*"]));
    assert_eq!(remaining_credits(http).await, 6, "as a format that asks a model");
    assert_eq!(activity(http, "crawl_params_preview").await, 1);

    // The prompt of a crawl is read by the same model for the same price, beside the pages.
    let crawl =
        json!({ "url": house.site.url("/article"), "prompt": "the birds", "limit": 1, "sitemap": "skip" });
    let started = http.post("/v2/crawl", &crawl).await.unwrap();
    let id = started.is_success()["id"].as_str().unwrap().to_owned();
    crate::crawl::ended(http, &format!("/v2/crawl/{id}")).await;
    assert_eq!((remaining_credits(http).await, activity(http, "crawl_params_preview").await), (1, 2));
    let asked = model.asked().len();

    // What cannot be paid for is refused before the model is asked.
    http.post("/v2/crawl/params-preview", &preview)
        .await
        .unwrap()
        .is_error(402, "Payment Required: Insufficient credits");
    http.post("/v2/crawl", &crawl).await.unwrap().is_error(402, "Payment Required: Insufficient credits");
    assert_eq!(model.asked().len(), asked);
    assert_eq!(remaining_credits(http).await, 1);
}

/// A model that gives no usable answer costs nothing, and neither do the rules that read a prompt instead.
#[tokio::test]
async fn a_prompt_that_rules_read_is_free() {
    let model = ModelServer::start(|_| Said::text("Sure, I can help you crawl!"));
    let url = model.url();
    let house = House::with(|recipe| {
        let recipe = recipe.set("browser", "off").set("model_url", &url).set("model_name", MODEL);
        recipe.tiny_plan("credits = 10")
    })
    .await;
    let preview = json!({ "url": house.site.url("/"), "prompt": "only the blog" });
    let reply = house.http().post("/v2/crawl/params-preview", &preview).await.unwrap();
    assert_eq!(reply.is_success()["data"]["includePaths"], json!(["blog/.*"]));
    assert!(!model.asked().is_empty());
    assert_eq!(remaining_credits(house.http()).await, 10);
}
