//! Monitors, as a caller sees them: what changed, what was ignored, who was told, and that nothing is lost.

mod changes;
mod channels;
mod command;
mod judge;
mod kill;
mod mail;
mod mail_server;
mod requests;
mod searches;
mod sites;

use crate::http::Http;
use crate::server::{Server, ServerConfig, shared_server};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// A site with one page, whose content a test sets: HTML, or a number for a status. Every read shows another
/// counter.
pub struct ChangingSite {
    pub server: SiteServer,
    state: Arc<PageState>,
}

struct PageState {
    content: Mutex<String>,
    reads: AtomicUsize,
}

impl ChangingSite {
    pub fn start(content: &str) -> Self {
        let content = Mutex::new(content.to_owned());
        let state = Arc::new(PageState { content, reads: AtomicUsize::default() });
        let routes = Router::new().route("/chair", get(show_page)).route("/content", post(set_content));
        Self { server: SiteServer::start(routes.with_state(state.clone())), state }
    }

    pub fn set(&self, content: &str) {
        content.clone_into(&mut self.state.content.lock().unwrap());
    }

    pub fn reads(&self) -> usize {
        self.state.reads.load(Ordering::Relaxed)
    }
}

/// Scripts of clients set the content over HTTP.
async fn set_content(State(state): State<Arc<PageState>>, content: String) {
    *state.content.lock().unwrap() = content;
}

async fn show_page(State(state): State<Arc<PageState>>) -> Response {
    let content = state.content.lock().unwrap().clone();
    let count = 1_000 + state.reads.fetch_add(1, Ordering::Relaxed) * 7;
    if let Some(status) = content.parse().ok().and_then(|code| StatusCode::from_u16(code).ok()) {
        return status.into_response();
    }
    Html(format!(
        "<html><head><title>Shop</title></head><body><main><h1>Chair</h1>{content}\
         <p>{count} views</p><p>A chair made of ash, oiled by hand, with a seat of woven paper cord \
         that lasts for decades. It is delivered in one piece and needs no tools.</p></main></body></html>"
    ))
    .into_response()
}

const SETTINGS: [(&str, &str); 3] =
    [("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8"), ("lease", "1s"), ("browser", "off")];

/// A server of its own that may read pages and send webhooks on loopback.
fn config(dir: &TempDir) -> ServerConfig {
    SETTINGS.iter().fold(ServerConfig::at(dir.path()), |config, (name, value)| config.set(name, value))
}

/// The same with a server that other tests use too, and its folder.
pub async fn shared() -> (Arc<TempDir>, Server) {
    shared_server(&SETTINGS).await
}

/// A schedule that does not fire while tests run. The minute of "hourly" is chosen by the monitor's id.
const RARELY: &str = "17 3 1 1 *";

/// Creates a monitor of the page; fields of `more` replace those that it has by default.
async fn create(http: &Http, site: &ChangingSite, more: Value) -> String {
    let mut body = json!({
        "name": "Chair", "schedule": { "cron": RARELY },
        "targets": [{ "type": "scrape", "urls": [site.server.url("/chair")] }],
    });
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    let response = http.post("/v2/monitor", &body).await.unwrap();
    response.expect_success()["data"]["id"].as_str().unwrap().to_owned()
}

/// Runs a check and waits for its end; the check with its pages.
async fn run(http: &Http, monitor: &str) -> Value {
    let response = http.post(&format!("/v2/monitor/{monitor}/run"), &json!({})).await.unwrap();
    let check = response.expect_success()["id"].as_str().unwrap().to_owned();
    wait(http, monitor, &check).await
}

async fn wait(http: &Http, monitor: &str, check: &str) -> Value {
    let end = Instant::now() + Duration::from_mins(2);
    loop {
        let response = http.get(&format!("/v2/monitor/{monitor}/checks/{check}?limit=100")).await.unwrap();
        let data = response.expect_success()["data"].clone();
        if !["queued", "running"].contains(&data["status"].as_str().unwrap()) {
            return data;
        }
        assert!(Instant::now() < end, "{data}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// How many pages of a check came to what: total, same, changed, new, removed, error.
fn counts(check: &Value) -> [u64; 6] {
    ["totalPages", "same", "changed", "new", "removed", "error"]
        .map(|name| check["summary"][name].as_u64().unwrap())
}
