//! `gannet crawls`, `gannet runs` and `gannet sessions` against a running server, and `gannet scrape` and
//! `gannet extract` with several pages: what they print and how they end.

use crate::crawl::CrawlFixture;
use crate::crawl::site::BROKEN;
use crate::http::Http;
use crate::scrape::{ScrapeFixture, config};
use crate::server::run;
use serde_json::{Value, json};
use std::path::Path;
use testkit::TempDir;

/// Runs a command with the address of a server and a key.
fn ask(http: &Http, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = crate::server::gannet();
    command.args(arguments).args(["--server", &http.base, "--key", http.key().expect("a key")]);
    run(command)
}

#[tokio::test]
async fn crawls_are_listed_followed_and_cancelled() {
    let fixture = CrawlFixture::open().await;
    let id = fixture.crawl("/site/", json!({})).await;
    let (code, text, error) = ask(fixture.http(), &["crawls", "follow", &id]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(text.lines().filter(|line| line.starts_with("200  http")).count(), 4, "{text}");
    assert!(error.contains("completed: 4 pages, 1 failed, 4 skipped"), "{error}");
    let (code, text, _) = ask(fixture.http(), &["crawls", "show", &id[..13]]);
    assert!(code == Some(0) && text.contains("status     completed") && text.contains(&id), "{text}");
    let (_, text, _) = ask(fixture.http(), &["crawls", "show", &id, "--json"]);
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&shown["completed"], &shown["data"]), (&4.into(), &Value::Null));

    let held = fixture.crawl("/held/", json!({})).await;
    let (code, text, error) = ask(fixture.http(), &["crawls", "cancel", &held]);
    assert!(code == Some(0) && text.contains("is cancelled"), "{text}{error}");
    let (code, _, error) = ask(fixture.http(), &["crawls", "cancel", &id, "--quiet"]);
    assert!(code == Some(1) && !error.is_empty(), "{error}");
    let (code, text, _) = ask(fixture.http(), &["crawls", "list"]);
    let line = |id: &str| text.lines().find(|line| line.starts_with(id)).unwrap_or_default().to_owned();
    assert!(
        code == Some(0) && line(&held).contains("cancelled") && line(&id).contains("4 (1 failed)"),
        "{text}"
    );
    let (code, _, error) = ask(fixture.http(), &["crawls", "show", "ffff"]);
    assert!(code == Some(1) && error.contains("no crawl or batch"), "{error}");
    let (code, _, error) = run({
        let mut command = crate::server::gannet();
        command.args(["crawls", "list", "--server", &fixture.http().base, "--data-dir", "/nonexistent"]);
        command
    });
    assert!(code == Some(1) && error.contains("there is no key here"), "{error}");
    fixture.site.release(10);
}

#[tokio::test]
async fn runs_are_listed_and_followed() {
    let fixture = CrawlFixture::open().await;
    let asked =
        json!({ "prompt": "What is on the page?", "urls": [fixture.site.url("/alone")], "effort": "low" });
    let started = fixture.http().post("/v2/agent", &asked).await.unwrap();
    let id = started.expect_success()["id"].as_str().unwrap().to_owned();
    let (code, text, error) = ask(fixture.http(), &["runs", "follow", &id]);
    assert!(
        [Some(0), Some(1)].contains(&code) && error.contains("scrape") || error.contains("read"),
        "{text}{error}"
    );
    assert!(error.contains("done"), "{error}");
    let (_, shown, _) = ask(fixture.http(), &["runs", "show", &id]);
    let state = if code == Some(0) { "completed" } else { "failed" };
    assert!(shown.contains(&format!("status     {state}")), "{shown}");
    let (_, listed, _) = ask(fixture.http(), &["runs", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&id.as_str().into(), &state.into()), "{listed}");
    let (code, _, error) = ask(fixture.http(), &["runs", "cancel", &id]);
    assert!(code == Some(1) && error.contains("already finished"), "{error}");
}

#[tokio::test]
async fn sessions_are_listed_followed_and_ended() {
    let fixture = ScrapeFixture::open().await;
    let session = crate::sessions::begin(&fixture, json!({})).await;
    let id = session["id"].as_str().unwrap();
    let (code, text, _) = ask(fixture.http(), &["sessions", "list"]);
    assert!(code == Some(0) && text.contains(id) && text.contains("active"), "{text}");
    let (_, text, _) = ask(fixture.http(), &["sessions", "show"]);
    assert!(text.contains(session["cdpUrl"].as_str().unwrap()), "{text}");
    let (code, text, error) = ask(fixture.http(), &["sessions", "end", &id[..20]]);
    assert!(code == Some(0) && text.contains("ended after"), "{text}{error}");
    let (code, text, error) = ask(fixture.http(), &["sessions", "follow", id]);
    assert!(code == Some(0) && text.contains("ended: deleted"), "{text}{error}");
    let (code, _, error) = ask(fixture.http(), &["sessions", "end"]);
    assert!(code == Some(1) && error.contains("no active session"), "{error}");
}

