//! L2: a map that visits pages counts as one of the browsers that a plan allows.

use super::{Host, html};
use crate::scrape::{assert_failure, config};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::TempDir;

#[tokio::test]
async fn a_map_uses_one_browser_of_the_plan() {
    let dir = TempDir::new();
    let server = config(&dir).tiny_plan("concurrency = 1").start().await;
    // An empty page that a slow script fills.
    let site = Host::start(|path| {
        let script = "const end = Date.now() + 4000; (function wait() { if (Date.now() < end) return setTimeout(wait, 50); \
            document.body.innerHTML = '<h1>Here</h1><p>Words that make this a page with something to say, and more.</p><a href=/x>x</a>' })()";
        (path == "/").then(|| {
            html(&format!("<div id=root></div><script>{script}</script><script>fetch('/api')</script>"))
        })
    });
    let url = site.url("/");
    let http = Arc::new(server.http.clone());
    let first = tokio::spawn({
        let (http, url) = (http.clone(), url.clone());
        async move { http.post("/v2/map", &json!({ "url": url, "timeout": 30_000 })).await.unwrap() }
    });
    // The first map is visiting its page.
    let end = Instant::now() + Duration::from_secs(30);
    while !site.got_request_for("/api") {
        assert!(Instant::now() < end, "the map did not visit its page");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let check = http.get("/v2/concurrency-check").await.unwrap();
    assert_eq!(check.expect_success()["concurrency"], 1, "{}", check.text);
    let second = http.post("/v2/map", &json!({ "url": url, "timeout": 30_000 })).await.unwrap();
    assert_failure(&second, 429, "CONCURRENCY_LIMIT_REACHED");
    first.await.unwrap();
}
