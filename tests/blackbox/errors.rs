//! Every row of the general error catalogue that this server can reach, with exact status, text and body.

use crate::http::Http;
use crate::server::{KEY, Recipe, browsers_in_use, drill_ended, plain};
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::{PostgresCluster, TempDir};

#[tokio::test]
async fn bad_requests_name_every_bad_field() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let reply = http.post("/admin/drills", &json!({ "steps": 0, "stepMillis": 60_001 })).await.unwrap();
    reply.is_error(400, "Bad Request: steps: must be at least 1");
    assert_eq!(reply.json["code"], "BAD_REQUEST");
    assert_eq!(
        reply.json["details"],
        json!([
            { "path": ["steps"], "message": "must be at least 1", "code": "too_small" },
            { "path": ["stepMillis"], "message": "must be at most 60000", "code": "too_big" },
        ])
    );
    let reply = http.post("/admin/drills", &json!({ "steps": "three" })).await.unwrap();
    assert_eq!((reply.status, &reply.json["details"][0]["path"]), (400, &json!(["steps"])));
    assert_eq!(reply.json["details"][0]["code"], "invalid_type");
    let reply = http.post("/admin/drills", &json!({})).await.unwrap();
    reply.is_error(400, "Bad Request: steps: required");
}

#[tokio::test]
async fn unknown_keys_are_refused_but_client_marks_pass() {
    let (_dir, server) = plain().await;
    let body = json!({ "steps": 1, "origin": "python-sdk@4.54.0", "integration": "x", "stpes": 2 });
    let reply = server.http.post("/admin/drills", &body).await.unwrap();
    reply.is_error(
        400,
        "Unrecognized key in body -- please review the v2 API documentation for request body changes",
    );
    assert_eq!(reply.json["details"][0]["path"], json!(["stpes"]));
    let body = json!({ "steps": 1, "origin": "python-sdk@4.54.0", "integration": "x" });
    server.http.post("/admin/drills", &body).await.unwrap().is_success();
    let reply = server.http.get("/v2/team/activity?origin=js-sdk&limit=1&nope=2").await.unwrap();
    reply.is_error(400, "Unrecognized query parameter");
    server.http.get("/v2/team/activity?origin=js-sdk&limit=1").await.unwrap().is_success();
}

#[tokio::test]
async fn malformed_json_and_wrong_types_are_told_apart() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let send = async |kind: &str, body: &str| {
        let request =
            http.request(Method::POST, "/admin/drills").header("content-type", kind).body(body.to_owned());
        http.send(request).await.unwrap()
    };
    for broken in ["{", "{\"steps\":1}}", "nonsense", ""] {
        let reply = send("application/json", broken).await;
        reply.is_error(400, "Bad Request: the body is not valid JSON");
        assert_eq!(reply.json["code"], "BAD_REQUEST_INVALID_JSON");
    }
    send("application/json", "[]").await.is_error(400, "Bad Request: expected an object, found a list");
    let reply = send("application/x-www-form-urlencoded", "steps=1").await;
    reply.is_error(415, "Unsupported Media Type: send application/json");
    send("application/json; charset=utf-8", "{\"steps\":1}").await.is_success();
}

#[tokio::test]
async fn bad_keys_are_unauthorized_and_told_where_to_look() {
    let (dir, server) = plain().await;
    let http = &server.http;
    let revoked = http.post("/admin/keys", &json!({ "name": "r" })).await.unwrap().is_success().clone();
    let id = revoked["data"]["id"].as_str().unwrap().to_owned();
    let revoked = revoked["key"].as_str().unwrap().to_owned();
    http.with_key(Some(&revoked)).get("/v2/concurrency-check").await.unwrap().is_success();
    http.delete(&format!("/admin/keys/{id}")).await.unwrap().is_success();
    let expired = expired_key(dir.path()).await;
    for key in [None, Some("gn-wrong"), Some(""), Some("öäü"), Some(revoked.as_str()), Some(expired.as_str())]
    {
        let reply = http.with_key(key).get("/v2/concurrency-check").await.unwrap();
        reply.is_error(401, "Unauthorized: Invalid token");
        let pointer =
            format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource\"", http.base);
        assert_eq!(reply.header("www-authenticate"), pointer);
    }
    for header in ["Basic Z246eA==", KEY, "Bearer", "Bearer\t"] {
        let request =
            http.with_key(None).request(Method::GET, "/v2/concurrency-check").header("authorization", header);
        http.send(request).await.unwrap().is_error(401, "Unauthorized: Invalid token");
    }
    let metadata = http.with_key(None).get("/.well-known/oauth-protected-resource").await.unwrap();
    assert_eq!(metadata.json["resource"], format!("{}/", http.base));
}

