//! Crawls of a generated site for which the correct result is known: exactly the expected pages come back,
//! however it is crawled, and every URL is accounted for.

mod broken_sites;
mod exact_pages;
mod kill;
mod server;

use crate::http::Http;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use testkit::generated_site::GeneratedSite;

/// One of two numbers: for `make test`, or for `make soak`.
pub fn in_short_or_long<T>(short: T, long: T) -> T {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// Starts a crawl and returns its ID.
pub async fn start_crawl(http: &Http, request: &Value) -> String {
    let started = http.post("/v2/crawl", request).await.unwrap();
    started.expect_success()["id"].as_str().unwrap().to_owned()
}

/// Asserts what every status of a crawl must satisfy.
#[track_caller]
pub fn assert_counts_add_up(status: &Value) {
    let of = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"));
    assert_eq!(
        of("completed") + of("failed") + of("skipped") + of("queued") + of("cancelled"),
        of("discovered"),
        "{status}"
    );
    // While it runs, `total` does not count what the limit will leave out.
    let kept = of("discovered") - of("skipped");
    assert!(of("total") == kept || status["status"] == "scraping" && of("total") < kept, "{status}");
    assert_eq!(of("creditsUsed"), of("completed"), "{status}");
}

/// Polls a crawl until it ends and returns its last status, without documents.
pub async fn wait_for_end(http: &Http, id: &str, max_wait: Duration) -> Value {
    let end = Instant::now() + max_wait;
    loop {
        let status = http.get(&format!("/v2/crawl/{id}?limit=1")).await.unwrap().json;
        assert_counts_add_up(&status);
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < end, "still at it: {:.600}", status.to_string());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Every page a crawl returned, as a canonical path of the site.
pub async fn fetch_pages(http: &Http, id: &str, base: &str) -> Vec<String> {
    let mut next = format!("/v2/crawl/{id}?limit=500");
    let mut pages = Vec::new();
    loop {
        let status = http.get(&next).await.unwrap().json;
        for document in status["data"].as_array().unwrap() {
            let url = document["metadata"]["url"].as_str().unwrap();
            pages.push(GeneratedSite::canonical_path(
                url.strip_prefix(base).unwrap_or_else(|| panic!("{url} is not of the site")),
            ));
        }
        match status["next"].as_str() {
            Some(url) => next = url.strip_prefix(&http.base).unwrap().to_owned(),
            None => return pages,
        }
    }
}

/// The ledger: URLs with state and reason.
pub async fn fetch_ledger(http: &Http, id: &str, base: &str) -> BTreeMap<String, (String, String)> {
    let mut lines = BTreeMap::new();
    let mut next = format!("/v2/crawl/{id}/ledger?limit=1000");
    loop {
        let page = http.get(&next).await.unwrap();
        let page = page.expect_success().clone();
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

/// Asserts that exactly the expected pages were returned, once each, and few enough pages of each crawler
/// trap.
#[track_caller]
pub fn assert_expected_pages(
    site: &GeneratedSite,
    returned: &[String],
    discoveries: &[testkit::generated_site::DiscoveredBy],
) {
    use testkit::generated_site::TRAPS;
    let (endless, pages): (Vec<_>, Vec<_>) =
        returned.iter().map(String::as_str).partition(|page| GeneratedSite::trap_of(page).is_some());
    let once: BTreeSet<&str> = pages.iter().copied().collect();
    assert_eq!(pages.len(), once.len(), "no page twice");
    let truth = site.expected_pages(discoveries);
    let missing: Vec<_> = truth.difference(&once).collect();
    let wrong: Vec<_> = once.difference(&truth).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?}");
    for place in &TRAPS {
        let count = endless.iter().filter(|page| GeneratedSite::trap_of(page) == Some(place)).count();
        assert!((1..=place.max_pages).contains(&count), "{count} pages of {}", place.prefix);
    }
}

/// A crawl of the whole site.
pub fn whole_site_request(base: &str, at_once: u32) -> Value {
    json!({
        "url": base, "maxConcurrency": at_once, "limit": 5_000,
        "scrapeOptions": { "formats": ["links"], "fastMode": true, "maxAge": 0, "storeInCache": false },
    })
}
