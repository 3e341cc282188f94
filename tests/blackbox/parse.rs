//! Parsing uploaded files, as a caller sees it: forms, uploads in two steps, their limits, and what they leave behind.

mod files;
mod forms;
mod limits;
mod privacy;
mod uploads;

use crate::http::{Http, HttpResponse};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;

pub const BOUNDARY: &str = "----a-boundary-of-a-test";
pub const PAGE: &str = "<html><head><title>Report</title></head><body><main><h1>Gannets</h1>\
    <p>They dive from thirty metres.</p></main></body></html>";

/// A part of a form with its own headers, exactly as written.
pub fn raw_part(headers: &str, content: &[u8]) -> Vec<u8> {
    [format!("--{BOUNDARY}\r\n{headers}\r\n\r\n").as_bytes(), content, b"\r\n"].concat()
}

pub fn file_part(name: &str, content: &[u8]) -> Vec<u8> {
    let headers = format!(
        "Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream"
    );
    raw_part(&headers, content)
}

pub fn options_part(options: &str) -> Vec<u8> {
    raw_part("Content-Disposition: form-data; name=\"options\"", options.as_bytes())
}

pub fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
}

/// Sends a form as it is.
pub async fn post_form(http: &Http, body: Vec<u8>) -> HttpResponse {
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = http.request(Method::POST, "/v2/parse").header("content-type", content_type);
    http.send(request.body(body)).await.expect("a response")
}

/// Parses a file with options.
pub async fn parse(http: &Http, name: &str, content: &[u8], options: &Value) -> HttpResponse {
    post_form(http, form(&[file_part(name, content), options_part(&options.to_string())])).await
}

/// Parses a page, which must succeed.
pub async fn expect_page(http: &Http) -> Value {
    let response = parse(http, "report.html", PAGE.as_bytes(), &json!({})).await;
    let document = response.expect_success()["data"].clone();
    assert!(document["markdown"].as_str().unwrap().contains("# Gannets"), "{document}");
    document
}

/// Names in the folder of files that are arriving.
pub fn names_of_incoming(data: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(data.join("incoming")).expect("the folder");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Files of uploads that a server has open, though they have no name.
pub fn open_incoming(pid: u32) -> usize {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the open files of the server").flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().contains("/incoming/")).count()
}

/// Waits until a server has let go of all files that came in.
pub async fn wait_for_no_incoming(pid: u32) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while open_incoming(pid) > 0 {
        assert!(std::time::Instant::now() < end, "{} files are still open", open_incoming(pid));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
