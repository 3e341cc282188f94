//! What needs a browser: screenshots, actions, styles, profiles.

mod actions;
mod device;
mod pictures;
mod profiles;

use crate::scrape::{ScrapeFixture, assert_contains, assert_failure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Width and height of a PNG.
pub fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG: {:?}", &bytes[..bytes.len().min(16)]);
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test]
async fn without_a_browser_requests_that_need_one_are_refused() {
    let fixture = ScrapeFixture::without_browser().await;
    fixture.scrape_document("/article", json!({})).await;
    let response = fixture.scrape("/article", json!({ "actions": [{ "type": "scrape" }] })).await;
    assert_failure(&response, 400, "SCRAPE_ACTIONS_NOT_SUPPORTED");
    let response = fixture.scrape("/article", json!({ "formats": ["branding"] })).await;
    assert_failure(&response, 400, "SCRAPE_BRANDING_NOT_SUPPORTED");
    for (path, options) in [
        ("/app", json!({})),
        ("/article", json!({ "waitFor": 10 })),
        ("/article", json!({ "formats": ["screenshot"] })),
    ] {
        let response = fixture.scrape(path, options).await;
        assert_failure(&response, 500, "SCRAPE_ALL_ENGINES_FAILED");
    }
    let response = fixture.scrape("/app", json!({})).await;
    assert!(response.text.contains("shell"), "the error names what is missing: {}", response.text);
}

#[tokio::test]
async fn the_browser_reports_the_real_status_and_redirects() {
    let fixture = ScrapeFixture::open().await;
    let wait = json!({ "waitFor": 10 });
    let page = fixture.scrape_document("/missing", wait.clone()).await;
    assert_eq!(
        (&page["metadata"]["statusCode"], &page["metadata"]["engine"]),
        (&json!(404), &json!("browser"))
    );
    assert_eq!(page["metadata"]["ladder"][0]["reason"], "waitFor");
    assert_contains(&page["markdown"], &["missingword"]);
    let page = fixture.scrape_document("/moved", wait.clone()).await;
    assert_eq!(page["metadata"]["url"], fixture.site.url("/article"));
    assert_contains(&page["markdown"], &["firstword"]);
    let stored = fixture.scrape_document("/moved", wait.clone()).await;
    assert_eq!(stored["metadata"]["cacheState"], "hit");
    assert_eq!(stored["metadata"]["engine"], "browser");
    let inward = fixture.scrape("/to?http://10.1.2.3/", wait.clone()).await;
    assert_failure(&inward, 403, "unsafe_domain_blocked");
    let forbidden = json!({ "waitFor": 10, "threatProtection": { "blacklist": ["localhost"] } });
    let away = fixture.scrape(&format!("/to?{}", fixture.site.url_by_name("/article")), forbidden).await;
    assert_failure(&away, 403, "unsafe_domain_blocked");
    let archive = fixture.scrape("/archive", wait).await;
    assert_failure(&archive, 500, "SCRAPE_UNSUPPORTED_FILE_ERROR");
}

#[tokio::test]
async fn a_page_that_never_stops_loading_ends_within_its_deadline() {
    let fixture = ScrapeFixture::own().await;
    let body =
        json!({ "timeout": 3000, "actions": [{ "type": "executeJavascript", "script": "while (true) {}" }] });
    let began = Instant::now();
    let response = fixture.scrape("/form", body).await;
    assert!(began.elapsed() < Duration::from_secs(15), "after {:?}", began.elapsed());
    assert!([408, 500].contains(&response.status), "{}", response.text);
    assert_failure(
        &response,
        response.status,
        if response.status == 408 { "SCRAPE_TIMEOUT" } else { "SCRAPE_ACTION_ERROR" },
    );
    let page = fixture.scrape_document("/app", json!({})).await;
    assert_contains(&page["markdown"], &["renderedword"]);
}

#[tokio::test]
async fn branding_is_read_from_the_rendered_page() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/brand", json!({ "formats": ["branding"] })).await;
    let brand = &page["branding"];
    assert_eq!((&brand["brandName"], &brand["colorScheme"]), (&json!("Lighthouse"), &json!("light")));
    let colour = |name: &str| brand["colors"][name].as_str().unwrap_or_default().to_uppercase();
    assert_eq!(colour("background"), "#FFFAF0", "{brand}");
    assert_eq!(colour("textPrimary"), "#112233", "{brand}");
    assert_eq!(colour("link"), "#C2410C", "{brand}");
    let families: Vec<&str> =
        brand["fonts"].as_array().unwrap().iter().filter_map(|font| font["family"].as_str()).collect();
    assert!(families.contains(&"Georgia") && families.contains(&"Arial"), "{brand}");
    assert_eq!(brand["images"]["logo"], fixture.site.url("/images/logo.png"));
    assert_eq!(brand["images"]["favicon"], fixture.site.url("/favicon.png"));
    let button = &brand["components"]["buttonPrimary"];
    assert_eq!(
        button["background"]
            .as_str()
            .or(button["backgroundColor"].as_str())
            .map(str::to_uppercase)
            .as_deref(),
        Some("#C2410C"),
        "{brand}"
    );
    assert_no_nulls(&brand["colors"]);
}

fn assert_no_nulls(value: &Value) {
    for (name, value) in value.as_object().expect("an object") {
        assert!(value.is_string(), "{name} is {value}; clients refuse anything but strings");
    }
}
