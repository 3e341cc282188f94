//! A site as a target: pages that are new, gone or changed, exactly.

use super::{counts, run, shared};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The pages of the site: number and text.
type Pages = Arc<Mutex<BTreeMap<u32, String>>>;

fn text(number: u32, version: &str) -> String {
    format!("Chapter {number} tells the story of the {version} gannet that nested on cliff number {number}.")
}

async fn contents(State(pages): State<Pages>) -> Html<String> {
    let pages = pages.lock().unwrap();
    let link = |page: &u32| format!("<li><a href='/page/{page}'>{page}</a></li>");
    let links = pages.keys().map(link).collect::<Vec<_>>().concat();
    Html(format!(
        "<html><body><main><h1>Contents</h1><p>All chapters of the book.</p></main><nav><ul>{links}</ul></nav></body></html>"
    ))
}

async fn page(State(pages): State<Pages>, Path(number): Path<u32>) -> Response {
    match pages.lock().unwrap().get(&number) {
        Some(text) => Html(format!("<html><body><main><h1>{number}</h1><p>{text}</p></main></body></html>"))
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn pages_with(check: &Value, status: &str) -> Vec<String> {
    let pages = check["pages"].as_array().unwrap().iter().filter(|page| page["status"] == status);
    let mut paths: Vec<String> =
        pages.map(|page| page["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn new_gone_and_changed_pages_of_a_site_are_exact() {
    let (_, server) = shared().await;
    let http = &server.http;
    let pages: Pages = Arc::new(Mutex::new((1..=8).map(|page| (page, text(page, "old"))).collect()));
    let routes = Router::new().route("/", get(contents)).route("/page/{number}", get(page));
    let site = SiteServer::start(routes.with_state(pages.clone()));
    let body = json!({
        "name": "Book", "schedule": { "cron": "0 * * * *" },
        "targets": [{ "type": "crawl", "url": site.url("/"), "crawlOptions": { "sitemap": "skip", "limit": 50 } }],
    });
    let created = http.post("/v2/monitor", &body).await.unwrap();
    let monitor = created.expect_success()["data"]["id"].as_str().unwrap().to_owned();
    let first = run(http, &monitor).await;
    assert_eq!((&first["status"], counts(&first)), (&json!("completed"), [9, 0, 0, 9, 0, 0]), "{first}");
    assert!(first["targetResults"][0]["crawlId"].is_string(), "{first}");
    for round in 0_u32..3 {
        let (changed, gone, new) = (round + 2, round + 5, round + 20);
        {
            let mut pages = pages.lock().unwrap();
            pages.insert(changed, text(changed, "new"));
            pages.remove(&gone);
            pages.insert(new, text(new, "old"));
        }
        let check = run(http, &monitor).await;
        // The contents list the chapters, so they change with them.
        assert_eq!(pages_with(&check, "changed"), [String::new(), changed.to_string()], "{check}");
        assert_eq!(pages_with(&check, "removed"), [gone.to_string()], "{check}");
        assert_eq!(pages_with(&check, "new"), [new.to_string()], "{check}");
        assert_eq!((counts(&check)[0], counts(&check)[5]), (10, 0), "{check}");
    }
    let last = run(http, &monitor).await;
    assert_eq!(counts(&last), [9, 9, 0, 0, 0, 0], "{last}");
}

#[tokio::test]
async fn what_a_crawl_could_not_read_is_told() {
    let (_, server) = shared().await;
    let http = &server.http;
    let links =
        (1..=13).map(|page| format!("<a href='/gone/{page}'>{page}</a> ")).collect::<Vec<_>>().concat();
    let home = format!(
        "<html><body><main><h1>Contents</h1><p>All chapters of the book about gannets.</p>\
         <a href='/secret/a'>a</a> <a href='http://no-such-host.invalid/'>elsewhere</a> {links}</main></body></html>"
    );
    let routes = Router::new()
        .route("/", get(move || async { Html(home) }))
        .route("/robots.txt", get(|| async { "User-agent: *\nDisallow: /secret/\n" }))
        .route("/secret/a", get(|| async { Html("<p>Never read.</p>") }))
        .fallback(|| async {
            (StatusCode::NOT_FOUND, Html("<h1>Not found</h1><p>There is no such page here.</p>"))
        });
    let site = SiteServer::start(routes);
    let options = json!({ "sitemap": "skip", "limit": 50, "allowExternalLinks": true });
    let body = json!({
        "name": "Book", "schedule": { "cron": "0 * * * *" },
        "targets": [{ "type": "crawl", "url": site.url("/"), "crawlOptions": options }],
    });
    let created = http.post("/v2/monitor", &body).await.unwrap();
    let monitor = created.expect_success()["data"]["id"].as_str().unwrap().to_owned();
    let check = run(http, &monitor).await;
    let unread = &check["targetResults"][0]["unread"];
    assert_eq!((&unread["failed"], &unread["robotsBlocked"]), (&json!(14), &json!(1)), "{check}");
    let pages = unread["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 11, "{unread}");
    let why = |url: &str| {
        let page = pages.iter().find(|page| page["url"] == url);
        page.map(|page| page["error"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert!(why(&site.url("/secret/a")).contains("robots.txt"), "{unread}");
    assert!(why("http://no-such-host.invalid/").contains("resolve"), "{unread}");
    assert!(why(&site.url("/gone/1")).contains("404"), "{unread}");
}
