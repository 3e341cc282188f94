//! `gannet serve --role`: who answers does not work, who works does not answer, and together they are one service. On PostgreSQL,
//! which several processes need.

use super::village::{PAGES, Village};
use super::{adds_up, ended, sources, standing};
use crate::scrape::recipe;
use crate::server::run;
use serde_json::json;
use std::time::Duration;
use testkit::{TempDir, shared_database};

#[tokio::test(flavor = "multi_thread")]
async fn one_process_answers_and_another_works() {
    let (dir, village) = (TempDir::new(), Village::start());
    let shared = recipe(&dir).set("database_url", &shared_database());
    let api = shared.clone().set("role", "api").start().await;
    let body = json!({ "url": village.url("/site/") });
    let id = api.http.post("/v2/crawl", &body).await.unwrap().is_success()["id"].as_str().unwrap().to_owned();
    let path = format!("/v2/crawl/{id}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let status = standing(&api.http, &path).await;
    assert_eq!(
        (&status["status"], &status["completed"]),
        (&json!("scraping"), &json!(0)),
        "nobody works: {status}"
    );

    let worker = shared.set("role", "worker").start().await;
    let status = ended(&api.http, &path).await;
    adds_up(&status);
    let mut found = sources(&status, &village);
    found.sort();
    let mut expected = PAGES.map(str::to_owned);
    expected.sort();
    assert_eq!((&status["status"], found), (&json!("completed"), expected.to_vec()), "{status}");
    worker.http.get(&path).await.unwrap().is_error(404, "Not Found");
    worker.http.post("/v2/crawl", &body).await.unwrap().is_error(404, "Not Found");
    assert_eq!(worker.http.get("/health").await.unwrap().status, 200);
}

#[tokio::test]
async fn on_sqlite_one_process_does_everything() {
    let dir = TempDir::new();
    for role in ["api", "worker"] {
        let (code, _, told) =
            run(recipe(&dir).command(&["serve", "--role", role, "--listen", "127.0.0.1:0"]));
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("PostgreSQL"), "{told}");
    }
}
