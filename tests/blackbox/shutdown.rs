//! SIGTERM: nothing new is taken, what is open is finished or handed back, and it ends in bounded time.

use crate::crawl::site::CrawlSite;
use crate::crawl::{started_id, wait_for_end};
use crate::http::Http;
use crate::scrape::{config, scrape_as};
use crate::server::signal;
use crate::site::Site;
use serde_json::json;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// Waits until this many pages are being scraped.
async fn running(http: &Http, pages: u64) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let queue = http.get("/v2/team/queue-status").await.unwrap().expect_success().clone();
        if queue["activeJobsInQueue"] == pages {
            return;
        }
        assert!(Instant::now() < end, "not running: {queue}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Starts a batch of pages that do not answer before they are let go; its path.
async fn batch_of_held(http: &Http, site: &CrawlSite, pages: usize) -> String {
    let urls: Vec<String> = (1..=pages).map(|page| site.url(&format!("/held/{page}"))).collect();
    let id = started_id(&http.post("/v2/batch/scrape", &json!({ "urls": urls })).await.unwrap());
    format!("/v2/batch/scrape/{id}")
}

#[tokio::test]
async fn open_requests_finish_and_new_ones_are_not_taken() {
    let (dir, site) = (TempDir::new(), Site::start());
    let server = config(&dir).start().await;
    let (http, url) = (server.http.clone(), site.url("/slow?ms=2000"));
    let open = tokio::spawn(async move { scrape_as(&http, &url, json!({})).await });
    let end = Instant::now() + Duration::from_secs(20);
    while site.hits("/slow") == 0 {
        assert!(Instant::now() < end, "the page was not asked for");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    signal(server.pid(), "TERM");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let fresh = Http::new(&server.http.base, None);
    assert!(fresh.get("/health").await.is_err(), "took a new connection while stopping");
    open.await.unwrap().expect_success();
}

#[tokio::test]
async fn pages_that_cannot_finish_go_back_to_the_queue() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let config = config(&dir).set("shutdown_grace", "200ms").set("lease", "60m").set("workers", "2");
    let server = config.start().await;
    let path = batch_of_held(&server.http, &site, 4).await;
    running(&server.http, 2).await;
    let (code, took, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(8), "took {took:?}");
    // The leases would hold for an hour; what was handed back starts at once.
    let server = config.set("workers", "4").start().await;
    running(&server.http, 4).await;
    site.release(100);
    let status = wait_for_end(&server.http, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(4)), "{status}");
}

#[tokio::test]
async fn cancelling_stops_what_runs_and_what_waits() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let server = config(&dir).set("workers", "2").tiny_plan("credits = 50").start().await;
    let path = batch_of_held(&server.http, &site, 10).await;
    running(&server.http, 2).await;
    let cancelled = server.http.delete(&path).await.unwrap();
    assert_eq!((cancelled.status, &cancelled.json["status"]), (200, &json!("cancelled")));
    let began = Instant::now();
    let status = wait_for_end(&server.http, &path).await;
    assert!(began.elapsed() < Duration::from_secs(15), "took {:?}", began.elapsed());
    assert_eq!((&status["status"], &status["cancelled"]), (&json!("cancelled"), &json!(10)), "{status}");
    let usage = server.http.get("/v2/team/credit-usage").await.unwrap().expect_success()["data"].clone();
    assert_eq!(usage["remainingCredits"], usage["planCredits"], "reserved credits came back");
    running(&server.http, 0).await;
}
