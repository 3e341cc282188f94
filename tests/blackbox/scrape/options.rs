//! Options that change what is requested and what is kept of it.

use super::{ScrapeFixture, assert_contains, assert_failure, assert_lacks, scrape_as};
use crate::site::Site;
use serde_json::json;

#[tokio::test]
async fn parts_of_the_page_can_be_selected() {
    let fixture = ScrapeFixture::open().await;
    let whole = fixture.scrape_document("/article", json!({ "onlyMainContent": false })).await;
    assert_contains(&whole["markdown"], &["navigationword", "firstword", "sidebarword", "footerword"]);
    let facts = fixture.scrape_document("/article", json!({ "includeTags": [".facts", "h1"] })).await;
    assert_contains(&facts["markdown"], &["# How gannets dive", "Depth: 3 to 22 metres"]);
    assert_lacks(&facts["markdown"], &["firstword", "Cellword"]);
    let without =
        fixture.scrape_document("/article", json!({ "excludeTags": ["table", "#story > ul"] })).await;
    assert_contains(&without["markdown"], &["firstword", "codeword"]);
    assert_lacks(&without["markdown"], &["Cellword", "Depth: 3"]);
    let pictures = fixture.scrape_document("/article", json!({ "removeBase64Images": false })).await;
    assert_contains(&pictures["markdown"], &["data:image/png;base64,"]);
}

#[tokio::test]
async fn headers_reach_their_own_origin_only() {
    let fixture = ScrapeFixture::open().await;
    let headers = json!({ "X-Berth": "seven", "Authorization": "Bearer page-secret" });
    let page = fixture.scrape_document("/echo", json!({ "headers": headers })).await;
    assert_contains(&page["markdown"], &["x-berth: seven", "authorization: Bearer page-secret"]);
    let away = format!("/to?{}", fixture.site.url_by_name("/echo"));
    let page = fixture.scrape_document(&away, json!({ "headers": headers })).await;
    assert_eq!(page["metadata"]["url"], fixture.site.url_by_name("/echo"));
    assert_lacks(&page["markdown"], &["page-secret"]);
    assert_eq!(fixture.site.requests("/to")[0].header("authorization"), "Bearer page-secret");
    // Pages fetched with the caller's own headers are not stored.
    fixture.scrape_document("/echo", json!({ "headers": headers })).await;
    let page = fixture.scrape_document("/echo", json!({})).await;
    assert_eq!(page["metadata"]["cacheState"], "miss");
    assert_lacks(&page["markdown"], &["page-secret"]);
}

#[tokio::test]
async fn the_request_looks_like_that_of_a_browser() {
    let fixture = ScrapeFixture::open().await;
    fixture.scrape_document("/echo", json!({})).await;
    let german = json!({ "location": { "country": "DE", "languages": ["de", "en"] }, "maxAge": 0 });
    fixture.scrape_document("/echo", german).await;
    fixture.scrape_document("/echo", json!({ "mobile": true, "maxAge": 0 })).await;
    fixture.scrape_document("/echo", json!({ "location": { "country": "FR" }, "maxAge": 0 })).await;
    let seen = fixture.site.requests("/echo");
    for request in &seen {
        assert!(request.header("user-agent").starts_with("Mozilla/5.0"), "{}", request.header("user-agent"));
        assert!(request.header("accept").contains("text/html"));
    }
    assert!(seen[0].header("accept-language").starts_with("en"), "{}", seen[0].header("accept-language"));
    assert!(!seen[0].header("user-agent").contains("Mobile"));
    assert!(seen[1].header("accept-language").starts_with("de"), "{}", seen[1].header("accept-language"));
    assert!(seen[1].header("accept-language").contains("en"));
    assert!(seen[2].header("user-agent").contains("Mobile"), "{}", seen[2].header("user-agent"));
    assert!(seen[3].header("accept-language").starts_with("fr"), "{}", seen[3].header("accept-language"));
}

