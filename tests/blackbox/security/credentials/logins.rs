//! M3: a user and a password in a URL are credentials. They are used, and never shown.

use super::{Host, PROSE, crawl_to_end, elsewhere, html, wait_for_end, without_browser};
use crate::http::Http;
use crate::scrape::{ScrapeFixture, assert_failure, config, scrape_as};
use crate::site::Site;
use axum::response::IntoResponse;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::TempDir;

const PASSWORD: &str = "s3cr3tpw";
const BASIC: &str = "Basic Ym9iOnMzY3IzdHB3";

fn with_login(url: &str) -> String {
    url.replace("://", &format!("://bob:{PASSWORD}@"))
}

/// A site with links: to a page of its own, to a missing page, and to another host.
fn site(far: String) -> Host {
    Host::start(move |path| match path {
        "/" => Some(html(&format!(
            "<h1>Start</h1>{PROSE}<a href=/near>Near</a> <a href=/missing>Missing</a> <a href='{far}'>Far</a>"
        ))),
        "/near" => Some(html(&format!("<h1>Near</h1>{PROSE}<p>The price is 42 euros.</p>"))),
        _ => None,
    })
}

#[track_caller]
fn assert_logged_in(host: &Host, path: &str) {
    let requests: Vec<_> = host.requests().into_iter().filter(|(known, _)| known == path).collect();
    assert!(!requests.is_empty(), "no request for {path}");
    for (_, headers) in requests {
        assert_eq!(headers.get("authorization").map(|value| value.to_str().unwrap()), Some(BASIC), "{path}");
    }
}

#[track_caller]
fn assert_never_logged_in(host: &Host) {
    assert!(!host.requests().is_empty());
    for (path, headers) in host.requests() {
        assert!(!headers.contains_key("authorization"), "{path} came with {headers:?}");
    }
}

/// Asserts that none of these endpoints shows the password.
async fn assert_not_shown(http: &Http, paths: &[&str]) {
    for path in paths {
        let response = http.get(path).await.unwrap();
        assert_eq!(response.status, 200, "{path}: {}", response.text);
        assert!(
            !response.text.contains(PASSWORD) && !response.text.contains(BASIC),
            "{path}: {}",
            response.text
        );
    }
}

/// Files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn a_login_in_a_url_is_used_and_neither_stored_nor_shown() {
    let dir = TempDir::new();
    let server = config(&dir).set("browser", "off").start().await;
    let (http, other) = (&server.http, elsewhere());
    let site = site(other.url("/far"));
    for _ in 0..2 {
        let response = scrape_as(http, &with_login(&site.url("/near")), json!({})).await;
        let data = &response.expect_success()["data"];
        assert_eq!(data["metadata"]["cacheState"], "miss", "a page behind a login is not stored: {data}");
        assert_eq!(data["metadata"]["sourceURL"], json!(site.url("/near")));
        assert!(!response.text.contains(PASSWORD), "{}", response.text);
        assert_not_shown(http, &[&format!("/v2/scrape/{}", data["metadata"]["scrapeId"].as_str().unwrap())])
            .await;
    }
    assert_logged_in(&site, "/near");
    // The stored page is not used for a request without the login.
    let plain = scrape_as(http, &site.url("/near"), json!({})).await;
    assert_eq!(plain.expect_success()["data"]["metadata"]["cacheState"], "miss");
    let gone = scrape_as(http, &with_login("http://127.0.0.1:1/x"), json!({})).await;
    assert!(gone.status >= 400 && !gone.text.contains(PASSWORD), "{}", gone.text);
    let map = http.post("/v2/map", &json!({ "url": with_login(&site.url("/")) })).await.unwrap();
    assert!(
        !map.expect_success()["links"].as_array().unwrap().is_empty() && !map.text.contains(PASSWORD),
        "{}",
        map.text
    );
    assert_not_shown(http, &["/v2/team/activity?limit=50"]).await;
    assert!(!server.log().contains(PASSWORD), "{}", server.log());
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(files_with(&dir.join("data"), PASSWORD), Vec::<String>::new());
}

#[tokio::test]
async fn a_page_behind_a_login_is_not_found_by_search() {
    let fixture = ScrapeFixture::without_browser().await;
    scrape_as(fixture.http(), &with_login(&fixture.site.url("/article")), json!({})).await.expect_success();
    fixture.scrape_document("/menu", json!({})).await;
    crate::index::wait_for_results(fixture.http(), "menu", 1).await;
    assert!(crate::index::search_urls(fixture.http(), "gannets dive").await.is_empty());
}

#[tokio::test]
async fn a_login_is_only_sent_over_verified_tls() {
    let server = without_browser().await;
    let site = Site::start_tls();
    let address = with_login(&site.url("/article"));
    assert_failure(&scrape_as(&server.http, &address, json!({})).await, 500, "SCRAPE_SSL_ERROR");
    let map = server.http.post("/v2/map", &json!({ "url": with_login(&site.url("/")) })).await.unwrap();
    assert_failure(&map, 500, "SCRAPE_SSL_ERROR");
    let crawl = crawl_to_end(&server.http, "/v2/crawl", &json!({ "url": address, "limit": 1 })).await;
    assert_eq!(crawl["completed"], 0, "{crawl}");
    for path in ["/", "/article", "/robots.txt", "/sitemap.xml"] {
        assert_eq!(site.hits(path), 0, "{path}");
    }
    // A caller who turns the check off takes the risk.
    scrape_as(&server.http, &address, json!({ "skipTlsVerification": true })).await.expect_success();
}

