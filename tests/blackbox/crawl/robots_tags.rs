//! What single pages say to robots, in their head or in `X-Robots-Tag`: whose links are not followed, and
//! which of them searches do not find.

use super::{started_id, wait_for_end};
use crate::generated_site::fetch_ledger;
use crate::scrape::shared;
use crate::server::Server;
use crate::site_server::SiteServer;
use axum::Router;
use axum::http::HeaderName;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TAG: HeaderName = HeaderName::from_static("x-robots-tag");

fn page(head: &str, body: &str) -> Html<String> {
    let words = "Northern gannets breed in colonies on cliffs and dive from thirty metres for their fish.";
    Html(format!("<!doctype html><head>{head}</head><main><h1>Birds</h1><p>{words}</p><p>{body}</p></main>"))
}

fn site() -> SiteServer {
    let index = "<a href=/header>h</a> <a href=/meta>m</a> <a href=/other>o</a> <a href=/open>n</a> openword";
    let routes = Router::new()
        .route("/", get(move || async move { page("<title>Start</title>", index) }))
        .route(
            "/header",
            get(|| async { ([(TAG, "gannet: none")], page("", "headerword <a href=/from-header>x</a>")) }),
        )
        .route(
            "/meta",
            get(|| async {
                page("<meta name=robots content='noindex, nofollow'>", "metaword <a href=/from-meta>x</a>")
            }),
        )
        .route(
            "/other",
            get(|| async { ([(TAG, "otherbot: none")], page("", "otherword <a href=/from-other>x</a>")) }),
        )
        .route("/open", get(|| async { page("", "lastword") }))
        .route("/from-{name}", get(|| async { page("", "") }));
    SiteServer::start(routes)
}

async fn crawl(server: &Server, site: &SiteServer, mut options: Value) -> Vec<String> {
    options["url"] = site.url("/").into();
    options["sitemap"] = "skip".into();
    let id = started_id(&server.http.post("/v2/crawl", &options).await.unwrap());
    wait_for_end(&server.http, &format!("/v2/crawl/{id}")).await;
    let ledger = fetch_ledger(&server.http, &id, &site.base).await;
    let completed = ledger.into_iter().filter(|(_, (state, _))| state == "completed");
    let mut paths: Vec<String> = completed.map(|(path, _)| path).collect();
    paths.sort();
    paths
}

async fn is_found(server: &Server, word: &str) -> bool {
    let found = server.http.post("/v2/search", &json!({ "query": word })).await.unwrap();
    found.text.contains(word)
}

#[tokio::test]
async fn rules_of_single_pages_are_obeyed_unless_robots_rules_are_ignored() {
    let site = site();
    let (_, server) = shared(&[("browser", "off")]).await;
    let paths = crawl(&server, &site, json!({})).await;
    assert_eq!(paths, ["/", "/from-other", "/header", "/meta", "/open", "/other"]);
    let end = Instant::now() + crate::index::MAX_INDEXING_DELAY;
    while !(is_found(&server, "lastword").await && is_found(&server, "otherword").await) {
        assert!(Instant::now() < end, "the pages of the crawl are not found");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for word in ["headerword", "metaword"] {
        assert!(!is_found(&server, word).await, "{word}: a page that is not to be indexed");
    }
    let all = crawl(&server, &site, json!({ "ignoreRobotsTxt": true })).await;
    assert_eq!(
        all,
        ["/", "/from-header", "/from-meta", "/from-other", "/header", "/meta", "/open", "/other"]
    );
}
