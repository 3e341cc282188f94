//! API keys on the command line and over the administration API, and the first key of a new server.

use crate::http::Http;
use crate::server::{KEY, ServerConfig, run, start_plain};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn the_first_start_creates_a_key_and_keeps_it_private() {
    let dir = TempDir::new();
    let mut config = ServerConfig::at(dir.path());
    config.settings.clear();
    let server = config.start().await;
    let file = dir.path().join("data/first-key");
    let key = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(key.starts_with("gn-") && key.len() == 46, "{key}");
    let printed =
        server.banner.iter().find(|line| line.trim().starts_with("key ")).expect("a word about the key");
    assert!(printed.contains(file.to_str().unwrap()), "{printed}");
    let http = server.http.with_key(Some(&key));
    http.get("/v2/team/credit-usage").await.unwrap().expect_success();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!server.log().contains(&key), "the key is in the log");
    server.kill();
    let server = config.start().await;
    server.http.with_key(Some(&key)).get("/v2/team/credit-usage").await.unwrap().expect_success();
}

#[tokio::test]
async fn the_printed_example_command_works() {
    let dir = TempDir::new();
    let mut config = ServerConfig::at(dir.path());
    config.settings.clear();
    for _ in 0..2 {
        let server = config.start().await;
        let command = server.banner.last().unwrap().trim().strip_prefix("try").unwrap().to_owned();
        // Tests send nothing beyond this machine; that the page is refused shows that everything else was
        // right.
        assert!(command.contains("https://example.com"), "{command}");
        let command = command.replace("https://example.com", "http://127.0.0.1:8080/");
        let output =
            std::process::Command::new("sh").arg("-c").arg(command).current_dir(dir.path()).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["code"], "unsafe_domain_blocked", "{answer}");
    }
}

#[tokio::test]
async fn keys_are_created_listed_and_revoked_on_the_command_line() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let (code, key, _) = run(config.command(&["keys", "create", "laptop", "--scopes", "scrape,admin"]));
    let key = key.trim();
    assert_eq!(code, Some(0));
    let http = server.http.with_key(Some(key));
    let listed = http.get("/admin/keys").await.unwrap().expect_success().clone();
    let entry =
        listed["data"].as_array().unwrap().iter().find(|entry| entry["name"] == "laptop").unwrap().clone();
    assert_eq!(entry["scopes"], json!(["scrape", "admin"]));
    assert_eq!(entry["status"], "active");
    let (_, table, _) = run(config.command(&["keys", "list"]));
    assert!(table.contains("laptop") && !table.contains(key), "{table}");
    let (code, ..) = run(config.command(&["keys", "revoke", entry["id"].as_str().unwrap()]));
    assert_eq!(code, Some(0));
    assert_eq!(wait_until_refused(&http).await, "Unauthorized: Invalid token");
    let (code, _, error) = run(config.command(&["keys", "revoke", "0"]));
    assert!(code == Some(1) && error.contains("keys have an id"), "{error}");
    let (code, _, error) = run(config.command(&["keys", "revoke", "ffff"]));
    assert!(code == Some(1) && error.contains("no key has an id that starts with `ffff`"), "{error}");
    let (code, _, error) = run(config.command(&["keys", "create", "x", "--scopes", "fly"]));
    assert!(code == Some(2) && error.contains("unknown scope `fly`"), "{error}");
}

