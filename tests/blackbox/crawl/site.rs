//! A small site with a known set of URLs, and with pages that wait until the test releases them.

use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The pages that a crawl of `/site/` returns.
pub const PAGES: [&str; 4] = ["/site/", "/site/one", "/site/two", "/site/three"];
pub const BROKEN: &str = "/site/broken";
/// The URLs it skips, and why.
pub const SKIPPED: [(&str, &str); 4] = [
    ("/site/secret/plan", "robots"),
    ("/elsewhere", "outsideStartPath"),
    ("/site/logo.png", "fileType"),
    ("mailto:a@b.example", "notHttp"),
];
/// Pages below `/held/`, including its start page; all but the first wait.
pub const HELD_PAGES: usize = 6;
/// Pages below `/large/`, including its start page; the document of each is larger than 2 MiB.
pub const LARGE_PAGES: usize = 8;

/// Links on `/full/`: far more than one transaction writes.
pub const FULL_PAGE_LINKS: usize = 1_000;

/// A running site; it stops when this value is dropped.
pub struct CrawlSite {
    pub server: SiteServer,
    permits: Arc<Semaphore>,
}

impl CrawlSite {
    pub fn start() -> Self {
        let permits = Arc::new(Semaphore::new(0));
        let router = Router::new().fallback(answer).with_state(permits.clone());
        Self { server: SiteServer::start(router), permits }
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// Releases this many of the waiting pages.
    pub fn release(&self, pages: usize) {
        self.permits.add_permits(pages);
    }
}

async fn answer(State(permits): State<Arc<Semaphore>>, request: Request) -> Response {
    let path = request.uri().path();
    match path {
        "/robots.txt" => "User-agent: *\nDisallow: /site/secret/\n".into_response(),
        "/site/" => page(
            path,
            &[
                "one",
                "two",
                "three",
                "broken",
                "secret/plan",
                "/elsewhere",
                "logo.png",
                "one#again",
                "mailto:a@b.example",
            ],
        ),
        "/site/one" | "/site/two" | "/site/three" | "/elsewhere" | "/alone" => page(path, &["/site/"]),
        "/held/" => page(path, &["1", "2", "3", "4", "5"]),
        "/large/" => page(path, &["1", "2", "3", "4", "5", "6", "7"]),
        "/full/" => page(path, &many_links("to").iter().map(String::as_str).collect::<Vec<_>>()),
        "/copies/" => page(path, &["/full/copy"]),
        // Names another page as its canonical URL, and has as many links of its own.
        "/full/copy" => {
            let links = many_links("of-copy")
                .iter()
                .fold(String::new(), |text, link| text + &format!("<li><a href='{link}'>to {link}</a></li>"));
            let head = "<title>A copy</title><link rel='canonical' href='/copies/one'>";
            html(
                200,
                &format!("{head}<main><h1>A copy</h1><p>Another page has the same words.</p>{links}</main>"),
            )
        }
        "/copies/one" => page(path, &[]),
        _ if path.starts_with("/held/") => {
            permits.acquire().await.expect("never closed").forget();
            page(path, &[])
        }
        _ if path.starts_with("/large/") => {
            let mut text = String::new();
            for line in 0..40_000_u64 {
                // Words that do not repeat, so that the text is not taken for boilerplate.
                let _ = write!(
                    text,
                    "<p>Line {line} of {path} is about {} and {}.</p>",
                    line * 7919,
                    line * 104_729
                );
            }
            html(200, &format!("<title>{path}</title><main>{text}</main>"))
        }
        _ if path.starts_with("/release/") => {
            let pages = path.trim_start_matches("/release/").parse().unwrap_or(0);
            permits.add_permits(pages);
            "released".into_response()
        }
        _ => {
            html(404, "<title>Not here</title><p>There is nothing at this address, and there never was.</p>")
        }
    }
}

fn many_links(folder: &str) -> Vec<String> {
    (1..=FULL_PAGE_LINKS).map(|number| format!("{folder}/{number}")).collect()
}

fn page(path: &str, links: &[&str]) -> Response {
    let links = links
        .iter()
        .fold(String::new(), |text, link| text + &format!("<li><a href='{link}'>to {link}</a></li>"));
    html(
        200,
        &format!(
            "<title>The page {path}</title><main><h1>About {path}</h1><p>This is the page {path} of the site. It has a few \
             sentences to read, so that nobody takes it for an empty one; word{}word is only here.</p><ul>{links}</ul></main>",
            path.replace('/', "-")
        ),
    )
}

fn html(status: u16, text: &str) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], format!("<!doctype html>{text}"))
        .into_response()
}
