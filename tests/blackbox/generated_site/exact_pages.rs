//! Exactly the expected pages, at any concurrency, on both stores.

use super::server::GeneratedSiteServer;
use super::{
    assert_expected_pages, fetch_ledger, fetch_pages, in_short_or_long, start_crawl, wait_for_end,
    whole_site_request,
};
use crate::scrape::{config, shared};
use crate::server::Server;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::generated_site::{DiscoveredBy, Expected};
use testkit::{TempDir, shared_database};

const MAX_CRAWL_DURATION: Duration = Duration::from_mins(3);
const DISCOVERIES: [DiscoveredBy; 3] = [DiscoveredBy::Link, DiscoveredBy::Sitemap, DiscoveredBy::Feed];

async fn check_crawls_return_the_expected_pages(server: &Server) {
    let site = GeneratedSiteServer::open(7, in_short_or_long(60, 120));
    let mut sets = Vec::new();
    for at_once in [1, 50] {
        let id = start_crawl(&server.http, &whole_site_request(&site.base, at_once)).await;
        let status = wait_for_end(&server.http, &id, MAX_CRAWL_DURATION).await;
        assert_eq!(status["status"], "completed", "{status}");
        let returned = fetch_pages(&server.http, &id, &site.base).await;
        assert_eq!(returned.len() as u64, status["completed"].as_u64().unwrap(), "{status}");
        assert_expected_pages(&site.site, &returned, &DISCOVERIES);
        let lines = fetch_ledger(&server.http, &id, &site.base).await;
        assert_eq!(lines.len() as u64, status["discovered"].as_u64().unwrap());
        assert_ledger_reasons(&site, &lines);
        sets.push(returned.into_iter().collect::<BTreeSet<_>>());
    }
    assert_eq!(sets[0], sets[1], "the same pages, endless places too, at any concurrency");
    assert_eq!(site.hits("/private/1"), 0, "robots rules are kept");
    assert_eq!(site.hits("/unloved"), 0, "nofollow links are not followed");
}

fn assert_ledger_reasons(
    site: &GeneratedSiteServer,
    lines: &std::collections::BTreeMap<String, (String, String)>,
) {
    for (address, known) in site.site.expected_urls() {
        let expected = match known.expected {
            Expected::Robots => ("skipped", "robots"),
            Expected::NoFollow => ("skipped", "nofollow"),
            Expected::NoText => ("skipped", "fileType"),
            Expected::OffSite | Expected::RedirectsAway => ("skipped", "offSite"),
            Expected::NotHttp => ("skipped", "notHttp"),
            Expected::HasCanonical => ("skipped", "canonical"),
            Expected::Error(_) | Expected::RedirectLoop => ("failed", "SCRAPE_SITE_ERROR"),
            Expected::Page | Expected::Redirects => continue,
        };
        let line = lines.get(address).unwrap_or_else(|| panic!("{address} is not in the ledger"));
        assert_eq!((line.0.as_str(), line.1.as_str()), expected, "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_expected_pages_on_sqlite() {
    let (_, server) = shared(&[]).await;
    check_crawls_return_the_expected_pages(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_expected_pages_on_postgresql() {
    let dir = TempDir::new();
    let server = config(&dir).set("database_url", &shared_database()).start().await;
    check_crawls_return_the_expected_pages(&server).await;
}

/// Whatever the limit, that many pages come, and always the same ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_exact_and_always_returns_the_same_pages() {
    let (_, server) = shared(&[]).await;
    let site = GeneratedSiteServer::open(3, 60);
    for limit in [1, 7, 40] {
        let mut sets = Vec::new();
        for at_once in [1, 32] {
            let mut request = whole_site_request(&site.base, at_once);
            request["limit"] = json!(limit);
            let id = start_crawl(&server.http, &request).await;
            let status = wait_for_end(&server.http, &id, MAX_CRAWL_DURATION).await;
            assert_eq!(
                (&status["status"], &status["completed"]),
                (&json!("completed"), &json!(limit)),
                "{status}"
            );
            sets.push(fetch_pages(&server.http, &id, &site.base).await.into_iter().collect::<BTreeSet<_>>());
        }
        assert_eq!(sets[0], sets[1], "limit {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_map_lists_the_expected_pages() {
    let (_, server) = shared(&[]).await;
    let site = GeneratedSiteServer::open(11, 40);
    let map = server
        .http
        .post("/v2/map", &json!({ "url": site.base, "ignoreQueryParameters": false }))
        .await
        .unwrap();
    let map = map.expect_success().clone();
    let listed: BTreeSet<String> = map["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| {
            testkit::generated_site::GeneratedSite::canonical_path(
                link["url"].as_str().unwrap().strip_prefix(&site.base).unwrap(),
            )
        })
        .collect();
    for page in site.site.expected_pages(&[DiscoveredBy::Sitemap, DiscoveredBy::Feed]) {
        assert!(listed.contains(page), "{page} is not on the map");
    }
    for (address, known) in site.site.expected_urls() {
        if matches!(known.expected, Expected::NoText | Expected::NotHttp | Expected::OffSite) {
            assert!(!listed.contains(address), "{address} is on the map");
        }
    }
}

/// Links that a script adds are followed where pages are rendered.
#[tokio::test(flavor = "multi_thread")]
async fn links_of_rendered_pages_are_followed() {
    let (_, server) = shared(&[]).await;
    let site = GeneratedSiteServer::open(5, 4);
    let request = json!({
        "url": format!("{}/app", site.base), "sitemap": "skip", "crawlEntireDomain": true, "includePaths": ["^/app$", "^/made/"],
        "scrapeOptions": { "formats": ["links"], "waitFor": 50, "maxAge": 0 },
    });
    let id = start_crawl(&server.http, &request).await;
    let status = wait_for_end(&server.http, &id, MAX_CRAWL_DURATION).await;
    let returned: BTreeSet<String> = fetch_pages(&server.http, &id, &site.base).await.into_iter().collect();
    let mut truth: BTreeSet<String> =
        site.site.expected_pages(&[DiscoveredBy::Script]).into_iter().map(str::to_owned).collect();
    truth.insert("/app".to_owned());
    assert_eq!(returned, truth, "{status}");
}
