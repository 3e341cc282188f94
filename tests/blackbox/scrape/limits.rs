//! Limits of a plan: credits, requests per minute, concurrent browsers.

use super::{ScrapeFixture, assert_failure, scrape_as};
use crate::server::wait_for_browsers_in_use;
use serde_json::json;

#[tokio::test]
async fn a_scrape_costs_one_credit_and_a_failure_none() {
    let fixture = ScrapeFixture::with(|config| config.tiny_plan("credits = 2")).await;
    let remaining = async || {
        let usage = fixture.http().get("/v2/team/credit-usage").await.unwrap();
        usage.expect_success()["data"]["remainingCredits"].clone()
    };
    fixture.scrape_document("/article", json!({})).await;
    assert_eq!(remaining().await, 1);
    assert_failure(&fixture.scrape("/pdf", json!({})).await, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    assert_failure(&fixture.scrape("/hang", json!({ "timeout": 1000 })).await, 408, "SCRAPE_TIMEOUT");
    assert_eq!(remaining().await, 1, "what failed costs nothing");
    // A stored page costs the same.
    let page = fixture.scrape_document("/article", json!({})).await;
    assert_eq!(
        (&page["metadata"]["cacheState"], &page["metadata"]["creditsUsed"]),
        (&json!("hit"), &json!(1))
    );
    assert_eq!(remaining().await, 0);
    let response = fixture.scrape("/article", json!({})).await;
    response.expect_error(402, "Payment Required: Insufficient credits");
    assert_eq!(fixture.credits_used().await, 2);
}

#[tokio::test]
async fn requests_per_minute_are_limited() {
    let fixture = ScrapeFixture::with(|config| config.tiny_plan("rates = { scrape = 2 }")).await;
    for _ in 0..2 {
        fixture.scrape_document("/article", json!({})).await;
    }
    let response = fixture.scrape("/article", json!({})).await;
    response.expect_error(429, "Rate limit exceeded");
    assert!(!response.header("retry-after").is_empty());
}

#[tokio::test]
async fn concurrent_browsers_are_limited_and_released() {
    let fixture = ScrapeFixture::with(|config| config.tiny_plan("concurrency = 1")).await;
    let (http, url) = (fixture.http().clone(), fixture.site.url("/article"));
    let slow = tokio::spawn(async move { scrape_as(&http, &url, json!({ "waitFor": 4000 })).await });
    wait_for_browsers_in_use(fixture.http(), 1).await;
    let response = fixture.scrape("/form", json!({ "waitFor": 1 })).await;
    response.expect_error(429, "Concurrency limit reached");
    assert_eq!(response.header("retry-after"), "1");
    // Plain HTTP needs no browser.
    fixture.scrape_document("/article", json!({})).await;
    slow.await.unwrap().expect_success();
    wait_for_browsers_in_use(fixture.http(), 0).await;
    fixture.scrape_document("/form", json!({ "waitFor": 1 })).await;
}
