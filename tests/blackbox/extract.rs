//! Extract, as a caller sees it: what it comes to, what it refuses, what it tells; and pages that try to take a run over.

mod injections;

use crate::hostile::servers::{Server as Place, answer, http};
use crate::http::{Http, Reply};
use crate::server::{Recipe, Server};
use crate::webhooks::Receiver;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A server whose web is `127.0.0.2`, without a browser: nothing here needs one.
fn recipe(dir: &TempDir) -> Recipe {
    Recipe::at(dir.path()).set("egress_allow", "scrape=127.0.0.2;webhook=127.0.0.1").set("browser", "off")
}

fn html(body: &str) -> Vec<u8> {
    let page = format!(
        "<!doctype html><html><head><title>A page</title></head><body><main>{body}</main></body></html>"
    );
    answer("200 OK", &[("Content-Type", "text/html; charset=utf-8")], page.as_bytes())
}

/// A shop with a page for each of three lanterns.
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

fn one() -> Value {
    json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "price": { "type": "number" } } })
}

async fn start(http: &Http, body: &Value) -> String {
    let reply = http.post("/v2/extract", body).await.unwrap();
    reply.is_success()["id"].as_str().unwrap().to_owned()
}

/// Waits until an extraction has ended.
async fn ended(http: &Http, id: &str) -> Reply {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let reply = http.get(&format!("/v2/extract/{id}")).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text);
        if reply.json["status"] != "processing" {
            return reply;
        }
        assert!(Instant::now() < end, "it did not end: {}", reply.text);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

async fn open() -> (TempDir, Server, Place) {
    let dir = TempDir::new();
    let server = recipe(&dir).start().await;
    (dir, server, shop().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_become_data_with_their_sources() {
    let (_dir, server, shop) = open().await;
    let url = shop.url("/lanterns/1");
    let body = json!({ "urls": [url, "no address"], "prompt": "name and price", "schema": one(), "showSources": true });
    let started = server.http.post("/v2/extract", &body).await.unwrap();
    assert_eq!(started.is_success()["invalidURLs"], json!(["no address"]));
    let id = started.json["id"].as_str().unwrap();
    let reply = ended(&server.http, id).await;
    let json = reply.is_success();
    assert_eq!(json["data"], json!({ "name": "Puffin", "price": 42 }), "{json}");
    assert_eq!((&json["sources"]["name"], &json["creditsUsed"]), (&json!([url]), &json!(1)), "{json}");
    for reply in [&started, &reply] {
        assert_eq!((reply.header("deprecation"), &reply.json["replacement"]), ("true", &json!("/v2/agent")));
        assert_eq!(reply.header("link"), "</v2/agent>; rel=\"successor-version\"");
        assert!(reply.header("warning").starts_with("299 - \"") && reply.json["warnings"].is_array());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_site_is_read_and_nothing_beside_it() {
    let (_dir, server, shop) = open().await;
    let rows = json!({ "type": "object", "properties": { "lanterns": { "type": "array", "items": one() } } });
    let body = json!({ "urls": [shop.url("/lanterns/*")], "prompt": "all lanterns", "schema": rows });
    let reply = ended(&server.http, &start(&server.http, &body).await).await;
    let mut prices: Vec<f64> = reply.is_success()["data"]["lanterns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["price"].as_f64())
        .collect();
    prices.sort_by(f64::total_cmp);
    assert_eq!(prices, [42.0, 55.0, 61.0], "{}", reply.text);
    assert!(reply.json.get("sources").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_found_is_said_and_failure_costs_nothing() {
    let (_dir, server, shop) = open().await;
    let body = json!({ "urls": [shop.url("/gone")], "prompt": "name", "schema": one() });
    let reply = ended(&server.http, &start(&server.http, &body).await).await;
    assert_eq!(
        (&reply.json["status"], &reply.json["creditsUsed"]),
        (&json!("failed"), &json!(0)),
        "{}",
        reply.text
    );
    assert!(!reply.json["error"].as_str().unwrap().is_empty());
    let mut schema = one();
    schema["properties"]["weight"] = json!({ "type": "string" });
    let body = json!({ "urls": [shop.url("/lanterns/2")], "schema": schema });
    let reply = ended(&server.http, &start(&server.http, &body).await).await;
    assert_eq!(reply.is_success()["data"]["name"], "Razorbill", "{}", reply.text);
    assert!(reply.json["warning"].as_str().unwrap().contains("weight"), "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_are_told() {
    let (_dir, server, shop) = open().await;
    let receiver = Receiver::start();
    let body = json!({ "urls": [shop.url("/lanterns/3")], "schema": one(), "webhook": receiver.url("/ok") });
    let id = start(&server.http, &body).await;
    let got = receiver.wait_for("/ok", 2).await;
    let told: Vec<Value> = got.iter().map(super::webhooks::Got::json).collect();
    assert_eq!((&told[0]["type"], &told[0]["data"]), (&json!("extract.started"), &json!([])));
    assert_eq!((&told[1]["type"], &told[1]["id"]), (&json!("extract.completed"), &json!(id)));
    let item = &told[1]["data"][0];
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
        let reply = http.post("/v2/extract", &body).await.unwrap();
        assert_eq!((reply.status, &reply.json["success"]), (400, &json!(false)), "{body}: {}", reply.text);
        assert!(reply.text.contains(words), "{body}: {}", reply.text);
    }
    let id = start(http, &json!({ "urls": [shop.url("/lanterns/1")], "schema": one() })).await;
    let stranger = crate::scrape::stranger(&dir, http).await;
    stranger.get(&format!("/v2/extract/{id}")).await.unwrap().is_error(404, "Job not found");
    assert_eq!(http.get("/v2/extract/not-an-id").await.unwrap().status, 400);
    // A run of an agent is none of an extraction, and the other way round.
    assert_eq!(http.get(&format!("/v2/agent/{id}")).await.unwrap().status, 404);
}
