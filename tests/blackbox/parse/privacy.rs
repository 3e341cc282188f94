//! Zero data retention: nothing of a file is stored, neither its text nor its name, however it came.

use super::{expect_page, parse};
use crate::server::start_own;
use reqwest::Method;
use serde_json::json;
use std::path::Path;

const WORD: &str = "zyxwvsecretword";

/// Files below a folder whose bytes hold a word.
fn files_with(folder: &Path, word: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if std::fs::read(&path)
                .unwrap_or_default()
                .windows(word.len())
                .any(|part| part == word.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn nothing_of_a_private_file_is_left() {
    let (dir, server) = start_own().await;
    let (http, data) = (&server.http, dir.join("data"));
    let page = format!("<html><body><main><h1>Gannets</h1><p>{WORD} dives.</p></main></body></html>");
    let name = format!("{WORD}.html");
    let private = json!({ "zeroDataRetention": true });
    let response = parse(http, &name, page.as_bytes(), &private).await;
    let document = &response.expect_success()["data"];
    assert!(document["markdown"].as_str().unwrap().contains(WORD), "{document}");
    let upload = http.post("/v2/parse/upload-url", &json!({ "filename": name })).await.unwrap();
    let upload = upload.expect_success()["data"].clone();
    let path = upload["uploadUrl"].as_str().unwrap().strip_prefix(&http.base).unwrap().to_owned();
    http.send(http.request(Method::PUT, &path).body(page.clone())).await.unwrap().expect_success();
    assert_eq!(files_with(&data, WORD).len(), 1, "until it is parsed, the bytes are kept, and nothing else");
    let body = json!({ "uploadRef": upload["uploadRef"], "zeroDataRetention": true });
    http.post("/v2/parse", &body).await.unwrap().expect_success();
    expect_page(http).await;
    assert_eq!(files_with(&data, WORD), [""; 0]);
    assert!(!server.log().contains(WORD), "{}", server.log());
    // Without it the result is kept for a day, by its name: the search is able to find it.
    parse(http, &name, page.as_bytes(), &json!({})).await.expect_success();
    assert!(!files_with(&data, WORD).is_empty());
}
