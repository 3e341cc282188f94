//! Usage, queue, concurrency and activity, in the shapes of the wire contract.

use crate::server::plain;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_local_team_is_unlimited_and_still_metered() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let before = http.get("/v2/team/credit-usage").await.unwrap().is_success()["data"].clone();
    assert_eq!(before["remainingCredits"], before["planCredits"]);
    assert!(before["billingPeriodStart"].as_str().unwrap().ends_with("-01T00:00:00.000Z"), "{before}");
    let drill = json!({ "steps": 10, "creditsPerStep": 3, "failEvery": 5, "wait": true });
    let drill = http.post("/admin/drills", &drill).await.unwrap().is_success().clone();
    // Eight steps did their work; the two that failed cost nothing.
    assert_eq!(
        (&drill["completed"], &drill["failed"], &drill["creditsUsed"]),
        (&json!(8), &json!(2), &json!(24))
    );
    let after = http.get("/v2/team/credit-usage").await.unwrap().is_success()["data"].clone();
    let left = |usage: &serde_json::Value| usage["remainingCredits"].as_i64().unwrap();
    assert_eq!(left(&before) - left(&after), 24);
    let history = http.get("/v2/team/credit-usage/historical?byApiKey=true").await.unwrap();
    let period = &history.is_success()["periods"][0];
    assert_eq!((&period["creditsUsed"], &period["totalCredits"]), (&json!(24), &json!(24)));
    assert_eq!(period["apiKey"], "first");
    let history = http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert!(history.is_success()["periods"][0].get("apiKey").is_none());
    let tokens = http.get("/v2/team/token-usage").await.unwrap();
    assert!(tokens.is_success()["data"]["remainingTokens"].is_i64());
    http.get("/v2/team/token-usage/historical?byApiKey=false").await.unwrap().is_success();
}

#[tokio::test]
async fn the_queue_is_counted_while_it_works() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let idle = http.get("/v2/team/queue-status").await.unwrap().is_success().clone();
    assert_eq!((&idle["jobsInQueue"], &idle["mostRecentSuccess"]), (&json!(0), &json!(null)));
    http.post("/admin/drills", &json!({ "steps": 1, "wait": true })).await.unwrap().is_success();
    let after = http.get("/v2/team/queue-status").await.unwrap().is_success().clone();
    assert!(after["mostRecentSuccess"].is_string(), "{after}");
    http.post("/admin/drills", &json!({ "steps": 100, "stepMillis": 60_000 })).await.unwrap().is_success();
    let end = Instant::now() + Duration::from_secs(20);
    let busy = loop {
        let busy = http.get("/v2/team/queue-status").await.unwrap().is_success().clone();
        if busy["activeJobsInQueue"] == 32 || Instant::now() > end {
            break busy;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let number = |name: &str| busy[name].as_u64().unwrap();
    assert_eq!(number("activeJobsInQueue"), 32, "{busy}");
    assert_eq!(number("jobsInQueue"), number("activeJobsInQueue") + number("waitingJobsInQueue"));
    assert_eq!(number("jobsInQueue"), 100);
}

#[tokio::test]
async fn activity_pages_backwards_and_knows_its_end() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    for steps in 1..=5 {
        http.post("/admin/drills", &json!({ "steps": steps })).await.unwrap().is_success();
    }
    let mut seen = Vec::new();
    let mut path = "/v2/team/activity?limit=2&endpoint=drill".to_owned();
    loop {
        let page = http.get(&path).await.unwrap().is_success().clone();
        for entry in page["data"].as_array().unwrap() {
            assert_eq!((&entry["endpoint"], &entry["api_version"]), (&json!("drill"), &json!("v2")));
            seen.push(entry["target"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["cursor"].as_str() else {
            assert_eq!(page["has_more"], false);
            break;
        };
        assert_eq!(page["has_more"], true);
        path = format!("/v2/team/activity?limit=2&endpoint=drill&cursor={cursor}");
    }
    assert_eq!(seen, ["5 steps", "4 steps", "3 steps", "2 steps", "1 steps"]);
    let none = http.get("/v2/team/activity?endpoint=scrape").await.unwrap();
    assert_eq!(none.is_success()["data"], json!([]));
    for wrong in ["limit=0", "limit=101", "cursor=x", "limit=two"] {
        assert_eq!(http.get(&format!("/v2/team/activity?{wrong}")).await.unwrap().status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn answers_compress_and_carry_the_callers_request_id() {
    let (_dir, server) = plain().await;
    let http = &server.http;
    let request = http.request(reqwest::Method::GET, "/v2/openapi.json").header("accept-encoding", "gzip");
    let reply = http.send(request.header("x-request-id", "my.id:1")).await.unwrap();
    assert_eq!((reply.header("content-encoding"), reply.header("x-request-id")), ("gzip", "my.id:1"));
    let small = http.get("/v2/concurrency-check").await.unwrap();
    assert_eq!(small.header("content-encoding"), "");
    assert_eq!(small.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn browsers_may_call_when_their_origin_is_allowed() {
    let dir = testkit::TempDir::new();
    let recipe = crate::server::Recipe::at(dir.path()).set("cors", "https://app.example");
    let server = recipe.start().await;
    let http = server.http.with_key(None);
    let ask = |origin: &str| {
        let request = http.request(reqwest::Method::OPTIONS, "/v2/concurrency-check");
        request.header("origin", origin).header("access-control-request-method", "GET")
    };
    let allowed = http.send(ask("https://app.example")).await.unwrap();
    assert_eq!(allowed.header("access-control-allow-origin"), "https://app.example");
    let other = http.send(ask("https://evil.example")).await.unwrap();
    assert_eq!(other.header("access-control-allow-origin"), "");
    // An error must be readable by the page as well.
    let request =
        http.request(reqwest::Method::GET, "/v2/concurrency-check").header("origin", "https://app.example");
    let refused = http.send(request).await.unwrap();
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, "https://app.example"));
}
