//! How sessions end, and that nothing of them is left.

use super::begin;
use crate::processes::{Process, all_gone, tree};
use crate::scrape::ScrapeFixture;
use crate::server::ServerConfig;
use serde_json::{Value, json};
use std::time::Duration;

/// Waits until a session has ended; how it is listed then.
pub async fn wait_until_destroyed(fixture: &ScrapeFixture, id: &str) -> Value {
    for _ in 0..300 {
        let listed = fixture.http().get("/v2/browser?status=destroyed").await.unwrap().json;
        let found = listed["sessions"].as_array().unwrap().iter().find(|one| one["id"] == id);
        if let Some(session) = found {
            return session.clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{id} has not ended");
}

#[tokio::test]
async fn a_session_belongs_to_its_team_and_is_gone_after_delete() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({ "ttl": 60 })).await;
    let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
    let other = fixture.other_team().await;
    let hidden = other.delete(&path).await.unwrap();
    assert_eq!(hidden.status, 404, "{}", hidden.text);
    let foreign = other.post(&format!("{path}/execute"), &json!({ "code": "1" })).await.unwrap();
    assert_eq!(foreign.status, 404, "{}", foreign.text);
    assert_eq!(other.get("/v2/browser").await.unwrap().json["sessions"], json!([]));

    let chromiums =
        || tree(fixture.server.pid()).into_iter().filter(Process::is_chromium).collect::<Vec<_>>();
    let running = chromiums();
    assert!(!running.is_empty());
    let ended = fixture.http().delete(&path).await.unwrap();
    assert_eq!((ended.status, &ended.json["success"]), (200, &json!(true)), "{}", ended.text);
    assert_eq!(ended.json["creditsBilled"], 2);
    assert_eq!(fixture.credits_used().await, 2);
    let again = fixture.http().delete(&path).await.unwrap();
    assert_eq!(again.status, 410, "{}", again.text);
    let execute = fixture.http().post(&format!("{path}/execute"), &json!({ "code": "1" })).await.unwrap();
    assert_eq!(execute.status, 410, "{}", execute.text);
    assert!(execute.text.contains("deleted"), "{}", execute.text);
    let (_, _, log) = fixture.server.terminate();
    assert!(!log.contains("panicked"), "{log}");
    all_gone(&running, Duration::from_secs(10));
}

#[tokio::test]
async fn a_session_ends_when_it_is_idle() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({ "activityTtl": 10 })).await;
    let ended = wait_until_destroyed(&fixture, session["id"].as_str().unwrap()).await;
    assert_eq!(ended["destroyedReason"], "it was idle for its activityTtl");
}

#[tokio::test]
async fn a_session_that_stores_too_much_ends() {
    let modules = format!("{}/node_modules", std::env::var("GANNET_TEST_NODE_DIR").unwrap());
    let settings = |config: ServerConfig| {
        config
            .set("interact_node_modules", &modules)
            .set("interact_user", "same")
            .set("interact_disk", "80MB")
    };
    let fixture = ScrapeFixture::with(settings).await;
    // It is measured as often as the other one.
    let small = begin(&fixture, json!({})).await;
    let session = begin(&fixture, json!({})).await;
    let id = session["id"].as_str().unwrap();
    let code = format!(
        "await page.goto('{}'); await page.evaluate(async () => {{ const root = await navigator.storage.getDirectory(); \
         const file = await root.getFileHandle('large', {{ create: true }}); const out = await file.createWritable(); \
         for (let n = 0; n < 10; n++) await out.write(new Uint8Array(10 << 20).fill(7)); await out.close(); }})",
        fixture.site.url("/article")
    );
    let body = json!({ "language": "node", "code": code, "timeout": 60 });
    // The session may end before the page has written all of it.
    let written = fixture.http().post(&format!("/v2/browser/{id}/execute"), &body).await.unwrap();
    assert_ne!(written.json["exitCode"], 1, "the page could not write: {}", written.text);
    assert_eq!(wait_until_destroyed(&fixture, id).await["destroyedReason"], "too much was stored in it");
    let path = format!("/v2/browser/{}", small["id"].as_str().unwrap());
    assert_eq!(
        fixture.http().delete(&path).await.unwrap().status,
        200,
        "a session that stores little goes on"
    );
}

