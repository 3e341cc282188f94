//! Extract, as a caller sees it: results, refusals, webhooks; and pages that try to take over a run.

mod injections;

use crate::hostile::servers::{Server as Place, answer, http};
use crate::http::{Http, HttpResponse};
use crate::server::{Server, ServerConfig, shared_server};
use crate::webhooks::Receiver;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A server whose web is `127.0.0.2`, without a browser, which nothing here needs.
const SETTINGS: [(&str, &str); 2] =
    [("egress_allow", "scrape=127.0.0.2;webhook=127.0.0.1"), ("browser", "off")];

fn config(dir: &TempDir) -> ServerConfig {
    SETTINGS.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value))
}

fn html(body: &str) -> Vec<u8> {
    let page = format!(
        "<!doctype html><html><head><title>A page</title></head><body><main>{body}</main></body></html>"
    );
    answer("200 OK", &[("Content-Type", "text/html; charset=utf-8")], page.as_bytes())
}

/// A shop with one page for each of three lanterns.
async fn shop() -> Place {
    http("127.0.0.2:0", |head| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        match path.trim_end_matches('/') {
            "/lanterns" => html(
                "<h1>Lanterns</h1><p>All lanterns that we make, by hand, in the harbour since 1902, each with its own page.</p>\
                 <ul><li><a href=/lanterns/1>One</a></li><li><a href=/lanterns/2>Two</a></li><li><a href=/lanterns/3>Three</a></li></ul>",
            ),
            "/lanterns/1" => lantern("Puffin", 42),
            "/lanterns/2" => lantern("Razorbill", 55),
            "/lanterns/3" => lantern("Guillemot", 61),
            _ => answer("404 Not Found", &[("Content-Type", "text/html")], b"<h1>Not found</h1>"),
        }
    })
    .await
}

fn lantern(name: &str, price: u32) -> Vec<u8> {
    html(&format!(
        "<h1>{name}</h1><p>A lantern of brass and glass for boats and houses, made by hand in our workshop by the harbour.</p>\
         <dl><dt>Name</dt><dd>{name}</dd><dt>Price</dt><dd>{price} €</dd></dl><a href=/lanterns>All lanterns</a>"
    ))
}

fn lantern_schema() -> Value {
    json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "price": { "type": "number" } } })
}

async fn start(http: &Http, body: &Value) -> String {
    let response = http.post("/v2/extract", body).await.unwrap();
    response.expect_success()["id"].as_str().unwrap().to_owned()
}

