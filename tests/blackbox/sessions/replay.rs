//! Recordings: made while a session runs, listed, fetched and played by those who may, deleted for good.

use super::commands::{command, log_in, wait_for_text};
use super::{begin, end, run_in_session};
use crate::scrape::ScrapeFixture;
use serde_json::json;
use std::path::Path;

/// Time in which a page is in the recording, also on a busy machine.
const SHOWN_LONG_ENOUGH: std::time::Duration = std::time::Duration::from_secs(2);

/// Objects of recordings in the data folder.
fn stored(fixture: &ScrapeFixture) -> Vec<std::path::PathBuf> {
    fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                files(&entry.path(), found);
            } else {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    files(&fixture.dir.join("data/objects/recordings"), &mut found);
    found
}

#[tokio::test]
async fn a_session_is_recorded_listed_fetched_and_played() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({})).await;
    command(&fixture, &session, &format!("open {}", fixture.site.url("/article"))).await;
    tokio::time::sleep(SHOWN_LONG_ENOUGH).await;
    log_in(&fixture, &session).await;
    tokio::time::sleep(SHOWN_LONG_ENOUGH).await;
    end(&fixture, &session).await;

    let id = session["id"].as_str().unwrap();
    let path = format!("/v2/interact/{id}/replay");
    let listed = fixture.http().get(&path).await.unwrap();
    let listed = listed.expect_success();
    assert_eq!(listed["pageCount"], 1, "{listed}");
    let page = &listed["pages"][0];
    assert_eq!(page["pageUrl"], fixture.site.url("/member"), "{listed}");
    let milliseconds = page["endTimeMs"].as_u64().unwrap() - page["startTimeMs"].as_u64().unwrap();
    assert!(milliseconds > 500, "{listed}");
    let same = fixture.http().get(&format!("/v2/browser/{id}/replay")).await.unwrap();
    assert_eq!(&same.json, listed, "both names lead to it");

    let playlist = format!("{path}/{}", page["pageId"].as_str().unwrap());
    let playlist = fixture.http().get(&playlist).await.unwrap();
    assert_eq!(playlist.status, 200, "{}", playlist.text);
    assert_eq!(playlist.header("content-type"), "application/vnd.apple.mpegurl");
    assert!(playlist.text.starts_with("#EXTM3U\n"), "{}", playlist.text);
    let frames: Vec<&str> = playlist.text.lines().filter(|line| !line.starts_with('#')).collect();
    // Twice a second at most: a slow machine shows the caret of a field blinking for longer.
    let most = usize::try_from(milliseconds / 500).unwrap() + 2;
    assert!((2..=most).contains(&frames.len()), "{milliseconds} ms: {}", playlist.text);
    for frame in &frames {
        let picture = fixture.download(&json!(frame)).await;
        assert_eq!((picture.status, picture.mime.as_str()), (200, "image/jpeg"));
        assert!(picture.bytes.starts_with(b"\xff\xd8\xff"), "a JPEG");
    }

    // Neither a picture nor an address can be read from the disk.
    let files = stored(&fixture);
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!holds(b"\xff\xd8\xff") && !holds(b"/member"), "{} is not encrypted", file.display());
    }

    // Another server's browser plays it, since a server does not visit itself.
    let player = ScrapeFixture::own().await;
    let watching = begin(&player, json!({ "recordSession": false })).await;
    command(&player, &watching, &format!("open '{}'", page["url"].as_str().unwrap())).await;
    let shown = async |expression: &str| command(&player, &watching, &format!("eval \"{expression}\"")).await;
    let wait_for = async |expression: &str, wanted: &str| {
        for _ in 0..200 {
            if shown(expression).await.contains(wanted) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{expression} is not {wanted} but {}", shown(expression).await);
    };
    wait_for("document.querySelector('#page').dataset.frame ?? ''", "0").await;
    // The empty page before the first one is in the recording only if it was shown for long enough.
    let first = shown("document.querySelector('#address').value").await;
    assert!(first.contains("about:blank") || first.contains("/article"), "{first}");
    command(&player, &watching, "select #speed 8").await;
    command(&player, &watching, "click #play").await;
    wait_for("document.querySelector('#address').value", "/member").await;
    let not_recorded = format!("/v2/interact/{}/replay", watching["id"].as_str().unwrap());
    assert_eq!(player.http().get(&not_recorded).await.unwrap().status, 404);
}

