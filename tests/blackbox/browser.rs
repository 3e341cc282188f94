//! What only a browser can do: pictures, actions, styles, a state that is kept.

mod actions;
mod device;
mod pictures;
mod profiles;

use crate::scrape::{House, failed, has};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Width and height of a PNG.
pub fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG: {:?}", &bytes[..bytes.len().min(16)]);
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[tokio::test]
async fn without_a_browser_what_needs_one_says_so() {
    let house = House::with(|recipe| recipe.set("browser", "off")).await;
    house.document("/article", json!({})).await;
    let reply = house.scrape("/article", json!({ "actions": [{ "type": "scrape" }] })).await;
    failed(&reply, 400, "SCRAPE_ACTIONS_NOT_SUPPORTED");
    let reply = house.scrape("/article", json!({ "formats": ["branding"] })).await;
    failed(&reply, 400, "SCRAPE_BRANDING_NOT_SUPPORTED");
    for (path, options) in [
        ("/app", json!({})),
        ("/article", json!({ "waitFor": 10 })),
        ("/article", json!({ "formats": ["screenshot"] })),
    ] {
        let reply = house.scrape(path, options).await;
        failed(&reply, 500, "SCRAPE_ALL_ENGINES_FAILED");
    }
    let reply = house.scrape("/app", json!({})).await;
    assert!(reply.text.contains("shell"), "what stood in the way is told: {}", reply.text);
}

#[tokio::test]
async fn the_browser_tells_the_truth_about_answers() {
    let house = House::open().await;
    let wait = json!({ "waitFor": 10 });
    let page = house.document("/missing", wait.clone()).await;
    assert_eq!(
        (&page["metadata"]["statusCode"], &page["metadata"]["engine"]),
        (&json!(404), &json!("browser"))
    );
    assert_eq!(page["metadata"]["ladder"][0]["reason"], "waitFor");
    has(&page["markdown"], &["missingword"]);
    let page = house.document("/moved", wait.clone()).await;
    assert_eq!(page["metadata"]["url"], house.site.url("/article"));
    has(&page["markdown"], &["firstword"]);
    let stored = house.document("/moved", wait.clone()).await;
    assert_eq!(stored["metadata"]["cacheState"], "hit");
    assert_eq!(stored["metadata"]["engine"], "browser");
    let inward = house.scrape("/to?http://10.1.2.3/", wait.clone()).await;
    failed(&inward, 403, "unsafe_domain_blocked");
    let forbidden = json!({ "waitFor": 10, "threatProtection": { "blacklist": ["localhost"] } });
    let away = house.scrape(&format!("/to?{}", house.site.url_by_name("/article")), forbidden).await;
    failed(&away, 403, "unsafe_domain_blocked");
    let file = house.scrape("/pdf", wait).await;
    assert_eq!(file.status, 500, "{}", file.text);
}

#[tokio::test]
async fn a_page_that_never_rests_ends_inside_its_deadline() {
    let house = House::open().await;
    let body =
        json!({ "timeout": 3000, "actions": [{ "type": "executeJavascript", "script": "while (true) {}" }] });
    let began = Instant::now();
    let reply = house.scrape("/form", body).await;
    assert!(began.elapsed() < Duration::from_secs(6), "after {:?}", began.elapsed());
    assert!([408, 500].contains(&reply.status), "{}", reply.text);
    failed(&reply, reply.status, if reply.status == 408 { "SCRAPE_TIMEOUT" } else { "SCRAPE_ACTION_ERROR" });
    let page = house.document("/app", json!({})).await;
    has(&page["markdown"], &["renderedword"]);
}

#[tokio::test]
async fn branding_comes_from_what_the_page_looks_like() {
    let house = House::open().await;
    let page = house.document("/brand", json!({ "formats": ["branding"] })).await;
    let brand = &page["branding"];
    assert_eq!((&brand["brandName"], &brand["colorScheme"]), (&json!("Lighthouse"), &json!("light")));
    let colour = |name: &str| brand["colors"][name].as_str().unwrap_or_default().to_uppercase();
    assert_eq!(colour("background"), "#FFFAF0", "{brand}");
    assert_eq!(colour("textPrimary"), "#112233", "{brand}");
    assert_eq!(colour("link"), "#C2410C", "{brand}");
    let families: Vec<&str> =
        brand["fonts"].as_array().unwrap().iter().filter_map(|font| font["family"].as_str()).collect();
    assert!(families.contains(&"Georgia") && families.contains(&"Arial"), "{brand}");
    assert_eq!(brand["images"]["logo"], house.site.url("/images/logo.png"));
    assert_eq!(brand["images"]["favicon"], house.site.url("/favicon.png"));
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