/// A key that expired a second ago, put beside the running server.
async fn expired_key(dir: &std::path::Path) -> String {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.unwrap();
    let team = store.teams().await.unwrap().remove(0);
    let secret = engine::keys::Secret::random().unwrap();
    let ended = engine::time::now() - 1000;
    engine::keys::create(store.as_ref(), team.id, "old", wire::Scope::ALL, Some(ended), &secret)
        .await
        .unwrap();
    store.shut_down().await;
    secret.reveal().to_owned()
}

#[tokio::test]
async fn exhausted_credits_are_payment_required() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).tiny_plan("credits = 5").start().await;
    let spend = async |steps: u32| {
        server
            .http
            .post("/admin/drills", &json!({ "steps": steps, "creditsPerStep": 1, "wait": true }))
            .await
            .unwrap()
    };
    spend(6).await.is_error(402, "Payment Required: Insufficient credits");
    spend(5).await.is_success();
    spend(1).await.is_error(402, "Payment Required: Insufficient credits");
    let usage = server.http.get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(usage.is_success()["data"]["remainingCredits"], 0);
    // What costs nothing still works.
    server.http.post("/admin/drills", &json!({ "steps": 1 })).await.unwrap().is_success();
}

#[tokio::test]
async fn a_key_without_the_scope_is_forbidden() {
    let (_dir, server) = plain().await;
    let made = server.http.post("/admin/keys", &json!({ "name": "s", "scopes": ["scrape"] })).await.unwrap();
    let http = server.http.with_key(made.is_success()["key"].as_str());
    for (method, path) in
        [(Method::GET, "/admin/keys"), (Method::POST, "/admin/keys"), (Method::POST, "/admin/drills")]
    {
        http.send(http.request(method, path)).await.unwrap().is_error(403, "Forbidden");
    }
    http.get("/v2/concurrency-check").await.unwrap().is_success();
}

#[tokio::test]
async fn unknown_paths_jobs_and_methods_answer_json() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    for path in ["/v2/nothing", "/nothing", "/v2", "/v2/interact/1/trace", "/%ff", "/v2/team/../x"] {
        http.get(path).await.unwrap().is_error(404, "Not Found");
        http.with_key(None).get(path).await.unwrap().is_error(404, "Not Found");
    }
    let drill = "/admin/drills/01890000-0000-7000-8000-000000000000";
    http.get(drill).await.unwrap().is_error(404, "Not Found");
    http.delete(drill).await.unwrap().is_error(404, "Not Found");
    let text = "Invalid job ID format. Job ID must be a valid UUID.";
    http.get("/admin/drills/seven").await.unwrap().is_error(400, text);
    http.get("/admin/drills/%ff/steps").await.unwrap().is_error(400, text);
    http.get("/v2/scrape").await.unwrap().is_error(405, "Method Not Allowed");
    let reply = http.delete("/admin/keys").await.unwrap();
    reply.is_error(405, "Method Not Allowed");
    assert_eq!(reply.json["code"], "METHOD_NOT_ALLOWED");
    assert_eq!(reply.json["allowed_methods"], json!(["GET", "HEAD", "POST"]));
    assert_eq!(reply.header("allow"), "GET,HEAD,POST");
}

#[tokio::test]
async fn a_wait_that_is_too_long_times_out_and_the_work_goes_on() {
    let (_dir, server) = plain().await;
    let body = json!({ "steps": 1, "stepMillis": 5000, "wait": true, "timeout": 50 });
    let began = Instant::now();
    let reply = server.http.post("/admin/drills", &body).await.unwrap();
    reply.is_error(408, "Request Timeout");
    assert!(began.elapsed() < Duration::from_secs(4), "answered after {:?}", began.elapsed());
    assert_eq!(reply.json["details"]["state"], "processing_continues");
    let id = reply.json["details"]["id"].as_str().unwrap();
    let ended = drill_ended(&server.http, id, Duration::from_secs(20)).await;
    assert_eq!((&ended.json["status"], &ended.json["completed"]), (&json!("completed"), &json!(1)));
}

#[tokio::test]
async fn conflicts_say_why() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let done =
        http.post("/admin/drills", &json!({ "steps": 2, "wait": true })).await.unwrap().is_success().clone();
    let path = format!("/admin/drills/{}", done["id"].as_str().unwrap());
    let reply = http.delete(&path).await.unwrap();
    reply.is_error(409, "Conflict");
    assert_eq!(reply.json["details"], "the drill has already ended");
    let keyed = || {
        http.request(Method::POST, "/admin/drills")
            .header("x-idempotency-key", "k-1")
            .json(&json!({ "steps": 1 }))
    };
    http.send(keyed()).await.unwrap().is_success();
    http.send(keyed()).await.unwrap().is_error(409, "Idempotency key already used");
}

