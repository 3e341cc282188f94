//! The status of crawls: counts, documents page by page, errors, the ledger, the list of active crawls,
//! cancelling.

use super::site::{BROKEN, FULL_PAGE_LINKS, HELD_PAGES, LARGE_PAGES, PAGES, SKIPPED};
use super::{CrawlFixture, empty, fetch_status, sources, unknown_crawl, wait_for_end, wait_until_count};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[tokio::test]
async fn every_url_of_a_crawl_is_accounted_for() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/site/", json!({ "limit": 50 })).await;
    let path = format!("/v2/crawl/{id}");
    let status = wait_for_end(fixture.http(), &path).await;
    assert_eq!((&status["success"], &status["status"]), (&json!(true), &json!("completed")), "{status}");
    let mut found = sources(&status, &fixture.site);
    assert_eq!(found.first().map(String::as_str), Some("/site/"), "the start comes first");
    found.sort();
    let mut expected = PAGES.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    for document in status["data"].as_array().unwrap() {
        let place =
            document["metadata"]["sourceURL"].as_str().unwrap().replace(&fixture.site.server.base, "");
        let word = format!("word{}word", place.replace('/', "-"));
        assert!(document["markdown"].as_str().unwrap().contains(&word), "{place}: {document}");
        assert_eq!(document["metadata"]["statusCode"], 200);
    }
    for (name, number) in [("completed", 4), ("failed", 1), ("skipped", 4), ("discovered", 9), ("total", 5)] {
        assert_eq!(status[name], number, "{name}: {status}");
    }
    assert_eq!(status["creditsUsed"], 4);
    assert!(status["completedAt"].is_string() && status["duration"].as_f64().unwrap() >= 0.0, "{status}");
    assert!(status["warning"].as_str().unwrap().contains("robots.txt"), "{status}");
    assert_eq!(status["next"], Value::Null);

    let errors = fixture.http().get(&format!("{path}/errors")).await.unwrap().json;
    let error = &errors["errors"][0];
    assert_eq!(error["url"], fixture.site.url(BROKEN), "{errors}");
    assert_eq!(
        (&error["code"], errors["errors"].as_array().unwrap().len()),
        (&json!("SCRAPE_SITE_ERROR"), 1)
    );
    assert!(error["error"].as_str().unwrap().contains("404") && error["id"].is_string(), "{error}");
    assert!(error["timestamp"].is_string(), "{error}");
    assert_eq!(errors["robotsBlocked"], json!([fixture.site.url(SKIPPED[0].0)]));

    let activity = fixture.http().get("/v2/team/activity").await.unwrap();
    let entry = &activity.expect_success()["data"][0];
    assert_eq!((&entry["endpoint"], &entry["target"]), (&json!("crawl"), &fixture.site.url("/site/").into()));
    assert_eq!(entry["id"], id);
}

#[tokio::test]
async fn every_link_of_a_page_with_a_thousand_links_is_recorded() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/full/", json!({ "limit": 1 })).await;
    let status = wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    let numbers = ["completed", "creditsUsed"].map(|name| status[name].as_u64().unwrap());
    assert_eq!((&status["status"], numbers), (&json!("completed"), [1, 1]), "{status}");
    let ledger = crate::generated_site::fetch_ledger(fixture.http(), &id, &fixture.site.server.base).await;
    let of_page = ledger.keys().filter(|place| place.starts_with("/full/to/")).count();
    assert_eq!((of_page, &ledger["/full/"].0), (FULL_PAGE_LINKS, &"completed".to_owned()));
}

#[tokio::test]
async fn links_of_a_further_page_are_followed_though_it_is_skipped() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/copies/", json!({ "limit": 2, "crawlEntireDomain": true })).await;
    let status = wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    let ledger = crate::generated_site::fetch_ledger(fixture.http(), &id, &fixture.site.server.base).await;
    let (state, reason) = &ledger["/full/copy"];
    assert_eq!((state.as_str(), reason.as_str()), ("skipped", "canonical"), "{status}");
    assert_eq!(ledger["/copies/one"].0, "completed");
    let of_copy = ledger.keys().filter(|place| place.starts_with("/full/of-copy/")).count();
    assert_eq!(of_copy, FULL_PAGE_LINKS, "in several parts, each of which knows that the page is left out");
}

