//! A key whose work was not done is free again, whatever interrupted the work.

use super::{count_activity, post_and_disconnect, post_with_key, remaining_credits, retry_until_free};
use crate::scrape::{ScrapeFixture, config};
use crate::server::{Server, ServerConfig};
use crate::wait::eventually;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use testkit::TempDir;

const SLOW: &str = "/slow?ms=1500";

#[tokio::test]
async fn a_caller_who_disconnects_can_retry_with_the_same_key() {
    let fixture = ScrapeFixture::with(|config| config.set("browser", "off").tiny_plan("credits = 10")).await;
    let body = json!({ "url": fixture.site.url(SLOW), "maxAge": 0 });
    post_and_disconnect(fixture.http(), "/v2/scrape", "k1", &body, Duration::from_millis(700)).await;
    let response = retry_until_free(fixture.http(), "/v2/scrape", "k1", &body).await;
    let scrape = response.expect_success()["data"]["metadata"]["scrapeId"].clone();
    assert_eq!(remaining_credits(fixture.http()).await, 9, "one scrape was done, and one is paid for");
    assert_eq!(count_activity(fixture.http(), "scrape").await, 1);

    // Used now, and the error names the job: a caller who lost the response finds it.
    let again = post_with_key(fixture.http(), "/v2/scrape", "k1", &body).await;
    again.expect_error(409, "Idempotency key already used");
    assert_eq!(again.json["details"], json!({ "id": scrape, "done": true }));
    let kept = fixture.http().get(&format!("/v2/scrape/{}", scrape.as_str().unwrap())).await.unwrap();
    assert_eq!(kept.expect_success()["data"]["metadata"]["scrapeId"], scrape);

    // While the first request runs a second is refused, and a failed scrape frees its key.
    let waiting = json!({ "url": fixture.site.url("/hang"), "timeout": 1500 });
    let first = post_with_key(fixture.http(), "/v2/scrape", "k2", &waiting);
    let second = async {
        eventually("the first one runs", async || fixture.site.hits("/hang") == 1).await;
        post_with_key(fixture.http(), "/v2/scrape", "k2", &waiting).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status, 408, "{}", first.text);
    second.expect_error(409, "Idempotency key already used");
    assert_eq!(second.json["details"]["done"], false);
    let body = json!({ "url": fixture.site.url("/article") });
    post_with_key(fixture.http(), "/v2/scrape", "k2", &body).await.expect_success();
}

#[tokio::test]
async fn a_killed_server_leaves_no_key_behind() {
    let dir = TempDir::new();
    let config = config(&dir).set("browser", "off");
    let site = crate::site::Site::start();
    let body = json!({ "url": site.url(SLOW), "maxAge": 0 });
    let server = config.start().await;
    let cut_off = async {
        let request = server.http.request(reqwest::Method::POST, "/v2/scrape");
        let _ = request.header("x-idempotency-key", "k").json(&body).send().await;
    };
    let killed = async {
        while site.hits("/slow") == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        crate::server::signal(server.pid(), "KILL");
    };
    tokio::join!(cut_off, killed);
    server.kill();
    let server = config.start().await;
    post_with_key(&server.http, "/v2/scrape", "k", &body).await.expect_success();
    post_with_key(&server.http, "/v2/scrape", "k", &body)
        .await
        .expect_error(409, "Idempotency key already used");
}

/// Watches the database from outside and ends when a key has been claimed in it.
fn wait_for_claim(dir: &TempDir) -> Command {
    const SCRIPT: &str = r#"
import sqlite3, sys, time
end = time.time() + 30
while time.time() < end:
    try:
        with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=0.1) as db:
            while time.time() < end:
                if db.execute("SELECT count(*) FROM idempotency_keys").fetchone()[0]:
                    sys.exit(0)
                time.sleep(0.002)
    except sqlite3.OperationalError:
        time.sleep(0.002)
sys.exit("no key was claimed")
"#;
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let mut command = Command::new(python);
    command.arg("-c").arg(SCRIPT).arg(dir.join("data/gannet.db")).stdout(Stdio::null());
    command
}

