//! How crawls stand: numbers, documents page by page, errors, the ledger, the list of those that run, cancelling.

use super::village::{BROKEN, FULL, HELD, LARGE, PAGES, SKIPPED};
use super::{Country, empty, ended, nobody, sources, standing, until};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[tokio::test]
async fn every_address_of_a_crawl_is_accounted_for() {
    let country = Country::open().await;
    let id = country.crawl("/site/", json!({ "limit": 50 })).await;
    let path = format!("/v2/crawl/{id}");
    let status = ended(country.http(), &path).await;
    assert_eq!((&status["success"], &status["status"]), (&json!(true), &json!("completed")), "{status}");
    let mut found = sources(&status, &country.village);
    assert_eq!(found.first().map(String::as_str), Some("/site/"), "the start comes first");
    found.sort();
    let mut expected = PAGES.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    for document in status["data"].as_array().unwrap() {
        let place =
            document["metadata"]["sourceURL"].as_str().unwrap().replace(&country.village.stand.base, "");
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

    let errors = country.http().get(&format!("{path}/errors")).await.unwrap().json;
    let error = &errors["errors"][0];
    assert_eq!(error["url"], country.village.url(BROKEN), "{errors}");
    assert_eq!(
        (&error["code"], errors["errors"].as_array().unwrap().len()),
        (&json!("SCRAPE_SITE_ERROR"), 1)
    );
    assert!(error["error"].as_str().unwrap().contains("404") && error["id"].is_string(), "{error}");
    assert!(error["timestamp"].is_string(), "{error}");
    assert_eq!(errors["robotsBlocked"], json!([country.village.url(SKIPPED[0].0)]));

    let activity = country.http().get("/v2/team/activity").await.unwrap();
    let entry = &activity.is_success()["data"][0];
    assert_eq!(
        (&entry["endpoint"], &entry["target"]),
        (&json!("crawl"), &country.village.url("/site/").into())
    );
    assert_eq!(entry["id"], id);
}

#[tokio::test]
async fn a_page_full_of_links_is_settled_to_its_last_one() {
    let country = Country::open().await;
    let id = country.crawl("/full/", json!({ "limit": 1 })).await;
    let status = ended(country.http(), &format!("/v2/crawl/{id}")).await;
    let numbers = ["completed", "creditsUsed"].map(|name| status[name].as_u64().unwrap());
    assert_eq!((&status["status"], numbers), (&json!("completed"), [1, 1]), "{status}");
    let ledger = crate::maze::ledger(country.http(), &id, &country.village.stand.base).await;
    let of_page = ledger.keys().filter(|place| place.starts_with("/full/to/")).count();
    assert_eq!((of_page, &ledger["/full/"].0), (FULL, &"completed".to_owned()));
}

#[tokio::test]
async fn a_page_full_of_links_that_is_left_out_stays_left_out() {
    let country = Country::open().await;
    let id = country.crawl("/copies/", json!({ "limit": 3, "crawlEntireDomain": true })).await;
    let status = ended(country.http(), &format!("/v2/crawl/{id}")).await;
    let ledger = crate::maze::ledger(country.http(), &id, &country.village.stand.base).await;
    let (state, reason) = &ledger["/full/copy"];
    assert_eq!((state.as_str(), reason.as_str()), ("skipped", "canonical"), "{status}");
    assert_eq!(ledger["/copies/one"].0, "completed");
    assert_eq!(ledger.keys().filter(|place| place.starts_with("/full/of-copy/")).count(), 0);
}

#[tokio::test]
async fn the_ledger_has_every_line_and_why() {
    let country = Country::open().await;
    let id = country.crawl("/site/", empty()).await;
    ended(country.http(), &format!("/v2/crawl/{id}")).await;
    let mut lines: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut next = Some(format!("/v2/crawl/{id}/ledger?limit=3"));
    let mut pages = 0;
    while let Some(path) = next {
        let page = country.http().get(&path).await.unwrap();
        for line in page.is_success()["data"].as_array().unwrap() {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let url = text("url").replace(&country.village.stand.base, "");
            assert!(lines.insert(url, (text("state"), text("reason"))).is_none(), "twice: {line}");
        }
        pages += 1;
        let told = page.json["next"].as_str();
        next =
            told.map(|next| next.strip_prefix(&country.http().base).expect("an absolute address").to_owned());
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
    let skipped = country.http().get(&format!("/v2/crawl/{id}/ledger?state=skipped")).await.unwrap();
    assert_eq!(skipped.is_success()["data"].as_array().unwrap().len(), 4);
    let wrong = country.http().get(&format!("/v2/crawl/{id}/ledger?state=lost")).await.unwrap();
    assert_eq!((wrong.status, &wrong.json["details"][0]["path"]), (400, &json!(["state"])));
}

#[tokio::test]
async fn documents_come_in_pages_that_lead_on() {
    let country = Country::with(|recipe| recipe.set("trusted_proxies", "127.0.0.1")).await;
    let id = country.crawl("/site/", empty()).await;
    let path = format!("/v2/crawl/{id}");
    let whole = ended(country.http(), &path).await;
    let mut found = Vec::new();
    let mut next = Some(format!("{path}?limit=3"));
    while let Some(path) = next {
        let page = standing(country.http(), &path).await;
        assert!(!page["data"].as_array().unwrap().is_empty(), "an empty page: {path}");
        found.extend(sources(&page, &country.village));
        let told = page["next"].as_str();
        next = told.map(|next| next.strip_prefix(&country.http().base).expect("absolute").to_owned());
        assert!(next.as_ref().is_none_or(|next| next.contains("limit=3")), "{next:?}");
    }
    assert_eq!(found, sources(&whole, &country.village));
    assert_eq!(standing(country.http(), &format!("{path}?skip=99")).await["data"], json!([]));
    let forwarded = country
        .http()
        .request(Method::GET, &format!("{path}?limit=1"))
        .header("x-forwarded-host", "api.example")
        .header("x-forwarded-proto", "https");
    let page = country.http().send(forwarded).await.unwrap();
    assert_eq!(page.json["next"], format!("https://api.example{path}?skip=1&limit=1"));
    for query in ["skip=-1", "skip=x", "limit=0", "limit=1001", "limit="] {
        let reply = country.http().get(&format!("{path}?{query}")).await.unwrap();
        assert_eq!(reply.status, 400, "{query}");
        assert!(reply.json["error"].as_str().unwrap().starts_with("Invalid pagination: "), "{}", reply.text);
    }
}

#[tokio::test]
async fn large_documents_fill_a_page() {
    let country = Country::open().await;
    let id =
        country.crawl("/large/", json!({ "scrapeOptions": { "formats": ["markdown", "rawHtml"] } })).await;
    let path = format!("/v2/crawl/{id}");
    let status = ended(country.http(), &path).await;
    assert_eq!(status["completed"], LARGE);
    let first = status["data"].as_array().unwrap().len();
    assert!(first < LARGE && status["next"].is_string(), "{first} of {LARGE} on one page");
    let reply = country.http().get(&path).await.unwrap();
    assert!((10 << 20..24 << 20).contains(&reply.text.len()), "{} bytes", reply.text.len());
    let (mut documents, mut page) = (first, status);
    while let Some(next) = page["next"].as_str().map(|next| next.replace(&country.http().base, "")) {
        page = standing(country.http(), &next).await;
        documents += page["data"].as_array().unwrap().len();
    }
    assert_eq!(documents, LARGE);
}

#[tokio::test]
async fn a_crawl_that_runs_is_listed_and_cancelled_at_once() {
    let country = Country::open().await;
    let id = country
        .crawl("/held/", json!({ "limit": 30, "includePaths": ["held"], "robotsUserAgent": "x" }))
        .await;
    let path = format!("/v2/crawl/{id}");
    let status = until(country.http(), &path, "discovered", HELD as u64).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("scraping"), &json!(1)), "{status}");
    assert_eq!(status["next"], Value::Null, "nothing more is there yet: {status}");
    for name in ["active", "ongoing"] {
        let listed = country.http().get(&format!("/v2/crawl/{name}")).await.unwrap();
        let crawl = &listed.is_success()["crawls"][0];
        assert_eq!((&crawl["id"], &crawl["url"]), (&json!(id), &country.village.url("/held/").into()));
        assert!(crawl["teamId"].is_string() && crawl["created_at"].is_string(), "{crawl}");
        assert_eq!(
            (&crawl["options"]["limit"], &crawl["options"]["includePaths"][0]),
            (&json!(30), &json!("held"))
        );
    }
    let queue = country.http().get("/v2/team/queue-status").await.unwrap();
    assert_eq!(queue.is_success()["jobsInQueue"], HELD - 1, "{}", queue.text);
    let cancelled = country.http().delete(&path).await.unwrap();
    assert_eq!((cancelled.status, &cancelled.json), (200, &json!({ "status": "cancelled" })));
    let status = standing(country.http(), &path).await;
    assert_eq!(
        (&status["status"], &status["cancelled"]),
        (&json!("cancelled"), &json!(HELD - 1)),
        "{status}"
    );
    assert_eq!(status["data"].as_array().unwrap().len(), 1, "what it had stays");
    assert_eq!(country.http().delete(&path).await.unwrap().status, 200, "twice is no mistake");
    let listed = country.http().get("/v2/crawl/active").await.unwrap();
    assert_eq!(listed.is_success()["crawls"], json!([]));
}

#[tokio::test]
async fn what_has_ended_or_never_was_cannot_be_cancelled() {
    let country = Country::open().await;
    let id = country.crawl("/alone", empty()).await;
    let path = format!("/v2/crawl/{id}");
    let status = ended(country.http(), &path).await;
    assert_eq!(status["completed"], 1, "{status}");
    country.http().delete(&path).await.unwrap().is_error(409, "Crawl is already completed");
    assert_eq!(standing(country.http(), &path).await["status"], "completed");
    for more in ["", "/errors", "/ledger", "/events"] {
        country.http().get(&format!("{}{more}", nobody())).await.unwrap().is_error(404, "Job not found");
    }
    country.http().delete(&nobody()).await.unwrap().is_error(404, "Job not found");
    let as_batch = country.http().get(&format!("/v2/batch/scrape/{id}")).await.unwrap();
    as_batch.is_error(404, "Job not found");
    let bad = country.http().get("/v2/crawl/nonsense").await.unwrap();
    bad.is_error(400, "Invalid job ID format. Job ID must be a valid UUID.");
}
