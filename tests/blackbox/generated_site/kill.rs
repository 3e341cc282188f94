//! `kill -9` at random moments of crawls: every crawl ends, no page twice, none missing.
//!
//! A short run here, hundreds of kills with `GANNET_TEST_SOAK=1`.

use super::server::GeneratedSiteServer;
use super::{
    assert_counts_add_up, assert_expected_pages, fetch_pages, in_short_or_long, start_crawl, wait_for_end,
    whole_site_request,
};
use crate::scrape::config;
use crate::server::{Server, ServerConfig};
use std::time::Duration;
use testkit::generated_site::DiscoveredBy;
use testkit::{TempDir, shared_database};

const MAX_CRAWL_DURATION: Duration = Duration::from_mins(5);
const DISCOVERIES: [DiscoveredBy; 3] = [DiscoveredBy::Link, DiscoveredBy::Sitemap, DiscoveredBy::Feed];

/// Kills one server after another in the middle of crawls; the next one continues them.
async fn kill_servers_during_crawls(config: ServerConfig, kills: u32) {
    let config = config.set("lease", "2s");
    let site = GeneratedSiteServer::open(21, in_short_or_long(30, 60));
    let mut crawls = Vec::new();
    for round in 0..kills {
        let server = config.start().await;
        // Most kills hit crawls that were hit before.
        if crawls.len() < 4 || round % 4 == 0 {
            crawls.push(start_crawl(&server.http, &whole_site_request(&site.base, 4 + round % 13)).await);
        }
        for id in &crawls {
            assert_counts_add_up(&server.http.get(&format!("/v2/crawl/{id}?limit=1")).await.unwrap().json);
        }
        // Early and late in a crawl, and while another is being resumed.
        tokio::time::sleep(Duration::from_millis(u64::from(round * 137 % 900))).await;
        server.kill();
    }
    let server = config.start().await;
    assert_crawls_are_complete(&server, &site, &crawls).await;
}

async fn assert_crawls_are_complete(server: &Server, site: &GeneratedSiteServer, crawls: &[String]) {
    for id in crawls {
        let status = wait_for_end(&server.http, id, MAX_CRAWL_DURATION).await;
        assert_eq!(status["status"], "completed", "{status}");
        let returned = fetch_pages(&server.http, id, &site.base).await;
        assert_eq!(returned.len() as u64, status["completed"].as_u64().unwrap(), "{status}");
        assert_expected_pages(&site.site, &returned, &DISCOVERIES);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_survive_kills_on_sqlite() {
    let dir = TempDir::new();
    kill_servers_during_crawls(config(&dir), in_short_or_long(3, 100)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_survive_kills_on_postgresql() {
    let dir = TempDir::new();
    kill_servers_during_crawls(
        config(&dir).set("database_url", &shared_database()),
        in_short_or_long(2, 100),
    )
    .await;
}

/// Several processes share crawls; any of them may be killed.
#[tokio::test(flavor = "multi_thread")]
async fn processes_share_crawls_and_any_may_be_killed() {
    let dir = TempDir::new();
    let shared = config(&dir).set("database_url", &shared_database()).set("lease", "2s");
    let site = GeneratedSiteServer::open(33, in_short_or_long(40, 80));
    let keeper = shared.start().await;
    let mut crawls = Vec::new();
    for round in 0..in_short_or_long(2_u32, 50) {
        let others = [shared.start().await, shared.start().await];
        if crawls.len() < 3 || round % 4 == 0 {
            crawls.push(start_crawl(&others[0].http, &whole_site_request(&site.base, 20)).await);
        }
        tokio::time::sleep(Duration::from_millis(u64::from(100 + round * 211 % 700))).await;
        for other in others {
            other.kill();
        }
    }
    assert_crawls_are_complete(&keeper, &site, &crawls).await;
}
