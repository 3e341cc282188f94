//! A wall is never a success, and how a page was had is told.

use super::{House, failed, has, lacks};
use crate::processes;
use serde_json::json;

#[tokio::test]
async fn walls_are_failures_on_every_rung() {
    let house = House::open().await;
    for (path, verdict, status) in
        [("/blocked", "blocked", 403), ("/captcha", "captcha", 200), ("/empty", "empty", 200)]
    {
        let reply = house.scrape(path, json!({ "timeout": 30_000 })).await;
        let details = failed(&reply, 500, "SCRAPE_ALL_ENGINES_FAILED");
        assert_eq!(
            (&details["verdict"], &details["statusCode"]),
            (&json!(verdict), &json!(status)),
            "{}",
            reply.text
        );
        let rungs: Vec<_> = details["ladder"].as_array().unwrap().iter().map(|step| &step["rung"]).collect();
        assert_eq!(rungs, ["http", "browser"], "both ways were tried: {}", reply.text);
        if path != "/empty" {
            assert!(!details["evidence"].as_array().unwrap().is_empty(), "{}", reply.text);
        }
    }
    assert_eq!(house.credits_used().await, 0);
}

#[tokio::test]
async fn an_app_is_rendered_and_the_way_is_told() {
    let house = House::open().await;
    let page = house.document("/app", json!({ "formats": ["markdown", "rawHtml"] })).await;
    has(&page["markdown"], &["# Tide tables", "renderedword"]);
    has(&page["rawHtml"], &["renderedword"]);
    let metadata = &page["metadata"];
    assert_eq!((&metadata["engine"], &metadata["title"]), (&json!("browser"), &json!("Tide tables")));
    let ladder = metadata["ladder"].as_array().unwrap();
    assert_eq!(ladder.len(), 2, "{metadata}");
    assert_eq!((&ladder[0]["rung"], &ladder[1]["rung"]), (&json!("http"), &json!("browser")));
    has(&ladder[0]["outcome"], &["shell"]);
    has(&ladder[1]["reason"], &["shell"]);
    assert_eq!(ladder[1]["outcome"], "content");
    assert!(ladder[1]["ms"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn fast_mode_starts_no_browser() {
    let house = House::open().await;
    let reply = house.scrape("/app", json!({ "fastMode": true })).await;
    failed(&reply, 500, "SCRAPE_ALL_ENGINES_FAILED");
    assert_eq!(processes::tree(house.server.pid()).len(), 1, "the server alone");
    house.document("/article", json!({ "fastMode": true })).await;
}

#[tokio::test]
async fn a_login_wall_is_returned_with_a_warning() {
    let house = House::open().await;
    let page = house.document("/login", json!({ "fastMode": true })).await;
    has(&page["warning"], &["login wall"]);
    assert_eq!(page["metadata"]["verdict"], "loginWall");
    let page = house.document("/article", json!({})).await;
    assert!(page.get("warning").is_none(), "{page}");
    lacks(&page["markdown"], &["navigationword"]);
}
