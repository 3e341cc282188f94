//! The key that secrets are encrypted with: created once, changed, missing, lost.

use super::{Host, SECRET_MARK, config, start_secret_work};
use crate::crawl::{started_id, wait_for_end};
use crate::http::Http;
use crate::scrape::config as scrape_config;
use crate::server::run;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use testkit::{TempDir, shared_database};

async fn webhook_secret(http: &Http) -> String {
    let response = http.get("/v2/team/webhook-secret").await.unwrap();
    response.expect_success()["data"]["secret"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_encryption_key_is_created_once_privately_and_can_be_changed() {
    let dir = TempDir::new();
    let config = scrape_config(&dir).set("browser", "off");
    let server = config.start().await;
    let secret = webhook_secret(&server.http).await;
    let file = dir.join("data/secret-key");
    let first = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, _, error) = run(config.command(&["secrets", "rekey"]));
    assert_eq!(code, Some(1), "not while a server runs");
    assert!(error.contains("stop the server"), "{error}");
    server.terminate();
    let server = config.start().await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first, "a later start leaves it alone");
    server.terminate();
    let (code, text, error) = run(config.command(&["secrets", "rekey"]));
    assert_eq!(code, Some(0), "{text}{error}");
    let second = std::fs::read_to_string(&file).unwrap();
    assert!(second != first && second.lines().count() == 1, "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let server = config.start().await;
    assert_eq!(webhook_secret(&server.http).await, secret);
    server.terminate();
    // From the file to a setting of another value: the old key is still read until it is not needed any more.
    let chosen = config.clone().set("secret_key", &"0f".repeat(32));
    let server = chosen.start().await;
    assert_eq!(webhook_secret(&server.http).await, secret);
    server.terminate();
    let (code, text, error) = run(chosen.command(&["secrets", "rekey"]));
    assert_eq!(code, Some(0), "{text}{error}");
    std::fs::remove_file(&file).unwrap();
    let server = chosen.start().await;
    assert_eq!(webhook_secret(&server.http).await, secret);
    assert!(!file.exists(), "with a setting no file is made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_encryption_key_says_so_and_the_secrets_can_be_dropped() {
    let (dir, host) = (TempDir::new(), Host::start());
    let config = config(&dir).set("browser", "off").set("webhook_retries", "300ms");
    let server = config.start().await;
    let [crawl, batch, _] = start_secret_work(&server.http, &host).await;
    let secret = webhook_secret(&server.http).await;
    server.kill();
    let file = dir.join("data/secret-key");
    let key = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    for wrong in [config.clone(), config.clone().set("secret_key", &"0f".repeat(32))] {
        let (code, out, error) = run(wrong.command(&["serve", "--listen", "127.0.0.1:0"]));
        assert_eq!(code, Some(1), "{out}");
        assert!(error.contains("secret_key") && error.contains("gannet secrets reset"), "{error}");
        let (code, out, _) = run(wrong.command(&["doctor"]));
        let line = out.lines().find(|line| line.contains("secrets ")).unwrap_or_default();
        assert!(code == Some(1) && line.contains("BROKEN") && line.contains("secret_key"), "{out}");
        assert!(!format!("{out}{error}").contains("0f0f0f"), "the key is shown");
    }
    assert!(!file.exists(), "no second key was made");
    // With the key back, nothing was lost.
    std::fs::write(&file, &key).unwrap();
    let server = config.start().await;
    assert_eq!(webhook_secret(&server.http).await, secret);
    server.kill();
    // Lost for good.
    std::fs::remove_file(&file).unwrap();
    let (code, _, error) = run(config.command(&["secrets", "reset"]));
    assert!(code == Some(1) && error.contains("--yes"), "{error}");
    let (code, out, error) = run(config.command(&["secrets", "reset", "--yes"]));
    assert_eq!(code, Some(0), "{out}{error}");
    let server = config.start().await;
    assert_ne!(webhook_secret(&server.http).await, secret);
    for path in [format!("/v2/crawl/{crawl}"), format!("/v2/batch/scrape/{batch}")] {
        let status = wait_for_end(&server.http, &path).await;
        assert_eq!(status["status"], "failed", "{status}");
        assert!(status["error"].as_str().unwrap().contains("secret key"), "{status}");
    }
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let failed = server.http.get("/v2/team/webhooks/failed").await.unwrap();
        if failed.expect_success()["data"].as_array().is_some_and(|data| !data.is_empty()) {
            assert!(!failed.text.contains(SECRET_MARK), "{}", failed.text);
            break;
        }
        assert!(Instant::now() < end, "{}", failed.text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.http.get("/v2/crawl/active").await.unwrap().expect_success()["crawls"], json!([]));
    // And the server works.
    host.gate.add_permits(1000);
    let next = started_id(
        &server.http.post("/v2/crawl", &json!({ "url": host.url("/"), "sitemap": "skip" })).await.unwrap(),
    );
    assert_eq!(wait_for_end(&server.http, &format!("/v2/crawl/{next}")).await["completed"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_on_one_postgresql_need_the_same_encryption_key() {
    let (first_dir, second_dir, url) = (TempDir::new(), TempDir::new(), shared_database());
    let at = |dir: &TempDir, digits: &str| {
        scrape_config(dir)
            .set("browser", "off")
            .set("database_url", &url)
            .set("secret_key", &digits.repeat(32))
    };
    let first = at(&first_dir, "0a").start().await;
    let secret = webhook_secret(&first.http).await;
    let other = at(&second_dir, "0b");
    // The test helper gives every server on PostgreSQL a key file, which this one must not have.
    let mut command = other.command(&["serve", "--listen", "127.0.0.1:0"]);
    std::fs::remove_file(second_dir.join("data/secret-key")).unwrap();
    command.env("GANNET_LOG", "warn");
    let (code, _, error) = run(command);
    assert!(code == Some(1) && error.contains("secret_key"), "{error}");
    let second = at(&second_dir, "0a").start().await;
    assert_eq!(webhook_secret(&second.http).await, secret);
}
