//! `kill -9` at random moments of crawls: every crawl ends, no page twice, none missing.
//!
//! Short here, hundreds of kills with `GANNET_TEST_SOAK=1`.

use super::site::MazeSite;
use super::{adds_up, are_true, ended, pages, start, whole};
use crate::scrape::recipe;
use crate::server::{Recipe, Server};
use std::time::Duration;
use testkit::site_maze::Way;
use testkit::{TempDir, shared_database};

const PATIENCE: Duration = Duration::from_mins(5);
const WAYS: [Way; 3] = [Way::Link, Way::Sitemap, Way::Feed];

fn kills(short: u32, long: u32) -> u32 {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// One after another, a server is killed in the midst of crawls and another goes on.
async fn survive(recipe: Recipe, kills: u32) {
    let recipe = recipe.set("lease", "2s");
    let site = MazeSite::open(21, 60).await;
    let mut crawls = Vec::new();
    for round in 0..kills {
        let server = recipe.start().await;
        // Most kills hit crawls that were hit before.
        if crawls.len() < 4 || round % 4 == 0 {
            crawls.push(start(&server.http, &whole(&site.base, 4 + round % 13)).await);
        }
        for id in &crawls {
            adds_up(&server.http.get(&format!("/v2/crawl/{id}?limit=1")).await.unwrap().json);
        }
        // Early and late in a crawl, and while another is taken up again.
        tokio::time::sleep(Duration::from_millis(u64::from(round * 137 % 900))).await;
        server.kill();
    }
    let server = recipe.start().await;
    all_true(&server, &site, &crawls).await;
}

async fn all_true(server: &Server, site: &MazeSite, crawls: &[String]) {
    for id in crawls {
        let status = ended(&server.http, id, PATIENCE).await;
        assert_eq!(status["status"], "completed", "{status}");
        let returned = pages(&server.http, id, &site.base).await;
        assert_eq!(returned.len() as u64, status["completed"].as_u64().unwrap(), "{status}");
        are_true(&site.maze, &returned, &WAYS);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_survive_their_server_on_sqlite() {
    let dir = TempDir::new();
    survive(recipe(&dir), kills(4, 100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_survive_their_server_on_postgresql() {
    let dir = TempDir::new();
    survive(recipe(&dir).set("database_url", &shared_database()), kills(3, 100)).await;
}

/// Several processes share crawls; any of them may die.
#[tokio::test(flavor = "multi_thread")]
async fn processes_share_crawls_and_any_may_die() {
    let dir = TempDir::new();
    let shared = recipe(&dir).set("database_url", &shared_database()).set("lease", "2s");
    let site = MazeSite::open(33, 80).await;
    let keeper = shared.start().await;
    let mut crawls = Vec::new();
    for round in 0..kills(3, 50) {
        let others = [shared.start().await, shared.start().await];
        if crawls.len() < 3 || round % 4 == 0 {
            crawls.push(start(&others[0].http, &whole(&site.base, 20)).await);
        }
        tokio::time::sleep(Duration::from_millis(u64::from(100 + round * 211 % 700))).await;
        for other in others {
            other.kill();
        }
    }
    all_true(&keeper, &site, &crawls).await;
}