#[tokio::test]
async fn a_crashed_browser_ends_its_session_alone() {
    let fixture = ScrapeFixture::own().await;
    let first = begin(&fixture, json!({})).await;
    // The oldest process of a browser is the first of the first session's; others may be started ahead.
    let processes = tree(fixture.server.pid());
    let root = processes.iter().filter(|one| one.is_chromium()).map(|one| one.pid).min().expect("a browser");
    let second = begin(&fixture, json!({})).await;
    crate::server::signal(root, "KILL");
    let ended = wait_until_destroyed(&fixture, first["id"].as_str().unwrap()).await;
    assert_eq!(ended["destroyedReason"], "the browser crashed");
    let active = fixture.http().get("/v2/browser?status=active").await.unwrap().json;
    assert_eq!(active["sessions"][0]["id"], second["id"]);
}

/// The first processes of the server's browsers.
fn browsers(fixture: &ScrapeFixture) -> Vec<u32> {
    let is_first = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("--user-data-dir=") && !line.contains("--type=") && !line.contains("sandboxed-process")
    };
    let chromiums = tree(fixture.server.pid()).into_iter().filter(Process::is_chromium);
    chromiums.map(|one| one.pid).filter(|pid| is_first(*pid)).collect()
}

#[tokio::test]
async fn a_session_gets_another_browser_when_the_waiting_one_was_killed() {
    let fixture = ScrapeFixture::own().await;
    for wait_ms in [0, 2, 5, 10] {
        let held = begin(&fixture, json!({})).await;
        let before = browsers(&fixture);
        // One is started ahead of the next session.
        let mut waiting = Vec::new();
        for _ in 0..200 {
            waiting = browsers(&fixture).into_iter().filter(|pid| !before.contains(pid)).collect();
            if !waiting.is_empty() || before.len() > 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let root = waiting.into_iter().chain(before).max().expect("a browser");
        let killed = async {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            crate::server::signal(root, "KILL");
        };
        let (next, ()) = tokio::join!(begin(&fixture, json!({})), killed);
        for session in [held, next] {
            // The kill may have come when its session had begun.
            let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
            let ended = fixture.http().delete(&path).await.unwrap();
            assert!(matches!(ended.status, 200 | 410), "{}", ended.text);
        }
    }
}

#[tokio::test]
async fn the_plans_browsers_bound_sessions() {
    let fixture = ScrapeFixture::with(|config| config.tiny_plan("concurrency = 1")).await;
    begin(&fixture, json!({})).await;
    let response = fixture.http().post("/v2/browser", &json!({})).await.unwrap();
    response.expect_error(429, "Concurrency limit reached");
}

#[tokio::test]
async fn a_lost_session_is_destroyed_with_a_reason() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({})).await;
    let running = tree(fixture.server.pid());
    let ScrapeFixture { dir, server, site } = fixture;
    server.kill();
    all_gone(&running, Duration::from_secs(15));
    let server = crate::scrape::config(&dir).start().await;
    let fixture = ScrapeFixture { dir, server, site };
    let id = session["id"].as_str().unwrap();
    let execute = format!("/v2/browser/{id}/execute");
    // For a moment it may still count as running elsewhere.
    for _ in 0..400 {
        let response = fixture.http().post(&execute, &json!({ "code": "1" })).await.unwrap();
        if response.status == 410 {
            assert!(response.text.contains("stopped"), "{}", response.text);
            let ended = wait_until_destroyed(&fixture, id).await;
            assert!(ended["destroyedReason"].as_str().unwrap().contains("stopped"), "{ended}");
            return;
        }
        assert_eq!(response.status, 503, "{}", response.text);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the session was never lost");
}
