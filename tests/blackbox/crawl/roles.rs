//! `gannet serve --role`: an API process does not work, a worker does not respond, and together they are one
//! service. On PostgreSQL, which several processes need.

use super::site::{CrawlSite, PAGES};
use super::{assert_counts_add_up, fetch_status, sources, wait_for_end};
use crate::scrape::config;
use crate::server::run;
use serde_json::json;
use std::time::Duration;
use testkit::{TempDir, shared_database};

#[tokio::test(flavor = "multi_thread")]
async fn an_api_process_and_a_worker_process_are_one_service() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let shared = config(&dir).set("database_url", &shared_database());
    let api = shared.clone().set("role", "api").start().await;
    let body = json!({ "url": site.url("/site/") });
    let id =
        api.http.post("/v2/crawl", &body).await.unwrap().expect_success()["id"].as_str().unwrap().to_owned();
    let path = format!("/v2/crawl/{id}");
    // Time for a page that nobody should work on.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let status = fetch_status(&api.http, &path).await;
    assert_eq!(
        (&status["status"], &status["completed"]),
        (&json!("scraping"), &json!(0)),
        "there is no worker: {status}"
    );

    let worker = shared.set("role", "worker").start().await;
    let status = wait_for_end(&api.http, &path).await;
    assert_counts_add_up(&status);
    let mut found = sources(&status, &site);
    found.sort();
    let mut expected = PAGES.map(str::to_owned);
    expected.sort();
    assert_eq!((&status["status"], found), (&json!("completed"), expected.to_vec()), "{status}");
    worker.http.get(&path).await.unwrap().expect_error(404, "Not Found");
    worker.http.post("/v2/crawl", &body).await.unwrap().expect_error(404, "Not Found");
    assert_eq!(worker.http.get("/health").await.unwrap().status, 200);
}

#[tokio::test]
async fn on_sqlite_one_process_does_everything() {
    let dir = TempDir::new();
    for role in ["api", "worker"] {
        let (code, _, printed) =
            run(config(&dir).command(&["serve", "--role", role, "--listen", "127.0.0.1:0"]));
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains("PostgreSQL"), "{printed}");
    }
}
