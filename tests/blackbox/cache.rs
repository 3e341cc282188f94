//! The page cache: when a stored page is used, when the site is asked again, and which requests share a
//! fetch.

use crate::scrape::{ScrapeFixture, assert_contains, assert_failure, scrape_as};
use serde_json::{Value, json};
use std::time::Duration;

fn state(page: &Value) -> &str {
    page["metadata"]["cacheState"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_stored_page_serves_every_format() {
    let fixture = ScrapeFixture::open().await;
    let first = fixture.scrape_document("/article", json!({})).await;
    let second = fixture.scrape_document("/article#part", json!({ "formats": ["links", "rawHtml"] })).await;
    assert_eq!((state(&first), state(&second), fixture.site.hits("/article")), ("miss", "hit", 1));
    assert!(second["links"].is_array());
    let metadata = &second["metadata"];
    assert_eq!(metadata["cache"]["source"], "stored");
    assert_eq!(metadata["cache"]["cachedAt"], metadata["cachedAt"]);
    assert!(metadata["cachedAt"].as_str().unwrap().starts_with("20"), "{metadata}");
    assert_eq!(metadata["ladder"][0]["rung"], "cache");
    assert_eq!(metadata["engine"], "http", "how the page was fetched at first");
    assert_ne!(first["metadata"]["scrapeId"], metadata["scrapeId"]);
    let whole = fixture.scrape_document("/article", json!({ "onlyMainContent": false })).await;
    assert_contains(&whole["markdown"], &["navigationword"]);
    assert_eq!(fixture.site.hits("/article"), 1);
}

#[tokio::test]
async fn a_page_older_than_max_age_is_fetched_again() {
    let fixture = ScrapeFixture::open().await;
    fixture.site.change(200, "edition one");
    fixture.scrape_document("/changing", json!({})).await;
    fixture.site.change(200, "edition two");
    let stored = fixture.scrape_document("/changing", json!({})).await;
    assert_contains(&stored["markdown"], &["edition one"]);
    let fresh = fixture.scrape_document("/changing", json!({ "maxAge": 0 })).await;
    assert_contains(&fresh["markdown"], &["edition two"]);
    assert_eq!(state(&fresh), "miss");
    let replaced = fixture.scrape_document("/changing", json!({})).await;
    assert_contains(&replaced["markdown"], &["edition two"]);
    assert_eq!(state(&replaced), "hit");
    tokio::time::sleep(Duration::from_millis(30)).await;
    let old = fixture.scrape_document("/changing", json!({ "maxAge": 10 })).await;
    assert_eq!((state(&old), fixture.site.hits("/changing")), ("miss", 3));
}

#[tokio::test]
async fn a_stale_page_is_revalidated_with_its_etag() {
    let fixture = ScrapeFixture::open().await;
    let first = fixture.scrape_document("/etag", json!({})).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    let again = fixture.scrape_document("/etag", json!({ "maxAge": 10 })).await;
    assert_eq!(again["markdown"], first["markdown"]);
    assert_eq!((state(&again), &again["metadata"]["cache"]["source"]), ("hit", &json!("revalidated")));
    let requests = fixture.site.requests("/etag");
    assert_eq!((requests.len(), requests[1].header("if-none-match")), (2, "\"edition-7\""));
    // A revalidated page counts as fetched now.
    let young = fixture.scrape_document("/etag", json!({ "maxAge": 10_000 })).await;
    assert_eq!((state(&young), fixture.site.hits("/etag")), ("hit", 2));
    let anew = fixture.scrape_document("/etag", json!({ "maxAge": 0 })).await;
    assert_eq!((state(&anew), fixture.site.requests("/etag")[2].header("if-none-match")), ("miss", ""));
}

#[tokio::test]
async fn min_age_and_lockdown_use_stored_pages_only() {
    let fixture = ScrapeFixture::open().await;
    assert_failure(&fixture.scrape("/article", json!({ "minAge": 0 })).await, 404, "SCRAPE_NO_CACHED_DATA");
    assert_failure(
        &fixture.scrape("/article", json!({ "lockdown": true })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
    assert_eq!(fixture.site.hits("/article"), 0, "nothing leaves the machine");
    fixture.scrape_document("/article", json!({})).await;
    assert_failure(
        &fixture.scrape("/article", json!({ "minAge": 3_600_000 })).await,
        404,
        "SCRAPE_NO_CACHED_DATA",
    );
    assert_eq!(state(&fixture.scrape_document("/article", json!({ "minAge": 0 })).await), "hit");
    assert_eq!(state(&fixture.scrape_document("/article", json!({ "lockdown": true })).await), "hit");
    assert_failure(
        &fixture.scrape("/article", json!({ "lockdown": true, "maxAge": 0 })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
    assert_eq!(fixture.site.hits("/article"), 1);
    assert_eq!(fixture.credits_used().await, 3, "a miss costs nothing");
}

#[tokio::test]
async fn pages_that_must_not_be_stored_are_not() {
    let fixture = ScrapeFixture::open().await;
    for options in [
        json!({ "storeInCache": false }),
        json!({ "headers": { "X-Own": "1" } }),
        json!({ "zeroDataRetention": true }),
    ] {
        fixture.scrape_document("/article", options).await;
    }
    fixture.scrape_document("/missing", json!({})).await;
    for path in ["/article", "/missing"] {
        assert_failure(
            &fixture.scrape(path, json!({ "lockdown": true })).await,
            404,
            "SCRAPE_LOCKDOWN_CACHE_MISS",
        );
    }
    fixture.scrape_document("/article", json!({})).await;
    // Stored pages are not shared between teams.
    let other_team = fixture.other_team().await;
    let response = scrape_as(&other_team, &fixture.site.url("/article"), json!({ "lockdown": true })).await;
    assert_failure(&response, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
}

#[tokio::test]
async fn options_that_change_the_page_are_stored_separately() {
    let fixture = ScrapeFixture::open().await;
    fixture.scrape_document("/echo", json!({})).await;
    for options in [
        json!({ "mobile": true }),
        json!({ "location": { "country": "DE" } }),
        json!({ "location": { "languages": ["pt"] } }),
        json!({ "blockAds": false }),
    ] {
        assert_eq!(state(&fixture.scrape_document("/echo", options.clone()).await), "miss", "{options}");
        assert_eq!(state(&fixture.scrape_document("/echo", options.clone()).await), "hit", "{options}");
    }
    assert_eq!(state(&fixture.scrape_document("/echo?other", json!({})).await), "miss");
}

#[tokio::test]
async fn requests_for_one_page_share_one_fetch() {
    let fixture = ScrapeFixture::open().await;
    let url = fixture.site.url("/slow?ms=700");
    let formats = [json!(["markdown"]), json!(["links"]), json!(["markdown", "html"])];
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..24 {
        let (http, url) = (fixture.http().clone(), url.clone());
        let options = json!({ "formats": formats[number % 3], "maxAge": if number % 2 == 0 { 0 } else { 172_800_000 } });
        waiting.spawn(async move { scrape_as(&http, &url, options).await });
    }
    let mut ids = std::collections::BTreeSet::new();
    while let Some(response) = waiting.join_next().await {
        let response = response.unwrap();
        let page = &response.expect_success()["data"];
        ids.insert(page["metadata"]["scrapeId"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 24, "each is a scrape of its own");
    // Requests that do not accept a stored page cannot share a fetch with those that do, and those that need HTML not
    // with those that prefer the site's markdown.
    assert!(fixture.site.hits("/slow") <= 4, "{} fetches", fixture.site.hits("/slow"));
    assert_eq!(fixture.credits_used().await, 24);
}

#[tokio::test]
async fn a_caller_who_disconnects_does_not_end_the_fetch_of_others() {
    let fixture = ScrapeFixture::open().await;
    let url = fixture.site.url("/slow?ms=1500");
    let (http, address) = (fixture.http().clone(), url.clone());
    let impatient = tokio::spawn(async move {
        tokio::time::timeout(Duration::from_millis(300), scrape_as(&http, &address, json!({}))).await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let response = scrape_as(fixture.http(), &url, json!({})).await;
    assert_contains(&response.expect_success()["data"]["markdown"], &["firstword"]);
    assert!(impatient.await.unwrap().is_err(), "it hung up");
    assert_eq!(fixture.site.hits("/slow"), 1);
}

#[tokio::test]
async fn a_stored_page_is_checked_like_a_fresh_one() {
    let fixture = ScrapeFixture::open().await;
    fixture.scrape_document("/archive", json!({ "parsers": [] })).await;
    assert_failure(&fixture.scrape("/archive", json!({})).await, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
    fixture.scrape_document("/captcha", json!({ "formats": ["rawBase64"] })).await;
    let response = fixture.scrape("/captcha", json!({ "fastMode": true })).await;
    assert_failure(&response, 500, "SCRAPE_ALL_ENGINES_FAILED");
}