#[tokio::test]
async fn a_recording_belongs_to_its_team_and_can_be_deleted() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({})).await;
    command(&fixture, &session, &format!("open {}", fixture.site.url("/article"))).await;
    wait_for_text(&fixture, &session, "firstword").await;
    end(&fixture, &session).await;
    let path = format!("/v2/interact/{}/replay", session["id"].as_str().unwrap());
    let listed = fixture.http().get(&path).await.unwrap();
    let page = listed.expect_success()["pages"][0].clone();
    let other = fixture.other_team().await;
    for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
        let refused = other.send(other.request(method, &path)).await.unwrap();
        refused.expect_error(404, "Replay not found");
    }
    let refused = other.get(&format!("{path}/0")).await.unwrap();
    assert_eq!(refused.status, 404, "{}", refused.text);
    // A link with another token opens nothing.
    let link = page["url"].as_str().unwrap();
    let (base, _) = link.strip_prefix(&fixture.http().base).unwrap().split_once('?').unwrap();
    let open = fixture.http().with_key(None);
    let token = link.split("token=").nth(1).unwrap().split('&').next().unwrap();
    assert_eq!(open.get(&format!("{base}/index?token={token}")).await.unwrap().status, 200);
    let view = session["liveViewUrl"].as_str().unwrap().split("token=").nth(1).unwrap();
    for wrong in ["", view] {
        for part in ["index", "chunks/0", "frames/0/0"] {
            let refused = open.get(&format!("{base}/{part}?token={wrong}")).await.unwrap();
            assert_eq!(refused.status, 404, "{part}: {}", refused.text);
        }
    }
    assert!(!stored(&fixture).is_empty());
    assert_eq!(fixture.http().delete(&path).await.unwrap().status, 200);
    assert_eq!(stored(&fixture), Vec::<std::path::PathBuf>::new());
    fixture.http().get(&path).await.unwrap().expect_error(404, "Replay not found");
    assert_eq!(open.get(&format!("{base}/index?token={token}")).await.unwrap().status, 404);
}

#[tokio::test]
async fn recordings_are_bounded_and_can_be_switched_off() {
    let fixture = ScrapeFixture::with(|config| {
        config.set("interact_recording_size", "40KB").set("recordings_limit", "1KB")
    })
    .await;
    let session = begin(&fixture, json!({})).await;
    run_in_session(&fixture, "playwright.mjs", &session).await;
    end(&fixture, &session).await;
    let path = format!("/v2/interact/{}/replay", session["id"].as_str().unwrap());
    let listed = fixture.http().get(&path).await.unwrap();
    assert!(listed.status == 404 || listed.json["truncated"] == true, "{}", listed.text);
    // The janitor keeps all of them together under their limit.
    let bytes =
        || stored(&fixture).iter().map(|path| path.metadata().map_or(0, |file| file.len())).sum::<u64>();
    for _ in 0..900 {
        if bytes() <= 1024 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(bytes() <= 1024, "{:?}", stored(&fixture));

    let fixture = ScrapeFixture::with(|config| config.set("interact_recording", "off")).await;
    let session = begin(&fixture, json!({ "recordSession": true })).await;
    command(&fixture, &session, &format!("open {}", fixture.site.url("/article"))).await;
    end(&fixture, &session).await;
    assert_eq!(stored(&fixture), Vec::<std::path::PathBuf>::new());
}
