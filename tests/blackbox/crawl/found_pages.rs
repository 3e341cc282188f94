//! Pages that are reached by unusual ways: by a page that only sends its reader on, by further pages of a list that name
//! its first page as canonical, on a site that asks for long pauses.

use super::wait_for_end;
use crate::crawl::started_id;
use crate::scrape::shared;
use crate::server::Server;
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn page(head: &str, body: &str) -> Html<String> {
    let words = "Northern gannets breed in colonies on cliffs and dive from thirty metres for their fish.";
    Html(format!("<!doctype html><head>{head}</head><main><h1>Birds</h1><p>{words}</p>{body}</main>"))
}

/// The first page of a list by a query, and the pages that only its further pages link.
fn list(query: Option<&str>) -> Html<String> {
    let head = "<title>List</title><link rel=canonical href=/list>";
    match query {
        None => page(head, "<a href='/list?page=2'>2</a> <a href='/list?order=name'>by name</a>"),
        Some("page=2") => page(head, "<a href=/post/second>second</a>"),
        Some(_) => page(head, "<a href='/list?order=name&color=red'>red</a>"),
    }
}

fn site() -> SiteServer {
    let index = "<a href=/posts/>posts</a> <a href=/list>list</a> <a href=/old>old</a>";
    let further = "<title>Posts</title><link rel=canonical href=/posts/>";
    let alias = "<!doctype html><title>x</title><meta http-equiv=refresh content='0; url=/new'>";
    let routes = Router::new()
        .route("/robots.txt", get(|| async { "User-agent: *\nCrawl-delay: 30\nDisallow: /post/third\n" }))
        .route("/", get(move || async move { page("<title>Birds</title>", index) }))
        .route("/posts/", get(move || async move { page(further, "<a href=/posts/page/2/>2</a>") }))
        .route("/posts/page/2/", get(move || async move { page(further, "<a href=/posts/page/3/>3</a>") }))
        .route("/posts/page/3/", get(move || async move { page(further, "<a href=/post/third>third</a>") }))
        .route("/list", get(|RawQuery(query): RawQuery| async move { list(query.as_deref()) }))
        .route("/old", get(move || async move { Html(alias) }))
        .route("/new", get(|| async { page("<title>New</title>", "The page that was moved.") }))
        .route("/post/{name}", get(|| async { page("<title>Post</title>", "") }));
    SiteServer::start(routes)
}

async fn crawl(server: &Server, site: &SiteServer, mut options: Value) -> String {
    options["url"] = site.url("/").into();
    options["sitemap"] = "skip".into();
    started_id(&server.http.post("/v2/crawl", &options).await.unwrap())
}

#[tokio::test]
async fn further_pages_of_a_list_and_moved_pages_lead_on() {
    let site = site();
    // Without a browser, so that nothing else can follow the moved page.
    let (_, server) = shared(&[("browser", "off")]).await;
    let began = Instant::now();
    let id = crawl(&server, &site, json!({ "ignoreRobotsTxt": true })).await;
    let status = wait_for_end(&server.http, &format!("/v2/crawl/{id}")).await;
    assert!(
        began.elapsed() < Duration::from_secs(25),
        "a delay that was to be ignored: {:?}",
        began.elapsed()
    );
    let ledger = crate::generated_site::fetch_ledger(&server.http, &id, &site.base).await;
    let state = |path: &str| ledger.get(path).map(|(state, reason)| (state.as_str(), reason.as_str()));
    for path in ["/", "/posts/", "/list", "/old", "/post/second", "/post/third"] {
        assert_eq!(state(path).map(|(state, _)| state), Some("completed"), "{path}: {ledger:?}");
    }
    for path in ["/posts/page/2/", "/posts/page/3/", "/list?page=2", "/list?order=name"] {
        assert_eq!(state(path), Some(("skipped", "canonical")), "{path}: {ledger:?}");
    }
    assert_eq!(state("/list?order=name&color=red"), None, "orders of a list lead nowhere new");
    assert!(status.to_string().contains("The page that was moved."), "{status}");
}

#[tokio::test]
async fn a_crawl_that_waits_between_pages_says_so() {
    let site = site();
    let (_, server) = shared(&[("browser", "off")]).await;
    let id = crawl(&server, &site, json!({})).await;
    let end = Instant::now() + Duration::from_secs(20);
    let status = loop {
        let status = server.http.get(&format!("/v2/crawl/{id}")).await.unwrap();
        if status.json["warning"].is_string() || Instant::now() > end {
            break status.json;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(status["status"], "scraping", "{status}");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("30 s") && warning.contains("Crawl-delay"), "{status}");
}