/// Waits until an extraction has ended.
async fn wait_for_end(http: &Http, id: &str) -> HttpResponse {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let response = http.get(&format!("/v2/extract/{id}")).await.unwrap();
        assert_eq!(response.status, 200, "{}", response.text);
        if response.json["status"] != "processing" {
            return response;
        }
        assert!(Instant::now() < end, "it did not end: {}", response.text);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

/// With a server that other tests use too.
async fn open() -> (Arc<TempDir>, Server, Place) {
    let (dir, server) = shared_server(&SETTINGS).await;
    (dir, server, shop().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_become_data_with_their_sources() {
    let (_dir, server, shop) = open().await;
    let url = shop.url("/lanterns/1");
    let body = json!({ "urls": [url, "no address"], "prompt": "name and price", "schema": lantern_schema(), "showSources": true });
    let started = server.http.post("/v2/extract", &body).await.unwrap();
    assert_eq!(started.expect_success()["invalidURLs"], json!(["no address"]));
    let id = started.json["id"].as_str().unwrap();
    let response = wait_for_end(&server.http, id).await;
    let json = response.expect_success();
    assert_eq!(json["data"], json!({ "name": "Puffin", "price": 42 }), "{json}");
    assert_eq!((&json["sources"]["name"], &json["creditsUsed"]), (&json!([url]), &json!(1)), "{json}");
    for response in [&started, &response] {
        assert_eq!(
            (response.header("deprecation"), &response.json["replacement"]),
            ("true", &json!("/v2/agent"))
        );
        assert_eq!(response.header("link"), "</v2/agent>; rel=\"successor-version\"");
        assert!(response.header("warning").starts_with("299 - \"") && response.json["warnings"].is_array());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_pattern_limits_which_pages_are_read() {
    let (_dir, server, shop) = open().await;
    let rows = json!({ "type": "object", "properties": { "lanterns": { "type": "array", "items": lantern_schema() } } });
    let body = json!({ "urls": [shop.url("/lanterns/*")], "prompt": "all lanterns", "schema": rows });
    let response = wait_for_end(&server.http, &start(&server.http, &body).await).await;
    let mut prices: Vec<f64> = response.expect_success()["data"]["lanterns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["price"].as_f64())
        .collect();
    prices.sort_by(f64::total_cmp);
    assert_eq!(prices, [42.0, 55.0, 61.0], "{}", response.text);
    assert!(response.json.get("sources").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_fields_are_named_and_a_failure_costs_nothing() {
    let (_dir, server, shop) = open().await;
    let body = json!({ "urls": [shop.url("/gone")], "prompt": "name", "schema": lantern_schema() });
    let response = wait_for_end(&server.http, &start(&server.http, &body).await).await;
    assert_eq!(
        (&response.json["status"], &response.json["creditsUsed"]),
        (&json!("failed"), &json!(0)),
        "{}",
        response.text
    );
    assert!(!response.json["error"].as_str().unwrap().is_empty());
    let mut schema = lantern_schema();
    schema["properties"]["weight"] = json!({ "type": "string" });
    let body = json!({ "urls": [shop.url("/lanterns/2")], "schema": schema });
    let response = wait_for_end(&server.http, &start(&server.http, &body).await).await;
    assert_eq!(response.expect_success()["data"]["name"], "Razorbill", "{}", response.text);
    assert!(response.json["warning"].as_str().unwrap().contains("weight"), "{}", response.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_report_the_extraction() {
    let (_dir, server, shop) = open().await;
    let receiver = Receiver::start();
    let body = json!({ "urls": [shop.url("/lanterns/3")], "schema": lantern_schema(), "webhook": receiver.url("/ok") });
    let id = start(&server.http, &body).await;
    let got = receiver.wait_for("/ok", 2).await;
    let events: Vec<Value> = got.iter().map(super::webhooks::Delivery::json).collect();
    assert_eq!((&events[0]["type"], &events[0]["data"]), (&json!("extract.started"), &json!([])));
    assert_eq!((&events[1]["type"], &events[1]["id"]), (&json!("extract.completed"), &json!(id)));
    let item = &events[1]["data"][0];
    assert_eq!((&item["extractId"], &item["data"]["name"]), (&json!(id), &json!("Guillemot")), "{item}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_and_other_teams_are_refused() {
    let (dir, server, shop) = open().await;
    let http = &server.http;
    for (body, words) in [
        (json!({}), "urls"),
        (json!({ "urls": vec!["https://a.test/"; 11] }), "at most 10"),
        (json!({ "prompt": "x".repeat(10_001) }), "at most 10000"),
        (json!({ "prompt": "x", "surprise": 1 }), "surprise"),
        (json!({ "prompt": "x", "schema": { "type": "nothing" } }), "Invalid JSON schema: "),
        (json!({ "urls": ["nope nope"], "ignoreInvalidURLs": false }), "Invalid URL"),
    ] {
        let response = http.post("/v2/extract", &body).await.unwrap();
        assert_eq!(
            (response.status, &response.json["success"]),
            (400, &json!(false)),
            "{body}: {}",
            response.text
        );
        assert!(response.text.contains(words), "{body}: {}", response.text);
    }
    let id = start(http, &json!({ "urls": [shop.url("/lanterns/1")], "schema": lantern_schema() })).await;
    let other_team = crate::scrape::other_team(&dir, http).await;
    other_team.get(&format!("/v2/extract/{id}")).await.unwrap().expect_error(404, "Job not found");
    assert_eq!(http.get("/v2/extract/not-an-id").await.unwrap().status, 400);
    // An agent run cannot be read as an extraction, nor an extraction as an agent run.
    assert_eq!(http.get(&format!("/v2/agent/{id}")).await.unwrap().status, 404);
}
