//! Keys over the command line and the administration API, and the first key of a new server.

use crate::http::Http;
use crate::server::{KEY, Recipe, plain, run};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn the_first_start_makes_a_key_and_keeps_it_safe() {
    let dir = TempDir::new();
    let mut recipe = Recipe::at(dir.path());
    recipe.settings.clear();
    let server = recipe.start().await;
    let file = dir.path().join("data/first-key");
    let key = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(key.starts_with("gn-") && key.len() == 46, "{key}");
    let said =
        server.banner.iter().find(|line| line.trim().starts_with("key ")).expect("a word about the key");
    assert!(said.contains(file.to_str().unwrap()), "{said}");
    let http = server.http.with_key(Some(&key));
    http.get("/v2/team/credit-usage").await.unwrap().is_success();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!server.log().contains(&key), "the key is in the log");
    server.kill();
    let server = recipe.start().await;
    server.http.with_key(Some(&key)).get("/v2/team/credit-usage").await.unwrap().is_success();
}

#[tokio::test]
async fn the_printed_command_is_understood() {
    let dir = TempDir::new();
    let mut recipe = Recipe::at(dir.path());
    recipe.settings.clear();
    for _ in 0..2 {
        let server = recipe.start().await;
        let command = server.banner.last().unwrap().trim().strip_prefix("try").unwrap().to_owned();
        // Tests send nothing beyond this machine; that the page is refused shows that all else is right.
        assert!(command.contains("https://example.com"), "{command}");
        let command = command.replace("https://example.com", "http://127.0.0.1:8080/");
        let output =
            std::process::Command::new("sh").arg("-c").arg(command).current_dir(dir.path()).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["code"], "unsafe_domain_blocked", "{answer}");
    }
}

#[tokio::test]
async fn the_command_line_makes_lists_and_revokes() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    let server = recipe.start().await;
    let (code, key, _) = run(recipe.command(&["keys", "create", "laptop", "--scopes", "scrape,admin"]));
    let key = key.trim();
    assert_eq!(code, Some(0));
    let http = server.http.with_key(Some(key));
    let listed = http.get("/admin/keys").await.unwrap().is_success().clone();
    let entry =
        listed["data"].as_array().unwrap().iter().find(|entry| entry["name"] == "laptop").unwrap().clone();
    assert_eq!(entry["scopes"], json!(["scrape", "admin"]));
    assert_eq!(entry["status"], "active");
    let (_, table, _) = run(recipe.command(&["keys", "list"]));
    assert!(table.contains("laptop") && !table.contains(key), "{table}");
    let (code, ..) = run(recipe.command(&["keys", "revoke", entry["id"].as_str().unwrap()]));
    assert_eq!(code, Some(0));
    refused_soon(&http).await;
    let (code, _, error) = run(recipe.command(&["keys", "revoke", "0"]));
    assert!(code == Some(1) && error.contains("keys have an id"), "{error}");
    let (code, _, error) = run(recipe.command(&["keys", "create", "x", "--scopes", "fly"]));
    assert!(code == Some(2) && error.contains("unknown scope `fly`"), "{error}");
}

/// Another process revoked the key: it may work here for two seconds more, and no longer.
async fn refused_soon(http: &Http) {
    let began = Instant::now();
    while http.get("/v2/concurrency-check").await.unwrap().status == 200 {
        assert!(began.elapsed() < Duration::from_secs(3), "still accepted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    http.get("/v2/concurrency-check").await.unwrap().is_error(401, "Unauthorized: Invalid token");
}

#[tokio::test]
async fn uses_are_noted_and_keys_stay_out_of_the_log() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path()).set("log", "trace");
    let server = recipe.start().await;
    server.http.get("/v2/concurrency-check").await.unwrap().is_success();
    let made = server.http.post("/admin/keys", &json!({ "name": "quiet" })).await.unwrap();
    let secret = made.is_success()["key"].as_str().unwrap().to_owned();
    server.http.with_key(Some(&secret)).get("/v2/concurrency-check").await.unwrap().is_success();
    server.http.with_key(Some("gn-typed-wrong-by-someone")).get("/v2/concurrency-check").await.unwrap();
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0));
    for secret in [KEY, secret.as_str(), "gn-typed-wrong-by-someone"] {
        assert!(!log.contains(secret), "a key is in the log");
    }
    let (_, list, _) = run(recipe.command(&["keys", "list", "--json"]));
    let keys: serde_json::Value = serde_json::from_str(&list).unwrap();
    for key in keys.as_array().unwrap() {
        assert!(key["lastUsedAt"].is_string(), "{key}");
    }
}

#[tokio::test]
async fn a_configured_key_is_taken_on_later_starts_too() {
    let dir = TempDir::new();
    Recipe::at(dir.path()).start().await.kill();
    let other = "gn-another-0123456789abcdef";
    let server = Recipe::at(dir.path()).set("api_key", other).start().await;
    server.http.with_key(Some(other)).get("/admin/keys").await.unwrap().is_success();
    server.http.get("/admin/keys").await.unwrap().is_success();
}

#[tokio::test]
async fn revoking_twice_or_what_is_not_there_is_honest() {
    let (_dir, server) = plain().await;
    let made = server.http.post("/admin/keys", &json!({ "name": "a", "expiresInDays": 1 })).await.unwrap();
    let path = format!("/admin/keys/{}", made.is_success()["data"]["id"].as_str().unwrap());
    assert!(made.json["data"]["expiresAt"].is_string());
    server.http.delete(&path).await.unwrap().is_success();
    server.http.delete(&path).await.unwrap().is_success();
    server
        .http
        .delete("/admin/keys/01890000-0000-7000-8000-000000000000")
        .await
        .unwrap()
        .is_error(404, "Not Found");
    server.http.delete("/admin/keys/x").await.unwrap().is_error(400, "Bad Request: id: must be a UUID");
    let reply = server.http.post("/admin/keys", &json!({ "name": "", "scopes": [] })).await.unwrap();
    assert_eq!(reply.json["details"].as_array().unwrap().len(), 2, "{}", reply.text);
}
