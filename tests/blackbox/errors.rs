//! Every row of the general error catalogue that this server can reach, with exact status, text and body.

use crate::crawl::site::PAGES;
use crate::crawl::{CrawlFixture, started_id, wait_for_end};
use crate::server::{KEY, ServerConfig, start_plain};
use crate::wait::eventually;
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::{PostgresCluster, TempDir};

#[tokio::test]
async fn bad_requests_name_every_bad_field() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let reply = http.post("/admin/keys", &json!({ "name": "", "expiresInDays": 3651 })).await.unwrap();
    reply.expect_error(400, "Bad Request: name: must not be empty");
    assert_eq!(reply.json["code"], "BAD_REQUEST");
    assert_eq!(
        reply.json["details"],
        json!([
            { "path": ["name"], "message": "must not be empty", "code": "too_small" },
            { "path": ["expiresInDays"], "message": "must be at most 3650", "code": "too_big" },
        ])
    );
    let reply = http.post("/admin/keys", &json!({ "name": 3 })).await.unwrap();
    assert_eq!((reply.status, &reply.json["details"][0]["path"]), (400, &json!(["name"])));
    assert_eq!(reply.json["details"][0]["code"], "invalid_type");
    let reply = http.post("/admin/keys", &json!({})).await.unwrap();
    reply.expect_error(400, "Bad Request: name: required");
}

#[tokio::test]
async fn unknown_keys_are_refused_but_client_marks_pass() {
    let (_dir, server) = start_plain().await;
    let body = json!({ "name": "k", "origin": "python-sdk@4.54.0", "integration": "x", "nmae": 2 });
    let reply = server.http.post("/admin/keys", &body).await.unwrap();
    reply.expect_error(
        400,
        "Unrecognized key in body -- please review the v2 API documentation for request body changes: nmae (did you mean name?)",
    );
    assert_eq!(reply.json["details"][0]["path"], json!(["nmae"]));
    let body = json!({ "name": "k", "origin": "python-sdk@4.54.0", "integration": "x" });
    server.http.post("/admin/keys", &body).await.unwrap().expect_success();
    let reply = server.http.get("/v2/team/activity?origin=js-sdk&limit=1&nope=2").await.unwrap();
    reply.expect_error(400, "Unrecognized query parameter: nope");
    server.http.get("/v2/team/activity?origin=js-sdk&limit=1").await.unwrap().expect_success();
}

#[tokio::test]
async fn malformed_json_and_wrong_types_are_told_apart() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let send = async |kind: &str, body: &str| {
        let request =
            http.request(Method::POST, "/admin/keys").header("content-type", kind).body(body.to_owned());
        http.send(request).await.unwrap()
    };
    for broken in ["{", "{\"name\":\"k\"}}", "nonsense", ""] {
        let reply = send("application/json", broken).await;
        reply.expect_error(400, "Bad Request: the body is not valid JSON");
        assert_eq!(reply.json["code"], "BAD_REQUEST_INVALID_JSON");
    }
    send("application/json", "[]").await.expect_error(400, "Bad Request: expected an object, found a list");
    let reply = send("application/x-www-form-urlencoded", "name=k").await;
    reply.expect_error(415, "Unsupported Media Type: send application/json");
    assert_eq!(reply.json["code"], "UNSUPPORTED_MEDIA_TYPE");
    send("application/json; charset=utf-8", "{\"name\":\"k\"}").await.expect_success();
}

#[tokio::test]
async fn bad_keys_are_unauthorized_and_told_where_to_look() {
    let (dir, server) = start_plain().await;
    let http = &server.http;
    let revoked = http.post("/admin/keys", &json!({ "name": "r" })).await.unwrap().expect_success().clone();
    let id = revoked["data"]["id"].as_str().unwrap().to_owned();
    let revoked = revoked["key"].as_str().unwrap().to_owned();
    http.with_key(Some(&revoked)).get("/v2/concurrency-check").await.unwrap().expect_success();
    http.delete(&format!("/admin/keys/{id}")).await.unwrap().expect_success();
    let expired = expired_key(dir.path()).await;
    let answer = http.with_key(Some(&expired)).get("/v2/concurrency-check").await.unwrap();
    let text = answer.json["error"].as_str().unwrap_or_default();
    let begins = "Unauthorized: Invalid token: the API key expired at ";
    assert!(answer.status == 401 && text.starts_with(begins), "whoever has the key is told: {text}");
    for key in [None, Some("gn-wrong"), Some(""), Some("öäü"), Some(revoked.as_str())] {
        let reply = http.with_key(key).get("/v2/concurrency-check").await.unwrap();
        let text = if key.is_none() { crate::http::NO_KEY } else { "Unauthorized: Invalid token" };
        reply.expect_error(401, text);
        assert_eq!(reply.json["code"], "UNAUTHORIZED");
        let pointer =
            format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource\"", http.base);
        assert_eq!(reply.header("www-authenticate"), pointer);
    }
    for header in ["Basic Z246eA==", KEY, "Bearer", "Bearer\t"] {
        let request =
            http.with_key(None).request(Method::GET, "/v2/concurrency-check").header("authorization", header);
        http.send(request).await.unwrap().expect_error(401, "Unauthorized: Invalid token");
    }
    let metadata = http.with_key(None).get("/.well-known/oauth-protected-resource").await.unwrap();
    assert_eq!(metadata.json["resource"], format!("{}/", http.base));
}

