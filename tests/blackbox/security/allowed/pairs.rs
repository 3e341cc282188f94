//! All pairs of requests for one page: whatever the first request wanted, the second gets the same response
//! as if it were alone, also when both come at the same time.

use crate::http::HttpResponse;
use crate::scrape::{ScrapeFixture, scrape_as};
use crate::site::{ARTICLE, PDF, Site};
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;

/// Pages that take as long as `?ms=` says.
pub fn slow_pages() -> Router {
    Router::new().fallback(slow_page)
}

async fn slow_page(request: Request) -> Response {
    const WALL: &str = include_str!("../../site/captcha.html");
    let query = request.uri().query().unwrap_or_default();
    let wait = query.strip_prefix("ms=").and_then(|text| text.parse().ok()).unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(wait)).await;
    match request.uri().path() {
        "/wall" => Html(WALL).into_response(),
        "/pdf" => ([(header::CONTENT_TYPE, "application/pdf")], PDF).into_response(),
        "/article" => Html(ARTICLE).into_response(),
        "/visitor" => visitor(request.headers()),
        // Redirects to the same page under its host name.
        "/moved" => {
            let host = request.headers()[header::HOST]
                .to_str()
                .unwrap_or_default()
                .replace("127.0.0.1", "localhost");
            (StatusCode::FOUND, [(header::LOCATION, format!("http://{host}/article"))]).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Shows a visitor its own headers, so that responses for different visitors differ.
fn visitor(headers: &HeaderMap) -> Response {
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let who = format!("{} / {} / {}", header("user-agent"), header("accept-language"), header("x-own"));
    let text = format!("<p>You came as {who}, and the keeper of the light has written that down.</p>");
    Html(format!("<!doctype html><title>Visitor</title><main><h1>Visitors</h1>{}</main>", text.repeat(5)))
        .into_response()
}

/// Every option that decides what a request accepts, and two that only change how the page is written.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("plain", json!({})),
        ("links", json!({ "formats": ["markdown", "links"], "onlyMainContent": false })),
        ("bytes", json!({ "formats": ["rawBase64"] })),
        ("files", json!({ "parsers": [] })),
        ("certificate", json!({ "skipTlsVerification": false })),
        ("list", json!({ "threatProtection": { "blacklist": ["localhost"] } })),
        ("headers", json!({ "headers": { "X-Own": "mine" }, "skipTlsVerification": true })),
        ("mobile", json!({ "mobile": true })),
        ("location", json!({ "location": { "country": "DE" } })),
        ("fast", json!({ "fastMode": true })),
        ("anew", json!({ "maxAge": 0 })),
        ("private", json!({ "zeroDataRetention": true })),
    ]
}

/// What a caller can see of a response.
fn visible_result(response: &HttpResponse) -> Value {
    let data = &response.json["data"];
    json!([
        response.status,
        response.json["code"],
        data["markdown"],
        data["rawBase64"],
        data["metadata"]["title"]
    ])
}

/// The orders in which the requests come to one URL. Forwards and backwards each follows each of the others;
/// the long form also has every pair separately.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![(0..count).collect::<Vec<_>>(), (0..count).rev().collect()];
    if std::env::var_os("GANNET_TEST_SOAK").is_some() {
        let pairs = (0..count).flat_map(|first| (0..count).map(move |second| vec![first, second]));
        orders.extend(pairs.filter(|pair| pair[0] != pair[1]));
    }
    orders
}

#[tokio::test]
async fn a_request_gets_the_same_response_as_if_it_were_alone() {
    const CONCURRENT_URLS: usize = 8;
    // A server of its own: pages of other tests could make it stop to ask this machine for markdown in
    // between.
    let fixture = ScrapeFixture::with(|config| config.set("browser", "off")).await;
    let (site, tls) = (SiteServer::start(slow_pages()), Site::start_tls());
    let pages = ["/wall", "/pdf", "/moved", "/visitor"].map(|path| site.url(path));
    let pages = pages.into_iter().chain([tls.url("/slow")]).collect::<Vec<_>>();
    let requests = requests();
    let ask = |url: &str, number: usize, after: u64| {
        let (http, url, body) = (fixture.http().clone(), url.to_owned(), requests[number].1.clone());
        async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            visible_result(&scrape_as(&http, &url, body).await)
        }
    };
    let mut alone = Vec::new();
    for page in &pages {
        // Each URL is different.
        let asking = (0..requests.len()).map(|number| ask(&format!("{page}?ms={number}"), number, 0));
        alone.push(join_all(asking).await);
    }
    let cases =
        (0..pages.len()).flat_map(|page| orders(requests.len()).into_iter().map(move |order| (page, order)));
    let cases =
        cases.flat_map(|(page, order)| [(page, order.clone(), false), (page, order, true)]).enumerate();
    let results = stream::iter(cases).map(|(number, (page, order, together))| {
        // Long enough for the last request to find the first one waiting, or next to nothing; the zeros make
        // it another URL.
        let wait = if together { 800 } else { 10 };
        let url = format!("{}?ms={}{wait:03}", pages[page], "0".repeat(number));
        let ask = &ask;
        async move {
            let mut answers = Vec::new();
            if together {
                answers =
                    join_all((0_u64..).zip(&order).map(|(place, one)| ask(&url, *one, place * 25))).await;
            } else {
                for one in &order {
                    answers.push(ask(&url, *one, 0).await);
                }
            }
            (page, order, together, answers)
        }
    });
    let results: Vec<_> = results.buffer_unordered(CONCURRENT_URLS).collect().await;
    let mut wrong = Vec::new();
    for (page, order, together, answers) in results {
        for (place, (number, answer)) in order.iter().zip(answers).enumerate() {
            if answer != alone[page][*number] {
                let when = if together { "beside" } else { "after" };
                let others: Vec<&str> = order[..place].iter().map(|other| requests[*other].0).collect();
                let (name, path) = (requests[*number].0, &pages[page]);
                wrong.push(format!(
                    "{path}: {name} {when} {}: {} {}",
                    others.join(", "),
                    answer[0],
                    answer[1]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} responses differ:\n{}", wrong.len(), wrong.join("\n"));
}
