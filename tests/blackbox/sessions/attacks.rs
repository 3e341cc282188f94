//! Hostile clients, pages and callers of sessions. Each attack is refused or ended, and the server is unharmed. Attacks by
//! users' code are in `crates/code-runner/tests/it`.

use super::{begin, run_with_links};
use crate::clients::node;
use crate::processes::{Process, tree};
use crate::scrape::ScrapeFixture;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends a scrape, which must work as if nothing had happened.
async fn expect_unharmed(fixture: &ScrapeFixture) {
    let document = fixture.scrape_document("/article", json!({ "formats": ["markdown"] })).await;
    assert!(document["markdown"].as_str().unwrap().contains("firstword"), "{document}");
}

#[tokio::test]
async fn hostile_clients_and_pages_reach_nothing_outside_of_their_session() {
    let fixture = ScrapeFixture::own().await;
    let outside = fixture.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let secret = outside.join("secret.txt");
    std::fs::write(&secret, "a secret of the server").unwrap();
    let session = begin(&fixture, json!({})).await;
    let victim = begin(&fixture, json!({})).await;
    let mut command = node("attacks.mjs");
    command.env("VICTIM_URL", victim["cdpUrl"].as_str().unwrap());
    command.env("HOST_FILE", &secret).env("OUTSIDE", &outside);
    run_with_links(&fixture, command, &session).await;
    let files: Vec<_> = std::fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(files, [secret], "nothing was put there");
    let path = format!("/v2/browser/{}", victim["id"].as_str().unwrap());
    assert_eq!(fixture.http().delete(&path).await.unwrap().status, 200, "the other session was not ended");
    expect_unharmed(&fixture).await;
}

#[tokio::test]
async fn a_page_does_not_reach_the_server_itself() {
    // Loopback is not opened here.
    let fixture = ScrapeFixture::with(|config| config.set("egress_allow", "")).await;
    let session = begin(&fixture, json!({})).await;
    let mut command = node("loopback.mjs");
    command.env("SERVER_URL", &fixture.http().base);
    run_with_links(&fixture, command, &session).await;
}

#[tokio::test]
async fn a_thousand_sessions_at_once_are_refused_without_harm() {
    let fixture = ScrapeFixture::with(|config| config.tiny_plan("concurrency = 2")).await;
    let (http, body) = (fixture.http(), json!({}));
    let answers = futures_util::future::join_all((0..1000).map(|_| http.post("/v2/browser", &body))).await;
    let count = |status: u16| {
        answers.iter().filter(|answer| answer.as_ref().is_ok_and(|one| one.status == status)).count()
    };
    assert_eq!((count(200), count(429)), (2, 998), "two of the plan, the others are told to wait");
    let browsers = tree(fixture.server.pid());
    let browsers = browsers.iter().filter(|one| one.is_chromium()).count();
    assert!(browsers < 100, "{browsers} processes of browsers");
    assert_eq!(http.get("/ready").await.unwrap().status, 200);
    for answer in answers.into_iter().flatten().filter(|answer| answer.status == 200) {
        let path = format!("/v2/browser/{}", answer.json["id"].as_str().unwrap());
        assert_eq!(http.delete(&path).await.unwrap().status, 200);
    }
    expect_unharmed(&fixture).await;
}

#[tokio::test]
async fn a_viewer_that_never_reads_holds_nothing_up() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({})).await;
    let view = url::Url::parse(session["liveViewUrl"].as_str().unwrap()).unwrap();
    let mut viewers = Vec::new();
    for _ in 0..4 {
        let (host, port) = (view.host_str().unwrap(), view.port().unwrap());
        let mut stream = TcpStream::connect((host, port)).await.unwrap();
        let request = format!(
            "GET {}/socket?{} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            view.path(),
            view.query().unwrap()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 101", "{}", String::from_utf8_lossy(&head));
        viewers.push(stream);
    }
    // They read no more; a page that never rests goes on, and so does whoever drives it.
    run_with_links(&fixture, node("busy_page.mjs"), &session).await;
    let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
    let ended = tokio::time::timeout(Duration::from_secs(15), fixture.http().delete(&path)).await;
    assert_eq!(ended.expect("it ends").unwrap().status, 200);
    drop(viewers);
    let left = tree(fixture.server.pid());
    assert!(left.iter().filter(|one: &&Process| one.is_chromium()).count() < 30, "{}", left.len());
}