#[tokio::test]
async fn certificates_are_checked_on_request() {
    let fixture = ScrapeFixture::open().await;
    let site = Site::start_tls();
    let url = site.url("/article");
    let response = scrape_as(fixture.http(), &url, json!({})).await;
    assert_contains(&response.expect_success()["data"]["markdown"], &["firstword"]);
    for strict in [
        json!({ "skipTlsVerification": false, "maxAge": 0 }),
        // Credentials of the caller are not sent to a server without a valid certificate.
        json!({ "headers": { "X-Own": "1" } }),
    ] {
        let response = scrape_as(fixture.http(), &url, strict).await;
        assert_failure(&response, 500, "SCRAPE_SSL_ERROR");
    }
    let both = json!({ "headers": { "X-Own": "1" }, "skipTlsVerification": true });
    scrape_as(fixture.http(), &url, both).await.expect_success();
}

#[tokio::test]
async fn redirects_are_followed_and_reported() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/moved", json!({})).await;
    assert_eq!(page["metadata"]["url"], fixture.site.url("/article"));
    assert_eq!(page["metadata"]["sourceURL"], fixture.site.url("/moved"));
    assert_eq!(page["metadata"]["statusCode"], 200);
    // The source URL is returned exactly as it was written, also without a scheme.
    let written = fixture.site.base.replace("http://", "") + "/article";
    let response = scrape_as(fixture.http(), &written, json!({})).await;
    assert_eq!(response.expect_success()["data"]["metadata"]["sourceURL"], written);
}

#[tokio::test]
async fn fields_without_effect_change_nothing() {
    let fixture = ScrapeFixture::open().await;
    let plain = fixture.scrape_document("/article", json!({})).await;
    for options in [
        json!({ "proxy": "basic" }),
        json!({ "proxy": "stealth" }),
        json!({ "proxy": "enhanced" }),
        json!({ "proxy": "auto" }),
        json!({ "domainTools": true, "toolDetail": "full" }),
        json!({ "origin": "js-sdk@4.42.0", "integration": "x" }),
        json!({ "threatProtection": { "riskScoreThreshold": 75, "failurePolicy": "open" } }),
        json!({ "onlyCleanContent": false, "lockdown": false, "actions": [], "headers": {} }),
        json!({ "parsers": ["pdf", { "type": "pdf", "mode": "fast", "maxPages": 3 }, "image"] }),
        json!({ "fastMode": true }),
    ] {
        let page = fixture.scrape_document("/article", options.clone()).await;
        assert_eq!(page["markdown"], plain["markdown"], "{options}");
    }
}

#[tokio::test]
async fn hosts_can_be_blocked_also_behind_redirects() {
    let fixture = ScrapeFixture::open().await;
    let rules = |more: serde_json::Value| json!({ "threatProtection": more, "maxAge": 0 });
    let response = fixture.scrape("/article", rules(json!({ "blacklist": ["127.0.0.1"] }))).await;
    assert_failure(&response, 403, "unsafe_domain_blocked");
    assert_eq!(fixture.site.hits("/article"), 0, "nothing was requested");
    let away = format!("/to?{}", fixture.site.url_by_name("/article"));
    let response = fixture.scrape(&away, rules(json!({ "blacklist": ["local*"] }))).await;
    assert_failure(&response, 403, "unsafe_domain_blocked");
    assert_eq!((fixture.site.hits("/to"), fixture.site.hits("/article")), (1, 0));
    let response = fixture.scrape(&away, rules(json!({ "blockedTlds": ["localhost"] }))).await;
    assert_failure(&response, 403, "unsafe_domain_blocked");
    let lists = json!({ "blacklist": ["local*"], "whitelist": ["localhost"] });
    fixture.scrape_document(&away, rules(lists)).await;
    let off = json!({ "mode": "off", "blacklist": ["127.0.0.1"] });
    fixture.scrape_document("/article", rules(off)).await;
}