#[tokio::test]
async fn the_ledger_has_every_url_with_its_reason() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/site/", empty()).await;
    wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    let mut lines: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut next = Some(format!("/v2/crawl/{id}/ledger?limit=3"));
    let mut pages = 0;
    while let Some(path) = next {
        let page = fixture.http().get(&path).await.unwrap();
        for line in page.expect_success()["data"].as_array().unwrap() {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let url = text("url").replace(&fixture.site.server.base, "");
            assert!(lines.insert(url, (text("state"), text("reason"))).is_none(), "twice: {line}");
        }
        pages += 1;
        let next_url = page.json["next"].as_str();
        next = next_url
            .map(|next| next.strip_prefix(&fixture.http().base).expect("an absolute address").to_owned());
    }
    assert!(pages >= 3, "three lines a page: {pages}");
    for page in PAGES {
        assert_eq!(lines[page].0, "completed", "{lines:?}");
    }
    assert_eq!(lines[BROKEN], ("failed".to_owned(), "SCRAPE_SITE_ERROR".to_owned()));
    for (page, why) in SKIPPED {
        assert_eq!(lines[page], ("skipped".to_owned(), why.to_owned()));
    }
    assert_eq!(lines.len(), 9, "{lines:?}");
    let skipped = fixture.http().get(&format!("/v2/crawl/{id}/ledger?state=skipped")).await.unwrap();
    assert_eq!(skipped.expect_success()["data"].as_array().unwrap().len(), 4);
    let wrong = fixture.http().get(&format!("/v2/crawl/{id}/ledger?state=lost")).await.unwrap();
    assert_eq!((wrong.status, &wrong.json["details"][0]["path"]), (400, &json!(["state"])));
}

#[tokio::test]
async fn all_documents_are_one_file() {
    let fixture = CrawlFixture::open().await;
    let id =
        fixture.crawl("/site/", json!({ "scrapeOptions": { "formats": ["markdown", "rawHtml"] } })).await;
    let status = wait_for_end(fixture.http(), &format!("/v2/crawl/{id}")).await;
    let get = async |format: &str| {
        fixture.http().get(&format!("/v2/crawl/{id}/download?format={format}")).await.unwrap()
    };
    let lines = get("jsonl").await;
    assert_eq!(lines.header("content-type"), "application/x-ndjson");
    assert_eq!(lines.header("content-disposition"), format!("attachment; filename=\"crawl-{id}.jsonl\""));
    let documents: Vec<Value> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&json!(documents), &status["data"]);
    let file = get("warc").await;
    assert_eq!((file.status, file.header("content-type")), (200, "application/warc"));
    let kinds: Vec<&str> = file.text.lines().filter_map(|line| line.strip_prefix("WARC-Type: ")).collect();
    assert_eq!(kinds, ["warcinfo", "resource", "resource", "resource", "resource"], "{}", file.text);
    let page = documents[0]["rawHtml"].as_str().unwrap();
    assert!(file.text.contains(&format!("Content-Length: {}\r\n\r\n{page}\r\n\r\n", page.len())));
    assert_eq!(get("zip").await.status, 400);
    let other = fixture.http().get(&format!("{}/download?format=jsonl", unknown_crawl())).await.unwrap();
    assert_eq!(other.status, 404);
    let usage = fixture.http().get("/v2/team/credit-usage/daily?days=2").await.unwrap();
    let days = usage.expect_success()["days"].as_array().unwrap().clone();
    let spent: i64 = days.iter().filter_map(|day| day["creditsByEndpoint"]["crawl"].as_i64()).sum();
    assert_eq!((days.len(), spent), (2, 4), "{days:?}");
    let wrong = fixture.http().get("/v2/team/credit-usage/daily?days=0").await.unwrap();
    assert_eq!((wrong.status, &wrong.json["details"][0]["path"]), (400, &json!(["days"])));
}

#[tokio::test]
async fn documents_come_in_pages_with_a_next_link() {
    let fixture = CrawlFixture::with(|config| config.set("trusted_proxies", "127.0.0.1")).await;
    let id = fixture.crawl("/site/", empty()).await;
    let path = format!("/v2/crawl/{id}");
    let whole = wait_for_end(fixture.http(), &path).await;
    let mut found = Vec::new();
    let mut next = Some(format!("{path}?limit=3"));
    while let Some(path) = next {
        let page = fetch_status(fixture.http(), &path).await;
        assert!(!page["data"].as_array().unwrap().is_empty(), "an empty page: {path}");
        found.extend(sources(&page, &fixture.site));
        let next_url = page["next"].as_str();
        next = next_url.map(|next| next.strip_prefix(&fixture.http().base).expect("absolute").to_owned());
        assert!(next.as_ref().is_none_or(|next| next.contains("limit=3")), "{next:?}");
    }
    assert_eq!(found, sources(&whole, &fixture.site));
    assert_eq!(fetch_status(fixture.http(), &format!("{path}?skip=99")).await["data"], json!([]));
    let forwarded = fixture
        .http()
        .request(Method::GET, &format!("{path}?limit=1"))
        .header("x-forwarded-host", "api.example")
        .header("x-forwarded-proto", "https");
    let page = fixture.http().send(forwarded).await.unwrap();
    assert_eq!(page.json["next"], format!("https://api.example{path}?skip=1&limit=1"));
    for query in ["skip=-1", "skip=x", "limit=0", "limit=1001", "limit="] {
        let response = fixture.http().get(&format!("{path}?{query}")).await.unwrap();
        assert_eq!(response.status, 400, "{query}");
        assert!(
            response.json["error"].as_str().unwrap().starts_with("Invalid pagination: "),
            "{}",
            response.text
        );
    }
}

