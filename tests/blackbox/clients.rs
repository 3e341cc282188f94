//! The unmodified clients against the real binary. The scripts assert; a failing one fails here.

use crate::agent::AgentFixture;
use crate::agent::site::AgentSite;
use crate::crawl::site::{CrawlSite, PAGES};
use crate::crawl::{CrawlFixture, wait_for_end};
use crate::http::Http;
use crate::monitor::ChangingSite;
use crate::scrape::ScrapeFixture;
use crate::server::{KEY, start_plain, wait_for_papers};
use crate::site::Site;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients")
}

/// Runs a client's script against a server, with the key of the test.
fn run_against(http: &Http, command: &mut Command) {
    run(command.env("API_URL", &http.base).env("API_KEY", http.key().expect("a key")));
}

/// Runs a client's script against a server with a little history and the starter corpus of papers.
async fn run_usage_script(mut command: Command) {
    let fixture = CrawlFixture::with(|config| config.set("research_starter", "on")).await;
    let id = fixture.batch(&PAGES, json!({})).await;
    wait_for_end(fixture.http(), &format!("/v2/batch/scrape/{id}")).await;
    wait_for_papers(fixture.http()).await;
    run_against(fixture.http(), &mut command);
}

/// Runs a client's script against a server with a site to scrape.
async fn run_scrape_script(mut command: Command) {
    let fixture = ScrapeFixture::open().await;
    let secure = Site::start_tls();
    command.env("SITE_URL", &fixture.site.base).env("TLS_SITE_URL", &secure.base);
    run_against(fixture.http(), &mut command);
}

/// Runs a client's script against a server with a site to crawl, and a second team.
async fn run_crawl_script(mut command: Command) {
    let fixture = CrawlFixture::open().await;
    let other_team = crate::scrape::other_team_key(&fixture.dir).await;
    command.env("SITE_URL", &fixture.site.server.base).env("OTHER_KEY", other_team);
    run_against(fixture.http(), &mut command);
}

/// Runs a client's script against a server that has scraped a page and was given collections.
async fn run_search_script(mut command: Command) {
    let fixture = ScrapeFixture::own().await;
    crate::index::collections::import_collections(&fixture.dir, &crate::scrape::config(&fixture.dir));
    fixture.scrape_document("/article", json!({})).await;
    command.env("SITE_URL", &fixture.site.base);
    run_against(fixture.http(), &mut command);
}

/// Runs a client's script against a server without a model, with pages for runs, and a second team.
async fn run_agent_script(mut command: Command) {
    let fixture = AgentFixture::open().await;
    let other_team = crate::scrape::other_team_key(&fixture.dir).await;
    command.env("SITE_URL", fixture.pages.url("")).env("OTHER_KEY", other_team);
    run_against(fixture.http(), &mut command);
}

/// Runs a client's script against a server that parses files.
async fn run_parse_script(mut command: Command) {
    let (_dir, server) = start_plain().await;
    run_against(&server.http, &mut command);
}

/// Runs a client's script against a server that monitors a page; the script sets its content.
async fn run_monitor_script(mut command: Command) {
    let (_, server) = crate::monitor::shared().await;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    command.env("SITE_URL", &site.server.base);
    run_against(&server.http, &mut command);
}

/// Runs a script to its end, with the first key of the server unless it was given another one.
pub fn run(command: &mut Command) {
    if !command.get_envs().any(|(name, _)| name == "API_KEY") {
        command.env("API_KEY", KEY);
    }
    let output = command.output().expect("the client's runtime");
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
    static COPIED: Once = Once::new();
    let folder = std::env::var("GANNET_TEST_NODE_DIR")
        .expect("GANNET_TEST_NODE_DIR; run the tests through `make test`");
    let folder = Path::new(&folder);
    // Modules are looked up from where a script lies, so scripts run beside their packages.
    COPIED.call_once(|| {
        copy_files(&scripts(), folder);
        copy_files(&scripts().join("calls"), &folder.join("calls"));
        copy_files(&scripts().join("dashboard"), &folder.join("dashboard"));
    });
    let mut command = Command::new(folder.join("node_modules/.bin/node"));
    command.arg(folder.join(script));
    command
}

