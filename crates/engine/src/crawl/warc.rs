//! Documents as records of a WARC file (ISO 28500, version 1.1).
//!
//! A crawl keeps what its formats ask for, not the responses of the servers. So a page is a `resource` record where its
//! HTML was asked for, and else a `conversion` record of its markdown; there are no `response` records.

use serde_json::Value;
use std::io::Write as _;
use uuid::Uuid;

/// The first record: what made the file, and what is in it.
pub fn file_info(date: &str) -> Vec<u8> {
    let fields = format!(
        "software: Gannet/{}\r\nformat: WARC File Format 1.1\r\n\
         description: documents of a crawl; HTML as resource, markdown as conversion, no HTTP responses\r\n",
        env!("CARGO_PKG_VERSION")
    );
    record("warcinfo", None, "application/warc-fields", date, fields.as_bytes())
}

/// The record of a document; nothing for one that holds no text.
pub fn document(json: &[u8], date: &str) -> Vec<u8> {
    let Ok(document) = serde_json::from_slice::<Value>(json) else { return Vec::new() };
    let metadata = &document["metadata"];
    let url = metadata["url"].as_str().or_else(|| metadata["sourceURL"].as_str());
    let text = |name: &str| document[name].as_str();
    match (text("rawHtml").or_else(|| text("html")), text("markdown")) {
        (Some(page), _) => record("resource", url, "text/html; charset=utf-8", date, page.as_bytes()),
        (None, Some(page)) => {
            record("conversion", url, "text/markdown; charset=utf-8", date, page.as_bytes())
        }
        (None, None) => record("metadata", url, "application/json", date, json),
    }
}

fn record(kind: &str, url: Option<&str>, content_type: &str, date: &str, block: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(block.len() + 512);
    let id = Uuid::new_v4();
    // Writing to memory cannot fail.
    let _ = write!(
        out,
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Date: {date}\r\n"
    );
    // An address with a line break in it would end the header.
    if let Some(url) = url.filter(|url| !url.contains(|one: char| one.is_control() || one == ' ')) {
        let _ = write!(out, "WARC-Target-URI: {url}\r\n");
    }
    let _ = write!(out, "Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", block.len());
    out.extend_from_slice(block);
    out.extend_from_slice(b"\r\n\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(document: &Value) -> String {
        String::from_utf8(super::document(document.to_string().as_bytes(), "2026-11-18T00:00:00Z")).unwrap()
    }

    #[test]
    fn html_is_a_resource_and_markdown_a_conversion() {
        let metadata = json!({ "sourceURL": "https://a.example/é", "url": "https://a.example/" });
        let both = written(&json!({ "markdown": "# é", "rawHtml": "<h1>é</h1>", "metadata": metadata }));
        assert!(
            both.contains("WARC-Type: resource\r\n") && both.ends_with("\r\n\r\n<h1>é</h1>\r\n\r\n"),
            "{both}"
        );
        let text = written(&json!({ "markdown": "# é", "metadata": metadata }));
        assert!(
            text.contains("WARC-Type: conversion\r\n") && text.contains("Content-Length: 4\r\n"),
            "{text}"
        );
        assert!(text.contains("WARC-Target-URI: https://a.example/\r\n"), "{text}");
        let neither = written(&json!({ "links": [], "metadata": metadata }));
        assert!(neither.contains("WARC-Type: metadata\r\n"), "{neither}");
    }

    #[test]
    fn an_address_cannot_write_headers() {
        let hostile = json!({ "url": "https://a.example/\r\nWARC-Type: response" });
        assert!(!written(&json!({ "markdown": "x", "metadata": hostile })).contains("response"));
    }
}
