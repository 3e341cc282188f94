//! What the local index is filled from, as a user sees it: scraped and crawled pages, imported collections,
//! several machines, and servers that are killed.

pub mod collections;
mod command;
mod every_page;
mod follow;

use crate::http::Http;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A page that search does not find after this time is lost. Other tests may fill the same index meanwhile.
pub const MAX_INDEXING_DELAY: Duration = Duration::from_mins(1);

/// The URLs that a search finds.
pub async fn search_urls(http: &Http, query: &str) -> Vec<String> {
    let response = http.post("/v2/search", &json!({ "query": query, "limit": 50 })).await.unwrap();
    let web = response.expect_success()["data"]["web"].as_array().unwrap();
    web.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a search finds this many pages.
pub async fn wait_for_results(http: &Http, query: &str, count: usize) -> Vec<String> {
    let end = Instant::now() + MAX_INDEXING_DELAY;
    loop {
        let urls = search_urls(http, query).await;
        if urls.len() == count {
            return urls;
        }
        assert!(Instant::now() < end, "{query}: {urls:?} instead of {count}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Rows to import, each page with a word of its own.
fn rows(count: usize) -> String {
    let rows: Vec<String> = (0..count)
        .map(|n| {
            let row = json!({ "url": format!("https://rows.test/{n}"), "title": format!("Row {n}"), "text": format!("gannets own{n}word") });
            row.to_string()
        })
        .collect();
    rows.join("\n")
}

/// The output of `gannet index status --json`.
fn status(mut command: Command) -> Value {
    let output = command.output().expect("run gannet");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
