//! `/v1/llmstxt`: an overview of a site for language models, written from a crawl.
//!
//! The id is that of the crawl, so nothing is stored for it; the text is written each time it is asked for.

use super::{Gate, Object, deprecate, json_response};
use crate::error::ApiError;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};
use std::fmt::Write as _;
use wire::{Issue, WireError};

const WARNING: &str = "/v1/llmstxt is deprecated; use /v2/crawl";
const REPLACEMENT: &str = "/v2/crawl";
/// Both texts are always given.
const WITHOUT_EFFECT: [&str; 4] = ["showFullText", "__experimental_stream", "origin", "integration"];
const DEFAULT_PAGES: i64 = 10;
const MAX_PAGES: i64 = 100;
/// Two days, as old as a page of a scrape may be by default.
const CACHED_MILLISECONDS: u64 = 172_800_000;
/// Documents come in pages of the status; so many hold more than `MAX_PAGES` documents.
const MAX_STATUS_PAGES: usize = 100;

pub async fn start(gate: &Gate, bytes: &[u8]) -> Result<Response, ApiError> {
    let Ok(Value::Object(body)) = serde_json::from_slice(bytes) else {
        return Ok(gate.send(Method::POST, "/v2/crawl", bytes.to_vec()).await);
    };
    let sent = gate.send(Method::POST, "/v2/crawl", crawl_request(body)?.to_string()).await;
    Ok(super::rewritten(sent, |body| {
        body.retain(|field, _| field == "success" || field == "id");
        deprecate(body, WARNING, REPLACEMENT);
    })
    .await)
}

pub async fn status(gate: &Gate, id: &str) -> Result<Response, ApiError> {
    let mut documents = Vec::new();
    let mut head = match gate.get(&format!("/v2/crawl/{id}")).await {
        Ok(head) => head,
        Err(response) => return Ok(response),
    };
    let mut page = head.clone();
    for _ in 0..MAX_STATUS_PAGES {
        if let Some(Value::Array(more)) = page.remove("data") {
            documents.extend(more);
        }
        let Some(next) = page.get("next").and_then(Value::as_str).and_then(path_of) else { break };
        page = match gate.get(next).await {
            Ok(page) => page,
            Err(response) => return Ok(response),
        };
    }
    head.remove("data");
    Ok(json_response(&overview(&head, &documents).into()))
}

fn crawl_request(mut body: Object) -> Result<Value, WireError> {
    let url = body.remove("url");
    let pages = body.remove("maxUrls").and_then(|pages| pages.as_i64()).unwrap_or(DEFAULT_PAGES);
    let cached = body.remove("cache") != Some(Value::Bool(false));
    let mut issues: Vec<Issue> = body
        .keys()
        .filter(|key| !WITHOUT_EFFECT.contains(&key.as_str()))
        .map(|key| Issue::at(key, "this key is not supported here", "unrecognized_keys"))
        .collect();
    if !(1..=MAX_PAGES).contains(&pages) {
        issues.push(Issue::at("maxUrls", "must be 1 to 100", "invalid_value"));
    }
    if !issues.is_empty() {
        return Err(WireError::invalid(&issues));
    }
    let max_age = if cached { CACHED_MILLISECONDS } else { 0 };
    let options = json!({ "formats": ["markdown"], "onlyMainContent": true, "maxAge": max_age });
    Ok(json!({ "url": url, "limit": pages, "crawlEntireDomain": true, "scrapeOptions": options }))
}

/// The path of one of our own addresses.
fn path_of(url: &str) -> Option<&str> {
    url.find("/v2/").map(|at| &url[at..])
}

fn overview(head: &Object, documents: &[Value]) -> Object {
    let status = match head.get("status").and_then(Value::as_str) {
        Some("completed") => "completed",
        Some("failed" | "cancelled") => "failed",
        _ => "processing",
    };
    let mut body = Object::new();
    body.insert("success".to_owned(), (status != "failed").into());
    body.insert("status".to_owned(), status.into());
    if status == "failed" {
        let reason = head.get("error").cloned().unwrap_or_else(|| "The crawl was cancelled".into());
        body.insert("error".to_owned(), reason);
    }
    body.insert("expiresAt".to_owned(), head.get("expiresAt").cloned().unwrap_or_default());
    if status == "completed" {
        let (short, full) = texts(documents);
        body.insert("data".to_owned(), json!({ "llmstxt": short, "llmsfulltxt": full }));
    }
    deprecate(&mut body, WARNING, REPLACEMENT);
    body
}

/// A list of the pages, and the same with their text.
fn texts(documents: &[Value]) -> (String, String) {
    let field =
        |document: &Value, name: &str| one_line(document["metadata"][name].as_str().unwrap_or_default());
    let name = documents.first().map(|first| field(first, "title")).filter(|title| !title.is_empty());
    let mut short = format!("# {}\n", name.as_deref().unwrap_or("Site"));
    let mut full = short.clone();
    for document in documents {
        let (url, title) = (field(document, "sourceURL"), field(document, "title"));
        let title = if title.is_empty() { url.clone() } else { title };
        let about = field(document, "description");
        let colon = if about.is_empty() { "" } else { ": " };
        let text = document["markdown"].as_str().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(short, "\n- [{title}]({url}){colon}{about}");
        let _ = write!(full, "\n## {title}\n\n{url}\n\n{text}\n");
    }
    short.push('\n');
    (short, full)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::object;
    use super::*;

    #[test]
    fn a_site_becomes_a_crawl_of_bounded_size() {
        let request =
            crawl_request(object(json!({ "url": "a.example", "cache": false, "showFullText": true })));
        let request = request.expect("valid");
        assert_eq!((&request["limit"], &request["scrapeOptions"]["maxAge"]), (&json!(10), &json!(0)));
        for wrong in [
            json!({ "url": "a", "maxUrls": 101 }),
            json!({ "url": "a", "maxUrls": 0 }),
            json!({ "paths": [] }),
        ] {
            assert!(crawl_request(object(wrong.clone())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_pages_are_listed_with_what_they_say_of_themselves() {
        let page = |title: &str, about: &str| json!({ "markdown": "Text.", "metadata": { "title": title, "description": about, "sourceURL": "http://a/1" } });
        let (short, full) = texts(&[page("Birds\n of the sea", "All of them"), page("", "")]);
        assert_eq!(
            short,
            "# Birds of the sea\n\n- [Birds of the sea](http://a/1): All of them\n- [http://a/1](http://a/1)\n"
        );
        assert!(full.contains("## Birds of the sea\n\nhttp://a/1\n\nText.\n"));
        let failed = overview(&object(json!({ "status": "cancelled" })), &[]);
        assert_eq!((&failed["success"], &failed["status"]), (&json!(false), &json!("failed")));
        assert_eq!(path_of("http://h:1/v2/crawl/x?skip=1"), Some("/v2/crawl/x?skip=1"));
    }
}