#[tokio::test]
async fn pages_of_large_documents_stay_below_the_size_limit() {
    let fixture = CrawlFixture::open().await;
    let id =
        fixture.crawl("/large/", json!({ "scrapeOptions": { "formats": ["markdown", "rawHtml"] } })).await;
    let path = format!("/v2/crawl/{id}");
    let status = wait_for_end(fixture.http(), &path).await;
    assert_eq!(status["completed"], LARGE_PAGES);
    let first = status["data"].as_array().unwrap().len();
    assert!(first < LARGE_PAGES && status["next"].is_string(), "{first} of {LARGE_PAGES} on one page");
    let response = fixture.http().get(&path).await.unwrap();
    assert!((10 << 20..24 << 20).contains(&response.text.len()), "{} bytes", response.text.len());
    let (mut documents, mut page) = (first, status);
    while let Some(next) = page["next"].as_str().map(|next| next.replace(&fixture.http().base, "")) {
        page = fetch_status(fixture.http(), &next).await;
        documents += page["data"].as_array().unwrap().len();
    }
    assert_eq!(documents, LARGE_PAGES);
}

#[tokio::test]
async fn a_running_crawl_is_listed_and_cancelled_at_once() {
    let fixture = CrawlFixture::open().await;
    let id = fixture
        .crawl("/held/", json!({ "limit": 30, "includePaths": ["held"], "robotsUserAgent": "x" }))
        .await;
    let path = format!("/v2/crawl/{id}");
    let status = wait_until_count(fixture.http(), &path, "discovered", HELD_PAGES as u64).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("scraping"), &json!(1)), "{status}");
    assert_eq!(status["next"], Value::Null, "nothing more is there yet: {status}");
    for name in ["active", "ongoing"] {
        let listed = fixture.http().get(&format!("/v2/crawl/{name}")).await.unwrap();
        let crawl = &listed.expect_success()["crawls"][0];
        assert_eq!((&crawl["id"], &crawl["url"]), (&json!(id), &fixture.site.url("/held/").into()));
        assert!(crawl["teamId"].is_string() && crawl["created_at"].is_string(), "{crawl}");
        assert_eq!(
            (&crawl["options"]["limit"], &crawl["options"]["includePaths"][0]),
            (&json!(30), &json!("held"))
        );
    }
    let queue = fixture.http().get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.expect_success()["jobsInQueue"], HELD_PAGES - 1, "{}", queue.text);
    let cancelled = fixture.http().delete(&path).await.unwrap();
    assert_eq!((cancelled.status, &cancelled.json), (200, &json!({ "status": "cancelled" })));
    let status = fetch_status(fixture.http(), &path).await;
    assert_eq!(
        (&status["status"], &status["cancelled"]),
        (&json!("cancelled"), &json!(HELD_PAGES - 1)),
        "{status}"
    );
    assert_eq!(status["data"].as_array().unwrap().len(), 1, "what it had stays");
    assert_eq!(fixture.http().delete(&path).await.unwrap().status, 200, "twice is no mistake");
    let listed = fixture.http().get("/v2/crawl/active").await.unwrap();
    assert_eq!(listed.expect_success()["crawls"], json!([]));
}

#[tokio::test]
async fn ended_and_unknown_crawls_cannot_be_cancelled() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/alone", empty()).await;
    let path = format!("/v2/crawl/{id}");
    let status = wait_for_end(fixture.http(), &path).await;
    assert_eq!(status["completed"], 1, "{status}");
    fixture.http().delete(&path).await.unwrap().expect_error(409, "Crawl is already completed");
    assert_eq!(fetch_status(fixture.http(), &path).await["status"], "completed");
    for more in ["", "/errors", "/ledger", "/events"] {
        fixture
            .http()
            .get(&format!("{}{more}", unknown_crawl()))
            .await
            .unwrap()
            .expect_error(404, "Job not found");
    }
    fixture.http().delete(&unknown_crawl()).await.unwrap().expect_error(404, "Job not found");
    let as_batch = fixture.http().get(&format!("/v2/batch/scrape/{id}")).await.unwrap();
    as_batch.expect_error(404, "Job not found");
    let bad = fixture.http().get("/v2/crawl/nonsense").await.unwrap();
    bad.expect_error(400, "Invalid job ID format. Job ID must be a valid UUID.");
}
