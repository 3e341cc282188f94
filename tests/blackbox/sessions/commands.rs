//! Single browser commands in sessions, which need no runtime.

use crate::scrape::ScrapeFixture;
use serde_json::{Value, json};

/// Runs one command, which must succeed; what it printed.
pub async fn command(fixture: &ScrapeFixture, session: &Value, line: &str) -> String {
    let path = format!("/v2/browser/{}/execute", session["id"].as_str().unwrap());
    let body = json!({ "language": "bash", "code": line });
    let response = fixture.http().post(&path, &body).await.unwrap();
    assert_eq!((response.status, &response.json["exitCode"]), (200, &json!(0)), "{line}: {}", response.text);
    response.json["stdout"].as_str().unwrap().trim().to_owned()
}

/// Logs in at the site's club, which keeps the login in `IndexedDB`.
pub async fn log_in(fixture: &ScrapeFixture, session: &Value) {
    command(fixture, session, &format!("open {}", fixture.site.url("/member"))).await;
    command(fixture, session, "fill #name Ann").await;
    command(fixture, session, "fill #password gannet-4").await;
    command(fixture, session, "click #send").await;
    wait_for_text(fixture, session, "Welcome back, Ann").await;
}

/// Waits until the page shows a text.
pub async fn wait_for_text(fixture: &ScrapeFixture, session: &Value, text: &str) {
    let mut shown = String::new();
    for _ in 0..100 {
        shown = command(fixture, session, "get text body").await;
        if shown.contains(text) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{text} is not shown but {shown}");
}
