//! Crawls of a made-up site whose truth is known: exactly its pages come back, whoever crawls it, and every address is accounted for.

mod kill;
mod site;
mod trouble;
mod truth;

use crate::http::Http;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use testkit::site_maze::Maze;

/// Starts a crawl; its id.
pub async fn start(http: &Http, request: &Value) -> String {
    let started = http.post("/v2/crawl", request).await.unwrap();
    started.is_success()["id"].as_str().unwrap().to_owned()
}

/// What every answer about a crawl must hold.
#[track_caller]
pub fn adds_up(status: &Value) {
    let of = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"));
    assert_eq!(
        of("completed") + of("failed") + of("skipped") + of("queued") + of("cancelled"),
        of("discovered"),
        "{status}"
    );
    assert_eq!(of("total"), of("discovered") - of("skipped"), "{status}");
    assert_eq!(of("creditsUsed"), of("completed"), "{status}");
}

/// Polls a crawl to its end; its last status without documents.
pub async fn ended(http: &Http, id: &str, patience: Duration) -> Value {
    let end = Instant::now() + patience;
    loop {
        let status = http.get(&format!("/v2/crawl/{id}?limit=1")).await.unwrap().json;
        adds_up(&status);
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < end, "still at it: {:.600}", status.to_string());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Everything a crawl returned: pages of the maze by the address they were had at.
pub async fn pages(http: &Http, id: &str, base: &str) -> Vec<String> {
    let mut next = format!("/v2/crawl/{id}?limit=500");
    let mut pages = Vec::new();
    loop {
        let status = http.get(&next).await.unwrap().json;
        for document in status["data"].as_array().unwrap() {
            let url = document["metadata"]["url"].as_str().unwrap();
            pages.push(Maze::page_of(
                url.strip_prefix(base).unwrap_or_else(|| panic!("{url} is not of the maze")),
            ));
        }
        match status["next"].as_str() {
            Some(url) => next = url.strip_prefix(&http.base).unwrap().to_owned(),
            None => return pages,
        }
    }
}

/// The ledger: addresses with state and reason.
pub async fn ledger(http: &Http, id: &str, base: &str) -> BTreeMap<String, (String, String)> {
    let mut lines = BTreeMap::new();
    let mut next = format!("/v2/crawl/{id}/ledger?limit=1000");
    loop {
        let page = http.get(&next).await.unwrap();
        let page = page.is_success().clone();
        for line in page["data"].as_array().unwrap() {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let url = text("url");
            let known = lines
                .insert(url.strip_prefix(base).unwrap_or(&url).to_owned(), (text("state"), text("reason")));
            assert_eq!(known, None, "{url} twice in the ledger");
        }
        match page["next"].as_str() {
            Some(url) => next = url.strip_prefix(&http.base).unwrap_or(url).to_owned(),
            None => return lines,
        }
    }
}

/// The same pages, once each, and few enough of the places without an end.
#[track_caller]
pub fn are_true(maze: &Maze, returned: &[String], ways: &[testkit::site_maze::Way]) {
    use testkit::site_maze::ENDLESS;
    let (endless, pages): (Vec<_>, Vec<_>) =
        returned.iter().map(String::as_str).partition(|page| Maze::endless(page).is_some());
    let once: BTreeSet<&str> = pages.iter().copied().collect();
    assert_eq!(pages.len(), once.len(), "no page twice");
    let truth = maze.pages(ways);
    let missing: Vec<_> = truth.difference(&once).collect();
    let wrong: Vec<_> = once.difference(&truth).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?}");
    for place in &ENDLESS {
        let count = endless.iter().filter(|page| Maze::endless(page) == Some(place)).count();
        assert!((1..=place.most).contains(&count), "{count} pages of {}", place.prefix);
    }
}

/// A crawl of the whole maze.
pub fn whole(base: &str, at_once: u32) -> Value {
    json!({
        "url": base, "maxConcurrency": at_once, "limit": 5_000,
        "scrapeOptions": { "formats": ["links"], "fastMode": true, "maxAge": 0, "storeInCache": false },
    })
}
