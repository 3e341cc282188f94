//! The audit log: what is done to keys, sign-ins and settings, by whom and from where; as a list, as a file and on the
//! command line. Strangers cannot fill it, and no secret is in it.

use crate::http::Http;
use crate::server::{KEY, Server, ServerConfig, run, start_own};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::TempDir;

async fn rows(http: &Http, query: &str) -> Vec<Value> {
    let answer = http.get(&format!("/admin/audit{query}")).await.unwrap();
    answer.expect_success()["data"].as_array().unwrap().clone()
}

fn actions(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["action"].as_str().unwrap()).collect()
}

async fn sign_in(server: &Server, key: &str) -> (u16, String) {
    let http = server.http.with_key(None);
    let request = http.request(Method::POST, "/admin/sign-in").header("origin", &http.base);
    let answer = http.send(request.json(&json!({ "key": key }))).await.unwrap();
    (answer.status, answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_is_done_stands_there_with_who_did_it_and_from_where() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path()).set("egress_allow", "scrape=127.0.0.0/8");
    let server = config.start().await;
    let http = &server.http;
    let (status, cookie) = sign_in(&server, KEY).await;
    assert_eq!(status, 200);
    let as_page = http.with_key(None);
    let request =
        as_page.request(Method::POST, "/admin/keys").header("origin", &http.base).header("cookie", &cookie);
    let made = as_page.send(request.json(&json!({ "name": "=ci", "scopes": ["map"] }))).await.unwrap();
    let (secret, id) =
        (made.expect_success()["key"].as_str().unwrap(), made.json["data"]["id"].as_str().unwrap());
    http.post("/v2/team/webhook-secret/rotate", &json!({})).await.unwrap().expect_success();
    let monitor = json!({
        "name": "prices", "schedule": { "cron": "0 3 1 1 *" }, "goal": "prices",
        "targets": [{ "type": "scrape", "urls": ["http://127.0.0.1:8/"] }],
        "webhook": { "url": "https://hooks.example/secret-path" },
    });
    let monitor = http.post("/v2/monitor", &monitor).await.unwrap();
    let monitor = monitor.expect_success()["data"]["id"].as_str().unwrap().to_owned();
    http.delete(&format!("/v2/monitor/{monitor}")).await.unwrap().expect_success();
    let (code, ..) = run(config.command(&["keys", "revoke", id]));
    assert_eq!(code, Some(0));

    let all = rows(http, "").await;
    let told = [
        "key.revoked",
        "monitor.deleted",
        "monitor.created",
        "webhook_secret.rotated",
        "key.created",
        "sign_in.started",
    ];
    assert_eq!(actions(&all)[..6], told, "newest first: {all:?}");
    let created = &all[4];
    assert_eq!(created["actor"]["kind"], "sign_in");
    assert_eq!((&created["actor"]["name"], &created["address"]), (&json!("first"), &json!("127.0.0.1")));
    assert_eq!((&created["subject"], &created["details"]["scopes"]), (&json!(id), &json!(["map"])));
    assert_eq!((&all[0]["actor"]["kind"], &all[0]["address"]), (&json!("command_line"), &Value::Null));
    assert_eq!(all[2]["details"], json!({ "name": "prices", "webhookHost": "hooks.example" }));
    let text = serde_json::to_string(&all).unwrap();
    for secret in [secret, KEY, cookie.split('=').nth(1).unwrap(), "secret-path"] {
        assert!(!text.contains(secret), "a secret is in the audit log");
    }

    // Page by page, and what is asked for alone.
    let mut paged = Vec::new();
    let mut query = "?limit=4".to_owned();
    loop {
        let page = http.get(&format!("/admin/audit{query}")).await.unwrap();
        paged.extend(page.expect_success()["data"].as_array().unwrap().clone());
        let Some(cursor) = page.json["cursor"].as_str() else { break };
        query = format!("?limit=4&cursor={cursor}");
    }
    assert_eq!(paged, all);
    assert_eq!(actions(&rows(http, &format!("?id={id}")).await), ["key.revoked", "key.created"]);
    assert_eq!(actions(&rows(http, "?action=key.revoked").await), ["key.revoked"]);
    assert!(rows(http, "?action=key").await.len() >= 3);
    assert_eq!(rows(http, "?from=2020-01-01&until=2020-01-02T00:00:00Z").await.len(), 0);
    for (query, field) in [("action=fly", "action"), ("from=yesterday", "from"), ("limit=501", "limit")] {
        let refused = http.get(&format!("/admin/audit?{query}")).await.unwrap();
        assert!(refused.status == 400 && refused.text.contains(field), "{query}: {}", refused.text);
    }
    assert_eq!(http.with_key(Some(secret)).get("/admin/audit").await.unwrap().status, 401);

    // As a file.
    let lines = http.get("/admin/audit/export").await.unwrap();
    let lines: Vec<Value> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, all);
    let csv = http.get("/admin/audit/export?format=csv&action=key.created").await.unwrap();
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert!(
        csv.text.starts_with("createdAt,action,") && csv.text.contains("\"sign_in\",\"first\""),
        "{}",
        csv.text
    );
    let (code, printed, _) = run(config.command(&["audit", "--action", "key.revoked"]));
    assert!(
        code == Some(0) && printed.lines().count() == 1 && printed.contains("the command line"),
        "{printed}"
    );
    let (_, printed, _) = run(config.command(&["audit", "--limit", "0", "--json"]));
    let printed: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(printed, all);
}

#[tokio::test]
async fn strangers_cannot_fill_it() {
    let (_dir, server) = start_own().await;
    for number in 0..12 {
        assert_eq!(sign_in(&server, &format!("gn-wrong-{number}-0123456789abcdef")).await.0, 401);
        let wrong = server.http.with_key(Some("gn-wrong-0123456789abcdef"));
        assert_eq!(wrong.get("/v2/concurrency-check").await.unwrap().status, 401);
    }
    let failed = rows(&server.http, "?action=sign_in.failed").await;
    assert_eq!(failed.len(), 5, "{failed:?}");
    assert!(
        failed[0]["details"]["furtherNotRecorded"].is_string() && failed[0]["actor"]["kind"] == "unknown"
    );
    assert!(failed[1]["details"].get("furtherNotRecorded").is_none());
    // Nor does a person who signs in all the time.
    for _ in 0..22 {
        assert_eq!(sign_in(&server, KEY).await.0, 200);
    }
    assert_eq!(rows(&server.http, "?action=sign_in.started").await.len(), 20);
}
