//! Search, as a caller sees it: a server, a metasearch engine that answers what a test wants, and a small web to scrape.

mod answers;
mod engine;
mod feedback;
mod limits;
mod pages;
mod refusals;

use crate::http::{Http, Reply};
use crate::scrape::recipe;
use crate::server::{Recipe, Server};
use crate::site::Site;
use engine::Engine;
use serde_json::{Value, json};
use testkit::TempDir;

/// A server that asks one engine, and a site whose pages the engine may find.
pub struct Library {
    pub dir: TempDir,
    pub server: Server,
    pub engine: Engine,
    pub site: Site,
}

impl Library {
    pub async fn open() -> Self {
        Self::with(|recipe| recipe).await
    }

    pub async fn with(change: impl FnOnce(Recipe) -> Recipe) -> Self {
        let (dir, engine) = (TempDir::new(), Engine::start());
        // No egress rule names the engine: that the settings do is enough.
        let recipe = recipe(&dir).set("search_providers", &format!("searxng={}", engine.base));
        let server = change(recipe).start().await;
        Self { dir, server, engine, site: Site::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    pub async fn search(&self, query: &str, more: Value) -> Reply {
        search_as(self.http(), query, more).await
    }

    /// Searches, which must work.
    #[track_caller]
    pub fn found(&self, query: &str, more: Value) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let reply = self.search(query, more).await;
            assert_eq!(
                (reply.status, &reply.json["success"]),
                (200, &json!(true)),
                "{caller}: {}",
                reply.text
            );
            reply.json
        }
    }

    /// What the engine finds from now on: pages of the site.
    pub fn finds(&self, paths: &[&str]) {
        self.engine.finds(&paths.iter().map(|path| self.site.url(path)).collect::<Vec<_>>());
    }
}

pub async fn search_as(http: &Http, query: &str, more: Value) -> Reply {
    let mut body = more;
    body["query"] = query.into();
    http.post("/v2/search", &body).await.unwrap()
}

/// The addresses of a group, in order.
#[track_caller]
pub fn urls(group: &Value) -> Vec<&str> {
    let hits = group.as_array().unwrap_or_else(|| panic!("not a list: {group}"));
    hits.iter().map(|hit| hit["url"].as_str().expect("an address")).collect()
}
