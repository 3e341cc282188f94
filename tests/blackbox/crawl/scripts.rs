//! Sites that scripts draw: pages whose scripts come too late, and pages that differ after the `#` of their address only.

use super::wait_for_end;
use crate::crawl::started_id;
use crate::generated_site::fetch_ledger;
use crate::scrape::shared;
use crate::server::Server;
use crate::site_server::SiteServer;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WORDS: &str =
    "Northern gannets breed in colonies on cliffs and dive from thirty metres for their fish.";

fn shell(script: &str) -> String {
    format!(
        "<!doctype html><html><head><title>Tides</title><link rel=canonical href=/></head>\
         <body><div id=root></div><script src={script}></script></body></html>"
    )
}

/// A page that links to two apps. The script of the first draws its page when it is loaded for the second time, as one
/// that is too slow for the first visit; that of the other never does.
fn slow_site() -> SiteServer {
    let loaded = Arc::new(AtomicUsize::new(0));
    let script = move || {
        let count = loaded.fetch_add(1, Ordering::SeqCst);
        let drawn = format!("document.getElementById('root').innerHTML = '<h1>Late</h1><p>{WORDS}</p>';");
        async move { ([(CONTENT_TYPE, "text/javascript")], if count == 0 { String::new() } else { drawn }) }
    };
    let links = "<a href=/late>late</a> <a href=/never>never</a>";
    let routes = Router::new()
        .route(
            "/",
            get(move || async move { Html(format!("<main><h1>Tides</h1><p>{WORDS}</p>{links}</main>")) }),
        )
        .route("/late", get(|| async { Html(shell("/late.js").replace("<link rel=canonical href=/>", "")) }))
        .route(
            "/never",
            get(|| async { Html(shell("/never.js").replace("<link rel=canonical href=/>", "")) }),
        )
        .route("/late.js", get(script))
        .route("/never.js", get(|| async { ([(CONTENT_TYPE, "text/javascript")], "") }));
    SiteServer::start(routes)
}

/// One document that draws a page for each route.
fn routed_site() -> SiteServer {
    let script = format!(
        "const pages = {{ '': ['Home', '<a href=\"#/notes/HTTP\">HTTP</a> <a href=\"#/notes/TCP/\">TCP</a> <a href=\"#top\">up</a>'],
           '/notes/HTTP': ['Notes on HTTP', '<h2 id=methods>Methods</h2><a href=\"#/\">home</a> <a href=\"#/notes/HTTP?id=methods\">Methods</a>'],
           '/notes/TCP': ['Notes on TCP', '<a href=\"#/notes/UDP\">UDP</a>'],
           '/notes/UDP': ['Notes on UDP', ''] }};
         function draw() {{
           const [title, more] = pages[location.hash.slice(1).replace(/[?].*/, '').replace(/[/]$/, '')];
           document.getElementById('root').innerHTML = '<h1>' + title + '</h1><p>{WORDS}</p><p>' + more + '</p>';
         }}
         addEventListener('hashchange', draw); draw();"
    );
    let routes = Router::new()
        .route("/", get(|| async { Html(shell("/app.js")) }))
        .route("/app.js", get(move || async move { ([(CONTENT_TYPE, "text/javascript")], script) }))
        .route(
            "/plain",
            get(|| async {
                Html(format!("<main><h1>Plain</h1><p>{WORDS}</p><a href='#/part'>part</a></main>"))
            }),
        );
    SiteServer::start(routes)
}

async fn crawl(server: &Server, site: &SiteServer, path: &str, timeout: u32) -> (String, Value) {
    let options = json!({
        "url": site.url(path), "sitemap": "skip", "ignoreRobotsTxt": true, "scrapeOptions": { "timeout": timeout },
    });
    let id = started_id(&server.http.post("/v2/crawl", &options).await.unwrap());
    let status = wait_for_end(&server.http, &format!("/v2/crawl/{id}")).await;
    (id, status)
}

#[tokio::test]
async fn an_empty_shell_is_tried_again_and_its_loss_is_said() {
    let (_, server) = shared(&[]).await;
    let site = slow_site();
    let (id, status) = crawl(&server, &site, "/", 8_000).await;
    let ledger = fetch_ledger(&server.http, &id, &site.base).await;
    assert_eq!(ledger["/late"].0, "completed", "{ledger:?}");
    assert_eq!(ledger["/never"], ("failed".to_owned(), "SCRAPE_ALL_ENGINES_FAILED".to_owned()));
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("1 pages stayed empty in the browser"), "{status}");
    let errors = server.http.get(&format!("/v2/crawl/{id}/errors")).await.unwrap();
    assert!(errors.text.contains("3 times"), "{}", errors.text);
}

#[tokio::test]
async fn routes_of_scripts_are_pages_of_a_crawl_and_of_a_map() {
    let (_, server) = shared(&[]).await;
    let site = routed_site();
    let (id, status) = crawl(&server, &site, "/", 30_000).await;
    let ledger = fetch_ledger(&server.http, &id, &site.base).await;
    let completed: Vec<&str> =
        ledger.iter().filter(|(_, (state, _))| state == "completed").map(|(url, _)| url.as_str()).collect();
    assert_eq!(completed, ["/", "/#/notes/HTTP", "/#/notes/TCP/", "/#/notes/UDP"], "{ledger:?}");
    for title in ["# Home", "# Notes on HTTP", "# Notes on TCP", "# Notes on UDP"] {
        assert!(status["data"].to_string().contains(title), "{title}: {status}");
    }
    assert!(status.get("warning").is_none(), "{status}");

    let map = server.http.post("/v2/map", &json!({ "url": site.url("/"), "sitemap": "skip" })).await.unwrap();
    let links = map.expect_success()["links"].as_array().unwrap().clone();
    let mut urls: Vec<String> =
        links.iter().map(|link| link["url"].as_str().unwrap().replace(&site.base, "")).collect();
    urls.sort();
    assert_eq!(urls, ["/", "/#/notes/HTTP", "/#/notes/TCP/", "/#/notes/UDP"], "{}", map.text);
}

#[tokio::test]
async fn routes_of_a_page_from_a_server_are_named_and_not_followed() {
    let (_, server) = shared(&[]).await;
    let site = routed_site();
    let (id, status) = crawl(&server, &site, "/plain", 30_000).await;
    let ledger = fetch_ledger(&server.http, &id, &site.base).await;
    assert_eq!(ledger["/plain#/part"], ("skipped".to_owned(), "hashRoute".to_owned()), "{ledger:?}");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("1 addresses differ after their # only"), "{status}");
}
