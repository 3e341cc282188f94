//! Stored pages: when one is used, when its site is asked again, and who shares a fetch.

use crate::scrape::{House, failed, has, scrape_as};
use serde_json::{Value, json};
use std::time::Duration;

fn state(page: &Value) -> &str {
    page["metadata"]["cacheState"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_stored_page_answers_whatever_format_is_asked_for() {
    let house = House::open().await;
    let first = house.document("/article", json!({})).await;
    let second = house.document("/article#part", json!({ "formats": ["links", "rawHtml"] })).await;
    assert_eq!((state(&first), state(&second), house.site.hits("/article")), ("miss", "hit", 1));
    assert!(second["links"].is_array());
    let metadata = &second["metadata"];
    assert_eq!(metadata["cache"]["source"], "stored");
    assert_eq!(metadata["cache"]["cachedAt"], metadata["cachedAt"]);
    assert!(metadata["cachedAt"].as_str().unwrap().starts_with("20"), "{metadata}");
    assert_eq!(metadata["ladder"][0]["rung"], "cache");
    assert_eq!(metadata["engine"], "http", "how the page was had at first");
    assert_ne!(first["metadata"]["scrapeId"], metadata["scrapeId"]);
    let whole = house.document("/article", json!({ "onlyMainContent": false })).await;
    has(&whole["markdown"], &["navigationword"]);
    assert_eq!(house.site.hits("/article"), 1);
}

#[tokio::test]
async fn a_page_that_is_too_old_is_asked_for_again() {
    let house = House::open().await;
    house.site.change(200, "edition one");
    house.document("/changing", json!({})).await;
    house.site.change(200, "edition two");
    let stored = house.document("/changing", json!({})).await;
    has(&stored["markdown"], &["edition one"]);
    let fresh = house.document("/changing", json!({ "maxAge": 0 })).await;
    has(&fresh["markdown"], &["edition two"]);
    assert_eq!(state(&fresh), "miss");
    let replaced = house.document("/changing", json!({})).await;
    has(&replaced["markdown"], &["edition two"]);
    assert_eq!(state(&replaced), "hit");
    tokio::time::sleep(Duration::from_millis(30)).await;
    let old = house.document("/changing", json!({ "maxAge": 10 })).await;
    assert_eq!((state(&old), house.site.hits("/changing")), ("miss", 3));
}

#[tokio::test]
async fn a_site_is_asked_only_whether_its_page_changed() {
    let house = House::open().await;
    let first = house.document("/etag", json!({})).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    let again = house.document("/etag", json!({ "maxAge": 10 })).await;
    assert_eq!(again["markdown"], first["markdown"]);
    assert_eq!((state(&again), &again["metadata"]["cache"]["source"]), ("hit", &json!("revalidated")));
    let asked = house.site.requests("/etag");
    assert_eq!((asked.len(), asked[1].header("if-none-match")), (2, "\"edition-7\""));
    // It counts as fetched now.
    let young = house.document("/etag", json!({ "maxAge": 10_000 })).await;
    assert_eq!((state(&young), house.site.hits("/etag")), ("hit", 2));
    let anew = house.document("/etag", json!({ "maxAge": 0 })).await;
    assert_eq!((state(&anew), house.site.requests("/etag")[2].header("if-none-match")), ("miss", ""));
}

#[tokio::test]
async fn only_stored_pages_can_be_asked_for() {
    let house = House::open().await;
    failed(&house.scrape("/article", json!({ "minAge": 0 })).await, 404, "SCRAPE_NO_CACHED_DATA");
    failed(&house.scrape("/article", json!({ "lockdown": true })).await, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    assert_eq!(house.site.hits("/article"), 0, "nothing leaves the machine");
    house.document("/article", json!({})).await;
    failed(&house.scrape("/article", json!({ "minAge": 3_600_000 })).await, 404, "SCRAPE_NO_CACHED_DATA");
    assert_eq!(state(&house.document("/article", json!({ "minAge": 0 })).await), "hit");
    assert_eq!(state(&house.document("/article", json!({ "lockdown": true })).await), "hit");
    failed(
        &house.scrape("/article", json!({ "lockdown": true, "maxAge": 0 })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
    assert_eq!(house.site.hits("/article"), 1);
    assert_eq!(house.credits_used().await, 3, "a miss costs nothing");
}

#[tokio::test]
async fn what_must_not_be_stored_is_not() {
    let house = House::open().await;
    for options in [
        json!({ "storeInCache": false }),
        json!({ "headers": { "X-Own": "1" } }),
        json!({ "zeroDataRetention": true }),
    ] {
        house.document("/article", options).await;
    }
    house.document("/missing", json!({})).await;
    for path in ["/article", "/missing"] {
        failed(&house.scrape(path, json!({ "lockdown": true })).await, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
    }
    house.document("/article", json!({})).await;
    // What was stored for one team is not there for another.
    let stranger = house.stranger().await;
    let reply = scrape_as(&stranger, &house.site.url("/article"), json!({ "lockdown": true })).await;
    failed(&reply, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
}

#[tokio::test]
async fn what_changes_the_page_has_a_place_of_its_own() {
    let house = House::open().await;
    house.document("/echo", json!({})).await;
    for options in [
        json!({ "mobile": true }),
        json!({ "location": { "country": "DE" } }),
        json!({ "location": { "languages": ["pt"] } }),
        json!({ "blockAds": false }),
    ] {
        assert_eq!(state(&house.document("/echo", options.clone()).await), "miss", "{options}");
        assert_eq!(state(&house.document("/echo", options.clone()).await), "hit", "{options}");
    }
    assert_eq!(state(&house.document("/echo?other", json!({})).await), "miss");
}

#[tokio::test]
async fn requests_for_one_page_share_one_fetch() {
    let house = House::open().await;
    let url = house.site.url("/slow?ms=700");
    let formats = [json!(["markdown"]), json!(["links"]), json!(["markdown", "html"])];
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..24 {
        let (http, url) = (house.http().clone(), url.clone());
        let options = json!({ "formats": formats[number % 3], "maxAge": if number % 2 == 0 { 0 } else { 172_800_000 } });
        waiting.spawn(async move { scrape_as(&http, &url, options).await });
    }
    let mut ids = std::collections::BTreeSet::new();
    while let Some(reply) = waiting.join_next().await {
        let reply = reply.unwrap();
        let page = &reply.is_success()["data"];
        ids.insert(page["metadata"]["scrapeId"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 24, "each is a scrape of its own");
    // Those that take no stored page cannot ride with those that may.
    assert!(house.site.hits("/slow") <= 2, "{} fetches", house.site.hits("/slow"));
    assert_eq!(house.credits_used().await, 24);
}

#[tokio::test]
async fn whoever_leaves_does_not_end_the_fetch_of_others() {
    let house = House::open().await;
    let url = house.site.url("/slow?ms=1500");
    let (http, address) = (house.http().clone(), url.clone());
    let impatient = tokio::spawn(async move {
        tokio::time::timeout(Duration::from_millis(300), scrape_as(&http, &address, json!({}))).await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let reply = scrape_as(house.http(), &url, json!({})).await;
    has(&reply.is_success()["data"]["markdown"], &["firstword"]);
    assert!(impatient.await.unwrap().is_err(), "it hung up");
    assert_eq!(house.site.hits("/slow"), 1);
}

#[tokio::test]
async fn a_stored_page_is_judged_like_a_fresh_one() {
    let house = House::open().await;
    house.document("/pdf", json!({ "parsers": [] })).await;
    failed(&house.scrape("/pdf", json!({})).await, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    house.document("/captcha", json!({ "formats": ["rawBase64"] })).await;
    let reply = house.scrape("/captcha", json!({ "fastMode": true })).await;
    failed(&reply, 500, "SCRAPE_ALL_ENGINES_FAILED");
}
