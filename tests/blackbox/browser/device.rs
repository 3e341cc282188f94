//! What a page can see of whoever reads it, and what it is not allowed to show.

use crate::scrape::{House, has, lacks};
use serde_json::{Value, json};

/// What the page's script wrote down.
async fn seen(house: &House, options: Value) -> (Value, Value) {
    let mut options = options;
    options["waitFor"] = 20.into();
    options["formats"] = json!([{ "type": "attributes", "selectors": [{ "selector": "html", "attribute": "lang" }] }, "rawHtml"]);
    let page = house.document("/device", options).await;
    let html = page["rawHtml"].as_str().unwrap();
    let facts = html.split("<pre id=\"facts\">").nth(1).unwrap().split("</pre>").next().unwrap();
    (serde_json::from_str(&facts.replace("&amp;", "&")).unwrap(), page["metadata"].clone())
}

#[tokio::test]
async fn place_and_device_are_what_was_asked_for() {
    let house = House::open().await;
    let (plain, _) = seen(&house, json!({})).await;
    assert!(!plain["agent"].as_str().unwrap().contains("Headless"), "{plain}");
    assert_eq!(plain["robot"], false);
    assert!(plain["width"].as_u64().unwrap() >= 1024 && plain["touch"] == false, "{plain}");
    let japan = json!({ "location": { "country": "JP", "languages": ["ja", "en"] } });
    let (facts, metadata) = seen(&house, japan).await;
    assert_eq!(facts["languages"][0], "ja", "{facts}");
    assert_eq!((&facts["zone"], &metadata["timezone"]), (&json!("Asia/Tokyo"), &json!("Asia/Tokyo")));
    let asked = house.site.requests("/device");
    assert!(asked.last().unwrap().header("accept-language").starts_with("ja"));
    let (phone, _) = seen(&house, json!({ "mobile": true })).await;
    assert!(phone["width"].as_u64().unwrap() < 600 && phone["touch"] == true, "{phone}");
    assert!(phone["agent"].as_str().unwrap().contains("Mobile"), "{phone}");
    assert!(house.site.requests("/device").last().unwrap().header("user-agent").contains("Mobile"));
}

#[tokio::test]
async fn headers_stay_with_their_origin_in_the_browser_too() {
    let house = House::open().await;
    let options = json!({ "waitFor": 10, "headers": { "X-Secret": "of-the-origin" } });
    has(&house.document("/echo", options.clone()).await["markdown"], &["of-the-origin"]);
    let away = format!("/to?{}", house.site.url_by_name("/echo"));
    lacks(&house.document(&away, options).await["markdown"], &["of-the-origin"]);
}

#[tokio::test]
async fn banners_are_hidden_unless_they_are_wanted() {
    let house = House::open().await;
    let look = "getComputedStyle(document.getElementById('onetrust-banner-sdk')).display";
    let display = async |block: bool| {
        let actions = json!([{ "type": "executeJavascript", "script": look }]);
        let page = house
            .document("/banner", json!({ "blockAds": block, "actions": actions, "timeout": 30_000 }))
            .await;
        has(&page["markdown"], &["Weather at the point", "page ran"]);
        page["actions"]["javascriptReturns"][0]["value"].clone()
    };
    assert_eq!(display(true).await, "none");
    assert_eq!(display(false).await, "block");
}
