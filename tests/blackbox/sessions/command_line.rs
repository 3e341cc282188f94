//! `gannet browser`: sessions of a running server from the command line.

use crate::scrape::{ScrapeFixture, config};
use crate::server::run;
use serde_json::Value;

#[tokio::test]
async fn sessions_are_opened_used_and_closed_on_the_command_line() {
    let fixture = ScrapeFixture::own().await;
    let config = config(&fixture.dir);
    let server = fixture.http().base.clone();
    let browser = |arguments: &[&str]| {
        let mut command = config.command(&[&["browser"], arguments].concat());
        command.args(["--server", &server]);
        let (code, text, error) = run(command);
        (code, text, error)
    };
    let (code, _, error) = browser(&["run", "snapshot"]);
    assert!(code == Some(1) && error.contains("there is no session"), "{error}");

    let page = fixture.site.url("/article");
    let (code, text, error) = browser(&["open", &page, "--profile", "desk", "--json"]);
    assert_eq!(code, Some(0), "{error}");
    let session: Value = serde_json::from_str(&text).unwrap();
    let id = session["id"].as_str().unwrap();
    let (code, text, error) = browser(&["run", "get url"]);
    assert_eq!((code, text.trim()), (Some(0), page.as_str()), "{error}");
    let (code, _, error) = browser(&["run", "click #nothing-here", "--session", &id[..30], "--timeout", "5"]);
    assert!(code != Some(0) && !error.is_empty(), "{error}");
    let (_, text, _) = browser(&["view"]);
    assert_eq!(text.trim(), session["interactiveLiveViewUrl"], "{text}");
    let (_, text, _) = browser(&["view", id, "--read-only"]);
    assert_eq!(text.trim(), session["liveViewUrl"], "{text}");
    let (_, text, _) = browser(&["list"]);
    assert!(text.contains(id) && text.contains("active"), "{text}");
    let (code, text, error) = browser(&["close", id]);
    assert!(code == Some(0) && text.contains("2 credits"), "{text}{error}");
    let (_, text, _) = browser(&["list"]);
    assert_eq!(text, "");
    let (_, text, _) = browser(&["list", "--all"]);
    assert!(text.contains("destroyed") && text.contains("deleted"), "{text}");
    let (code, text, error) = browser(&["view", id, "--replay"]);
    assert!(code == Some(0) && text.contains("/replay/") && text.contains("/article"), "{text}{error}");
    let (_, text, _) = browser(&["profiles"]);
    assert!(text.starts_with("desk "), "{text}");
    let (code, _, error) = browser(&["profiles", "--delete", "desk"]);
    assert_eq!(code, Some(0), "{error}");
    let (code, _, error) = browser(&["profiles", "--delete", "desk"]);
    assert!(code == Some(1) && error.contains("Profile not found"), "{error}");
    let (code, _, error) = browser(&["list", "--key", "wrong"]);
    assert!(code == Some(1) && error.contains("401"), "{error}");
}
