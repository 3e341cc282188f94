//! Sites with errors, endless files or rate limits: each crawl ends, gives the reason, and is polite.

use super::{assert_counts_add_up, start_crawl, wait_for_end};
use crate::scrape::shared;
use crate::site_server::new_listener;
use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::FreePort;

const MAX_CRAWL_DURATION: Duration = Duration::from_mins(2);

/// Serves what `answer` returns for a path and the number of requests before; returns the base URL.
fn site<F>(answer: impl Fn(String, u64) -> F + Send + Sync + 'static) -> String
where
    F: Future<Output = Response> + Send + 'static,
{
    let listener = new_listener();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    let router = Router::new().fallback(move |request: Request| {
        answer(request.uri().path().to_owned(), count.fetch_add(1, Ordering::SeqCst))
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

/// A page of a plain site that links to `pages` others.
fn plain_page(path: &str, pages: u32) -> Response {
    let links: Vec<String> = (1..=pages).map(|n| format!("<a href=/page/{n}>{n}</a>")).collect();
    let links = links.join(" ");
    let words = "Words that make this a page with something to say to whoever reads it. ".repeat(5);
    Html(format!("<title>{path}</title><h1>Page {path}</h1><p>{words}</p>{links}")).into_response()
}

fn missing() -> Response {
    StatusCode::NOT_FOUND.into_response()
}

async fn crawl_to_end(url: &str, mut request: Value) -> Value {
    let (_, server) = shared(&[]).await;
    request["url"] = json!(url);
    request["scrapeOptions"] =
        json!({ "formats": ["links"], "fastMode": true, "maxAge": 0, "timeout": 3_000 });
    let id = start_crawl(&server.http, &request).await;
    let status = wait_for_end(&server.http, &id, MAX_CRAWL_DURATION).await;
    assert_counts_add_up(&status);
    status
}

#[tokio::test]
async fn a_start_url_that_redirects_away_or_fails_is_reported() {
    let away = site(|_, _| async { Redirect::permanent("http://elsewhere.invalid/").into_response() });
    let status = crawl_to_end(&away, json!({ "ignoreRobotsTxt": true, "sitemap": "skip" })).await;
    assert_eq!((&status["status"], &status["success"]), (&json!("failed"), &json!(false)), "{status}");
    assert!(status["error"].as_str().unwrap().contains("http://elsewhere.invalid/"), "{status}");

    let closed = format!("http://127.0.0.1:{}/", FreePort::find().0);
    let status = crawl_to_end(&closed, json!({})).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert!(status["error"].as_str().unwrap().contains("could not connect"), "{status}");
}

#[tokio::test]
async fn urls_forbidden_by_robots_txt_are_a_warning() {
    let forbidden = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => "User-agent: *\nDisallow: /".into_response(),
            path => plain_page(path, 3),
        }
    };
    let status = crawl_to_end(&site(forbidden), json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(0)), "{status}");
    assert!(status["warning"].as_str().unwrap().contains("robots"), "{status}");
    // Without a readable robots.txt everything is forbidden.
    let unsure = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            path => plain_page(path, 3),
        }
    };
    let status = crawl_to_end(&site(unsure), json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(0)), "{status}");
    let status = crawl_to_end(&site(unsure), json!({ "ignoreRobotsTxt": true })).await;
    assert_eq!(status["completed"], 4, "{status}");
}

/// An endless robots.txt is read up to the size the standard asks for, and the crawl goes on.
#[tokio::test]
async fn an_endless_robots_txt_does_not_stop_the_crawl() {
    let answer = |path: String, _| async move {
        match path.as_str() {
            "/robots.txt" => {
                let rules = "User-agent: *\nDisallow: /page/2\n".to_owned() + &"# more\n".repeat(100);
                let more = futures_util::stream::unfold(rules, |text| async move {
                    Some((Ok::<_, std::io::Error>(text), "# and more\n".repeat(5_000)))
                });
                axum::body::Body::from_stream(more).into_response()
            }
            path => plain_page(path, 3),
        }
    };
    let status = crawl_to_end(&site(answer), json!({})).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(3)), "{status}");
}

/// A 429 is answered as web servers do, with a page of their own, and asks for a longer pause than the crawl would make by itself:
/// the crawl waits as long as it is asked to, and still returns every page.
#[tokio::test]
async fn a_site_that_complains_is_left_alone_as_long_as_it_asks_and_loses_no_page() {
    const ASKED: Duration = Duration::from_secs(4);
    let begun = Instant::now();
    let seen: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let (times, complained) = (seen.clone(), Arc::new(AtomicBool::new(false)));
    let base = site(move |path: String, _| {
        times.lock().unwrap().push(begun.elapsed());
        let complains = path == "/page/3" && !complained.swap(true, Ordering::SeqCst);
        async move {
            match path.as_str() {
                "/robots.txt" | "/sitemap.xml" | "/sitemap_index.xml" => missing(),
                _ if complains => {
                    let page = Html("<title>429</title><h1>429 Too Many Requests</h1><hr>nginx");
                    let wait = [(header::RETRY_AFTER, ASKED.as_secs().to_string())];
                    (StatusCode::TOO_MANY_REQUESTS, wait, page).into_response()
                }
                path => plain_page(path, 12),
            }
        }
    });
    let status = crawl_to_end(&base, json!({})).await;
    assert_eq!(
        (&status["status"], &status["completed"], &status["failed"]),
        (&json!("completed"), &json!(13), &json!(0)),
        "{status}"
    );
    let seen = seen.lock().unwrap();
    let longest = seen.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap();
    // By itself the crawl would come back after a second.
    assert!(longest >= ASKED.mul_f64(0.9), "the site was not left alone: {seen:?}");
}

#[tokio::test]
async fn crawl_delays_are_kept() {
    for (robots, request) in [("", json!({ "delay": 0.3 })), ("User-agent: *\nCrawl-delay: 0.3", json!({}))] {
        let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
        let seen = times.clone();
        let base = site(move |path: String, _| {
            if path == "/" || path.starts_with("/page/") {
                seen.lock().unwrap().push(Instant::now());
            }
            async move { if path == "/robots.txt" { robots.into_response() } else { plain_page(&path, 4) } }
        });
        let mut request = request;
        request["sitemap"] = json!("skip");
        let status = crawl_to_end(&base, request).await;
        assert_eq!(status["completed"], 5, "{status}");
        let times = times.lock().unwrap();
        // The first page may be requested before the rules are known.
        for pair in times.windows(2).skip(1) {
            assert!(
                pair[1] - pair[0] >= Duration::from_millis(250),
                "{:?} between two pages",
                pair[1] - pair[0]
            );
        }
    }
}

/// A host that stops responding half-way costs a few timeouts, not one for each of its pages.
#[tokio::test]
async fn a_host_that_dies_half_way_ends_the_crawl_within_its_limits() {
    let base = site(|path: String, count| async move {
        if count > 12 {
            std::future::pending::<()>().await;
        }
        if path.starts_with("/page/") || path == "/" { plain_page(&path, 60) } else { missing() }
    });
    let begun = Instant::now();
    let status = crawl_to_end(&base, json!({ "maxConcurrency": 10 })).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (completed, failed) = (status["completed"].as_u64().unwrap(), status["failed"].as_u64().unwrap());
    assert!(completed >= 1 && failed >= 40 && completed + failed == 61, "{status}");
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}
