//! What is refused: invalid requests, jobs of other teams, too few credits, repeated idempotency keys.

use super::{CrawlFixture, empty, wait_for_end, with};
use crate::scrape::assert_failure;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn invalid_crawl_requests_name_the_wrong_field() {
    let fixture = CrawlFixture::open().await;
    let start = fixture.site.url("/site/");
    for (more, place) in [
        (json!({ "limit": 0 }), json!(["limit"])),
        (json!({ "limit": 2_000_000_000_i64 }), json!(["limit"])),
        (json!({ "maxDiscoveryDepth": -1 }), json!(["maxDiscoveryDepth"])),
        (json!({ "delay": 61 }), json!(["delay"])),
        (json!({ "maxConcurrency": 0 }), json!(["maxConcurrency"])),
        (json!({ "sitemap": "maybe" }), json!(["sitemap"])),
        (json!({ "includePaths": ["fine", "("] }), json!(["includePaths", 1])),
        (json!({ "excludePaths": ["(a{1000}){1000}"] }), json!(["excludePaths", 0])),
        (json!({ "scrapeOptions": { "timeout": 5 } }), json!(["scrapeOptions", "timeout"])),
        (json!({ "webhook": "ftp://x.example/" }), json!(["webhook", "url"])),
        (json!({ "depth": 3 }), json!(["depth"])),
        (json!({ "maxDepth": -1 }), json!(["maxDiscoveryDepth"])),
        (json!({ "scrapeOptions": { "url": "x" } }), json!(["scrapeOptions", "url"])),
    ] {
        let response = fixture.http().post("/v2/crawl", &with(json!({ "url": start }), more)).await.unwrap();
        assert_eq!(
            (response.status, &response.json["details"][0]["path"]),
            (400, &place),
            "{}",
            response.text
        );
    }
    let names = json!({ "url": start, "maxDepth": 0, "ignoreSitemap": true, "allowBackwardLinks": false });
    let started = fixture.http().post("/v2/crawl", &names).await.unwrap();
    let warning = started.expect_success()["warning"].as_str().unwrap().to_owned();
    assert!(
        warning.contains("`maxDepth` is `maxDiscoveryDepth`") && warning.contains("sitemap"),
        "{warning}"
    );
    let path = format!("/v2/crawl/{}", started.json["id"].as_str().unwrap());
    assert_eq!(wait_for_end(fixture.http(), &path).await["completed"], 1, "names of /v1 work");
    for url in ["", "ftp://x.example", "nonsense"] {
        let response = fixture.http().post("/v2/crawl", &json!({ "url": url })).await.unwrap();
        response.expect_error(400, "Invalid URL");
    }
    let summary = json!({ "url": start, "scrapeOptions": { "formats": ["summary"] } });
    let response = fixture.http().post("/v2/crawl", &summary).await.unwrap();
    assert_failure(&response, 400, "MODEL_NOT_CONFIGURED");
    let listed = fixture.http().get("/v2/crawl/active").await.unwrap();
    assert_eq!(listed.expect_success()["crawls"], json!([]), "nothing of it was started");
}

#[tokio::test]
async fn invalid_batch_requests_name_the_wrong_field() {
    let fixture = CrawlFixture::open().await;
    let url = fixture.site.url("/alone");
    for (body, place) in [
        (json!({}), json!(["urls"])),
        (json!({ "urls": [] }), json!(["urls"])),
        (json!({ "urls": [url], "maxConcurrency": 0 }), json!(["maxConcurrency"])),
        (json!({ "urls": [url, "nonsense"], "ignoreInvalidURLs": false }), json!(["urls", 1])),
        (json!({ "urls": [url], "timeout": 5 }), json!(["timeout"])),
        (json!({ "urls": [url], "profile": { "name": "x" } }), json!(["profile", "saveChanges"])),
        (json!({ "urls": [3] }), json!(["urls", 0])),
        (json!({ "urls": [url], "url": url }), json!(["url"])),
    ] {
        let response = fixture.http().post("/v2/batch/scrape", &body).await.unwrap();
        assert_eq!(
            (response.status, &response.json["details"][0]["path"]),
            (400, &place),
            "{}",
            response.text
        );
    }
    let none = fixture.http().post("/v2/batch/scrape", &json!({ "urls": ["x", "y"] })).await.unwrap();
    none.expect_error(400, "No valid URLs provided");
    let bad = json!({ "urls": [url], "appendToId": "nonsense" });
    let bad = fixture.http().post("/v2/batch/scrape", &bad).await.unwrap();
    bad.expect_error(400, "Invalid job ID format. Job ID must be a valid UUID.");
}

