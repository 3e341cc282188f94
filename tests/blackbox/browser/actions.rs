//! Actions: what is done in a page before it is read.

use crate::scrape::{House, failed, has};
use serde_json::json;

#[tokio::test]
async fn actions_do_what_a_person_would() {
    let house = House::open().await;
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
    let page = house.document("/form", json!({ "actions": actions, "onlyMainContent": false })).await;
    has(&page["markdown"], &["submitted Ada of the Isles", "seat 1", "seat 2", "seat 3", "arrivedlate"]);
    let results = &page["actions"];
    assert_eq!(results["scrapes"].as_array().unwrap().len(), 2);
    has(&results["scrapes"][0]["html"], &["seat 3"]);
    assert!(
        !results["scrapes"][0]["html"].as_str().unwrap().contains(">arrivedlate<"),
        "the page as it stood then"
    );
    has(&results["scrapes"][1]["html"], &["arrivedlate"]);
    assert_eq!(results["scrapes"][1]["url"], house.site.url("/form"));
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
    // A page that was acted upon is stored for nobody.
    failed(&house.scrape("/form", json!({ "lockdown": true })).await, 404, "SCRAPE_LOCKDOWN_CACHE_MISS");
}

#[tokio::test]
async fn an_action_that_fails_is_named() {
    let house = House::open().await;
    // The first visit starts the browser, which may take its time.
    house.document("/form", json!({ "waitFor": 1 })).await;
    for (action, selector) in [
        (json!({ "type": "click", "selector": "#nowhere" }), json!("#nowhere")),
        (json!({ "type": "wait", "selector": ".never" }), json!(".never")),
        (json!({ "type": "scroll", "selector": "#nowhere" }), json!("#nowhere")),
        (json!({ "type": "executeJavascript", "script": "throw new Error('rocks')" }), json!(null)),
        (json!({ "type": "press", "key": "NoSuchKey" }), json!(null)),
    ] {
        let body = json!({ "timeout": 6000, "actions": [{ "type": "wait", "milliseconds": 1 }, action] });
        let reply = house.scrape("/form", body).await;
        let details = failed(&reply, 500, "SCRAPE_ACTION_ERROR");
        assert_eq!(
            (&details["index"], &details["selector"]),
            (&json!(1), &selector),
            "{action}: {}",
            reply.text
        );
        assert!(details["message"].is_string(), "{}", reply.text);
    }
    house.document("/form", json!({ "actions": [{ "type": "scrape" }] })).await;
    assert_eq!(house.credits_used().await, 2, "what failed costs nothing");
}
