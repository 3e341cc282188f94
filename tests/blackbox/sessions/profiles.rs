//! Profiles of sessions: saved at the end, read by the next, one writer at a time.

use super::commands::{command, log_in, wait_for_text};
use super::{begin, end, run_with_links};
use crate::clients::node;
use crate::scrape::ScrapeFixture;
use serde_json::{Value, json};

async fn run_profile_step(fixture: &ScrapeFixture, step: &str, session: &Value) {
    let mut command = node("profile.mjs");
    command.env("PROFILE_STEP", step);
    run_with_links(fixture, command, session).await;
}

#[tokio::test]
async fn a_login_outlives_its_session() {
    let fixture = ScrapeFixture::open().await;
    let writer = json!({ "profile": { "name": "shop" } });
    let session = begin(&fixture, writer.clone()).await;
    let second = fixture.http().post("/v2/browser", &writer).await.unwrap();
    assert_eq!(second.status, 409, "one writer at a time: {}", second.text);
    run_profile_step(&fixture, "leave", &session).await;
    end(&fixture, &session).await;
    let reader = json!({ "profile": { "name": "shop", "saveChanges": false } });
    let mut readers = Vec::new();
    for _ in 0..2 {
        let session = begin(&fixture, reader.clone()).await;
        run_profile_step(&fixture, "find", &session).await;
        readers.push(session);
    }
    // They may still read when the next one writes.
    readers.push(begin(&fixture, writer).await);
    for session in &readers {
        end(&fixture, session).await;
    }
}

#[tokio::test]
async fn a_login_in_indexed_db_is_used_by_sessions_scrapes_and_crawls() {
    let fixture = ScrapeFixture::open().await;
    let member = json!({ "profile": { "name": "club", "saveChanges": false } });
    let session = begin(&fixture, json!({ "profile": { "name": "club" } })).await;
    log_in(&fixture, &session).await;
    end(&fixture, &session).await;

    let session = begin(&fixture, member.clone()).await;
    command(&fixture, &session, &format!("open {}", fixture.site.url("/member"))).await;
    wait_for_text(&fixture, &session, "Welcome back, Ann").await;
    end(&fixture, &session).await;

    let stranger = fixture.scrape_document("/member", json!({ "waitFor": 500 })).await;
    assert!(stranger["markdown"].as_str().unwrap().contains("Please log in"), "{stranger}");
    let mut options = member.clone();
    options["waitFor"] = json!(500);
    let document = fixture.scrape_document("/member", options.clone()).await;
    assert!(document["markdown"].as_str().unwrap().contains("Welcome back, Ann"), "{document}");
    assert_eq!(document["metadata"]["sourceURL"], fixture.site.url("/member"));

    // A scrape that saves keeps what it was given.
    options["profile"]["saveChanges"] = json!(true);
    fixture.scrape_document("/member", options.clone()).await;
    options["profile"]["saveChanges"] = json!(false);
    let asked = json!({ "url": fixture.site.url("/member"), "limit": 1, "scrapeOptions": options });
    let crawl = fixture.http().post("/v2/crawl", &asked).await.unwrap();
    let path = format!("/v2/crawl/{}", crawl.expect_success()["id"].as_str().unwrap());
    for _ in 0..200 {
        let status = fixture.http().get(&path).await.unwrap().json;
        if status["status"] == "completed" {
            let text = status["data"][0]["markdown"].as_str().unwrap();
            assert!(text.contains("Welcome back, Ann"), "{status}");
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the crawl did not end");
}

#[tokio::test]
async fn profiles_are_listed_and_deleted() {
    let fixture = ScrapeFixture::open().await;
    let list =
        async || fixture.http().get("/v2/profiles").await.unwrap().expect_success()["profiles"].clone();
    assert_eq!(list().await, json!([]));
    let name = "my shop/1";
    let session = begin(&fixture, json!({ "profile": { "name": name } })).await;
    run_profile_step(&fixture, "leave", &session).await;
    assert_eq!(list().await, json!([]), "nothing is saved yet");
    end(&fixture, &session).await;
    let listed = list().await;
    assert_eq!((&listed[0]["name"], &listed[0]["inUse"]), (&json!(name), &json!(false)), "{listed}");
    assert!(listed[0]["bytes"].as_i64().unwrap() > 50, "{listed}");

    let deleted = "/v2/profiles/my%20shop%2F1";
    let other = fixture.other_team().await;
    other.delete(deleted).await.unwrap().expect_error(404, "Profile not found");
    let session = begin(&fixture, json!({ "profile": { "name": name } })).await;
    assert_eq!(list().await[0]["inUse"], true);
    assert_eq!(fixture.http().delete(deleted).await.unwrap().status, 409, "somebody is about to save it");
    end(&fixture, &session).await;
    fixture.http().delete(deleted).await.unwrap().expect_success();
    fixture.http().delete(deleted).await.unwrap().expect_error(404, "Profile not found");
    assert_eq!(list().await, json!([]));
}
