//! The last credit, the last place in the queue, the last rate token and the last browser, raced for by many callers
//! over HTTP: never one too many, with one server on SQLite and with two on one PostgreSQL.

use crate::crawl::site::CrawlSite;
use crate::scrape::config;
use crate::server::{Server, wait_for_browsers_in_use};
use crate::site::Site;
use serde_json::json;
use testkit::{TempDir, shared_database};
use tokio::task::JoinSet;

const CALLERS: usize = 64;
/// Far fewer credits and places than callers. Each start takes a token of `crawl`.
const CREDITS: &str = "credits = 40\nrates = { status = 1000, crawl = 200 }";
const BROWSERS: &str = "concurrency = 2\nrates = { status = 1000, scrape = 1000 }";
const PLACES: &str = "queue = 20\nrates = { status = 1000, crawl = 1000 }";

/// How many of the callers were accepted, could not pay, and were too many.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    accepted: usize,
    unpaid: usize,
    too_many: usize,
}

/// All callers at once, spread over the servers, each with a batch of one page that does not answer.
async fn race(servers: &[Server], site: &CrawlSite) -> Outcome {
    let mut racing = JoinSet::new();
    for caller in 0..CALLERS {
        let http = servers[caller % servers.len()].http.clone();
        let body = json!({ "urls": [site.url(&format!("/held/{caller}"))] });
        racing.spawn(async move { http.post("/v2/batch/scrape", &body).await.unwrap().status });
    }
    let statuses = racing.join_all().await;
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    Outcome { accepted: count(200), unpaid: count(402), too_many: count(429) }
}

/// 40 credits for 64 callers who want one each; then 200 starts a minute, of which each race takes 64.
async fn no_credit_or_token_is_oversold(servers: &[Server]) {
    let site = CrawlSite::start();
    let outcome = race(servers, &site).await;
    assert_eq!(outcome, Outcome { accepted: 40, unpaid: 24, too_many: 0 }, "credits");
    let usage = servers[0].http.get("/v2/team/credit-usage").await.unwrap();
    assert_eq!(usage.expect_success()["data"]["remainingCredits"], 0);
    for unpaid in [64, 64, 8] {
        let outcome = race(servers, &site).await;
        assert_eq!(outcome, Outcome { accepted: 0, unpaid, too_many: CALLERS - unpaid }, "tokens");
    }
}

/// Nobody works, so that what was accepted stays in the queue.
async fn no_place_in_the_queue_is_oversold(servers: &[Server]) {
    let site = CrawlSite::start();
    let outcome = race(servers, &site).await;
    assert_eq!(outcome, Outcome { accepted: 20, unpaid: 0, too_many: 44 }, "places");
    let queue = servers[0].http.get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["waitingJobsInQueue"], 20);
}

/// Two browsers, which their pages hold until all other callers have had their response.
async fn no_browser_is_oversold(servers: &[Server]) {
    let site = Site::start();
    let mut racing = JoinSet::new();
    for caller in 0..CALLERS {
        let http = servers[caller % servers.len()].http.clone();
        // Each its own page: requests for the same one would share one visit.
        let url = site.url(&format!("/page/{caller}"));
        let body = json!({ "url": url, "waitFor": 15_000, "timeout": 60_000, "maxAge": 0 });
        racing.spawn(async move { http.post("/v2/scrape", &body).await.unwrap().status });
    }
    let statuses = racing.join_all().await;
    let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(200), count(429)), (2, CALLERS - 2), "{statuses:?}");
    wait_for_browsers_in_use(&servers[0].http, 0).await;
}

#[tokio::test]
async fn one_server_on_sqlite_never_oversells() {
    let (dir, other) = (TempDir::new(), TempDir::new());
    no_credit_or_token_is_oversold(&[config(&dir).tiny_plan(CREDITS).start().await]).await;
    let server = config(&other).tiny_plan(PLACES).set("workers", "0").start().await;
    no_place_in_the_queue_is_oversold(&[server]).await;
    let browsers = TempDir::new();
    no_browser_is_oversold(&[config(&browsers).tiny_plan(BROWSERS).start().await]).await;
}

#[tokio::test]
async fn two_servers_on_one_postgresql_never_oversell() {
    for (plan, workers) in [(CREDITS, "32"), (PLACES, "0"), (BROWSERS, "32")] {
        let (url, first, second) = (shared_database(), TempDir::new(), TempDir::new());
        let start = async |dir: &TempDir| {
            config(dir).tiny_plan(plan).set("workers", workers).set("database_url", &url).start().await
        };
        let servers = [start(&first).await, start(&second).await];
        match plan {
            CREDITS => no_credit_or_token_is_oversold(&servers).await,
            PLACES => no_place_in_the_queue_is_oversold(&servers).await,
            _ => no_browser_is_oversold(&servers).await,
        }
    }
}
