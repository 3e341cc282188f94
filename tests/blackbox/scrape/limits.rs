//! What a plan allows: credits, requests a minute, browsers at once.

use super::{House, failed, scrape_as};
use crate::server::browsers_in_use;
use serde_json::json;

#[tokio::test]
async fn a_scrape_costs_one_credit_and_a_failure_none() {
    let house = House::with(|recipe| recipe.tiny_plan("credits = 2")).await;
    let remaining = async || {
        let usage = house.http().get("/v2/team/credit-usage").await.unwrap();
        usage.is_success()["data"]["remainingCredits"].clone()
    };
    house.document("/article", json!({})).await;
    assert_eq!(remaining().await, 1);
    failed(&house.scrape("/pdf", json!({})).await, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    failed(&house.scrape("/hang", json!({ "timeout": 1000 })).await, 408, "SCRAPE_TIMEOUT");
    assert_eq!(remaining().await, 1, "what failed costs nothing");
    // A stored page costs what any page costs.
    let page = house.document("/article", json!({})).await;
    assert_eq!(
        (&page["metadata"]["cacheState"], &page["metadata"]["creditsUsed"]),
        (&json!("hit"), &json!(1))
    );
    assert_eq!(remaining().await, 0);
    let reply = house.scrape("/article", json!({})).await;
    reply.is_error(402, "Payment Required: Insufficient credits");
    assert_eq!(house.credits_used().await, 2);
}

#[tokio::test]
async fn requests_a_minute_are_limited() {
    let house = House::with(|recipe| recipe.tiny_plan("rates = { scrape = 2 }")).await;
    for _ in 0..2 {
        house.document("/article", json!({})).await;
    }
    let reply = house.scrape("/article", json!({})).await;
    reply.is_error(429, "Rate limit exceeded");
    assert!(!reply.header("retry-after").is_empty());
}

#[tokio::test]
async fn browsers_at_once_are_limited_and_given_back() {
    let house = House::with(|recipe| recipe.tiny_plan("concurrency = 1")).await;
    let (http, url) = (house.http().clone(), house.site.url("/article"));
    let slow = tokio::spawn(async move { scrape_as(&http, &url, json!({ "waitFor": 4000 })).await });
    browsers_in_use(house.http(), 1).await;
    let reply = house.scrape("/form", json!({ "waitFor": 1 })).await;
    reply.is_error(429, "Concurrency limit reached");
    assert_eq!(reply.header("retry-after"), "1");
    // Plain HTTP needs no browser.
    house.document("/article", json!({})).await;
    slow.await.unwrap().is_success();
    browsers_in_use(house.http(), 0).await;
    house.document("/form", json!({ "waitFor": 1 })).await;
}