#[tokio::test]
async fn a_rotated_key_works_with_both_secrets_and_revoking_ends_both() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let works = async |key: &str| {
        let answer = server.http.with_key(Some(key)).get("/v2/concurrency-check").await.unwrap();
        (answer.status, answer.json["error"].as_str().unwrap_or_default().to_owned())
    };
    let made = server.http.post("/admin/keys", &json!({ "name": "ci", "scopes": ["map"] })).await.unwrap();
    let (id, first) = (made.json["data"]["id"].as_str().unwrap(), made.json["key"].as_str().unwrap());
    let rotate = async |query: &str| {
        server.http.post(&format!("/admin/keys/{id}/rotate{query}"), &json!({})).await.unwrap()
    };
    let rotated = rotate("?expiresInDays=30").await;
    let data = &rotated.expect_success()["data"];
    let second = rotated.json["key"].as_str().unwrap();
    assert_eq!((&data["id"], &data["name"], &data["scopes"]), (&json!(id), &json!("ci"), &json!(["map"])));
    assert!(data["expiresAt"].is_string() && data["replaced"][0]["expiresAt"].is_string(), "{data}");
    assert_eq!((works(first).await.0, works(second).await.0), (200, 200));

    let (code, third, said) = run(config.command(&["keys", "rotate", id, "--phase-out-hours", "0"]));
    assert!(code == Some(0) && said.contains("does not work any more"), "{said}");
    let third = third.trim();
    let refused = wait_until_refused(&server.http.with_key(Some(second))).await;
    assert!(refused.starts_with("Unauthorized: Invalid token: the API key expired at "), "{refused}");
    assert_eq!((works(first).await.0, works(third).await.0), (200, 200), "each has its own end");
    let (_, table, _) = run(config.command(&["keys", "list"]));
    assert_eq!(table.matches("works until").count(), 1, "{table}");

    for (query, error) in [
        ("?phaseOutHours=721", "Bad Request: phaseOutHours: must be at most 720"),
        ("?expiresInDays=0", "Bad Request: expiresInDays: must be at least 1"),
    ] {
        rotate(query).await.expect_error(400, error);
    }
    server.http.delete(&format!("/admin/keys/{id}")).await.unwrap().expect_success();
    for secret in [first, third] {
        assert_eq!(works(secret).await, (401, "Unauthorized: Invalid token".to_owned()));
    }
    let ended = rotate("").await;
    ended.expect_error(409, "Conflict: the key is expired or revoked; create a new one");
    let nobody = server.http.post(&format!("/admin/keys/{}/rotate", uuid::Uuid::nil()), &json!({})).await;
    nobody.unwrap().expect_error(404, "Not Found");
}

/// Another process revoked the key: it may work here for at most two more seconds.
async fn wait_until_refused(http: &Http) -> String {
    let began = Instant::now();
    while http.get("/v2/concurrency-check").await.unwrap().status == 200 {
        // More on a busy machine; without the look at the database it works for ever.
        assert!(began.elapsed() < Duration::from_secs(10), "still accepted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let refused = http.get("/v2/concurrency-check").await.unwrap();
    assert_eq!(refused.status, 401);
    refused.json["error"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn key_use_is_recorded_and_keys_stay_out_of_the_log() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path()).set("log", "trace");
    let server = config.start().await;
    server.http.get("/v2/concurrency-check").await.unwrap().expect_success();
    let made = server.http.post("/admin/keys", &json!({ "name": "quiet" })).await.unwrap();
    let secret = made.expect_success()["key"].as_str().unwrap().to_owned();
    server.http.with_key(Some(&secret)).get("/v2/concurrency-check").await.unwrap().expect_success();
    server.http.with_key(Some("gn-typed-wrong-by-someone")).get("/v2/concurrency-check").await.unwrap();
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0));
    for secret in [KEY, secret.as_str(), "gn-typed-wrong-by-someone"] {
        assert!(!log.contains(secret), "a key is in the log");
    }
    let (_, list, _) = run(config.command(&["keys", "list", "--json"]));
    let keys: serde_json::Value = serde_json::from_str(&list).unwrap();
    for key in keys.as_array().unwrap() {
        assert!(key["lastUsedAt"].is_string(), "{key}");
    }
}

