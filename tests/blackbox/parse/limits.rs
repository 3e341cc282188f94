//! Limits: sizes of files, credits, keys that are used once.

use super::{PAGE, expect_page, file_part, form, options_part, parse, post_form, wait_for_no_incoming};
use crate::server::{ServerConfig, start_own};
use reqwest::Method;
use serde_json::json;
use testkit::TempDir;

const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;

#[tokio::test]
async fn a_file_may_have_50_megabytes_and_not_one_byte_more() {
    let (_dir, server) = start_own().await;
    let http = &server.http;
    let zeros = vec![0; MAX_FILE_BYTES + 1];
    let exact = post_form(http, form(&[file_part("a.bin", &zeros[1..]), options_part("{}")])).await;
    assert_eq!(exact.json["code"], "UNSUPPORTED_FILE_TYPE", "it was looked at: {}", exact.text);
    let over = post_form(http, form(&[file_part("a.bin", &zeros), options_part("{}")])).await;
    over.expect_error(400, "Bad Request: the file is larger than 50 MB");
    let far_over =
        post_form(http, form(&[file_part("a.bin", &zeros), file_part("b.bin", &zeros[..9_000_000])])).await;
    far_over.expect_error(400, "Bad Request: the file is larger than 50 MB");
    let upload = http.post("/v2/parse/upload-url", &json!({ "filename": "a.bin" })).await.unwrap();
    let upload = upload.expect_success()["data"].clone();
    let path = upload["uploadUrl"].as_str().unwrap().strip_prefix(&http.base).unwrap().to_owned();
    let put = async |bytes: Vec<u8>| {
        let open = http.with_key(None);
        open.send(open.request(Method::PUT, &path).body(bytes)).await.unwrap()
    };
    put(zeros.clone()).await.expect_error(400, "Bad Request: the file is larger than 50 MB");
    put(Vec::new()).await.expect_error(400, "Bad Request: the file is empty");
    put(zeros[1..].to_vec()).await.expect_success();
    let body = json!({ "uploadRef": upload["uploadRef"] });
    assert_eq!(http.post("/v2/parse", &body).await.unwrap().json["code"], "UNSUPPORTED_FILE_TYPE");
    wait_for_no_incoming(server.pid()).await;
    expect_page(http).await;
}

#[tokio::test]
async fn credits_and_idempotency_keys_hold_as_for_a_scrape() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).tiny_plan("credits = 2").start().await;
    let http = &server.http;
    let send = async |key: &str| {
        let request = http
            .request(Method::POST, "/v2/parse")
            .header("x-idempotency-key", key)
            .header("content-type", format!("multipart/form-data; boundary={}", super::BOUNDARY));
        http.send(request.body(form(&[file_part("a.html", PAGE.as_bytes())]))).await.unwrap()
    };
    send("one").await.expect_success();
    send("one").await.expect_error(409, "Idempotency key already used");
    send("two").await.expect_success();
    send("three").await.expect_error(402, "Payment Required: Insufficient credits");
    let refused = parse(http, "a.html", PAGE.as_bytes(), &json!({ "mobile": true })).await;
    assert_eq!(refused.json["code"], "PARSE_UNSUPPORTED_OPTIONS", "told before credits are looked at");
    let made = http.post("/admin/keys", &json!({ "name": "m", "scopes": ["map"] })).await.unwrap();
    let other = http.with_key(made.expect_success()["key"].as_str());
    parse(&other, "a.html", PAGE.as_bytes(), &json!({})).await.expect_error(403, "Forbidden");
}