#[tokio::test]
async fn a_crawl_logs_in_at_its_own_origin_and_shows_no_login() {
    let server = without_browser().await;
    let (http, other) = (&server.http, elsewhere());
    let site = site(other.url("/far"));
    let body = json!({ "url": with_login(&site.url("/")), "allowExternalLinks": true, "limit": 10 });
    let id = http.post("/v2/crawl", &body).await.unwrap().expect_success()["id"].as_str().unwrap().to_owned();
    let status = wait_for_end(http, &format!("/v2/crawl/{id}"), "scraping").await;
    assert_eq!(status.json["completed"], 3, "{}", status.text);
    for path in ["/", "/near", "/missing", "/robots.txt", "/sitemap.xml"] {
        assert_logged_in(&site, path);
    }
    assert_never_logged_in(&other);
    let batch =
        json!({ "urls": [with_login(&site.url("/near")), with_login(&site.url("/gone")), other.url("/b")] });
    let batch = http.post("/v2/batch/scrape", &batch).await.unwrap().expect_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_for_end(http, &format!("/v2/batch/scrape/{batch}"), "scraping").await;
    assert_logged_in(&site, "/gone");
    assert_never_logged_in(&other);
    for (path, id) in [("/v2/crawl", &id), ("/v2/batch/scrape", &batch)] {
        let shown = ["", "/errors", "/ledger"].map(|part| format!("{path}/{id}{part}"));
        assert_not_shown(http, &shown.each_ref().map(String::as_str)).await;
    }
    assert_not_shown(http, &["/v2/team/activity?limit=50"]).await;
    assert!(!server.log().contains(PASSWORD));
}

#[tokio::test]
async fn a_running_crawl_shows_no_login() {
    let server = without_browser().await;
    let site = Site::start();
    let body = json!({ "url": with_login(&site.url("/hang")), "sitemap": "skip", "ignoreRobotsTxt": true,
        "webhook": with_login("https://hooks.example/hook") });
    let id = server.http.post("/v2/crawl", &body).await.unwrap().expect_success()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let active = server.http.get("/v2/crawl/active").await.unwrap();
    assert!(active.text.contains(&id), "{}", active.text);
    assert_not_shown(&server.http, &["/v2/crawl/active", &format!("/v2/crawl/{id}")]).await;
    assert_eq!(server.http.delete(&format!("/v2/crawl/{id}")).await.unwrap().status, 200);
}

#[tokio::test]
async fn an_agent_run_logs_in_at_its_own_urls_and_shows_no_login() {
    let server = without_browser().await;
    let (http, other) = (&server.http, elsewhere());
    let site = site(other.url("/far"));
    let schema = json!({ "type": "object", "properties": { "price": { "type": "number" } } });
    let body = json!({ "prompt": "the price", "urls": [with_login(&site.url("/near"))], "schema": schema,
        "strictConstrainToURLs": true });
    let id = http.post("/v2/agent", &body).await.unwrap().expect_success()["id"].as_str().unwrap().to_owned();
    let status = wait_for_end(http, &format!("/v2/agent/{id}"), "processing").await;
    assert!(!status.text.contains(PASSWORD), "{}", status.text);
    assert_logged_in(&site, "/near");
    assert_not_shown(http, &[&format!("/v2/agent/{id}/trace"), "/v2/agent", "/v2/team/activity?limit=50"])
        .await;
}

#[tokio::test]
async fn the_login_of_a_webhook_is_sent_and_not_shown() {
    let dir = TempDir::new();
    let config =
        config(&dir).set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8").set("browser", "off");
    let server = config.set("webhook_retries", "30ms").set("webhook_timeout", "700ms").start().await;
    let site = Site::start();
    let receiver = Host::start(|_| Some(axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response()));
    let hook = with_login(&receiver.url("/hook"));
    let body = json!({ "url": site.url("/article"), "limit": 1, "sitemap": "skip",
        "webhook": { "url": hook, "events": ["completed"] } });
    crawl_to_end(&server.http, "/v2/crawl", &body).await;
    let end = Instant::now() + Duration::from_secs(30);
    let dead: Value = loop {
        let response = server.http.get("/v2/team/webhooks/failed").await.unwrap();
        if response.expect_success()["data"].as_array().is_some_and(|data| !data.is_empty()) {
            break response.json;
        }
        assert!(Instant::now() < end, "no dead letter");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(!dead.to_string().contains(PASSWORD) && !dead.to_string().contains(BASIC), "{dead}");
    assert_eq!(dead["data"][0]["url"], json!(receiver.url("/hook")), "{dead}");
    assert_logged_in(&receiver, "/hook");
}
