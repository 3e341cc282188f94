//! Memory for page bodies is bounded for the whole process, also where the plan has no limit.

use crate::scrape::{config, other_team, scrape_as};
use crate::site_server::SiteServer;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, StreamExt};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use testkit::TempDir;
use tokio::sync::Semaphore;

/// Large pages: each stops after more than 1 MiB until the test lets it go on. `far` counts those that got
/// there.
fn large_pages(far: Arc<Semaphore>, go_on: Arc<Semaphore>) -> SiteServer {
    let filler =
        Bytes::from(format!("<p>{}</p>", "Gannets dive from thirty metres into the sea. ".repeat(13_000)));
    let page = move || {
        let (filler, far, go_on) = (filler.clone(), far.clone(), go_on.clone());
        async move {
            let start = Bytes::from_static(
                b"<!doctype html><html lang=en><title>Gannets</title><main><h1>Gannets</h1>",
            );
            let first = stream::iter([start, filler.clone(), filler.clone()]);
            let rest = stream::once(async move {
                far.add_permits(1);
                go_on.acquire().await.unwrap().forget();
                filler
            });
            let body = first.chain(rest).map(Ok::<_, Infallible>);
            ([("content-type", "text/html")], Body::from_stream(body)).into_response()
        }
    };
    let small = async || -> Response {
        let text =
            "<p>A small page about gannets, which breed on cliffs and islands of the north.</p>".repeat(5);
        (
            [("content-type", "text/html")],
            format!("<!doctype html><html lang=en><title>Small</title><main>{text}</main>"),
        )
            .into_response()
    };
    SiteServer::start(Router::new().route("/large/{n}", get(page)).route("/small", get(small)))
}

#[tokio::test]
async fn large_pages_wait_for_memory_and_small_ones_do_not() {
    let dir = TempDir::new();
    // Enough for one large page at a time.
    let server = config(&dir).set("browser", "off").set("page_memory", "1MB").start().await;
    let (far, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let site = large_pages(far.clone(), go_on.clone());
    let other = other_team(&dir, &server.http).await;
    let scrape = |http: &crate::http::Http, path: &str, timeout: u64| {
        let (http, url) = (http.clone(), site.url(path));
        tokio::spawn(async move {
            scrape_as(&http, &url, json!({ "timeout": timeout, "maxAge": 0, "storeInCache": false })).await
        })
    };
    let first = scrape(&server.http, "/large/1", 60_000);
    far.acquire().await.unwrap().forget();
    // It has been sent; a moment later it is read, which cannot be seen from outside.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (second, third) = (scrape(&other, "/large/2", 60_000), scrape(&server.http, "/large/3", 2_000));

    // One large page is being read: small ones are still served, and the other large ones are not read into
    // memory.
    for http in [&server.http, &other] {
        scrape(http, "/small", 20_000).await.unwrap().expect_success();
    }
    let refused = third.await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert!(
        refused.text.contains("large pages") && !refused.header("retry-after").is_empty(),
        "{}",
        refused.text
    );

    // Its memory is free when it is done, and the next one goes on.
    go_on.add_permits(100);
    first.await.unwrap().expect_success();
    second.await.unwrap().expect_success();
}

#[tokio::test]
async fn doctor_reports_the_memory_limit() {
    let dir = TempDir::new();
    let (_, text, _) = crate::server::run(config(&dir).set("page_memory", "1GB").command(&["doctor"]));
    let line = text.lines().find(|line| line.contains("memory of pages")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("pages at once") && line.contains("larger than 1 MB"), "{line}");
}