#[tokio::test]
async fn several_pages_are_scraped_at_once() {
    let fixture = ScrapeFixture::open().await;
    let (dir, site) = (TempDir::new(), &fixture.site);
    let (one, two) = (site.url("/article"), site.url("/form"));
    let scrape = |arguments: &[&str]| run(config(&dir).command(&[&["scrape"], arguments].concat()));
    let (code, text, error) = scrape(&[&one, &two]);
    assert_eq!(code, Some(0), "{error}");
    let places = [&one, &two].map(|url| text.find(&format!("==> {url} <==")).expect("a heading"));
    assert!(places[0] < places[1] && text.contains("lastword") && text.contains("Ferry booking"), "{text}");
    let missing = "http://no-such-host.invalid/";
    let (code, text, error) = scrape(&[&one, missing, "--json"]);
    assert!(code == Some(3) && error.contains(&format!("gannet: {missing}: ")), "{error}");
    let document: Value = serde_json::from_str(&text).expect("one line of JSON");
    assert_eq!(document["metadata"]["statusCode"], 200);
    let folder = dir.join("pages");
    let (code, text, error) = scrape(&[&one, &two, "--out", folder.to_str().unwrap()]);
    assert_eq!((code, text.as_str()), (Some(0), ""), "{error}");
    let names: Vec<_> =
        std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(names.len() == 2 && error.matches("wrote ").count() == 2, "{names:?} {error}");
    let (code, _, error) = scrape(&[&one, &two, "--screenshot", "x.png"]);
    assert!(code == Some(2) && error.contains("one URL"), "{error}");

    // Actions, and what only a server has.
    let late =
        ["--action", "click:#late", "--action", "wait:#arrived", "--action", "executeJavascript:1 + 1"];
    let (code, text, error) = scrape(&[&[two.as_str()], &late[..], &["--json"]].concat());
    assert_eq!(code, Some(0), "{error}");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert!(document["markdown"].as_str().unwrap().contains("arrivedlate"), "{text}");
    assert_eq!(document["actions"]["javascriptReturns"][0]["value"], 2, "{text}");
    let (code, _, error) = scrape(&[&two, "--action", "screenshot"]);
    assert!(code == Some(2) && error.contains("--server"), "{error}");
    let cached = ["scrape", &one, "--max-age", "600000", "--json"];
    let states = [0, 1].map(|_| {
        let (code, text, error) = ask(fixture.http(), &cached);
        assert_eq!(code, Some(0), "{error}");
        serde_json::from_str::<Value>(&text).expect("JSON")["metadata"]["cacheState"].clone()
    });
    assert_eq!(states, ["miss", "hit"]);
    let (code, _, error) = ask(fixture.http(), &["scrape", "http://10.9.8.7/"]);
    assert!(code == Some(5) && error.contains("not allowed"), "{error}");
}

#[tokio::test]
async fn data_is_extracted_from_pages() {
    let fixture = CrawlFixture::open().await;
    let dir = TempDir::new();
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
    std::fs::write(dir.join("title.json"), schema.to_string()).unwrap();
    let extract = |arguments: &[&str]| {
        let schema = dir.join("title.json");
        let schema = ["--schema", schema.to_str().unwrap()];
        let config = config(&dir).set("browser", "off");
        run(config.command(&[&["extract"], arguments, &schema[..]].concat()))
    };
    let (code, text, error) = extract(&[&fixture.site.url("/site/one")]);
    assert_eq!(code, Some(0), "{error}");
    let data: Value = serde_json::from_str(&text).expect("JSON");
    assert!(data["title"].is_string(), "{data}");
    let (code, _, error) = extract(&[&fixture.site.url(BROKEN)]);
    assert!(code == Some(1) && !error.is_empty(), "{error}");
    std::fs::write(dir.join("page.html"), "<p>x</p>").unwrap();
    let (code, _, error) = extract(&["page.html"]);
    assert!(code == Some(2) && error.contains("gannet parse page.html"), "{error}");
    assert!(!Path::new(&dir.join("data")).exists(), "nothing is stored");
}
