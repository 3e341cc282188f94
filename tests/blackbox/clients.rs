//! The unmodified clients against the real binary. The scripts assert; a failing one fails here.

use crate::agent::Office;
use crate::crawl::Country;
use crate::scrape::House;
use crate::server::{KEY, Recipe, papers_are_there};
use crate::site::Site;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::TempDir;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients")
}

/// Runs a client's script against a server with a little history and the starter corpus of papers.
async fn passes(mut command: Command) {
    let dir = TempDir::new();
    let server = Recipe::at(dir.path()).set("research_starter", "on").start().await;
    let drill = json!({ "steps": 3, "creditsPerStep": 2, "wait": true });
    server.http.post("/admin/drills", &drill).await.unwrap().is_success();
    papers_are_there(&server.http).await;
    run(command.env("API_URL", &server.http.base));
}

/// Runs a client's script against a server with a web to scrape.
async fn scrapes(mut command: Command) {
    let house = House::open().await;
    let secure = Site::start_tls();
    command.env("SITE_URL", &house.site.base).env("TLS_SITE_URL", &secure.base);
    run(command.env("API_URL", &house.http().base));
}

/// Runs a client's script against a server with a village to crawl, and a second team.
async fn crawls(mut command: Command) {
    let country = Country::open().await;
    let stranger = crate::scrape::stranger_key(&country.dir).await;
    command.env("SITE_URL", &country.village.stand.base).env("OTHER_KEY", stranger);
    run(command.env("API_URL", &country.http().base));
}

/// Runs a client's script against a server that has scraped a page and was given collections.
async fn searches(mut command: Command) {
    let house = House::open().await;
    crate::index::collections::bring_in(&house.dir, &crate::scrape::recipe(&house.dir));
    house.document("/article", json!({})).await;
    command.env("SITE_URL", &house.site.base);
    run(command.env("API_URL", &house.http().base));
}

/// Runs a client's script against a server without a model, with pages for runs, and a second team.
async fn asks(mut command: Command) {
    let office = Office::open().await;
    let stranger = crate::scrape::stranger_key(&office.dir).await;
    command.env("SITE_URL", office.pages.url("")).env("OTHER_KEY", stranger);
    run(command.env("API_URL", &office.http().base));
}

pub fn run(command: &mut Command) {
    let output = command.env("API_KEY", KEY).output().expect("the client's runtime");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("all passed"), "{text}");
}

pub fn python(script: &str) -> Command {
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let mut command = Command::new(python);
    command.arg(scripts().join(script));
    command
}

pub fn node(script: &str) -> Command {
    let folder = std::env::var("GANNET_TEST_NODE_DIR")
        .expect("GANNET_TEST_NODE_DIR; run the tests through `make test`");
    let folder = Path::new(&folder);
    // Modules are looked up from where a script lies, so it runs beside its packages.
    let beside = folder.join(script);
    std::fs::copy(scripts().join(script), &beside).expect("copy the script");
    let mut command = Command::new(folder.join("node_modules/.bin/node"));
    command.arg(beside);
    command
}

#[tokio::test]
async fn firecrawl_py_reads_usage() {
    passes(python("usage.py")).await;
}

#[tokio::test]
async fn firecrawl_js_reads_usage() {
    passes(node("usage.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_finds_papers() {
    passes(python("research.py")).await;
}

#[tokio::test]
async fn firecrawl_js_finds_papers() {
    passes(node("research.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_scrapes() {
    scrapes(python("scrape.py")).await;
}

#[tokio::test]
async fn firecrawl_js_scrapes() {
    scrapes(node("scrape.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_crawls() {
    crawls(python("crawl.py")).await;
}

#[tokio::test]
async fn firecrawl_js_crawls() {
    crawls(node("crawl.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_searches() {
    searches(python("search.py")).await;
}

#[tokio::test]
async fn firecrawl_js_searches() {
    searches(node("search.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_runs_agents() {
    asks(python("agent.py")).await;
}

#[tokio::test]
async fn firecrawl_js_runs_agents() {
    asks(node("agent.mjs")).await;
}