/// Copies the scripts of a folder, each in one step: another process may be running them.
fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("make the folder of scripts");
    for entry in std::fs::read_dir(from).expect("the folder of scripts").flatten() {
        let name = entry.file_name();
        if entry.path().extension().is_some_and(|kind| kind == "mjs" || kind == "py") {
            let copy = to.join(format!(".{}-{}", name.display(), std::process::id()));
            std::fs::copy(entry.path(), &copy).expect("copy a script");
            std::fs::rename(copy, to.join(name)).expect("rename a script");
        }
    }
}

/// The official Rust client, by a program that calls each of its methods.
#[tokio::test]
async fn firecrawl_for_rust_calls_every_method() {
    let program = std::env::var("GANNET_TEST_RUST_CLIENT")
        .expect("GANNET_TEST_RUST_CLIENT; run the tests through `make test`");
    let fixture = ScrapeFixture::with(|config| {
        config.set("research_starter", "on").set("egress_allow", "scrape=127.0.0.0/8;webhook=127.0.0.0/8")
    })
    .await;
    crate::index::collections::import_collections(&fixture.dir, &crate::scrape::config(&fixture.dir));
    wait_for_papers(fixture.http()).await;
    let (companies, site) = (AgentSite::start(), CrawlSite::start());
    let changing = ChangingSite::start("<p>Price: 80 EUR</p>");
    let mut command = Command::new(program);
    command.env("SITE_URL", &fixture.site.base).env("CRAWL_URL", &site.server.base);
    command.env("AGENT_URL", companies.url("")).env("CHANGING_URL", &changing.server.base);
    command.env("API_URL", &fixture.http().base);
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn firecrawl_py_reads_usage() {
    run_usage_script(python("usage.py")).await;
}

#[tokio::test]
async fn firecrawl_js_reads_usage() {
    run_usage_script(node("usage.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_finds_papers() {
    run_usage_script(python("research.py")).await;
}

#[tokio::test]
async fn firecrawl_js_finds_papers() {
    run_usage_script(node("research.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_scrapes() {
    run_scrape_script(python("scrape.py")).await;
}

#[tokio::test]
async fn firecrawl_js_scrapes() {
    run_scrape_script(node("scrape.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_crawls() {
    run_crawl_script(python("crawl.py")).await;
}

#[tokio::test]
async fn firecrawl_js_crawls() {
    run_crawl_script(node("crawl.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_searches() {
    run_search_script(python("search.py")).await;
}

#[tokio::test]
async fn firecrawl_js_searches() {
    run_search_script(node("search.mjs")).await;
}

#[tokio::test]
async fn a_client_generated_from_the_openapi_document_calls_the_server() {
    run_search_script(python("generated.py")).await;
}

#[tokio::test]
async fn firecrawl_py_runs_agents() {
    run_agent_script(python("agent.py")).await;
}

#[tokio::test]
async fn firecrawl_js_runs_agents() {
    run_agent_script(node("agent.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_parses_files() {
    run_parse_script(python("parse.py")).await;
}

#[tokio::test]
async fn firecrawl_js_parses_files_and_sees_early_errors() {
    run_parse_script(node("parse.mjs")).await;
}

#[tokio::test]
async fn firecrawl_cli_and_mcp_server_parse_files() {
    run_parse_script(node("parse_tools.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_calls_the_version_before() {
    run_crawl_script(python("v1.py")).await;
}

#[tokio::test]
async fn firecrawl_js_calls_the_version_before() {
    run_crawl_script(node("v1.mjs")).await;
}

#[tokio::test]
async fn firecrawl_py_monitors() {
    run_monitor_script(python("monitor.py")).await;
}

#[tokio::test]
async fn firecrawl_js_cli_and_mcp_server_monitor() {
    run_monitor_script(node("monitor.mjs")).await;
}
