//! Scraping, as a caller sees it: a server and a small site.

mod command;
pub mod documents;
mod errors;
mod formats;
mod honesty;
mod limits;
mod markdown_first;
mod options;
mod privacy;
mod records;
mod refusals;
mod safe_mode;
mod tracking;

use crate::http::{Http, HttpResponse};
use crate::server::{Server, ServerConfig, shared_server};
use crate::site::Site;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::TempDir;

/// Settings of a server that may scrape loopback.
const SETTINGS: [(&str, &str); 1] = [("egress_allow", "scrape=127.0.0.0/8,::1/128")];

/// A server that may scrape loopback, and a site to scrape.
pub struct ScrapeFixture {
    pub dir: Arc<TempDir>,
    pub server: Server,
    pub site: Site,
}

/// A downloaded file.
pub struct Download {
    pub status: u16,
    pub mime: String,
    pub bytes: Vec<u8>,
}

/// The configuration of a server that may scrape loopback.
pub fn config(dir: &TempDir) -> ServerConfig {
    SETTINGS.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value))
}

/// A server that may scrape loopback, with these settings besides, and its folder. Other tests use it too.
pub async fn shared(more: &[(&str, &str)]) -> (Arc<TempDir>, Server) {
    shared_server(&[&SETTINGS[..], more].concat()).await
}

impl ScrapeFixture {
    /// With a server that other tests use too.
    pub async fn open() -> Self {
        let (dir, server) = shared(&[]).await;
        Self { dir, server, site: Site::start() }
    }

    /// With a server without a browser that other tests use too.
    pub async fn without_browser() -> Self {
        let (dir, server) = shared(&[("browser", "off")]).await;
        Self { dir, server, site: Site::start() }
    }

    /// With a server of its own.
    pub async fn own() -> Self {
        Self::with(|config| config).await
    }

    /// With a server of its own that has other settings.
    pub async fn with(change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let dir = Arc::new(TempDir::new());
        let server = change(config(&dir)).start().await;
        Self { dir, server, site: Site::start() }
    }

    pub fn http(&self) -> &Http {
        &self.server.http
    }

    /// Scrapes a page of the site.
    pub async fn scrape(&self, path: &str, options: Value) -> HttpResponse {
        scrape_as(self.http(), &self.site.url(path), options).await
    }

    /// Scrapes a page of the site, which must succeed, and returns the document.
    #[track_caller]
    pub fn scrape_document(&self, path: &str, options: Value) -> impl Future<Output = Value> {
        let caller = std::panic::Location::caller();
        async move {
            let response = self.scrape(path, options).await;
            assert_eq!(
                (response.status, &response.json["success"]),
                (200, &json!(true)),
                "{caller}: {}",
                response.text
            );
            response.json["data"].clone()
        }
    }

    /// Downloads a file that a response links to.
    pub async fn download(&self, url: &Value) -> Download {
        let url = url.as_str().expect("an address");
        let path =
            url.strip_prefix(&self.http().base).unwrap_or_else(|| panic!("{url} is not of this server"));
        // The URL is signed: no key is needed.
        let answer = self.http().with_key(None).request(Method::GET, path).send().await.unwrap();
        let mime = answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        Download {
            status: answer.status().as_u16(),
            mime: mime.unwrap_or_default(),
            bytes: answer.bytes().await.unwrap().to_vec(),
        }
    }

    /// A client with a key of a second team.
    pub async fn other_team(&self) -> Http {
        other_team(&self.dir, self.http()).await
    }

    pub async fn credits_used(&self) -> u64 {
        let usage = self.http().get("/v2/team/credit-usage/historical").await.unwrap();
        usage.expect_success()["periods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["creditsUsed"].as_u64().unwrap())
            .sum()
    }
}

/// The same server, with a key of a second team.
pub async fn other_team(dir: &TempDir, http: &Http) -> Http {
    http.with_key(Some(&other_team_key(dir).await))
}

/// Creates a key of a second team in the SQLite database of a server.
pub async fn other_team_key(dir: &TempDir) -> String {
    new_team_key(dir, "strangers", false).await
}

/// Creates a team with a key in the SQLite database of a server.
pub async fn new_team_key(dir: &TempDir, name: &str, zero_data_retention: bool) -> String {
    let url = format!("sqlite:{}", dir.join("data/gannet.db").display());
    let store = store::open(&store::StoreOptions::new(url)).await.unwrap();
    let team = store::keys::NewTeam {
        id: uuid::Uuid::now_v7(),
        name: name.to_owned(),
        plan: "unlimited".to_owned(),
        zero_data_retention,
    };
    let team = store.create_team(team).await.unwrap().id;
    let secret = access::keys::Secret::random().unwrap();
    access::keys::create(
        store.as_ref(),
        team,
        "s",
        wire::Scope::ALL,
        None,
        &secret,
        &store::audit_log::Actor::server(),
    )
    .await
    .unwrap();
    store.shut_down().await;
    secret.reveal().to_owned()
}

pub async fn scrape_as(http: &Http, url: &str, options: Value) -> HttpResponse {
    let mut body = options;
    body["url"] = url.into();
    http.post("/v2/scrape", &body).await.unwrap()
}

/// Asserts that the response is an error with this status and code; returns its details.
#[track_caller]
pub fn assert_failure<'a>(response: &'a HttpResponse, status: u16, code: &str) -> &'a Value {
    assert_eq!(
        (response.status, response.json["code"].as_str().unwrap_or_default()),
        (status, code),
        "{}",
        response.text
    );
    assert_eq!(response.json["success"], false, "{}", response.text);
    assert!(!response.json["error"].as_str().unwrap_or_default().is_empty(), "{}", response.text);
    &response.json["details"]
}

/// Asserts that a value of the document is a string that contains all these parts.
#[track_caller]
pub fn assert_contains(value: &Value, parts: &[&str]) {
    let text = value.as_str().unwrap_or_else(|| panic!("not a text: {value}"));
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// Asserts that a value of the document is a string that contains none of these parts.
#[track_caller]
pub fn assert_lacks(value: &Value, parts: &[&str]) {
    let text = value.as_str().unwrap_or_else(|| panic!("not a text: {value}"));
    for part in parts {
        assert!(!text.contains(part), "{part:?} is in:\n{text}");
    }
}
