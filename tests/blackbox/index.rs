//! What the local index is fed from, as a user sees it: scraped and crawled pages, imported collections, several machines, and
//! servers that are killed.

pub mod collections;
mod command;
mod follow;

use crate::http::Http;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A page that is not found so long after it came is lost.
const PATIENCE: Duration = Duration::from_secs(30);

/// Addresses that a search finds.
pub async fn found(http: &Http, query: &str) -> Vec<String> {
    let reply = http.post("/v2/search", &json!({ "query": query, "limit": 50 })).await.unwrap();
    let web = reply.is_success()["data"]["web"].as_array().unwrap();
    web.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a search finds so many.
pub async fn finds(http: &Http, query: &str, count: usize) -> Vec<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let urls = found(http, query).await;
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

/// Rows of pages, each with a word of its own.
fn rows(count: usize) -> String {
    let rows: Vec<String> = (0..count)
        .map(|n| {
            let row = json!({ "url": format!("https://rows.test/{n}"), "title": format!("Row {n}"), "text": format!("gannets own{n}word") });
            row.to_string()
        })
        .collect();
    rows.join("\n")
}

/// What `gannet index status` says, for programs.
fn status(mut command: Command) -> Value {
    let output = command.output().expect("run gannet");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
