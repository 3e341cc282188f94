//! Browser sessions: begun, driven over the protocol, watched, ended in every way; only by those who may.

mod attacks;
mod code;
mod command_line;
mod commands;
mod downloads;
mod leftovers;
mod life;
mod live_view;
mod location;
mod profiles;
mod replay;

use crate::clients::{node, python, run};
use crate::http::HttpResponse;
use crate::scrape::ScrapeFixture;
use serde_json::{Value, json};
use std::process::Command;

/// Begins a session.
pub async fn begin(fixture: &ScrapeFixture, options: Value) -> Value {
    let response = fixture.http().post("/v2/browser", &options).await.unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
    response.json
}

/// Ends a session: on a server that other tests use too, none is left behind.
async fn end(fixture: &ScrapeFixture, session: &Value) {
    let path = format!("/v2/browser/{}", session["id"].as_str().unwrap());
    let ended = fixture.http().delete(&path).await.unwrap();
    assert_eq!(ended.status, 200, "{}", ended.text);
}

/// Runs a script that is given the links of a session.
pub async fn run_in_session(fixture: &ScrapeFixture, script: &str, session: &Value) {
    run_with_links(fixture, node(script), session).await;
}

async fn run_with_links(fixture: &ScrapeFixture, mut command: Command, session: &Value) {
    command.env("CDP_URL", session["cdpUrl"].as_str().unwrap());
    command.env("VIEW_URL", session["liveViewUrl"].as_str().unwrap());
    command.env("ACT_URL", session["interactiveLiveViewUrl"].as_str().unwrap());
    command.env("SITE_URL", &fixture.site.base);
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn a_client_of_the_protocol_drives_the_browser_and_reaches_nothing_else() {
    let fixture = ScrapeFixture::own().await;
    let session = begin(&fixture, json!({})).await;
    run_in_session(&fixture, "cdp.mjs", &session).await;
    let id = session["id"].as_str().unwrap();
    let ended = life::wait_until_destroyed(&fixture, id).await;
    assert_eq!(ended["destroyedReason"], "a client closed the browser");
}

/// Runs a client's script against a server that runs code.
async fn run_client(mut command: Command) {
    let fixture = code::open().await;
    command.env("API_URL", &fixture.http().base).env("SITE_URL", &fixture.site.base);
    command.env("API_KEY", fixture.http().key().unwrap());
    command.env("PYTHON", std::env::var("GANNET_TEST_PYTHON").unwrap());
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn playwright_connects_unmodified() {
    let fixture = ScrapeFixture::open().await;
    let session = begin(&fixture, json!({})).await;
    run_in_session(&fixture, "playwright.mjs", &session).await;
    end(&fixture, &session).await;
}

/// Documented calls of Playwright for JavaScript and Python, of puppeteer-core and of agent-browser: each eighth here, all
/// of them, some three minutes, with `GANNET_TEST_SOAK=1`.
#[tokio::test]
async fn unmodified_clients_make_their_documented_calls() {
    let mut command = node("calls/run.mjs");
    if std::env::var_os("GANNET_TEST_SOAK").is_none() {
        command.args(["--every", "8"]);
    }
    run_client(command).await;
}

#[tokio::test]
async fn commands_print_what_the_package_agent_browser_prints() {
    run_client(node("calls/compare.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_drives_sessions() {
    run_client(python("browser.py")).await;
}

#[tokio::test]
async fn firecrawl_js_drives_sessions() {
    run_client(node("browser.mjs")).await;
}

#[tokio::test]
async fn firecrawl_cli_and_mcp_server_drive_sessions() {
    run_client(node("browser_tools.mjs")).await;
}

#[tokio::test]
async fn requests_are_read_strictly() {
    let fixture = ScrapeFixture::open().await;
    let ask =
        async |path: &str, body: Value| -> HttpResponse { fixture.http().post(path, &body).await.unwrap() };
    for (body, field) in [
        (json!({ "ttl": 29 }), "ttl"),
        (json!({ "ttl": 3601 }), "ttl"),
        (json!({ "activityTtl": 9 }), "activityTtl"),
        (json!({ "profile": { "name": "" } }), "profile"),
        (json!({ "location": { "country": "XX" } }), "location"),
        (json!({ "tll": 60 }), "tll"),
    ] {
        for path in ["/v2/browser", "/v2/interact"] {
            let response = ask(path, body.clone()).await;
            assert_eq!(response.status, 400, "{body}: {}", response.text);
            assert!(response.text.contains(field), "{}", response.text);
        }
    }
    let unknown = "00000000-0000-7000-8000-000000000000";
    for (path, body, status) in [
        (format!("/v2/browser/{unknown}/execute"), json!({ "code": "1" }), 404),
        (format!("/v2/browser/{unknown}/execute"), json!({}), 400),
        (format!("/v2/browser/{unknown}/execute"), json!({ "code": "1", "language": "ruby" }), 400),
        (format!("/v2/browser/{unknown}/execute"), json!({ "code": "1", "timeout": 301 }), 400),
        ("/v2/browser/x/execute".to_owned(), json!({ "code": "1" }), 400),
        (format!("/v2/scrape/{unknown}/interact"), json!({ "code": "1", "prompt": "2" }), 400),
        (format!("/v2/scrape/{unknown}/interact"), json!({}), 400),
    ] {
        let response = ask(&path, body.clone()).await;
        assert_eq!(response.status, status, "{path} {body}: {}", response.text);
    }
    let wrong = fixture.http().get("/v2/browser?status=gone").await.unwrap();
    assert_eq!(wrong.status, 400, "{}", wrong.text);
}

#[tokio::test]
async fn without_a_browser_there_are_no_sessions() {
    let fixture = ScrapeFixture::without_browser().await;
    let response = fixture.http().post("/v2/browser", &json!({})).await.unwrap();
    assert_eq!(response.status, 503, "{}", response.text);
    assert_eq!(response.json["code"], "BROWSER_NOT_INSTALLED");
}
