//! Actions on a page before it is read.

use crate::scrape::{ScrapeFixture, assert_contains, assert_failure};
use serde_json::json;

#[tokio::test]
async fn actions_work_like_user_input() {
    let fixture = ScrapeFixture::open().await;
    let actions = json!([
        { "type": "click", "selector": "#name" },
        { "type": "write", "text": "Ada of the Isles" },
        { "type": "press", "key": "Enter" },
        { "type": "click", "selector": ".seat", "all": true },
        { "type": "scrape" },
        { "type": "click", "selector": "#late" },
        { "type": "wait", "selector": "#arrived" },
        { "type": "scroll", "direction": "down" },
        { "type": "wait", "milliseconds": 50 },
        { "type": "executeJavascript", "script": "document.title + ' ' + document.querySelectorAll('#log li').length" },
        { "type": "executeJavascript", "script": "({ scrolled: scrollY > 100, list: [1, null] })" },
        { "type": "scrape" },
    ]);
    let page =
        fixture.scrape_document("/form", json!({ "actions": actions, "onlyMainContent": false })).await;
    assert_contains(
        &page["markdown"],
        &["submitted Ada of the Isles", "seat 1", "seat 2", "seat 3", "arrivedlate"],
    );
    let results = &page["actions"];
    assert_eq!(results["scrapes"].as_array().unwrap().len(), 2);
    assert_contains(&results["scrapes"][0]["html"], &["seat 3"]);
    assert!(
        !results["scrapes"][0]["html"].as_str().unwrap().contains(">arrivedlate<"),
        "the page as it stood then"
    );
    assert_contains(&results["scrapes"][1]["html"], &["arrivedlate"]);
    assert_eq!(results["scrapes"][1]["url"], fixture.site.url("/form"));
    assert_eq!(
        results["javascriptReturns"],
        json!([
            { "type": "string", "value": "Ferry booking 5" },
            { "type": "object", "value": { "scrolled": true, "list": [1, null] } },
        ])
    );
    assert_eq!(
        (results["screenshots"].as_array().unwrap().len(), results["pdfs"].as_array().unwrap().len()),
        (0, 0)
    );
    assert_eq!(page["metadata"]["ladder"][0]["reason"], "actions");
    // A page that was acted upon is not stored.
    assert_failure(
        &fixture.scrape("/form", json!({ "lockdown": true })).await,
        404,
        "SCRAPE_LOCKDOWN_CACHE_MISS",
    );
}

#[tokio::test]
async fn a_failing_action_is_named() {
    let fixture = ScrapeFixture::open().await;
    // The first visit starts the browser, which may take a while.
    fixture.scrape_document("/form", json!({ "waitFor": 1 })).await;
    for (action, selector) in [
        (json!({ "type": "click", "selector": "#nowhere" }), json!("#nowhere")),
        (json!({ "type": "wait", "selector": ".never" }), json!(".never")),
        (json!({ "type": "scroll", "selector": "#nowhere" }), json!("#nowhere")),
        (json!({ "type": "executeJavascript", "script": "throw new Error('rocks')" }), json!(null)),
    ] {
        let body = json!({ "timeout": 6000, "actions": [{ "type": "wait", "milliseconds": 1 }, action] });
        let response = fixture.scrape("/form", body).await;
        let details = assert_failure(&response, 500, "SCRAPE_ACTION_ERROR");
        assert_eq!(
            (&details["index"], &details["selector"]),
            (&json!(1), &selector),
            "{action}: {}",
            response.text
        );
        assert!(details["message"].is_string(), "{}", response.text);
    }
    // A key that no keyboard has is refused before anything is done.
    let press = json!({ "actions": [{ "type": "press", "key": "NoSuchKey" }] });
    let refused = fixture.scrape("/form", press).await;
    assert_eq!((refused.status, &refused.json["details"][0]["path"]), (400, &json!(["actions", 0, "key"])));
    fixture.scrape_document("/form", json!({ "actions": [{ "type": "scrape" }] })).await;
    assert_eq!(fixture.credits_used().await, 2, "what failed costs nothing");
}
