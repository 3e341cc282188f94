//! Sites that make trouble: each crawl of one ends, says why, and asks no more of a site than it should.

use super::{adds_up, ended, start};
use crate::scrape::recipe;
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::TempDir;
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_mins(2);

/// Serves what `answer` makes of a path and how many requests there were before; its address.
async fn site<F>(answer: impl Fn(String, u64) -> F + Send + Sync + 'static) -> String
where
    F: Future<Output = Response> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    let router = Router::new().fallback(move |request: Request| {
        answer(request.uri().path().to_owned(), count.fetch_add(1, Ordering::SeqCst))
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

/// A page of a plain site that links to `pages` of them.
fn plain(path: &str, pages: u32) -> Response {
    let links: Vec<String> = (1..=pages).map(|n| format!("<a href=/page/{n}>{n}</a>")).collect();
    let links = links.join(" ");
    let words = "Words that make this a page with something to say to whoever reads it. ".repeat(5);
    Html(format!("<title>{path}</title><h1>Page {path}</h1><p>{words}</p>{links}")).into_response()
}

fn missing() -> Response {
    StatusCode::NOT_FOUND.into_response()
}

async fn crawled(url: &str, mut request: Value) -> Value {
    let dir = TempDir::new();
    let server = recipe(&dir).start().await;
    request["url"] = json!(url);
    request["scrapeOptions"] =
        json!({ "formats": ["links"], "fastMode": true, "maxAge": 0, "timeout": 3_000 });
    let id = start(&server.http, &request).await;
    let status = ended(&server.http, &id, PATIENCE).await;
    adds_up(&status);
    status
}

#[tokio::test]
async fn a_start_that_leads_elsewhere_or_nowhere_fails_with_the_reason() {
    let away = site(|_, _| async { Redirect::permanent("http://elsewhere.invalid/").into_response() }).await;
    let status = crawled(&away, json!({ "ignoreRobotsTxt": true, "sitemap": "skip" })).await;
    assert_eq!((&status["status"], &status["success"]), (&json!("failed"), &json!(false)), "{status}");
    assert!(status["error"].as_str().unwrap().contains("http://elsewhere.invalid/"), "{status}");

    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let status = crawled(&format!("http://{closed}/"), json!({})).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert!(status["error"].as_str().unwrap().contains("no connection"), "{status}");
}

#[tokio::test]
async fn what_robots_rules_forbid_is_a_warning() {
    let forbidden = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => "User-agent: *\nDisallow: /".into_response(),
            path => plain(path, 3),
        }
    };
    let status = crawled(&site(forbidden).await, json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(0)), "{status}");
    assert!(status["warning"].as_str().unwrap().contains("robots"), "{status}");
    // A site that cannot say its rules may have any.
    let unsure = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            path => plain(path, 3),
        }
    };
    let status = crawled(&site(unsure).await, json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(0)), "{status}");
    let status = crawled(&site(unsure).await, json!({ "ignoreRobotsTxt": true })).await;
    assert_eq!(status["completed"], 4, "{status}");
}

/// An endless robots.txt is read as far as the standard asks for, and the crawl goes on.
#[tokio::test]
async fn a_robots_file_without_an_end_holds_nothing_up() {
    let answer = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => {
                let rules = "User-agent: *\nDisallow: /page/2\n".to_owned() + &"# more\n".repeat(100);
                let more = futures_util::stream::unfold(rules, |text| async move {
                    Some((Ok::<_, std::io::Error>(text), "# and more\n".repeat(5_000)))
                });
                axum::body::Body::from_stream(more).into_response()
            }
            path => plain(path, 3),
        }
    };
    let status = crawled(&site(answer).await, json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(3)), "{status}");
}

/// Too many requests are answered with 429; the crawl slows down and still has every page.
#[tokio::test]
async fn a_site_that_complains_is_asked_more_slowly_and_loses_no_page() {
    let begun = Instant::now();
    let seen: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let times = seen.clone();
    let base = site(move |path: String, count| {
        times.lock().unwrap().push(begun.elapsed());
        async move {
            match (path.as_str(), count) {
                ("/robots.txt" | "/sitemap.xml" | "/sitemap_index.xml", _) => missing(),
                (_, 4..=6) => {
                    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "1")], "slower").into_response()
                }
                (path, _) => plain(path, 12),
            }
        }
    })
    .await;
    let status = crawled(&base, json!({})).await;
    assert_eq!(
        (&status["status"], &status["completed"], &status["failed"]),
        (&json!("completed"), &json!(13), &json!(0)),
        "{status}"
    );
    let seen = seen.lock().unwrap();
    let longest = seen.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap();
    assert!(longest >= Duration::from_millis(700), "no pause after complaints: {seen:?}");
}

#[tokio::test]
async fn delays_are_kept() {
    for (robots, request) in [("", json!({ "delay": 0.3 })), ("User-agent: *\nCrawl-delay: 0.3", json!({}))] {
        let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let seen = times.clone();
        let base = site(move |path: String, _| {
            if path == "/" || path.starts_with("/page/") {
                seen.lock().unwrap().push(Instant::now());
            }
            async move { if path == "/robots.txt" { robots.into_response() } else { plain(&path, 4) } }
        })
        .await;
        let mut request = request;
        request["sitemap"] = json!("skip");
        let status = crawled(&base, request).await;
        assert_eq!(status["completed"], 5, "{status}");
        let times = times.lock().unwrap();
        // The first page may be asked for before the rules are known.
        for pair in times.windows(2).skip(1) {
            assert!(
                pair[1] - pair[0] >= Duration::from_millis(250),
                "{:?} between two pages",
                pair[1] - pair[0]
            );
        }
    }
}

/// A host that falls silent half-way costs a few time-outs, not one for every page of it.
#[tokio::test]
async fn a_host_that_dies_half_way_ends_the_crawl_within_its_limits() {
    let base = site(|path: String, count| async move {
        if count > 12 {
            std::future::pending::<()>().await;
        }
        if path.starts_with("/page/") || path == "/" { plain(&path, 60) } else { missing() }
    })
    .await;
    let begun = Instant::now();
    let status = crawled(&base, json!({ "maxConcurrency": 10 })).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (completed, failed) = (status["completed"].as_u64().unwrap(), status["failed"].as_u64().unwrap());
    assert!(completed >= 1 && failed >= 40 && completed + failed == 61, "{status}");
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}