#[tokio::test]
async fn a_configured_key_works_after_a_restart() {
    let dir = TempDir::new();
    ServerConfig::at(dir.path()).start().await.kill();
    let other = "gn-another-0123456789abcdef";
    let server = ServerConfig::at(dir.path()).set("api_key", other).start().await;
    server.http.with_key(Some(other)).get("/admin/keys").await.unwrap().expect_success();
    server.http.get("/admin/keys").await.unwrap().expect_success();
}

#[tokio::test]
async fn revoking_an_unknown_or_revoked_key_is_an_error() {
    let (_dir, server) = start_plain().await;
    let made = server.http.post("/admin/keys", &json!({ "name": "a", "expiresInDays": 1 })).await.unwrap();
    let path = format!("/admin/keys/{}", made.expect_success()["data"]["id"].as_str().unwrap());
    assert!(made.json["data"]["expiresAt"].is_string());
    server.http.delete(&path).await.unwrap().expect_success();
    server.http.delete(&path).await.unwrap().expect_success();
    server
        .http
        .delete("/admin/keys/01890000-0000-7000-8000-000000000000")
        .await
        .unwrap()
        .expect_error(404, "Not Found");
    server.http.delete("/admin/keys/x").await.unwrap().expect_error(400, "Bad Request: id: must be a UUID");
    let response = server.http.post("/admin/keys", &json!({ "name": "", "scopes": [] })).await.unwrap();
    assert_eq!(response.json["details"].as_array().unwrap().len(), 2, "{}", response.text);
}

#[tokio::test]
async fn new_keys_end_by_themselves_where_the_operator_says_so() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path()).set("key_days", "30");
    let server = config.start().await;
    let days_left = |key: &serde_json::Value| {
        let end = key["expiresAt"].as_str().and_then(stored_data::time::parse_iso)?;
        Some((end - stored_data::time::now() + 60_000) / (24 * 3_600_000))
    };
    for (asked, days) in [(json!({ "name": "a" }), 30), (json!({ "name": "b", "expiresInDays": 400 }), 400)] {
        let made = server.http.post("/admin/keys", &asked).await.unwrap();
        assert_eq!(days_left(&made.expect_success()["data"]), Some(days), "{}", made.text);
    }
    let (code, ..) = run(config.command(&["keys", "create", "made", "--scopes", "scrape"]));
    assert_eq!(code, Some(0));
    let listed = server.http.get("/admin/keys").await.unwrap().json;
    let named =
        |name: &str| listed["data"].as_array().unwrap().iter().find(|key| key["name"] == name).cloned();
    let made = named("made").unwrap();
    assert_eq!(days_left(&made), Some(30));
    assert!(listed["data"][0]["expiresAt"].is_null(), "the first key of the server: {listed}");

    // Hosts are changed on the command line too.
    let id = made["id"].as_str().unwrap();
    let (code, said, _) = run(config.command(&["keys", "hosts", id, "example.org,*.example.org"]));
    assert!(code == Some(0) && said.contains("reaches example.org, *.example.org only"), "{said}");
    let (_, table, _) = run(config.command(&["keys", "list"]));
    assert!(table.contains("reaches example.org, *.example.org only"), "{table}");
    let (_, log, _) = run(config.command(&["audit", "--action", "key.changed"]));
    assert!(log.contains("example.org") && log.contains("command line"), "{log}");
    let (code, said, _) = run(config.command(&["keys", "hosts", id, "--all"]));
    assert!(code == Some(0) && said.contains("reaches all hosts"), "{said}");
    for wrong in [&["keys", "hosts", id][..], &["keys", "hosts", id, "a.example", "--all"]] {
        assert_eq!(run(config.command(wrong)).0, Some(2));
    }
    let (code, _, error) = run(config.command(&["keys", "hosts", id, "http://x"]));
    assert!(code == Some(1) && error.contains("`http://x` is not a host"), "{error}");
    let (code, _, error) = run(config.clone().set("key_days", "0").command(&["keys", "list"]));
    assert!(code != Some(0) && error.contains("key_days"), "{error}");
}
