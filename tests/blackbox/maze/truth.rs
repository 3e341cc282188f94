//! Exactly the true set, at any concurrency, on both stores.

use super::site::MazeSite;
use super::{are_true, ended, ledger, pages, start, whole};
use crate::scrape::recipe;
use crate::server::Recipe;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::site_maze::{Fate, Way};
use testkit::{TempDir, shared_database};

const PATIENCE: Duration = Duration::from_mins(3);
const WAYS: [Way; 3] = [Way::Link, Way::Sitemap, Way::Feed];

async fn crawls_give_the_true_pages(recipe: Recipe) {
    let server = recipe.start().await;
    let site = MazeSite::open(7, 120).await;
    let mut sets = Vec::new();
    for at_once in [1, 50] {
        let id = start(&server.http, &whole(&site.base, at_once)).await;
        let status = ended(&server.http, &id, PATIENCE).await;
        assert_eq!(status["status"], "completed", "{status}");
        let returned = pages(&server.http, &id, &site.base).await;
        assert_eq!(returned.len() as u64, status["completed"].as_u64().unwrap(), "{status}");
        are_true(&site.maze, &returned, &WAYS);
        let lines = ledger(&server.http, &id, &site.base).await;
        assert_eq!(lines.len() as u64, status["discovered"].as_u64().unwrap());
        accounted_for(&site, &lines);
        sets.push(returned.into_iter().collect::<BTreeSet<_>>());
    }
    assert_eq!(sets[0], sets[1], "the same pages, endless places too, at any concurrency");
    assert_eq!(site.asked("/private/1"), 0, "robots rules are kept");
    assert_eq!(site.asked("/unloved"), 0, "links that ask not to be followed are not");
}

fn accounted_for(site: &MazeSite, lines: &std::collections::BTreeMap<String, (String, String)>) {
    for (address, known) in site.maze.truth() {
        let expected = match known.fate {
            Fate::Robots => ("skipped", "robots"),
            Fate::NoFollow => ("skipped", "nofollow"),
            Fate::NoText => ("skipped", "fileType"),
            Fate::OffSite | Fate::RedirectsAway => ("skipped", "offSite"),
            Fate::NotHttp => ("skipped", "notHttp"),
            Fate::HasCanonical => ("skipped", "canonical"),
            Fate::Error(_) | Fate::RedirectLoop => ("failed", "SCRAPE_SITE_ERROR"),
            Fate::Page | Fate::Redirects => continue,
        };
        let line = lines.get(address).unwrap_or_else(|| panic!("{address} is not in the ledger"));
        assert_eq!((line.0.as_str(), line.1.as_str()), expected, "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_true_pages_on_sqlite() {
    let dir = TempDir::new();
    crawls_give_the_true_pages(recipe(&dir)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_true_pages_on_postgresql() {
    let dir = TempDir::new();
    crawls_give_the_true_pages(recipe(&dir).set("database_url", &shared_database())).await;
}

/// Whatever the limit, that many pages come, and always the same ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_exact_and_cuts_at_the_same_place() {
    let dir = TempDir::new();
    let server = recipe(&dir).start().await;
    let site = MazeSite::open(3, 60).await;
    for limit in [1, 7, 40] {
        let mut sets = Vec::new();
        for at_once in [1, 32] {
            let mut request = whole(&site.base, at_once);
            request["limit"] = json!(limit);
            let id = start(&server.http, &request).await;
            let status = ended(&server.http, &id, PATIENCE).await;
            assert_eq!(
                (&status["status"], &status["completed"]),
                (&json!("completed"), &json!(limit)),
                "{status}"
            );
            sets.push(pages(&server.http, &id, &site.base).await.into_iter().collect::<BTreeSet<_>>());
        }
        assert_eq!(sets[0], sets[1], "limit {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_map_of_the_maze_is_true() {
    let dir = TempDir::new();
    let server = recipe(&dir).start().await;
    let site = MazeSite::open(11, 40).await;
    let map = server
        .http
        .post("/v2/map", &json!({ "url": site.base, "ignoreQueryParameters": false }))
        .await
        .unwrap();
    let map = map.is_success().clone();
    let listed: BTreeSet<String> = map["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| {
            testkit::site_maze::Maze::page_of(link["url"].as_str().unwrap().strip_prefix(&site.base).unwrap())
        })
        .collect();
    for page in site.maze.pages(&[Way::Sitemap, Way::Feed]) {
        assert!(listed.contains(page), "{page} is not on the map");
    }
    for (address, known) in site.maze.truth() {
        if matches!(known.fate, Fate::NoText | Fate::NotHttp | Fate::OffSite) {
            assert!(!listed.contains(address), "{address} is on the map");
        }
    }
}

/// Links that a script adds are followed where pages are rendered.
#[tokio::test(flavor = "multi_thread")]
async fn links_of_rendered_pages_are_followed() {
    let dir = TempDir::new();
    let server = recipe(&dir).start().await;
    let site = MazeSite::open(5, 4).await;
    let request = json!({
        "url": format!("{}/app", site.base), "sitemap": "skip", "crawlEntireDomain": true, "includePaths": ["^/app$", "^/made/"],
        "scrapeOptions": { "formats": ["links"], "waitFor": 50, "maxAge": 0 },
    });
    let id = start(&server.http, &request).await;
    let status = ended(&server.http, &id, PATIENCE).await;
    let returned: BTreeSet<String> = pages(&server.http, &id, &site.base).await.into_iter().collect();
    let mut truth: BTreeSet<String> =
        site.maze.pages(&[Way::Script]).into_iter().map(str::to_owned).collect();
    truth.insert("/app".to_owned());
    assert_eq!(returned, truth, "{status}");
}
