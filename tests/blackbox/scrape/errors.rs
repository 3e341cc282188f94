//! Every way a fetch can fail, with its exact status and code, within its deadline.

use super::{ScrapeFixture, assert_contains, assert_failure, scrape_as};
use crate::site::DRIPPED;
use crate::wait::eventually;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::FreePort;

#[tokio::test]
async fn fetch_failures_have_their_codes() {
    let fixture = ScrapeFixture::open().await;
    let own = format!("{}/v2/openapi.json", fixture.http().base);
    let closed = format!("http://127.0.0.1:{}/", FreePort::find().0);
    let looped = fixture.site.url("/loop");
    let inward = fixture.site.url("/to?http://10.1.2.3/");
    for (url, status, code) in [
        ("http://no-such-host.invalid/", 200, "SCRAPE_DNS_RESOLUTION_ERROR"),
        ("http://10.1.2.3/", 403, "unsafe_domain_blocked"),
        ("http://169.254.169.254/latest/meta-data/", 403, "unsafe_domain_blocked"),
        (inward.as_str(), 403, "unsafe_domain_blocked"),
        (own.as_str(), 403, "unsafe_domain_blocked"),
        (closed.as_str(), 500, "SCRAPE_SITE_ERROR"),
        (looped.as_str(), 500, "SCRAPE_SITE_ERROR"),
    ] {
        let response = scrape_as(fixture.http(), url, json!({ "timeout": 20_000 })).await;
        assert_failure(&response, status, code);
    }
    assert_eq!(fixture.credits_used().await, 0, "what failed costs nothing");
}

#[tokio::test]
async fn unsupported_files_are_refused() {
    let fixture = ScrapeFixture::open().await;
    for path in ["/archive", "/favicon.png"] {
        for options in [json!({}), json!({ "parsers": ["pdf"] })] {
            let response = fixture.scrape(path, options).await;
            assert_failure(&response, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
            assert_contains(&response.json["error"], &["parsers"]);
        }
    }
}

#[tokio::test]
async fn a_site_that_never_responds_is_a_timeout() {
    let fixture = ScrapeFixture::open().await;
    let began = Instant::now();
    let response = fixture.scrape("/hang", json!({ "timeout": 1000 })).await;
    let details = assert_failure(&response, 408, "SCRAPE_TIMEOUT");
    assert!(details.get("state").is_none(), "no work continues: {details}");
    assert!(response.header("retry-after").is_empty());
    let took = began.elapsed();
    // The site would hang for as long as the default timeout, half a minute.
    assert!(took >= Duration::from_millis(950) && took < Duration::from_secs(15), "{took:?}");
    // The next request is served as usual.
    fixture.scrape_document("/article", json!({})).await;
}

#[tokio::test]
async fn a_retry_joins_the_fetch_that_timed_out() {
    let fixture = ScrapeFixture::open().await;
    let body = json!({ "timeout": 1000, "maxAge": 0 });
    let response = fixture.scrape("/dripping?ms=1800", body.clone()).await;
    let details = assert_failure(&response, 408, "SCRAPE_TIMEOUT");
    assert_eq!(details["state"], "processing_continues");
    assert_eq!(details["retryAfterSeconds"], 5);
    assert_eq!(response.header("retry-after"), "5");
    // It attaches to the running fetch at once and waits for its end.
    let page = fixture.scrape_document("/dripping?ms=1800", body.clone()).await;
    assert_contains(&page["markdown"], &["firstword", "lastword"]);
    assert_eq!(fixture.site.hits("/dripping"), 1, "the page was requested once");
    assert_eq!(fixture.credits_used().await, 1);
    // The page has been handed out; a third request starts a new fetch.
    assert_failure(&fixture.scrape("/dripping?ms=1800", body).await, 408, "SCRAPE_TIMEOUT");
    assert_eq!(fixture.site.hits("/dripping"), 2);
}

#[tokio::test]
async fn a_page_that_arrives_after_the_timeout_is_kept_for_the_retry() {
    let fixture = ScrapeFixture::open().await;
    let body = json!({ "timeout": 1000, "maxAge": 0 });
    assert_failure(&fixture.scrape("/dripping?ms=1300", body.clone()).await, 408, "SCRAPE_TIMEOUT");
    eventually("the page has been sent", async || fixture.site.hits(DRIPPED) == 1).await;
    let page = fixture.scrape_document("/dripping?ms=1300", body).await;
    assert_contains(&page["markdown"], &["lastword"]);
    assert_eq!(fixture.site.hits("/dripping"), 1, "it was there already; another fetch would time out too");
}

#[tokio::test]
async fn an_unreachable_proxy_is_named() {
    let closed = format!("http://127.0.0.1:{}", FreePort::find().0);
    let fixture = ScrapeFixture::with(|config| config.set("proxies", &closed)).await;
    let response = fixture.scrape("/article", json!({})).await;
    assert_failure(&response, 500, "SCRAPE_PROXY_SELECTION_ERROR");
    assert_eq!(fixture.site.hits("/article"), 0, "nothing goes past the proxy");
}
