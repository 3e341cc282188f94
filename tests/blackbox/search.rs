//! Search, as a caller sees it: a server, a scripted metasearch engine, and a small site to scrape.

mod answers;
mod feedback;
mod limits;
mod pages;
mod refusals;
pub mod search_engine;

use crate::http::{Http, HttpResponse};
use crate::scrape::config;
use crate::server::{Server, ServerConfig};
use crate::site::Site;
use search_engine::SearchEngine;
use serde_json::{Value, json};
use testkit::TempDir;

/// A server that asks one search engine, and a site whose pages the engine can return.
pub struct SearchFixture {
    pub dir: TempDir,
    pub server: Server,
    pub engine: SearchEngine,
    pub site: Site,
}

impl SearchFixture {
    pub async fn open() -> Self {
        Self::with(|config| config).await
    }

    pub async fn with(change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let (dir, engine) = (TempDir::new(), SearchEngine::start());
        // No egress rule names the engine: being configured as a provider is enough.
        let config = config(&dir).set("search_providers", &format!("searxng={}", engine.base));
        let server = change(config).start().await;
        Self { dir, server, engine, site: Site::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    pub async fn search(&self, query: &str, more: Value) -> HttpResponse {
        search_as(self.http(), query, more).await
    }

    /// Searches, which must succeed.
    #[track_caller]
    pub fn search_ok(&self, query: &str, more: Value) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let response = self.search(query, more).await;
            assert_eq!(
                (response.status, &response.json["success"]),
                (200, &json!(true)),
                "{caller}: {}",
                response.text
            );
            response.json
        }
    }

    /// Makes the engine return these pages of the site from now on.
    pub fn set_results(&self, paths: &[&str]) {
        self.engine.set_results(&paths.iter().map(|path| self.site.url(path)).collect::<Vec<_>>());
    }
}

pub async fn search_as(http: &Http, query: &str, more: Value) -> HttpResponse {
    let mut body = more;
    body["query"] = query.into();
    http.post("/v2/search", &body).await.unwrap()
}

/// The URLs of a group of results, in order.
#[track_caller]
pub fn urls(group: &Value) -> Vec<&str> {
    let hits = group.as_array().unwrap_or_else(|| panic!("not a list: {group}"));
    hits.iter().map(|hit| hit["url"].as_str().expect("an address")).collect()
}
