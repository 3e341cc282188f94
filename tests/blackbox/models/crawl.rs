//! Prompts for crawls: by a model, by rules without one; what is set in so many words wins.

use super::Study;
use crate::crawl::ended;
use crate::scrape::{House, failed};
use serde_json::{Value, json};
use testkit::ModelServer;
use testkit::model_server::Said;

async fn preview(house: &House, prompt: &str) -> Value {
    let body = json!({ "url": house.site.url("/"), "prompt": prompt });
    let reply = house.http().post("/v2/crawl/params-preview", &body).await.unwrap();
    reply.is_success().clone()
}

#[tokio::test]
async fn rules_read_a_prompt_where_there_is_no_model() {
    let house = House::open().await;
    let seen = preview(&house, "Extract all blog posts and documentation").await;
    assert_eq!(seen["data"]["includePaths"], json!(["blog/.*", "docs/.*"]));
    assert_eq!((&seen["data"]["limit"], &seen["data"]["sitemap"]), (&json!(10_000), &json!("include")));
    assert_eq!(
        (&seen["data"]["allowSubdomains"], &seen["data"]["deduplicateSimilarURLs"]),
        (&json!(false), &json!(true))
    );
    assert!(seen["warning"].as_str().unwrap().contains("read by rules"), "{seen}");
    let seen = preview(&house, "the first 20 pages, skip the archive").await;
    assert_eq!(
        (&seen["data"]["limit"], &seen["data"]["excludePaths"]),
        (&json!(20), &json!(["archives?/.*"]))
    );
    let nothing = preview(&house, "lorem ipsum").await;
    assert!(nothing["warning"].as_str().unwrap().contains("found nothing"), "{nothing}");
    for (body, code) in [
        (json!({ "url": house.site.url("/"), "prompt": "" }), "BAD_REQUEST"),
        (json!({ "url": house.site.url("/"), "prompt": "x".repeat(10_001) }), "BAD_REQUEST"),
        (json!({ "url": "nonsense", "prompt": "x" }), "BAD_REQUEST"),
        (json!({ "url": house.site.url("/") }), "BAD_REQUEST"),
    ] {
        failed(&house.http().post("/v2/crawl/params-preview", &body).await.unwrap(), 400, code);
    }
}

#[tokio::test]
async fn a_crawl_takes_its_options_from_its_prompt() {
    let house = House::open().await;
    let body = json!({ "url": house.site.url("/article"), "prompt": "at most 50 pages, skip the sitemap", "limit": 1 });
    let reply = house.http().post("/v2/crawl", &body).await.unwrap();
    let started = reply.is_success();
    assert_eq!(started["promptGeneratedOptions"], json!({ "limit": 50, "sitemap": "skip" }));
    assert_eq!(started["finalCrawlerOptions"]["limit"], 1, "what is set wins: {started}");
    assert_eq!(started["finalCrawlerOptions"]["sitemap"], "skip");
    assert!(started["warning"].is_string());
    let status = ended(house.http(), &format!("/v2/crawl/{}", started["id"].as_str().unwrap())).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(1)));
    for prompt in [String::new(), "x".repeat(10_001)] {
        let body = json!({ "url": house.site.url("/article"), "prompt": prompt });
        let reply = house.http().post("/v2/crawl", &body).await.unwrap();
        assert_eq!(failed(&reply, 400, "BAD_REQUEST")[0]["path"], json!(["prompt"]));
    }
}

#[tokio::test]
async fn a_model_reads_a_prompt_and_our_plan_checks_it() {
    let wrong = json!({ "includePaths": ["("], "limit": 0 });
    let right = json!({ "includePaths": ["birds/.*"], "limit": 7, "allowSubdomains": true });
    let study = Study::open(ModelServer::saying(vec![Said::json(&wrong), Said::json(&right)])).await;
    let seen = preview(&study.house, "something about birds").await;
    assert_eq!(seen["data"]["includePaths"], json!(["birds/.*"]));
    assert_eq!((&seen["data"]["limit"], &seen["data"]["allowSubdomains"]), (&json!(7), &json!(true)));
    assert!(seen.get("warning").is_none(), "{seen}");
    let asked = study.model.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].user().contains("something about birds"));
    assert!(asked[1].user().contains("includePaths"), "told what is wrong: {}", asked[1].user());
}

#[tokio::test]
async fn where_the_model_fails_rules_take_over() {
    let study = Study::open(ModelServer::saying(vec![Said::text("Sure, I can help you crawl!")])).await;
    let seen = preview(&study.house, "only the blog").await;
    assert_eq!(seen["data"]["includePaths"], json!(["blog/.*"]));
    assert!(seen["warning"].as_str().unwrap().contains("no usable options"), "{seen}");
}