#[tokio::test]
async fn large_bodies_are_refused_whole() {
    let (_dir, server) = plain().await;
    let name = "x".repeat(11 * 1024 * 1024);
    let reply = server.http.post("/admin/keys", &json!({ "name": name })).await.unwrap();
    reply.is_error(413, "Payload Too Large");
    let reply =
        server.http.post("/admin/keys", &json!({ "name": "x".repeat(9 * 1024 * 1024) })).await.unwrap();
    reply.is_error(400, "Bad Request: name: must have at most 100 characters");
}

#[tokio::test]
async fn too_many_requests_wait_for_the_next_window() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).tiny_plan("rates = { status = 3 }").start().await;
    for _ in 0..3 {
        server.http.get("/v2/concurrency-check").await.unwrap().is_success();
    }
    for _ in 0..3 {
        let reply = server.http.get("/v2/team/queue-status").await.unwrap();
        reply.is_error(429, "Rate limit exceeded");
        let wait: u64 = reply.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    // Another group has a budget of its own.
    server.http.post("/admin/drills", &json!({ "steps": 1 })).await.unwrap().is_success();
}

/// The id of what is shown as activity. A drill takes its browser before it is written down.
async fn only_activity(http: &Http) -> String {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let shown = http.get("/v2/team/activity?limit=1").await.unwrap().is_success().clone();
        if let Some(id) = shown["data"][0]["id"].as_str() {
            return id.to_owned();
        }
        assert!(Instant::now() < end, "{shown}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn busy_browsers_are_a_concurrency_limit() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).tiny_plan("concurrency = 1").start().await;
    let hold = json!({ "steps": 1, "stepMillis": 60_000, "browser": true, "wait": true });
    let http = server.http.clone();
    let holder = tokio::spawn(async move { http.post("/admin/drills", &hold).await.unwrap() });
    browsers_in_use(&server.http, 1).await;
    let reply = server.http.post("/admin/drills", &json!({ "steps": 1, "browser": true })).await.unwrap();
    reply.is_error(429, "Concurrency limit reached");
    assert_eq!(reply.header("retry-after"), "1");
    let held = only_activity(&server.http).await;
    server.http.delete(&format!("/admin/drills/{held}")).await.unwrap().is_success();
    assert_eq!(holder.await.unwrap().is_success()["status"], "cancelled");
    browsers_in_use(&server.http, 0).await;
    server.http.post("/admin/drills", &json!({ "steps": 1, "browser": true })).await.unwrap().is_success();
}

#[tokio::test]
async fn a_panic_costs_one_request() {
    let (_dir, server) = plain().await;
    let fault = json!({ "steps": 1, "fault": "panic" });
    assert_eq!(
        server.http.post("/admin/drills", &fault).await.unwrap().status,
        400,
        "faults are off by default"
    );
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).set("drill_faults", "on").start().await;
    let request =
        server.http.request(Method::POST, "/admin/drills").header("x-request-id", "panic-1").json(&fault);
    let reply = server.http.send(request).await.unwrap();
    reply.is_error(500, "Internal Server Error");
    assert_eq!(reply.header("x-request-id"), "panic-1");
    server.http.get("/v2/concurrency-check").await.unwrap().is_success();
    assert!(server.log().contains("panic-1"), "{}", server.log());
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable_until_it_is_back() {
    let dir = TempDir::new();
    let mut cluster = PostgresCluster::start();
    let server = Recipe::at(dir.path()).set("database_url", &cluster.database()).start().await;
    server.http.get("/v2/team/queue-status").await.unwrap().is_success();
    cluster.kill();
    let reply = server.http.get("/v2/team/queue-status").await.unwrap();
    reply.is_error(503, "Service Unavailable");
    assert!(!reply.header("retry-after").is_empty());
    // Readiness is asked of the database at most once a second.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    server.http.get("/ready").await.unwrap().is_error(503, "Service Unavailable");
    assert_eq!(server.http.get("/health").await.unwrap().status, 200);
    cluster.restart();
    let end = Instant::now() + Duration::from_secs(20);
    while server.http.get("/v2/team/queue-status").await.unwrap().status != 200 {
        assert!(Instant::now() < end, "did not recover:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.http.post("/admin/drills", &json!({ "steps": 3, "wait": true })).await.unwrap().is_success();
}
