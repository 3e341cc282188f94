//! What a page can see of its visitor, and which banners are hidden.

use crate::scrape::{ScrapeFixture, assert_contains, assert_lacks};
use serde_json::{Value, json};

/// What the script of the page wrote down.
async fn device_seen_by_page(fixture: &ScrapeFixture, options: Value) -> (Value, Value) {
    let mut options = options;
    options["waitFor"] = 20.into();
    options["formats"] = json!([{ "type": "attributes", "selectors": [{ "selector": "html", "attribute": "lang" }] }, "rawHtml"]);
    let page = fixture.scrape_document("/device", options).await;
    let html = page["rawHtml"].as_str().unwrap();
    let facts = html.split("<pre id=\"facts\">").nth(1).unwrap().split("</pre>").next().unwrap();
    (serde_json::from_str(&facts.replace("&amp;", "&")).unwrap(), page["metadata"].clone())
}

#[tokio::test]
async fn location_and_device_are_emulated_as_requested() {
    let fixture = ScrapeFixture::open().await;
    let (plain, _) = device_seen_by_page(&fixture, json!({})).await;
    assert!(!plain["agent"].as_str().unwrap().contains("Headless"), "{plain}");
    assert_eq!(plain["robot"], false);
    assert!(plain["width"].as_u64().unwrap() >= 1024 && plain["touch"] == false, "{plain}");
    let japan = json!({ "location": { "country": "JP", "languages": ["ja", "en"] } });
    let (facts, metadata) = device_seen_by_page(&fixture, japan).await;
    assert_eq!(facts["languages"][0], "ja", "{facts}");
    assert_eq!((&facts["zone"], &metadata["timezone"]), (&json!("Asia/Tokyo"), &json!("Asia/Tokyo")));
    let requests = fixture.site.requests("/device");
    assert!(requests.last().unwrap().header("accept-language").starts_with("ja"));
    let (phone, _) = device_seen_by_page(&fixture, json!({ "mobile": true })).await;
    assert!(phone["width"].as_u64().unwrap() < 600 && phone["touch"] == true, "{phone}");
    assert!(phone["agent"].as_str().unwrap().contains("Mobile"), "{phone}");
    assert!(fixture.site.requests("/device").last().unwrap().header("user-agent").contains("Mobile"));
}

#[tokio::test]
async fn headers_stay_with_their_origin_in_the_browser_too() {
    let fixture = ScrapeFixture::open().await;
    let options = json!({ "waitFor": 10, "headers": { "X-Secret": "of-the-origin" } });
    assert_contains(&fixture.scrape_document("/echo", options.clone()).await["markdown"], &["of-the-origin"]);
    let away = format!("/to?{}", fixture.site.url_by_name("/echo"));
    assert_lacks(&fixture.scrape_document(&away, options).await["markdown"], &["of-the-origin"]);
}

#[tokio::test]
async fn banners_are_hidden_unless_disabled() {
    let fixture = ScrapeFixture::open().await;
    let look = "getComputedStyle(document.getElementById('onetrust-banner-sdk')).display";
    let display = async |block: bool| {
        let actions = json!([{ "type": "executeJavascript", "script": look }]);
        let page = fixture
            .scrape_document("/banner", json!({ "blockAds": block, "actions": actions, "timeout": 30_000 }))
            .await;
        assert_contains(&page["markdown"], &["Weather at the point", "page ran"]);
        page["actions"]["javascriptReturns"][0]["value"].clone()
    };
    assert_eq!(display(true).await, "none");
    assert_eq!(display(false).await, "block");
}