/// A key that expired a second ago, put beside the running server.
async fn expired_key(dir: &std::path::Path) -> String {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.unwrap();
    let team = store.teams().await.unwrap().remove(0);
    let secret = access::keys::Secret::random().unwrap();
    let wait_for_end = stored_data::time::now() - 1000;
    access::keys::create(
        store.as_ref(),
        team.id,
        "old",
        wire::Scope::ALL,
        Some(wait_for_end),
        &secret,
        &store::audit_log::Actor::server(),
    )
    .await
    .unwrap();
    store.shut_down().await;
    secret.reveal().to_owned()
}

#[tokio::test]
async fn exhausted_credits_are_payment_required() {
    let country = CrawlFixture::with(|config| config.tiny_plan("credits = 4")).await;
    let spend = async |pages: &[&str]| {
        let urls: Vec<String> = pages.iter().map(|page| country.site.url(page)).collect();
        country.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap()
    };
    let (most, last) = PAGES.split_at(3);
    spend(&[&PAGES[..], &["/alone"]].concat())
        .await
        .expect_error(402, "Payment Required: Insufficient credits");
    for pages in [most, last] {
        let id = started_id(&spend(pages).await);
        let status = wait_for_end(country.http(), &format!("/v2/batch/scrape/{id}")).await;
        assert_eq!(status["creditsUsed"], pages.len(), "{status}");
    }
    spend(&["/alone"]).await.expect_error(402, "Payment Required: Insufficient credits");
    // What costs nothing still works.
    let usage = country.http().get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(usage.expect_success()["data"]["remainingCredits"], 0);
}

#[tokio::test]
async fn a_key_without_the_scope_is_forbidden() {
    let (_dir, server) = start_plain().await;
    let made = server.http.post("/admin/keys", &json!({ "name": "s", "scopes": ["scrape"] })).await.unwrap();
    let http = server.http.with_key(made.expect_success()["key"].as_str());
    for (method, path) in
        [(Method::GET, "/admin/keys"), (Method::POST, "/admin/keys"), (Method::POST, "/v2/crawl")]
    {
        http.send(http.request(method, path)).await.unwrap().expect_error(403, "Forbidden");
    }
    http.get("/v2/concurrency-check").await.unwrap().expect_success();
}

#[tokio::test]
async fn unknown_paths_jobs_and_methods_answer_json() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    for path in ["/v2/nothing", "/nothing", "/v2", "/v2/interact/1/trace", "/%ff", "/v2/team/../x"] {
        http.get(path).await.unwrap().expect_error(404, "Not Found");
        http.with_key(None).get(path).await.unwrap().expect_error(404, "Not Found");
    }
    let crawl = "/v2/crawl/01890000-0000-7000-8000-000000000000";
    http.get(crawl).await.unwrap().expect_error(404, "Job not found");
    http.delete(crawl).await.unwrap().expect_error(404, "Job not found");
    let text = "Invalid job ID format. Job ID must be a valid UUID.";
    http.get("/v2/crawl/seven").await.unwrap().expect_error(400, text);
    http.get("/v2/crawl/%ff/errors").await.unwrap().expect_error(400, text);
    http.get("/v2/scrape").await.unwrap().expect_error(405, "Method Not Allowed");
    let reply = http.delete("/admin/keys").await.unwrap();
    reply.expect_error(405, "Method Not Allowed");
    assert_eq!(reply.json["code"], "METHOD_NOT_ALLOWED");
    assert_eq!(reply.json["allowed_methods"], json!(["GET", "HEAD", "POST"]));
    assert_eq!(reply.header("allow"), "GET,HEAD,POST");
}

#[tokio::test]
async fn large_bodies_are_refused_whole() {
    let (_dir, server) = start_plain().await;
    let name = "x".repeat(11 * 1024 * 1024);
    let reply = server.http.post("/admin/keys", &json!({ "name": name })).await.unwrap();
    reply.expect_error(413, "Payload Too Large");
    let reply =
        server.http.post("/admin/keys", &json!({ "name": "x".repeat(9 * 1024 * 1024) })).await.unwrap();
    reply.expect_error(400, "Bad Request: name: must have at most 100 characters");
}

#[tokio::test]
async fn too_many_requests_wait_for_the_next_window() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).tiny_plan("rates = { status = 3 }").start().await;
    for _ in 0..3 {
        server.http.get("/v2/concurrency-check").await.unwrap().expect_success();
    }
    for _ in 0..3 {
        let reply = server.http.get("/v2/team/queue-status").await.unwrap();
        reply.expect_error(429, "Rate limit exceeded");
        let wait: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    // Another group has a budget of its own: this is refused for its body only.
    assert_eq!(server.http.post("/v2/crawl", &json!({})).await.unwrap().status, 400);
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable_until_it_is_back() {
    let dir = TempDir::new();
    let mut cluster = PostgresCluster::start();
    let server = ServerConfig::at(dir.path()).set("database_url", &cluster.database()).start().await;
    server.http.get("/v2/team/queue-status").await.unwrap().expect_success();
    cluster.kill();
    let reply = server.http.get("/v2/team/queue-status").await.unwrap();
    reply.expect_error(503, "Service Unavailable");
    assert!(!reply.header("retry-after").is_empty());
    // Readiness is asked of the database at most once a second.
    let ready = async || server.http.get("/ready").await.unwrap();
    eventually("it is not ready", async || ready().await.status != 200).await;
    ready().await.expect_error(503, "Service Unavailable");
    assert_eq!(server.http.get("/health").await.unwrap().status, 200);
    cluster.restart();
    let end = Instant::now() + Duration::from_secs(20);
    while server.http.get("/v2/team/queue-status").await.unwrap().status != 200 {
        assert!(Instant::now() < end, "did not recover:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.http.post("/admin/keys", &json!({ "name": "made later" })).await.unwrap().expect_success();
}
