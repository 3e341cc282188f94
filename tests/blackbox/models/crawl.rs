//! Prompts for crawls: read by a model, or by rules without one; explicit options take precedence.

use super::ModelFixture;
use crate::crawl::wait_for_end;
use crate::scrape::{ScrapeFixture, assert_failure};
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::ScriptedResponse;

async fn preview(fixture: &ScrapeFixture, prompt: &str) -> Value {
    let body = json!({ "url": fixture.site.url("/"), "prompt": prompt });
    let response = fixture.http().post("/v2/crawl/params-preview", &body).await.unwrap();
    response.expect_success().clone()
}

#[tokio::test]
async fn without_a_model_rules_read_the_prompt() {
    let fixture = ScrapeFixture::open().await;
    let seen = preview(&fixture, "Extract all blog posts and documentation").await;
    assert_eq!(seen["data"]["includePaths"], json!(["blog/.*", "docs/.*"]));
    assert_eq!((&seen["data"]["limit"], &seen["data"]["sitemap"]), (&json!(10_000), &json!("include")));
    assert_eq!(
        (&seen["data"]["allowSubdomains"], &seen["data"]["deduplicateSimilarURLs"]),
        (&json!(false), &json!(true))
    );
    assert!(seen["warning"].as_str().unwrap().contains("read by rules"), "{seen}");
    let seen = preview(&fixture, "the first 20 pages, skip the archive").await;
    assert_eq!(
        (&seen["data"]["limit"], &seen["data"]["excludePaths"]),
        (&json!(20), &json!(["archives?/.*"]))
    );
    let nothing = preview(&fixture, "lorem ipsum").await;
    assert!(nothing["warning"].as_str().unwrap().contains("found nothing"), "{nothing}");
    for (body, code) in [
        (json!({ "url": fixture.site.url("/"), "prompt": "" }), "BAD_REQUEST"),
        (json!({ "url": fixture.site.url("/"), "prompt": "x".repeat(10_001) }), "BAD_REQUEST"),
        (json!({ "url": "nonsense", "prompt": "x" }), "BAD_REQUEST"),
        (json!({ "url": fixture.site.url("/") }), "BAD_REQUEST"),
    ] {
        assert_failure(&fixture.http().post("/v2/crawl/params-preview", &body).await.unwrap(), 400, code);
    }
}

#[tokio::test]
async fn a_crawl_takes_its_options_from_its_prompt() {
    let fixture = ScrapeFixture::open().await;
    let body = json!({ "url": fixture.site.url("/article"), "prompt": "at most 50 pages, skip the sitemap", "limit": 1 });
    let response = fixture.http().post("/v2/crawl", &body).await.unwrap();
    let started = response.expect_success();
    assert_eq!(started["promptGeneratedOptions"], json!({ "limit": 50, "sitemap": "skip" }));
    assert_eq!(started["finalCrawlerOptions"]["limit"], 1, "what is set wins: {started}");
    assert_eq!(started["finalCrawlerOptions"]["sitemap"], "skip");
    assert!(started["warning"].is_string());
    let status =
        wait_for_end(fixture.http(), &format!("/v2/crawl/{}", started["id"].as_str().unwrap())).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(1)));
    for prompt in [String::new(), "x".repeat(10_001)] {
        let body = json!({ "url": fixture.site.url("/article"), "prompt": prompt });
        let response = fixture.http().post("/v2/crawl", &body).await.unwrap();
        assert_eq!(assert_failure(&response, 400, "BAD_REQUEST")[0]["path"], json!(["prompt"]));
    }
}

#[tokio::test]
async fn options_that_a_model_proposes_are_validated() {
    let wrong = json!({ "includePaths": ["("], "limit": 0 });
    let right = json!({ "includePaths": ["birds/.*"], "limit": 7, "allowSubdomains": true });
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![
        ScriptedResponse::json(&wrong),
        ScriptedResponse::json(&right),
    ]))
    .await;
    let seen = preview(&fixture.scraping, "something about birds").await;
    assert_eq!(seen["data"]["includePaths"], json!(["birds/.*"]));
    assert_eq!((&seen["data"]["limit"], &seen["data"]["allowSubdomains"]), (&json!(7), &json!(true)));
    assert!(seen.get("warning").is_none(), "{seen}");
    let requests = fixture.model.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].user().contains("something about birds"));
    assert!(
        requests[1].user().contains("includePaths"),
        "the model is told what is wrong: {}",
        requests[1].user()
    );
}

#[tokio::test]
async fn when_the_model_fails_rules_read_the_prompt() {
    let fixture = ModelFixture::open(ModelServer::with_responses(vec![ScriptedResponse::text(
        "Sure, I can help you crawl!",
    )]))
    .await;
    let seen = preview(&fixture.scraping, "only the blog").await;
    assert_eq!(seen["data"]["includePaths"], json!(["blog/.*"]));
    assert!(seen["warning"].as_str().unwrap().contains("no usable options"), "{seen}");
}
