//! The Model Context Protocol: our own server over HTTP and over standard input and output, with the clients
//! that people use, beside the official server on the same API.

mod rust_client;

use crate::clients::{node, python, run};
use crate::scrape::ScrapeFixture;
use crate::server::{ServerConfig, gannet, wait_for_papers};
use serde_json::json;
use std::process::Command;

/// A server with something under every tool: pages, papers, collections, code in sessions.
async fn open() -> ScrapeFixture {
    let fixture = ScrapeFixture::with(|config| with_code(config).set("research_starter", "on")).await;
    crate::index::collections::import_collections(&fixture.dir, &crate::scrape::config(&fixture.dir));
    fixture.scrape_document("/article", json!({})).await;
    wait_for_papers(fixture.http()).await;
    fixture
}

/// Sessions that run code in every language.
fn with_code(config: ServerConfig) -> ServerConfig {
    let node = std::env::var("GANNET_TEST_NODE_DIR").expect("GANNET_TEST_NODE_DIR");
    config
        .set("interact_node_modules", &format!("{node}/node_modules"))
        .set("interact_python", &std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON"))
        .set("interact_user", "same")
}

/// Runs a script that is given the server, the site and the binary.
async fn run_script(fixture: &ScrapeFixture, mut command: Command) {
    command.env("API_URL", &fixture.http().base).env("SITE_URL", &fixture.site.base);
    command.env("GANNET", gannet().get_program()).env("WORK_DIR", fixture.dir.path());
    tokio::task::spawn_blocking(move || run(&mut command)).await.unwrap();
}

#[tokio::test]
async fn the_official_server_gives_the_same_results_and_the_official_command_line_works() {
    let fixture = open().await;
    run_script(&fixture, node("mcp_same.mjs")).await;
    run_script(&fixture, node("cli_all.mjs")).await;
}

#[tokio::test]
async fn the_official_conformance_suite_passes() {
    // The suite sends no key.
    let fixture = ScrapeFixture::with(|config| config.set("auth", "off")).await;
    run_script(&fixture, node("mcp_conformance.mjs")).await;
}

#[tokio::test]
async fn clients_in_javascript_list_and_call_tools() {
    let fixture = ScrapeFixture::with(with_code).await;
    run_script(&fixture, node("mcp_clients.mjs")).await;
}

#[tokio::test]
async fn the_client_in_python_lists_and_calls_tools() {
    let fixture = ScrapeFixture::own().await;
    run_script(&fixture, python("mcp_client.py")).await;
}

#[tokio::test]
async fn wrong_calls_are_refused_and_nothing_hangs() {
    let fixture = ScrapeFixture::own().await;
    run_script(&fixture, node("mcp_wrong.mjs")).await;
}

#[tokio::test]
async fn without_a_server_the_engine_runs_in_the_process() {
    let fixture = ScrapeFixture::own().await;
    run_script(&fixture, node("mcp_engine.mjs")).await;
}

#[tokio::test]
async fn settings_of_applications_are_changed_with_care() {
    let fixture = ScrapeFixture::own().await;
    run_script(&fixture, node("mcp_install.mjs")).await;
}
