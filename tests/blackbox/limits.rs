//! The last credit, the last rate token and the last browser, raced for by 64 callers over HTTP: never
//! one too many, with one server on SQLite and with two on one PostgreSQL.

use crate::server::{Recipe, Server, browsers_in_use};
use serde_json::{Value, json};
use testkit::{TempDir, shared_database};
use tokio::task::JoinSet;

const CALLERS: usize = 64;

const PLAN: &str = "credits = 40\nconcurrency = 3\nrates = { status = 1000, crawl = 200, map = 5 }";

/// All callers at once, spread over the servers; how many were accepted, could not pay, were too many.
async fn race(servers: &[Server], body: &Value) -> (usize, usize, usize) {
    let statuses = race_all(servers, body).await;
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    (count(200), count(402), count(429))
}

async fn race_all(servers: &[Server], body: &Value) -> Vec<u16> {
    let mut racing = JoinSet::new();
    for caller in 0..CALLERS {
        let (http, body) = (servers[caller % servers.len()].http.clone(), body.clone());
        racing.spawn(async move { http.post("/admin/drills", &body).await.unwrap().status });
    }
    racing.join_all().await
}

async fn nothing_is_oversold(servers: &[Server]) {
    let http = &servers[0].http;
    // 40 credits, 64 callers who want one each.
    let credits = race(servers, &json!({ "steps": 1, "creditsPerStep": 1 })).await;
    assert_eq!(credits, (40, 24, 0), "credits");
    let left =
        http.get("/v2/team/credit-usage").await.unwrap().is_success()["data"]["remainingCredits"].clone();
    assert_eq!(left, 0);
    // Three browsers, each held until the rest of the race is over.
    let hold = json!({ "steps": 1, "stepMillis": 60_000, "browser": true, "wait": true, "timeout": 8000 });
    let mut statuses = race_all(servers, &hold).await;
    statuses.sort_unstable();
    assert_eq!((&statuses[..4], statuses.len()), (&[408, 408, 408, 429][..], CALLERS), "browsers");
    // 200 starts a minute, of which 128 are gone: 64 more pass, then the last 8 of 64.
    assert_eq!(race(servers, &json!({ "steps": 1 })).await, (64, 0, 0), "tokens");
    assert_eq!(race(servers, &json!({ "steps": 1 })).await, (8, 0, 56), "the last tokens");
    browsers_in_use(http, 0).await;
}

#[tokio::test]
async fn one_server_on_sqlite_never_oversells() {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).tiny_plan(PLAN).start().await;
    nothing_is_oversold(&[server]).await;
}

#[tokio::test]
async fn two_servers_on_one_postgresql_never_oversell() {
    let url = shared_database();
    let (first, second) = (TempDir::new(), TempDir::new());
    let start =
        async |dir: &TempDir| Recipe::at(dir.path()).tiny_plan(PLAN).set("database_url", &url).start().await;
    let servers = [start(&first).await, start(&second).await];
    nothing_is_oversold(&servers).await;
}
