//! Uploads in two steps: an address, the bytes without a key, then the parse; once, by one team.

use super::{PAGE, wait_for_no_incoming};
use crate::http::{Http, HttpResponse};
use crate::scrape::other_team;
use crate::server::{Server, start_own, start_plain};
use reqwest::Method;
use serde_json::{Value, json};

async fn create(http: &Http, body: &Value) -> Value {
    let response = http.post("/v2/parse/upload-url", body).await.unwrap();
    response.expect_success()["data"].clone()
}

/// Sends bytes to an upload URL, without a key.
async fn put(http: &Http, upload: &Value, bytes: &[u8]) -> HttpResponse {
    let path =
        upload["uploadUrl"].as_str().unwrap().strip_prefix(&http.base).expect("of this server").to_owned();
    let open = http.with_key(None);
    let mut request = open.request(Method::PUT, &path).body(bytes.to_vec());
    for (name, value) in upload["headers"].as_object().unwrap() {
        request = request.header(name, value.as_str().unwrap());
    }
    open.send(request).await.unwrap()
}

async fn parse_reference(http: &Http, upload: &Value, more: Value) -> HttpResponse {
    let mut body = more;
    body["uploadRef"] = upload["uploadRef"].clone();
    http.post("/v2/parse", &body).await.unwrap()
}

#[track_caller]
fn expect_code(response: &HttpResponse, status: u16, code: &str) {
    assert_eq!((response.status, &response.json["code"]), (status, &json!(code)), "{}", response.text);
}

async fn objects(server: &Server) -> String {
    let metrics = server.http.get("/metrics").await.unwrap().text;
    let line =
        metrics.lines().find_map(|line| line.strip_prefix("gannet_objects_bytes ")).expect("the gauge");
    line.to_owned()
}

#[tokio::test]
async fn a_file_is_uploaded_without_a_key_and_parsed_once() {
    let (_dir, server) = start_own().await;
    let http = &server.http;
    let asked = json!({ "filename": "../Übersicht 1.html", "contentType": "text/html", "declaredSizeBytes": PAGE.len() });
    let upload = create(http, &asked).await;
    assert_eq!((&upload["method"], &upload["maxSizeBytes"]), (&json!("PUT"), &json!(50 * 1024 * 1024)));
    assert_eq!(upload["headers"], json!({ "Content-Type": "text/html" }));
    assert!(upload["expiresAt"].as_str().unwrap().ends_with('Z'), "{upload}");
    expect_code(&parse_reference(http, &upload, json!({})).await, 409, "PARSE_UPLOAD_INCOMPLETE");
    assert_eq!(put(http, &upload, PAGE.as_bytes()).await.expect_success(), &json!({ "success": true }));
    expect_code(&put(http, &upload, b"other").await, 409, "PARSE_UPLOAD_RECEIVED");
    assert_eq!(objects(&server).await, PAGE.len().to_string());
    // A request that is refused does not use it up.
    let refused = parse_reference(http, &upload, json!({ "mobile": true })).await;
    expect_code(&refused, 400, "PARSE_UNSUPPORTED_OPTIONS");
    let response =
        parse_reference(http, &upload, json!({ "formats": ["markdown", "html"], "origin": "mcp" })).await;
    let document = &response.expect_success()["data"];
    assert!(document["markdown"].as_str().unwrap().contains("# Gannets"), "{document}");
    assert_eq!(document["metadata"]["sourceFile"], "Übersicht 1.html");
    expect_code(&parse_reference(http, &upload, json!({})).await, 409, "PARSE_UPLOAD_USED");
    expect_code(&put(http, &upload, PAGE.as_bytes()).await, 409, "PARSE_UPLOAD_USED");
    assert_eq!(objects(&server).await, "0", "nothing of it is kept");
    wait_for_no_incoming(server.pid()).await;
}

#[tokio::test]
async fn of_requests_at_once_one_gets_the_file() {
    let (_dir, server) = start_own().await;
    let upload = create(&server.http, &json!({ "filename": "a.html" })).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (http, upload) = (server.http.clone(), upload.clone());
        tasks.spawn(async move { put(&http, &upload, PAGE.as_bytes()).await.status });
    }
    let mut statuses = tasks.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409]);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (http, upload) = (server.http.clone(), upload.clone());
        tasks.spawn(async move { parse_reference(&http, &upload, json!({})).await.status });
    }
    let mut statuses = tasks.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409]);
    assert_eq!(objects(&server).await, "0");
}

#[tokio::test]
async fn an_upload_belongs_to_its_team() {
    let (dir, server) = start_plain().await;
    let http = &server.http;
    let stranger = other_team(&dir, http).await;
    let upload = create(http, &json!({ "filename": "a.html" })).await;
    put(http, &upload, PAGE.as_bytes()).await.expect_success();
    expect_code(&parse_reference(&stranger, &upload, json!({})).await, 404, "PARSE_UPLOAD_NOT_FOUND");
    // References that nobody signed, or for another address.
    let text = upload["uploadRef"].as_str().unwrap();
    for wrong in ["", "x", ".", &text[1..], &text[..text.len() - 1], &format!("{text}x"), &"x".repeat(50_000)]
    {
        let response = http.post("/v2/parse", &json!({ "uploadRef": wrong })).await.unwrap();
        expect_code(&response, 404, "PARSE_UPLOAD_NOT_FOUND");
    }
    let second = create(http, &json!({ "filename": "b.html" })).await;
    let path = |upload: &Value| upload["uploadUrl"].as_str().unwrap().split('?').next().unwrap().to_owned();
    let mixed = json!({
        "uploadUrl": format!("{}?uploadRef={text}", path(&second)), "headers": {}
    });
    expect_code(&put(http, &mixed, b"x").await, 404, "PARSE_UPLOAD_NOT_FOUND");
    for bare in [path(&second), format!("{}?uploadRef=", path(&second))] {
        let response = put(http, &json!({ "uploadUrl": bare, "headers": {} }), b"x").await;
        assert!([400, 404].contains(&response.status), "{}", response.text);
    }
    parse_reference(http, &upload, json!({})).await.expect_success();
}

#[tokio::test]
async fn uploads_that_are_never_parsed_are_bounded() {
    let (dir, server) = start_plain().await;
    let http = &server.http;
    for n in 0..100 {
        create(http, &json!({ "filename": format!("{n}.pdf") })).await;
    }
    let response = http.post("/v2/parse/upload-url", &json!({ "filename": "x.pdf" })).await.unwrap();
    expect_code(&response, 429, "PARSE_UPLOAD_UNPARSED_LIMIT_REACHED");
    create(&other_team(&dir, http).await, &json!({ "filename": "x.pdf" })).await;
    for (body, path) in [
        (json!({}), "filename"),
        (json!({ "filename": "" }), "filename"),
        (json!({ "filename": "x".repeat(513) }), "filename"),
        (json!({ "filename": "a", "declaredSizeBytes": 0 }), "declaredSizeBytes"),
        (json!({ "filename": "a", "declaredSizeBytes": 50 * 1024 * 1024 + 1 }), "declaredSizeBytes"),
        (json!({ "filename": "a", "contentType": "text/html\r\nX-Evil: 1" }), "contentType"),
    ] {
        let response = http.post("/v2/parse/upload-url", &body).await.unwrap();
        assert_eq!(
            (response.status, &response.json["details"][0]["path"][0]),
            (400, &json!(path)),
            "{}",
            response.text
        );
    }
}
