//! Crawls and batches over HTTP: what a caller is told, and that the numbers add up whenever they are asked for.

mod batch;
mod command;
mod events;

mod refusals;
mod roles;
mod status;
pub mod village;

use crate::http::{Http, Reply};
use crate::scrape::recipe;
use crate::server::{Recipe, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::TempDir;
use village::Village;

/// A server, and a village to crawl.
pub struct Country {
    pub dir: TempDir,
    pub server: Server,
    pub village: Village,
}

impl Country {
    pub async fn open() -> Self {
        Self::with(|recipe| recipe).await
    }

    pub async fn with(change: impl FnOnce(Recipe) -> Recipe) -> Self {
        let dir = TempDir::new();
        let server = change(recipe(&dir)).start().await;
        Self { dir, server, village: Village::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Starts a crawl of a place in the village; its id.
    pub async fn crawl(&self, path: &str, mut options: Value) -> String {
        options["url"] = self.village.url(path).into();
        started(&self.http().post("/v2/crawl", &options).await.unwrap())
    }

    /// Starts a batch of places in the village; its id.
    pub async fn batch(&self, paths: &[&str], mut options: Value) -> String {
        options["urls"] = paths.iter().map(|path| self.village.url(path)).collect();
        started(&self.http().post("/v2/batch/scrape", &options).await.unwrap())
    }

    pub async fn crawled(&self, path: &str, options: Value) -> Value {
        let id = self.crawl(path, options).await;
        ended(self.http(), &format!("/v2/crawl/{id}")).await
    }
}

#[track_caller]
pub fn started(reply: &Reply) -> String {
    let id = reply.is_success()["id"].as_str().expect("an id").to_owned();
    assert!(reply.json["url"].as_str().is_some_and(|url| url.ends_with(&id)), "{}", reply.text);
    id
}

/// How it stands now, the numbers added up.
pub async fn standing(http: &Http, path: &str) -> Value {
    let reply = http.get(path).await.unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text);
    adds_up(&reply.json);
    reply.json
}

#[track_caller]
pub fn adds_up(status: &Value) {
    let number = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name} in {status}"));
    let parts = ["completed", "failed", "skipped", "cancelled", "queued"].map(number);
    assert_eq!(parts.iter().sum::<u64>(), number("discovered"), "{status}");
    assert_eq!(number("total"), number("discovered") - number("skipped"), "{status}");
    assert!(status["expiresAt"].is_string() && status["createdAt"].is_string(), "{status}");
}

/// Waits for its end; every look on the way adds up. Looks no more than half of the time, for what is looked at takes the server's
/// processors too.
pub async fn ended(http: &Http, path: &str) -> Value {
    let end = Instant::now() + Duration::from_mins(3);
    loop {
        let looked = Instant::now();
        let status = standing(http, path).await;
        if status["status"] != "scraping" {
            return status;
        }
        assert!(Instant::now() < end, "it does not end: {status}");
        tokio::time::sleep(looked.elapsed().max(Duration::from_millis(25))).await;
    }
}

/// Waits until a number of it has come so far.
pub async fn until(http: &Http, path: &str, name: &str, least: u64) -> Value {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = standing(http, path).await;
        if status[name].as_u64().unwrap() >= least {
            return status;
        }
        assert!(Instant::now() < end, "{name} does not come to {least}: {status}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// The addresses of documents, without where they are served.
pub fn sources(status: &Value, village: &Village) -> Vec<String> {
    let documents = status["data"].as_array().expect("data");
    let source = |document: &Value| {
        document["metadata"]["sourceURL"].as_str().unwrap().replace(&village.stand.base, "")
    };
    documents.iter().map(source).collect()
}

fn nobody() -> String {
    format!("/v2/crawl/{}", uuid::Uuid::now_v7())
}

/// The body of a request with more in it.
fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    body.as_object_mut().expect("an object").extend(more);
    body
}

fn empty() -> Value {
    json!({})
}
