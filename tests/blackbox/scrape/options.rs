//! Options that change what is asked for and what is kept of it.

use super::{House, failed, has, lacks, scrape_as};
use crate::site::Site;
use serde_json::json;

#[tokio::test]
async fn parts_of_the_page_can_be_chosen() {
    let house = House::open().await;
    let whole = house.document("/article", json!({ "onlyMainContent": false })).await;
    has(&whole["markdown"], &["navigationword", "firstword", "sidebarword", "footerword"]);
    let facts = house.document("/article", json!({ "includeTags": [".facts", "h1"] })).await;
    has(&facts["markdown"], &["# How gannets dive", "Depth: 3 to 22 metres"]);
    lacks(&facts["markdown"], &["firstword", "Cellword"]);
    let without = house.document("/article", json!({ "excludeTags": ["table", "#story > ul"] })).await;
    has(&without["markdown"], &["firstword", "codeword"]);
    lacks(&without["markdown"], &["Cellword", "Depth: 3"]);
    let pictures = house.document("/article", json!({ "removeBase64Images": false })).await;
    has(&pictures["markdown"], &["data:image/png;base64,"]);
}

#[tokio::test]
async fn headers_reach_their_own_origin_only() {
    let house = House::open().await;
    let headers = json!({ "X-Berth": "seven", "Authorization": "Bearer page-secret" });
    let page = house.document("/echo", json!({ "headers": headers })).await;
    has(&page["markdown"], &["x-berth: seven", "authorization: Bearer page-secret"]);
    let away = format!("/to?{}", house.site.url_by_name("/echo"));
    let page = house.document(&away, json!({ "headers": headers })).await;
    assert_eq!(page["metadata"]["url"], house.site.url_by_name("/echo"));
    lacks(&page["markdown"], &["page-secret"]);
    assert_eq!(house.site.requests("/to")[0].header("authorization"), "Bearer page-secret");
    // Nothing that was fetched with headers of one's own is stored.
    house.document("/echo", json!({ "headers": headers })).await;
    let page = house.document("/echo", json!({})).await;
    assert_eq!(page["metadata"]["cacheState"], "miss");
    lacks(&page["markdown"], &["page-secret"]);
}

#[tokio::test]
async fn the_request_looks_like_that_of_a_browser() {
    let house = House::open().await;
    house.document("/echo", json!({})).await;
    let german = json!({ "location": { "country": "DE", "languages": ["de", "en"] }, "maxAge": 0 });
    house.document("/echo", german).await;
    house.document("/echo", json!({ "mobile": true, "maxAge": 0 })).await;
    house.document("/echo", json!({ "location": { "country": "FR" }, "maxAge": 0 })).await;
    let seen = house.site.requests("/echo");
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
async fn certificates_are_checked_when_asked_for() {
    let house = House::open().await;
    let site = Site::start_tls();
    let url = site.url("/article");
    let reply = scrape_as(house.http(), &url, json!({})).await;
    has(&reply.is_success()["data"]["markdown"], &["firstword"]);
    for strict in [
        json!({ "skipTlsVerification": false, "maxAge": 0 }),
        // Secrets of the caller go to nobody who cannot prove a name.
        json!({ "headers": { "X-Own": "1" } }),
    ] {
        let reply = scrape_as(house.http(), &url, strict).await;
        failed(&reply, 500, "SCRAPE_SSL_ERROR");
    }
    let both = json!({ "headers": { "X-Own": "1" }, "skipTlsVerification": true });
    scrape_as(house.http(), &url, both).await.is_success();
}

#[tokio::test]
async fn redirects_are_followed_and_told() {
    let house = House::open().await;
    let page = house.document("/moved", json!({})).await;
    assert_eq!(page["metadata"]["url"], house.site.url("/article"));
    assert_eq!(page["metadata"]["sourceURL"], house.site.url("/moved"));
    assert_eq!(page["metadata"]["statusCode"], 200);
    // The address is told back exactly as it was written, also without a scheme.
    let written = house.site.base.replace("http://", "") + "/article";
    let reply = scrape_as(house.http(), &written, json!({})).await;
    assert_eq!(reply.is_success()["data"]["metadata"]["sourceURL"], written);
}

#[tokio::test]
async fn fields_without_effect_change_nothing() {
    let house = House::open().await;
    let plain = house.document("/article", json!({})).await;
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
        let page = house.document("/article", options.clone()).await;
        assert_eq!(page["markdown"], plain["markdown"], "{options}");
    }
}

#[tokio::test]
async fn hosts_can_be_forbidden_also_behind_redirects() {
    let house = House::open().await;
    let rules = |more: serde_json::Value| json!({ "threatProtection": more, "maxAge": 0 });
    let reply = house.scrape("/article", rules(json!({ "blacklist": ["127.0.0.1"] }))).await;
    failed(&reply, 403, "unsafe_domain_blocked");
    assert_eq!(house.site.hits("/article"), 0, "nothing was asked for");
    let away = format!("/to?{}", house.site.url_by_name("/article"));
    let reply = house.scrape(&away, rules(json!({ "blacklist": ["local*"] }))).await;
    failed(&reply, 403, "unsafe_domain_blocked");
    assert_eq!((house.site.hits("/to"), house.site.hits("/article")), (1, 0));
    let reply = house.scrape(&away, rules(json!({ "blockedTlds": ["localhost"] }))).await;
    failed(&reply, 403, "unsafe_domain_blocked");
    let lists = json!({ "blacklist": ["local*"], "whitelist": ["localhost"] });
    house.document(&away, rules(lists)).await;
    let off = json!({ "mode": "off", "blacklist": ["127.0.0.1"] });
    house.document("/article", rules(off)).await;
}
