//! A bot wall is never a success, and the response says how a page was fetched.

use super::{ScrapeFixture, assert_contains, assert_failure, assert_lacks, scrape_as};
use crate::hostile::servers::respond_and_close;
use crate::processes;
use serde_json::json;

#[tokio::test]
async fn bot_walls_are_failures_with_every_engine() {
    let fixture = ScrapeFixture::open().await;
    for (path, verdict, status) in
        [("/blocked", "blocked", 403), ("/captcha", "captcha", 200), ("/empty", "empty", 200)]
    {
        let response = fixture.scrape(path, json!({ "timeout": 30_000 })).await;
        let details = assert_failure(&response, 500, "SCRAPE_ALL_ENGINES_FAILED");
        assert_eq!(
            (&details["verdict"], &details["statusCode"]),
            (&json!(verdict), &json!(status)),
            "{}",
            response.text
        );
        let mut rungs: Vec<_> =
            details["ladder"].as_array().unwrap().iter().map(|step| &step["rung"]).collect();
        // HTTP twice, where the first request preferred markdown.
        rungs.dedup();
        assert_eq!(rungs, ["http", "browser"], "both ways were tried: {}", response.text);
        if path != "/empty" {
            assert!(!details["evidence"].as_array().unwrap().is_empty(), "{}", response.text);
        }
    }
    assert_eq!(fixture.credits_used().await, 0);
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_no_page() {
    let fixture = ScrapeFixture::open().await;
    let chapter = |number: u32| format!("<p>Chapter {number} of the long story of chairs.</p>");
    let half = (1..60).map(chapter).collect::<Vec<_>>().concat();
    let page = |end: &str| {
        let body = format!("<html><body><main><h1>Chairs</h1>{half}{end}");
        let length = body.len() + 5_000;
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let cut = respond_and_close(page("")).await;
    let response = scrape_as(fixture.http(), &cut.url("/"), json!({ "timeout": 30_000 })).await;
    assert_failure(&response, 500, "SCRAPE_SITE_ERROR");
    assert!(response.text.contains("in the middle of the body"), "{}", response.text);
    // A site that announces a wrong length has sent its page all the same.
    let whole = respond_and_close(page("</main></body></html>")).await;
    let response = scrape_as(fixture.http(), &whole.url("/"), json!({ "timeout": 30_000 })).await;
    assert_contains(&response.expect_success()["data"]["markdown"], &["Chapter 59"]);
}

#[tokio::test]
async fn a_javascript_app_is_rendered_and_the_ladder_says_so() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/app", json!({ "formats": ["markdown", "rawHtml"] })).await;
    assert_contains(&page["markdown"], &["# Tide tables", "renderedword"]);
    assert_contains(&page["rawHtml"], &["renderedword"]);
    let metadata = &page["metadata"];
    assert_eq!((&metadata["engine"], &metadata["title"]), (&json!("browser"), &json!("Tide tables")));
    let ladder = metadata["ladder"].as_array().unwrap();
    assert_eq!(ladder.len(), 2, "{metadata}");
    assert_eq!((&ladder[0]["rung"], &ladder[1]["rung"]), (&json!("http"), &json!("browser")));
    assert_contains(&ladder[0]["outcome"], &["shell"]);
    assert_contains(&ladder[1]["reason"], &["shell"]);
    assert_eq!(ladder[1]["outcome"], "content");
    assert!(ladder[1]["ms"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn fast_mode_starts_no_browser() {
    let fixture = ScrapeFixture::own().await;
    let response = fixture.scrape("/app", json!({ "fastMode": true })).await;
    assert_failure(&response, 500, "SCRAPE_ALL_ENGINES_FAILED");
    assert_eq!(processes::tree(fixture.server.pid()).len(), 1, "the server alone");
    fixture.scrape_document("/article", json!({ "fastMode": true })).await;
}

#[tokio::test]
async fn a_login_wall_is_returned_with_a_warning() {
    let fixture = ScrapeFixture::open().await;
    let page = fixture.scrape_document("/login", json!({ "fastMode": true })).await;
    assert_contains(&page["warning"], &["login wall"]);
    assert_eq!(page["metadata"]["verdict"], "loginWall");
    let page = fixture.scrape_document("/article", json!({})).await;
    assert!(page.get("warning").is_none(), "{page}");
    assert_lacks(&page["markdown"], &["navigationword"]);
}
