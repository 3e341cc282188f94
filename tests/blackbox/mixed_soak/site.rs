//! The site of the mixed soak: real pages where a file of them was given, pages that need scripts, small
//! sites to crawl, a company for agent runs. All of it can be switched off for a while.

use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Pages of every small site, including its front page.
pub const SITE_PAGES: usize = 12;

pub struct SoakSite {
    server: SiteServer,
    shared: Arc<Shared>,
}

struct Shared {
    up: AtomicBool,
    real_pages: Vec<String>,
}

impl SoakSite {
    pub fn start() -> Self {
        let shared = Arc::new(Shared { up: AtomicBool::new(true), real_pages: load_real_pages() });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        println!("real pages: {}", shared.real_pages.len());
        Self { server: SiteServer::start(router), shared }
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// Whether it serves pages, or only 503.
    pub fn set_up(&self, up: bool) {
        self.shared.up.store(up, Ordering::SeqCst);
    }

    pub fn is_up(&self) -> bool {
        self.shared.up.load(Ordering::SeqCst)
    }
}

/// The pages of the file in `GANNET_TEST_PAGES`. Without it generated pages are used.
fn load_real_pages() -> Vec<String> {
    let Some(path) = std::env::var_os("GANNET_TEST_PAGES") else { return Vec::new() };
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let unpacked = zstd::stream::Decoder::new(file).expect("a file packed by zstd");
    let lines = std::io::BufReader::new(unpacked).lines();
    let html = |line: std::io::Result<String>| {
        let row: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        row["html"].as_str().expect("an html field").to_owned()
    };
    lines.map(html).collect()
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if !shared.up.load(Ordering::SeqCst) {
        return (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")], "down for a moment")
            .into_response();
    }
    let path = request.uri().path();
    let number = |text: &str| text.parse::<usize>().unwrap_or(0);
    match path.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
        ["probe"] => Html(text_page("Probe", "<p>probeword</p>")).into_response(),
        ["company"] => Html(text_page(
            "Gannet Feeders Ltd",
            "<table><tr><th>Founded</th><td>1987</td></tr><tr><th>Employees</th><td>42</td></tr></table>",
        ))
        .into_response(),
        ["real", which] if !shared.real_pages.is_empty() => {
            Html(shared.real_pages[number(which) % shared.real_pages.len()].clone()).into_response()
        }
        ["real", which] => {
            Html(text_page(&format!("Page {which}"), &long_text(number(which)))).into_response()
        }
        ["script", which] => Html(script_page(which)).into_response(),
        ["site", site, page] => Html(linked_page(site, number(page))).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn text_page(title: &str, body: &str) -> String {
    let filler = "<p>Northern gannets breed in colonies on cliffs and islands, and dive from thirty metres for fish. \
        Both parents feed the chick for three months, and it leaves the cliff before it can fly well.</p>";
    format!(
        "<!doctype html><html lang=en><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}{filler}{filler}</main></body></html>"
    )
}

fn long_text(seed: usize) -> String {
    let mut text = String::new();
    for line in 0..40 + seed % 200 {
        let _ = write!(
            text,
            "<p>Paragraph {line} of page {seed}: colonies are counted each summer by boat and from the air.</p>"
        );
    }
    text
}

fn script_page(which: &str) -> String {
    format!(
        "<!doctype html><html><head><title>App</title></head><body><div id=app></div><script>\
         document.getElementById('app').innerHTML = '<h1>Script page {which}</h1>' + \
         '<p>Written by a script, with enough words to be read as the content of a page.</p>'.repeat(8);\
         </script></body></html>"
    )
}

/// A page of a small site; the front page links to all others.
fn linked_page(site: &str, page: usize) -> String {
    let mut links = String::new();
    for other in 1..SITE_PAGES {
        let _ = write!(links, "<li><a href=\"/site/{site}/{other}\">Page {other}</a></li>");
    }
    text_page(
        &format!("Page {page} of site {site}"),
        &format!("<p>Text that only page {page} of site {site} has.</p><ul>{links}</ul>"),
    )
}