#[tokio::test]
async fn jobs_of_other_teams_are_not_found() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/held/", empty()).await;
    let other_team = crate::scrape::other_team(&fixture.dir, fixture.http()).await;
    for more in ["", "/errors", "/ledger", "/events"] {
        other_team.get(&format!("/v2/crawl/{id}{more}")).await.unwrap().expect_error(404, "Job not found");
    }
    other_team.delete(&format!("/v2/crawl/{id}")).await.unwrap().expect_error(404, "Job not found");
    let theirs = other_team.get("/v2/crawl/active").await.unwrap();
    assert_eq!(theirs.expect_success()["crawls"], json!([]));
    let added = json!({ "urls": [fixture.site.url("/alone")], "appendToId": id });
    other_team.post("/v2/batch/scrape", &added).await.unwrap().expect_error(404, "Job not found");
}

#[tokio::test]
async fn an_idempotency_key_starts_one_job() {
    let fixture = CrawlFixture::open().await;
    for (path, body) in [
        ("/v2/crawl", json!({ "url": fixture.site.url("/alone") })),
        ("/v2/batch/scrape", json!({ "urls": [fixture.site.url("/alone")] })),
    ] {
        let start = async |body: &Value| {
            let request =
                fixture.http().request(Method::POST, path).header("x-idempotency-key", "once").json(body);
            fixture.http().send(request).await.unwrap()
        };
        start(&with(body.clone(), json!({ "maxConcurrency": 0 }))).await;
        start(&body).await.expect_success();
        start(&body).await.expect_error(409, "Idempotency key already used");
    }
}

#[tokio::test]
async fn remaining_credits_limit_a_crawl() {
    let fixture = CrawlFixture::with(|config| config.tiny_plan("credits = 3")).await;
    let site = fixture.site.url("/site/");
    let response = fixture.http().post("/v2/crawl", &json!({ "url": site, "limit": 4 })).await.unwrap();
    response.expect_error(402, "Payment Required: Insufficient credits");
    let urls: Vec<String> = (0..4).map(|n| fixture.site.url(&format!("/held/{n}"))).collect();
    let response = fixture.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
    response.expect_error(402, "Payment Required: Insufficient credits");
    // Without a limit in the request: as many pages as there are credits.
    let status = fixture.crawl_to_end("/site/", empty()).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(3), &json!(3)), "{status}");
    let usage = fixture.http().get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(usage.expect_success()["data"]["remainingCredits"], 0);
    let response = fixture.http().post("/v2/crawl", &json!({ "url": site })).await.unwrap();
    response.expect_error(402, "Payment Required: Insufficient credits");
}

#[tokio::test]
async fn a_crawl_stops_at_its_limit() {
    let fixture = CrawlFixture::open().await;
    for limit in [1, 2, 3] {
        let status = fixture.crawl_to_end("/site/", json!({ "limit": limit })).await;
        assert_eq!(
            (&status["status"], &status["completed"]),
            (&json!("completed"), &json!(limit)),
            "{status}"
        );
        assert_eq!(status["creditsUsed"], limit);
    }
}

#[tokio::test]
async fn the_queue_of_a_plan_is_limited() {
    let fixture = CrawlFixture::with(|config| config.tiny_plan("queue = 4")).await;
    let paths = ["/held/1", "/held/2", "/held/3"];
    let id = fixture.batch(&paths, json!({ "maxConcurrency": 1 })).await;
    let urls: Vec<String> = paths.iter().map(|path| fixture.site.url(path)).collect();
    let full = fixture.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
    full.expect_error(429, "Queue limit reached");
    fixture.site.release(3);
    wait_for_end(fixture.http(), &format!("/v2/batch/scrape/{id}")).await;
    fixture.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap().expect_success();
}
