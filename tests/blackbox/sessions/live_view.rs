//! The live view in a real Chromium: a person logs in through it, and later scrapes are logged in.

use super::begin;
use super::commands::command;
use crate::clients::{node, run};
use crate::scrape::ScrapeFixture;
use serde_json::json;

#[tokio::test]
async fn somebody_logs_in_through_the_live_view_and_later_scrapes_are_logged_in() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({ "profile": { "name": "club" } })).await;
    command(&fixture, &session, &format!("open {}", fixture.site.url("/member"))).await;
    // The browser of another server looks at it: a server does not visit itself.
    let viewer = ScrapeFixture::own().await;
    let watching = begin(&viewer, json!({ "recordSession": false })).await;
    let mut script = node("live_view.mjs");
    script.env("CDP_URL", watching["cdpUrl"].as_str().unwrap());
    script.env("VIEW_URL", session["liveViewUrl"].as_str().unwrap());
    script.env("ACT_URL", session["interactiveLiveViewUrl"].as_str().unwrap());
    script.env("SITE_URL", &fixture.site.base);
    if let Some(picture) = std::env::var_os("GANNET_TEST_LIVE_VIEW_PICTURE") {
        script.env("PICTURE", picture);
    }
    tokio::task::spawn_blocking(move || run(&mut script)).await.unwrap();
    let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
    assert_eq!(fixture.http().delete(&path).await.unwrap().status, 200);
    let options = json!({ "profile": { "name": "club", "saveChanges": false }, "waitFor": 500 });
    let document = fixture.scrape_document("/member", options).await;
    assert!(document["markdown"].as_str().unwrap().contains("Welcome back, Ann"), "{document}");
}

#[tokio::test]
async fn text_of_input_methods_and_phones_lists_dialogs_and_files_pass_through_the_live_view() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({ "recordSession": false })).await;
    // The browser of another server looks at it: a server does not visit itself.
    let viewer = ScrapeFixture::own().await;
    let watching = begin(&viewer, json!({ "recordSession": false })).await;
    let mut script = node("live_view_text.mjs");
    script.env("CDP_URL", watching["cdpUrl"].as_str().unwrap());
    script.env("SESSION_CDP_URL", session["cdpUrl"].as_str().unwrap());
    script.env("ACT_URL", session["interactiveLiveViewUrl"].as_str().unwrap());
    script.env("SITE_URL", &fixture.site.base);
    if let Some(picture) = std::env::var_os("GANNET_TEST_LIVE_VIEW_PICTURE") {
        script.env("PICTURE", picture);
    }
    tokio::task::spawn_blocking(move || run(&mut script)).await.unwrap();
}
