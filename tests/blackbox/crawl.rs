//! Crawls and batches over HTTP: statuses, documents, errors, and counts that add up at any time.

mod batch;
mod command;
mod events;
mod found_pages;
mod refusals;
mod robots_tags;
mod roles;
mod scripts;
pub mod site;
mod status;

use crate::http::{Http, HttpResponse};
use crate::scrape::{config, shared};
use crate::server::{Server, ServerConfig};
use serde_json::{Value, json};
use site::CrawlSite;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A server, and a site to crawl.
pub struct CrawlFixture {
    pub dir: Arc<TempDir>,
    pub server: Server,
    pub site: CrawlSite,
}

impl CrawlFixture {
    /// With a server that other tests use too.
    pub async fn open() -> Self {
        let (dir, server) = shared(&[]).await;
        Self { dir, server, site: CrawlSite::start() }
    }

    /// With a server of its own.
    pub async fn own() -> Self {
        Self::with(|config| config).await
    }

    /// With a server of its own that has other settings.
    pub async fn with(change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let dir = Arc::new(TempDir::new());
        let server = change(config(&dir)).start().await;
        Self { dir, server, site: CrawlSite::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Starts a crawl at a path of the site and returns its ID.
    pub async fn crawl(&self, path: &str, mut options: Value) -> String {
        options["url"] = self.site.url(path).into();
        started_id(&self.http().post("/v2/crawl", &options).await.unwrap())
    }

    /// Starts a batch of paths of the site and returns its ID.
    pub async fn batch(&self, paths: &[&str], mut options: Value) -> String {
        options["urls"] = paths.iter().map(|path| self.site.url(path)).collect();
        started_id(&self.http().post("/v2/batch/scrape", &options).await.unwrap())
    }

    pub async fn crawl_to_end(&self, path: &str, options: Value) -> Value {
        let id = self.crawl(path, options).await;
        wait_for_end(self.http(), &format!("/v2/crawl/{id}")).await
    }
}

#[track_caller]
pub fn started_id(response: &HttpResponse) -> String {
    let id = response.expect_success()["id"].as_str().expect("an id").to_owned();
    assert!(response.json["url"].as_str().is_some_and(|url| url.ends_with(&id)), "{}", response.text);
    id
}

/// The current status; asserts that its counts add up.
pub async fn fetch_status(http: &Http, path: &str) -> Value {
    let response = http.get(path).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
    assert_counts_add_up(&response.json);
    response.json
}

#[track_caller]
pub fn assert_counts_add_up(status: &Value) {
    let number = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name} in {status}"));
    let parts = ["completed", "failed", "skipped", "cancelled", "queued"].map(number);
    assert_eq!(parts.iter().sum::<u64>(), number("discovered"), "{status}");
    let found = number("discovered") - number("skipped");
    let is_running = status["status"] == "scraping";
    assert!(number("total") == found || (is_running && number("total") < found), "{status}");
    assert!(status["expiresAt"].is_string() && status["createdAt"].is_string(), "{status}");
}

/// Waits for the end of a job; the counts of every status on the way must add up. Polls at most half of the
/// time, because each status takes CPU time of the server too.
pub async fn wait_for_end(http: &Http, path: &str) -> Value {
    let end = Instant::now() + Duration::from_mins(3);
    loop {
        let looked = Instant::now();
        let status = fetch_status(http, path).await;
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < end, "it does not end: {status}");
        tokio::time::sleep(looked.elapsed().max(Duration::from_millis(25))).await;
    }
}

/// Waits until a count of the status has reached a number.
pub async fn wait_until_count(http: &Http, path: &str, name: &str, least: u64) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = fetch_status(http, path).await;
        if status[name].as_u64().unwrap() >= least {
            return status;
        }
        assert!(Instant::now() < end, "{name} does not come to {least}: {status}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// The URLs of documents, without scheme and host.
pub fn sources(status: &Value, site: &CrawlSite) -> Vec<String> {
    let documents = status["data"].as_array().expect("data");
    let source =
        |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().replace(&site.server.base, "");
    documents.iter().map(source).collect()
}

fn unknown_crawl() -> String {
    format!("/v2/crawl/{}", uuid::Uuid::now_v7())
}

/// A request body with more fields.
fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    body.as_object_mut().expect("an object").extend(more);
    body
}

fn empty() -> Value {
    json!({})
}
