//! What is refused: requests that make no sense, what others own, what no credits are left for, what was asked before.

use super::{Country, empty, ended, with};
use crate::scrape::failed;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn mistakes_are_told_at_once_and_where_they_are() {
    let country = Country::open().await;
    let start = country.village.url("/site/");
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
        (json!({ "maxDepth": 3 }), json!(["maxDepth"])),
        (json!({ "scrapeOptions": { "url": "x" } }), json!(["scrapeOptions", "url"])),
    ] {
        let reply = country.http().post("/v2/crawl", &with(json!({ "url": start }), more)).await.unwrap();
        assert_eq!((reply.status, &reply.json["details"][0]["path"]), (400, &place), "{}", reply.text);
    }
    for url in ["", "ftp://x.example", "nonsense"] {
        let reply = country.http().post("/v2/crawl", &json!({ "url": url })).await.unwrap();
        reply.is_error(400, "Invalid URL");
    }
    let summary = json!({ "url": start, "scrapeOptions": { "formats": ["summary"] } });
    let reply = country.http().post("/v2/crawl", &summary).await.unwrap();
    failed(&reply, 400, "MODEL_NOT_CONFIGURED");
    let listed = country.http().get("/v2/crawl/active").await.unwrap();
    assert_eq!(listed.is_success()["crawls"], json!([]), "nothing of it was started");
}

#[tokio::test]
async fn mistakes_in_batches_too() {
    let country = Country::open().await;
    let url = country.village.url("/alone");
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
        let reply = country.http().post("/v2/batch/scrape", &body).await.unwrap();
        assert_eq!((reply.status, &reply.json["details"][0]["path"]), (400, &place), "{}", reply.text);
    }
    let none = country.http().post("/v2/batch/scrape", &json!({ "urls": ["x", "y"] })).await.unwrap();
    none.is_error(400, "No valid URLs provided");
    let bad = json!({ "urls": [url], "appendToId": "nonsense" });
    let bad = country.http().post("/v2/batch/scrape", &bad).await.unwrap();
    bad.is_error(400, "Invalid job ID format. Job ID must be a valid UUID.");
}

#[tokio::test]
async fn what_others_own_is_not_there() {
    let country = Country::open().await;
    let id = country.crawl("/held/", empty()).await;
    let stranger = crate::scrape::stranger(&country.dir, country.http()).await;
    for more in ["", "/errors", "/ledger", "/events"] {
        stranger.get(&format!("/v2/crawl/{id}{more}")).await.unwrap().is_error(404, "Job not found");
    }
    stranger.delete(&format!("/v2/crawl/{id}")).await.unwrap().is_error(404, "Job not found");
    let theirs = stranger.get("/v2/crawl/active").await.unwrap();
    assert_eq!(theirs.is_success()["crawls"], json!([]));
    let added = json!({ "urls": [country.village.url("/alone")], "appendToId": id });
    stranger.post("/v2/batch/scrape", &added).await.unwrap().is_error(404, "Job not found");
}

#[tokio::test]
async fn a_key_is_good_for_one_start() {
    let country = Country::open().await;
    for (path, body) in [
        ("/v2/crawl", json!({ "url": country.village.url("/alone") })),
        ("/v2/batch/scrape", json!({ "urls": [country.village.url("/alone")] })),
    ] {
        let start = async |body: &Value| {
            let request =
                country.http().request(Method::POST, path).header("x-idempotency-key", "once").json(body);
            country.http().send(request).await.unwrap()
        };
        start(&with(body.clone(), json!({ "maxConcurrency": 0 }))).await;
        start(&body).await.is_success();
        start(&body).await.is_error(409, "Idempotency key already used");
    }
}

#[tokio::test]
async fn credits_bound_what_is_started() {
    let country = Country::with(|recipe| recipe.tiny_plan("credits = 3")).await;
    let site = country.village.url("/site/");
    let reply = country.http().post("/v2/crawl", &json!({ "url": site, "limit": 4 })).await.unwrap();
    reply.is_error(402, "Payment Required: Insufficient credits");
    let urls: Vec<String> = (0..4).map(|n| country.village.url(&format!("/held/{n}"))).collect();
    let reply = country.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
    reply.is_error(402, "Payment Required: Insufficient credits");
    // Nobody named a number: as many pages as are left to pay for.
    let status = country.crawled("/site/", empty()).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(3), &json!(3)), "{status}");
    let usage = country.http().get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(usage.is_success()["data"]["remainingCredits"], 0);
    let reply = country.http().post("/v2/crawl", &json!({ "url": site })).await.unwrap();
    reply.is_error(402, "Payment Required: Insufficient credits");
}

#[tokio::test]
async fn a_limit_is_a_limit() {
    let country = Country::open().await;
    for limit in [1, 2, 3] {
        let status = country.crawled("/site/", json!({ "limit": limit })).await;
        assert_eq!(
            (&status["status"], &status["completed"]),
            (&json!("completed"), &json!(limit)),
            "{status}"
        );
        assert_eq!(status["creditsUsed"], limit);
    }
}

#[tokio::test]
async fn the_queue_of_a_plan_has_an_end() {
    let country = Country::with(|recipe| recipe.tiny_plan("queue = 4")).await;
    let paths = ["/held/1", "/held/2", "/held/3"];
    let id = country.batch(&paths, json!({ "maxConcurrency": 1 })).await;
    let urls: Vec<String> = paths.iter().map(|path| country.village.url(path)).collect();
    let full = country.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap();
    full.is_error(429, "Queue limit reached");
    country.village.release(3);
    ended(country.http(), &format!("/v2/batch/scrape/{id}")).await;
    country.http().post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap().is_success();
}
