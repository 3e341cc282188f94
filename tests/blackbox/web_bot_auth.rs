//! Web Bot Auth: pages are asked for with a signature that a site can verify with the key of our directory.

use crate::scrape::{config, scrape_as};
use crate::server::run;
use crate::site_server::SiteServer;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use testkit::TempDir;

type Seen = Arc<Mutex<Vec<(String, HeaderMap)>>>;

async fn answer(State(seen): State<Seen>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    seen.lock().unwrap().push((path.clone(), request.headers().clone()));
    match path.as_str() {
        "/moved" => Redirect::to("/page").into_response(),
        _ => Html("<title>Birds</title><main><h1>Birds</h1><p>Northern gannets breed in colonies on cliffs and dive \
                   from thirty metres for their fish.</p></main>")
            .into_response(),
    }
}

fn signature_headers(headers: &HeaderMap) -> Map<String, Value> {
    let names = ["signature-agent", "signature-input", "signature", "content-digest"];
    let value = |name: &str| headers.get(name).map(|value| json!(value.to_str().unwrap()));
    names.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect()
}

fn verify(message: &Value) -> String {
    let python = std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run through `make test`");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/blackbox/web_bot_auth/verify.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_site_verifies_who_asks_for_its_pages() {
    let (dir, seen) = (TempDir::new(), Seen::default());
    let site = SiteServer::start(Router::new().fallback(answer).with_state(seen.clone()));
    let key = dir.join("bot.pem");
    let file = key.display().to_string();
    let (code, printed, _) = run(config(&dir).command(&["web-bot-auth", "create-key", &file]));
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (code, ..) = run(config(&dir).command(&["web-bot-auth", "create-key", &file]));
    assert_eq!(code, Some(1), "a key is never overwritten");

    let agent = "https://bot.example";
    let server = config(&dir).set("web_bot_auth_key", &file).set("web_bot_auth_agent", agent).start().await;
    for (path, options) in [("/moved", json!({})), ("/browser", json!({ "waitFor": 10 }))] {
        let response = scrape_as(&server.http, &site.url(path), options).await;
        assert_eq!(response.status, 200, "{}", response.text);
    }
    let found = reqwest::get(format!("{}/.well-known/http-message-signatures-directory", server.http.base))
        .await
        .unwrap();
    assert_eq!(found.headers()[header::CONTENT_TYPE], "application/http-message-signatures-directory+json");
    let directory_headers = signature_headers(found.headers());
    let body = found.text().await.unwrap();
    let (_, authority) = site.base.split_once("://").unwrap();
    let requests: Vec<Value> = ["/moved", "/page", "/browser"]
        .iter()
        .map(|path| {
            let seen = seen.lock().unwrap();
            let (_, headers) = seen.iter().find(|(asked, _)| asked == path).expect("a request");
            json!({ "authority": authority, "headers": signature_headers(headers) })
        })
        .collect();
    let (_, own) = server.http.base.split_once("://").unwrap();
    let directory = json!({ "authority": own, "headers": directory_headers, "body": body });
    let message = json!({ "agent": format!("\"{agent}\""), "requests": requests, "directory": directory });
    assert_eq!(verify(&message).trim(), "verified 3");
}

#[tokio::test]
async fn nothing_is_signed_without_a_key() {
    let (dir, seen) = (TempDir::new(), Seen::default());
    let site = SiteServer::start(Router::new().fallback(answer).with_state(seen.clone()));
    let server = config(&dir).start().await;
    assert_eq!(scrape_as(&server.http, &site.url("/page"), json!({})).await.status, 200);
    assert!(signature_headers(&seen.lock().unwrap()[0].1).is_empty());
    let missing = server.http.get("/.well-known/http-message-signatures-directory").await.unwrap();
    assert_eq!(missing.status, 404);
    let with_key = config(&dir).set("web_bot_auth_key", "missing.pem");
    let (code, _, error) = run(with_key.command(&["doctor"]));
    assert!(code != Some(0) && error.contains("public_url"), "{error}");
}
