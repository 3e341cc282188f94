//! Usage, queue, concurrency and activity, in the shapes of the wire contract.

use crate::crawl::site::PAGES;
use crate::crawl::{CrawlFixture, started_id, wait_for_end};
use crate::server::start_plain;
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_local_team_is_unlimited_and_still_metered() {
    let country = CrawlFixture::open().await;
    let http = country.http();
    let before = http.get("/v2/team/credit-usage").await.unwrap().expect_success()["data"].clone();
    assert_eq!(before["remainingCredits"], before["planCredits"]);
    assert!(before["billingPeriodStart"].as_str().unwrap().ends_with("-01T00:00:00.000Z"), "{before}");
    // The last one is in a private network and refused.
    let mut urls: Vec<String> = PAGES.iter().map(|page| country.site.url(page)).collect();
    urls.push("http://10.0.0.1/".to_owned());
    let started = http.post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
    let id = started_id(&started);
    let batch = wait_for_end(http, &format!("/v2/batch/scrape/{id}")).await;
    // Four pages were there; the one that failed cost nothing.
    assert_eq!(
        (&batch["completed"], &batch["failed"], &batch["creditsUsed"]),
        (&json!(4), &json!(1), &json!(4))
    );
    let after = http.get("/v2/team/credit-usage").await.unwrap().expect_success()["data"].clone();
    let left = |usage: &serde_json::Value| usage["remainingCredits"].as_i64().unwrap();
    assert_eq!(left(&before) - left(&after), 4);
    let history = http.get("/v2/team/credit-usage/historical?byApiKey=true").await.unwrap();
    let period = &history.expect_success()["periods"][0];
    assert_eq!((&period["creditsUsed"], &period["totalCredits"]), (&json!(4), &json!(4)));
    assert_eq!(period["apiKey"], "first");
    let history = http.get("/v2/team/credit-usage/historical").await.unwrap();
    assert!(history.expect_success()["periods"][0].get("apiKey").is_none());
    let tokens = http.get("/v2/team/token-usage").await.unwrap();
    assert!(tokens.expect_success()["data"]["remainingTokens"].is_i64());
    http.get("/v2/team/token-usage/historical?byApiKey=false").await.unwrap().expect_success();
}

#[tokio::test]
async fn the_queue_is_counted_while_it_works() {
    let country = CrawlFixture::own().await;
    let http = country.http();
    let idle = http.get("/v2/team/queue-status").await.unwrap().expect_success().clone();
    assert_eq!((&idle["jobsInQueue"], &idle["mostRecentSuccess"]), (&json!(0), &json!(null)));
    let id = country.batch(&PAGES[..1], json!({})).await;
    wait_for_end(http, &format!("/v2/batch/scrape/{id}")).await;
    let after = http.get("/v2/team/queue-status").await.unwrap().expect_success().clone();
    assert!(after["mostRecentSuccess"].is_string(), "{after}");
    let held: Vec<String> = (1..=100).map(|page| format!("/held/{page}")).collect();
    country.batch(&held.iter().map(String::as_str).collect::<Vec<_>>(), json!({})).await;
    let end = Instant::now() + Duration::from_secs(20);
    let busy = loop {
        let busy = http.get("/v2/team/queue-status").await.unwrap().expect_success().clone();
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
    let country = CrawlFixture::open().await;
    let http = country.http();
    for page in &PAGES {
        country.batch(&[page], json!({})).await;
    }
    let mut seen = Vec::new();
    let mut path = "/v2/team/activity?limit=2&endpoint=batch_scrape".to_owned();
    loop {
        let page = http.get(&path).await.unwrap().expect_success().clone();
        for entry in page["data"].as_array().unwrap() {
            assert_eq!((&entry["endpoint"], &entry["api_version"]), (&json!("batch_scrape"), &json!("v2")));
            seen.push(entry["target"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["cursor"].as_str() else {
            assert_eq!(page["has_more"], false);
            break;
        };
        assert_eq!(page["has_more"], true);
        path = format!("/v2/team/activity?limit=2&endpoint=batch_scrape&cursor={cursor}");
    }
    let newest_first: Vec<String> = PAGES.iter().rev().map(|page| country.site.url(page)).collect();
    assert_eq!(seen, newest_first);
    let none = http.get("/v2/team/activity?endpoint=scrape").await.unwrap();
    assert_eq!(none.expect_success()["data"], json!([]));
    for wrong in ["limit=0", "limit=101", "cursor=x", "limit=two"] {
        assert_eq!(http.get(&format!("/v2/team/activity?{wrong}")).await.unwrap().status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn answers_compress_and_carry_the_callers_request_id() {
    let (_dir, server) = start_plain().await;
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
    let config = crate::server::ServerConfig::at(dir.path()).set("cors", "https://app.example");
    let server = config.start().await;
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
