//! Every way a scrape can fail on the way out, with its exact status and code, inside its deadline.

use super::{House, failed, has, scrape_as};
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::FreePort;

#[tokio::test]
async fn failures_on_the_way_have_their_codes() {
    let house = House::open().await;
    let own = format!("{}/v2/openapi.json", house.http().base);
    let closed = format!("http://127.0.0.1:{}/", FreePort::find().0);
    let looped = house.site.url("/loop");
    let inward = house.site.url("/to?http://10.1.2.3/");
    for (url, status, code) in [
        ("http://no-such-host.invalid/", 200, "SCRAPE_DNS_RESOLUTION_ERROR"),
        ("http://10.1.2.3/", 403, "unsafe_domain_blocked"),
        ("http://169.254.169.254/latest/meta-data/", 403, "unsafe_domain_blocked"),
        (inward.as_str(), 403, "unsafe_domain_blocked"),
        (own.as_str(), 403, "unsafe_domain_blocked"),
        (closed.as_str(), 500, "SCRAPE_SITE_ERROR"),
        (looped.as_str(), 500, "SCRAPE_SITE_ERROR"),
    ] {
        let reply = scrape_as(house.http(), url, json!({ "timeout": 20_000 })).await;
        failed(&reply, status, code);
    }
    assert_eq!(house.credits_used().await, 0, "what failed costs nothing");
}

#[tokio::test]
async fn files_that_nothing_reads_are_refused() {
    let house = House::open().await;
    for path in ["/pdf", "/favicon.png"] {
        for options in [json!({}), json!({ "parsers": ["pdf"] })] {
            let reply = house.scrape(path, options).await;
            failed(&reply, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
            has(&reply.json["error"], &["parsers"]);
        }
    }
}

#[tokio::test]
async fn a_site_that_says_nothing_is_a_plain_timeout() {
    let house = House::open().await;
    let began = Instant::now();
    let reply = house.scrape("/hang", json!({ "timeout": 1000 })).await;
    let details = failed(&reply, 408, "SCRAPE_TIMEOUT");
    assert!(details.get("state").is_none(), "nothing goes on: {details}");
    assert!(reply.header("retry-after").is_empty());
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(950) && took < Duration::from_secs(3), "{took:?}");
    // The next one is served as if nothing had happened.
    house.document("/article", json!({})).await;
}

#[tokio::test]
async fn a_page_that_was_arriving_is_found_by_whoever_asks_again() {
    let house = House::open().await;
    let body = json!({ "timeout": 1000, "maxAge": 0 });
    let reply = house.scrape("/dripping?ms=1800", body.clone()).await;
    let details = failed(&reply, 408, "SCRAPE_TIMEOUT");
    assert_eq!(details["state"], "processing_continues");
    assert_eq!(details["retryAfterSeconds"], 5);
    assert_eq!(reply.header("retry-after"), "5");
    // At once: it attaches to the running work and waits for its end.
    let page = house.document("/dripping?ms=1800", body.clone()).await;
    has(&page["markdown"], &["firstword", "lastword"]);
    assert_eq!(house.site.hits("/dripping"), 1, "the page was asked for once");
    assert_eq!(house.credits_used().await, 1);
    // What was promised has been taken; a third request is a new one.
    failed(&house.scrape("/dripping?ms=1800", body).await, 408, "SCRAPE_TIMEOUT");
    assert_eq!(house.site.hits("/dripping"), 2);
}

#[tokio::test]
async fn a_page_that_arrived_meanwhile_is_kept_for_whoever_was_told_to_come_back() {
    let house = House::open().await;
    let body = json!({ "timeout": 1000, "maxAge": 0 });
    failed(&house.scrape("/dripping?ms=1300", body.clone()).await, 408, "SCRAPE_TIMEOUT");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let began = Instant::now();
    let page = house.document("/dripping?ms=1300", body).await;
    has(&page["markdown"], &["lastword"]);
    assert!(began.elapsed() < Duration::from_secs(1), "it was there already");
    assert_eq!(house.site.hits("/dripping"), 1);
}

#[tokio::test]
async fn a_proxy_that_is_away_is_named() {
    let closed = format!("http://127.0.0.1:{}", FreePort::find().0);
    let house = House::with(|recipe| recipe.set("proxies", &closed)).await;
    let reply = house.scrape("/article", json!({})).await;
    failed(&reply, 500, "SCRAPE_PROXY_SELECTION_ERROR");
    assert_eq!(house.site.hits("/article"), 0, "nothing goes past the proxy");
}
