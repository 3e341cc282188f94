//! All pairs of requests for one page: whatever a first request wanted, a second one is answered as if it had come alone, also when both
//! come at the same time.

use crate::http::Reply;
use crate::scrape::{House, scrape_as};
use crate::site::{ARTICLE, PDF, Site};
use crate::stand::Stand;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::collections::HashMap;
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
        // To the same place under its name.
        "/moved" => {
            let host = request.headers()[header::HOST].to_str().unwrap_or_default().replace("127.0.0.1", "localhost");
            (StatusCode::FOUND, [(header::LOCATION, format!("http://{host}/article"))]).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Tells a visitor who it is, so that answers for different visitors differ.
fn visitor(headers: &HeaderMap) -> Response {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let who = format!("{} / {} / {}", said("user-agent"), said("accept-language"), said("x-own"));
    let text = format!("<p>You came as {who}, and the keeper of the light has written that down.</p>");
    Html(format!("<!doctype html><title>Visitor</title><main><h1>Visitors</h1>{}</main>", text.repeat(5))).into_response()
}

/// Every kind of request that decides by itself what it accepts, and two that only want the page written otherwise.
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

/// What a caller notices of an answer.
fn noticed(reply: &Reply) -> Value {
    let data = &reply.json["data"];
    json!([reply.status, reply.json["code"], data["markdown"], data["rawBase64"], data["metadata"]["title"]])
}

#[tokio::test]
async fn a_request_is_answered_as_if_it_had_come_alone() {
    const AT_ONCE: usize = 48;
    let house = House::with(|recipe| recipe.set("browser", "off")).await;
    let (stand, tls) = (Stand::start(slow_pages()), Site::start_tls());
    let addresses = ["/wall", "/pdf", "/moved", "/visitor"].map(|path| stand.url(path));
    let addresses = addresses.into_iter().chain([tls.url("/slow")]).collect::<Vec<_>>();
    let requests = requests();
    let ask = |url: String, body: &Value| {
        let (http, body) = (house.http().clone(), body.clone());
        async move { scrape_as(&http, &url, body).await }
    };
    let mut alone = HashMap::new();
    let mut cases = Vec::new();
    for (at, address) in addresses.iter().enumerate() {
        for (number, (name, body)) in requests.iter().enumerate() {
            let reply = ask(format!("{address}?ms={number}"), body).await;
            alone.insert((at, *name), noticed(&reply));
        }
        for first in &requests {
            for second in requests.iter().filter(|second| second.0 != first.0) {
                cases.push((at, first, second));
            }
        }
    }
    // An address of its own for each case, and time for the second request to find the first one waiting.
    let cases = cases.into_iter().flat_map(|case| [(case, false), (case, true)]).enumerate();
    let results = stream::iter(cases).map(|(number, ((at, first, second), together))| {
        let wait = if together { 400 } else { 20 };
        let url = format!("{}?ms={}{wait:03}", addresses[at], "0".repeat(number));
        let (one, other) = (ask(url.clone(), &first.1), ask(url.clone(), &second.1));
        async move {
            let reply = if together {
                let later = async {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    other.await
                };
                tokio::join!(one, later).1
            } else {
                one.await;
                other.await
            };
            (at, first.0, second.0, together, noticed(&reply))
        }
    });
    let results: Vec<_> = results.buffer_unordered(AT_ONCE).collect().await;
    let mut wrong = Vec::new();
    for (at, first, second, together, answer) in results {
        if answer != alone[&(at, second)] {
            let when = if together { "beside" } else { "after" };
            let (status, code) = (&answer[0], &answer[1]);
            wrong.push(format!("{}: {second} {when} {first}: {status} {code}", addresses[at]));
        }
    }
    assert!(wrong.is_empty(), "{} answers differ:\n{}", wrong.len(), wrong.join("\n"));
}
