//! Sites that keep their pages as markdown too: they are asked for it where only the text is wanted, and a
//! site that does not want to be asked loses nothing.

use super::{ScrapeFixture, assert_contains, scrape_as};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Accepts = Arc<Mutex<Vec<(String, String)>>>;

const MARKDOWN: &str = "---\ntitle: How gannets dive\ndescription: From thirty metres\n---\n# Diving\n\nA gannet \
                        folds its wings and falls. See [the cliffs](/cliffs) for where it starts.\n";
const HTML: &str = "<title>Dive (HTML)</title><main><h1>Diving</h1><p>A gannet folds its wings and falls, says the \
                    page in HTML, in which there are many more words than in the other one.</p>\
                    <a href=/cliffs>the cliffs</a></main>";

fn html(status: u16, text: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text.to_owned()).into_response()
}

async fn answer(State(accepts): State<Accepts>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let accept =
        request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wants_markdown = accept.starts_with("text/markdown");
    accepts.lock().unwrap().push((path.clone(), accept.to_owned()));
    let markdown = |text: &str| {
        ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8"), (header::VARY, "Accept")], text.to_owned())
            .into_response()
    };
    match path.as_str() {
        "/dive" if wants_markdown => markdown(MARKDOWN),
        "/disguised" if wants_markdown => markdown(&format!("<!DOCTYPE html>{HTML}")),
        "/empty" if wants_markdown => markdown(" \n"),
        "/binary" if wants_markdown => markdown("%PDF-1.4 no markdown \0\x01\x02"),
        "/strict" | "/strict/other" if wants_markdown => html(406, "Not Acceptable"),
        _ => html(200, HTML),
    }
}

/// With a server of its own: which hosts refused markdown is remembered by their address without the port.
struct MarkdownSite {
    fixture: ScrapeFixture,
    accepts: Accepts,
    site: SiteServer,
}

impl MarkdownSite {
    async fn open() -> Self {
        let accepts = Accepts::default();
        let site = SiteServer::start(Router::new().fallback(answer).with_state(accepts.clone()));
        Self { fixture: ScrapeFixture::own().await, accepts, site }
    }

    async fn scrape(&self, path: &str, options: Value) -> Value {
        let response = scrape_as(self.fixture.http(), &self.site.url(path), options).await;
        assert_eq!(response.status, 200, "{}", response.text);
        response.json["data"].clone()
    }

    /// Whether each request for a path preferred markdown.
    fn preferred(&self, path: &str) -> Vec<bool> {
        let accepts = self.accepts.lock().unwrap();
        let of_path = accepts.iter().filter(|(asked, _)| asked == path);
        of_path.map(|(_, accept)| accept.starts_with("text/markdown")).collect()
    }
}

#[tokio::test]
async fn a_page_that_its_site_has_as_markdown_comes_as_it_is() {
    let site = MarkdownSite::open().await;
    let page = site.scrape("/dive", json!({})).await;
    let cliffs = format!("[the cliffs]({})", site.site.url("/cliffs"));
    let expected = MARKDOWN.replace("[the cliffs](/cliffs)", &cliffs);
    assert_eq!(page["markdown"], json!(expected), "one request, nothing converted");
    let said = &page["metadata"];
    assert_eq!(
        (&said["title"], &said["description"]),
        (&json!("How gannets dive"), &json!("From thirty metres"))
    );
    assert_eq!(said["contentType"], "text/markdown; charset=utf-8");
    // Stored, it answers those who would have taken it, and nobody who wants the page.
    let stored = site.scrape("/dive", json!({})).await;
    assert_eq!(stored["metadata"]["cacheState"], "hit");
    let both = site.scrape("/dive", json!({ "formats": ["markdown", "html", "links"] })).await;
    assert_contains(&both["html"], &["<h1>Diving</h1>", "in HTML"]);
    assert_eq!(both["metadata"]["cacheState"], "miss");
    assert_eq!(site.preferred("/dive"), [true, false]);
    let after = site.scrape("/dive", json!({})).await;
    assert_eq!(after["metadata"]["cacheState"], "hit", "a stored page in HTML will do for text");
}

#[tokio::test]
async fn whoever_wants_more_than_the_text_asks_for_html() {
    let site = MarkdownSite::open().await;
    for (number, options) in [
        json!({ "formats": ["markdown", "links"] }),
        json!({ "formats": ["rawHtml"] }),
        json!({ "includeTags": ["main"] }),
        json!({ "onlyMainContent": false }),
        json!({ "headers": { "Accept": "text/html" } }),
        json!({ "formats": ["markdown", "changeTracking"] }),
    ]
    .into_iter()
    .enumerate()
    {
        let path = format!("/page/{number}");
        site.scrape(&path, options.clone()).await;
        assert_eq!(site.preferred(&path), [false], "{options}");
    }
}

#[tokio::test]
async fn a_site_that_does_not_want_to_be_asked_loses_nothing() {
    let site = MarkdownSite::open().await;
    let page = site.scrape("/disguised", json!({})).await;
    assert_contains(&page["markdown"], &["# Diving", "says the page in HTML"]);
    assert_eq!(site.preferred("/disguised"), [true], "HTML with another label is HTML");
    for path in ["/strict", "/strict/other"] {
        let page = site.scrape(path, json!({ "fastMode": true })).await;
        assert_contains(&page["markdown"], &["says the page in HTML"]);
    }
    assert_eq!(site.preferred("/strict"), [true, false]);
    assert_eq!(site.preferred("/strict/other"), [false], "remembered for the host");
}

#[tokio::test]
async fn what_is_labelled_as_markdown_and_is_none_is_asked_for_again() {
    for path in ["/empty", "/binary"] {
        let site = MarkdownSite::open().await;
        let page = site.scrape(path, json!({ "fastMode": true })).await;
        assert_contains(&page["markdown"], &["says the page in HTML"]);
        assert_eq!(site.preferred(path), [true, false], "{path}");
    }
}