/// The key is written together with the batch: a `kill -9` right then loses neither.
#[tokio::test]
async fn a_batch_and_its_key_are_written_together() {
    let dir = TempDir::new();
    let config = config(&dir).set("browser", "off").set("workers", "0");
    let urls: Vec<String> = (0..20_000).map(|n| format!("http://127.0.0.1:8765/{n}")).collect();
    let body = Arc::new(json!({ "urls": urls }));
    let server = config.start().await;
    let (http, sent) = (server.http.clone(), body.clone());
    let start = tokio::spawn(async move {
        let request = http.request(reqwest::Method::POST, "/v2/batch/scrape");
        let _ = request.header("x-idempotency-key", "k").json(&*sent).send().await;
    });
    let watched = dir.path().to_owned();
    let claimed = tokio::task::spawn_blocking({
        let mut command = wait_for_claim(&dir);
        move || command.status().expect("python")
    });
    assert!(claimed.await.unwrap().success(), "{watched:?}");
    server.kill();
    start.await.unwrap();
    let server = config.start().await;
    let retry = post_with_key(&server.http, "/v2/batch/scrape", "k", &body).await;
    let accepted = count_activity(&server.http, "batch_scrape").await;
    assert_eq!(accepted, 1, "the key is used ({}), and the batch is there", retry.status);
    let queue = server.http.get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["waitingJobsInQueue"], 20_000, "once: {}", queue.text);
    if retry.status == 409 {
        let id = retry.json["details"]["id"].as_str().unwrap();
        let batch = server.http.get(&format!("/v2/batch/scrape/{id}?limit=1")).await.unwrap();
        assert_eq!(batch.expect_success()["total"], 20_000);
    }
}

async fn queue_of(lines: &str) -> (TempDir, Server) {
    let dir = TempDir::new();
    // No worker takes anything out of the queue.
    let server =
        ServerConfig::at(dir.path()).set("browser", "off").set("workers", "0").tiny_plan(lines).start().await;
    (dir, server)
}

#[tokio::test]
async fn concurrent_starts_fill_the_queue_and_no_more() {
    const QUEUE_LIMIT: usize = 8;
    let (_dir, server) = queue_of("queue = 8").await;
    let start = |n: usize| {
        let url = format!("http://example.test/{n}");
        let (path, body) = match n % 4 {
            0 => ("/v2/batch/scrape", json!({ "urls": [url] })),
            1 => ("/v2/crawl", json!({ "url": url, "sitemap": "skip" })),
            2 => ("/v2/agent", json!({ "prompt": "what", "urls": [url] })),
            _ => ("/v2/extract", json!({ "prompt": "what", "urls": [url] })),
        };
        let http = server.http.clone();
        async move { http.post(path, &body).await.unwrap() }
    };
    let responses = futures_util::future::join_all((0..32).map(start)).await;
    let (accepted, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 200);
    assert_eq!(accepted.len(), QUEUE_LIMIT, "as many as there are places");
    for response in refused {
        response.expect_error(429, "Queue limit reached");
        assert!(!response.header("retry-after").is_empty());
    }
    let queue = server.http.get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["waitingJobsInQueue"], QUEUE_LIMIT, "{}", queue.text);
}

#[tokio::test]
async fn one_of_many_starts_with_one_key_wins() {
    let (_dir, server) = queue_of("queue = 100").await;
    let cases: [(&str, Value); 4] = [
        ("/v2/batch/scrape", json!({ "urls": ["http://example.test/"] })),
        ("/v2/crawl", json!({ "url": "http://example.test/", "sitemap": "skip" })),
        ("/v2/agent", json!({ "prompt": "what" })),
        ("/v2/extract", json!({ "prompt": "what", "urls": ["http://example.test/"] })),
    ];
    for (path, body) in &cases {
        let starts = (0..8).map(|_| post_with_key(&server.http, path, "k", body));
        let responses = futures_util::future::join_all(starts).await;
        let won: Vec<&Value> = responses
            .iter()
            .filter(|response| response.status == 200)
            .map(|response| &response.json["id"])
            .collect();
        assert_eq!(won.len(), 1, "{path}");
        for response in responses.iter().filter(|response| response.status != 200) {
            response.expect_error(409, "Idempotency key already used");
            assert_eq!(&response.json["details"]["id"], won[0], "{path}");
        }
    }
    let queue = server.http.get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["waitingJobsInQueue"], cases.len(), "{}", queue.text);
}
