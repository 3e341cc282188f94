//! The dashboard in a real Chromium: journeys of people, hostile text in every view, accessibility, size. And what
//! protects its sign-in, as another program sees it.

use crate::clients::{node, run};
use crate::http::Http;
use crate::server::{KEY, ServerConfig, gannet, start_own};
use reqwest::{Method, StatusCode};
use serde_json::json;
use testkit::TempDir;

/// Runs a script that starts servers itself, since it also stops them.
async fn run_in_chromium(script: &str) {
    let dir = TempDir::new();
    let mut command = node(script);
    command.env("GANNET_BINARY", gannet().get_program()).env("DATA_DIR", dir.path());
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn people_reach_what_they_came_for() {
    run_in_chromium("dashboard/journeys.mjs").await;
}

#[tokio::test]
async fn hostile_text_stays_text_in_every_view() {
    run_in_chromium("dashboard/hostile.mjs").await;
}

#[tokio::test]
async fn every_view_is_accessible_narrow_and_small() {
    run_in_chromium("dashboard/views.mjs").await;
}

#[tokio::test]
async fn long_lists_stay_smooth() {
    run_in_chromium("dashboard/long.mjs").await;
}

/// Signs in as a page of the server would; the cookie of the answer.
async fn sign_in(http: &Http) -> String {
    let request = http.with_key(None).request(Method::POST, "/admin/sign-in");
    let answer = request.header("origin", &http.base).json(&json!({ "key": KEY })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Max-Age=43200")
    );
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_cookie_acts_for_pages_of_this_server_only() {
    let (_dir, server) = start_own().await;
    let http = server.http.with_key(None);
    let cookie = sign_in(&server.http).await;
    let send = async |method: Method, path: &str, headers: &[(&str, &str)]| {
        let mut request = http.request(method, path).header("cookie", &cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.json(&json!({ "name": "made by a page" })).send().await.unwrap().status().as_u16()
    };
    let own: &str = &server.http.base;
    assert_eq!(send(Method::GET, "/admin/sign-in", &[]).await, 200);
    assert_eq!(send(Method::GET, "/admin/sign-in", &[("sec-fetch-site", "cross-site")]).await, 403);
    for (headers, status) in [
        (vec![], 403),
        (vec![("origin", own)], 200),
        (vec![("origin", own), ("sec-fetch-site", "same-origin")], 200),
        (vec![("sec-fetch-site", "same-origin")], 200),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![("origin", own), ("sec-fetch-site", "cross-site")], 403),
        (vec![("sec-fetch-site", "same-site")], 403),
        (vec![("sec-fetch-site", "none")], 403),
    ] {
        assert_eq!(send(Method::POST, "/admin/keys", &headers).await, status, "{headers:?}");
    }
    let wrong = http.request(Method::POST, "/admin/sign-in").header("origin", own);
    let wrong = wrong.json(&json!({ "key": "gn-wrong-0123456789abcdef" })).send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(send(Method::DELETE, "/admin/sign-in", &[("origin", own)]).await, 200);
    assert_eq!(send(Method::GET, "/admin/sign-in", &[]).await, 401, "signed out");
}

#[tokio::test]
async fn the_dashboard_can_be_switched_off() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("dashboard", "off").start().await;
    assert!(!server.banner.iter().any(|line| line.contains("dashboard")), "{:?}", server.banner);
    let http = server.http.with_key(None);
    let request = http.request(Method::POST, "/admin/sign-in").header("origin", &server.http.base);
    assert_eq!(request.json(&json!({ "key": KEY })).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let page = http.request(Method::GET, "/").send().await.unwrap();
    assert!(page.url().path() == "/docs" || page.status().is_redirection(), "{}", page.url());
    for absent in ["/assets/x/app.js", "/favicon.ico"] {
        assert_eq!(http.get(absent).await.unwrap().status, 404);
    }
}
