//! Forms: parts in any order, and everything that can be wrong with them.

use super::{
    BOUNDARY, PAGE, expect_page, file_part, form, names_of_incoming, options_part, post_form, raw_part,
    wait_for_no_incoming,
};
use crate::server::{KEY, start_own, start_plain};
use reqwest::Method;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[tokio::test]
async fn parts_come_in_any_order_and_options_in_any_form() {
    let (_dir, server) = start_plain().await;
    let http = &server.http;
    let file = file_part("report.html", PAGE.as_bytes());
    let options = options_part(r#"{"formats":["html"],"origin":"js-sdk@4.42.0"}"#);
    let typed = raw_part(
        "Content-Disposition: form-data; name=\"options\"; filename=\"blob\"\r\nContent-Type: application/json",
        br#"{"formats":["html"]}"#,
    );
    let parts = [[&file, &options], [&options, &file], [&file, &typed], [&typed, &file]];
    for parts in parts {
        let response = post_form(http, form(&parts.map(Clone::clone))).await;
        let document = &response.expect_success()["data"];
        assert!(document["html"].as_str().unwrap().contains("<h1>Gannets</h1>"), "{document}");
        assert!(document["markdown"].is_null(), "{document}");
    }
    let preamble =
        [b"This is a form.\r\n".to_vec(), form(std::slice::from_ref(&file)), b"epilogue".to_vec()].concat();
    for body in [form(&[file]), preamble] {
        let response = post_form(http, body).await;
        assert!(response.expect_success()["data"]["markdown"].as_str().unwrap().contains("# Gannets"));
    }
    let nameless = raw_part("Content-Disposition: form-data; name=\"file\"", PAGE.as_bytes());
    let document = post_form(http, form(&[nameless])).await.expect_success()["data"].clone();
    assert_eq!(document["metadata"]["sourceFile"], "upload");
    let path = file_part("..\\\\..\\\\x/../../Übersicht.html", PAGE.as_bytes());
    let document = post_form(http, form(&[path])).await.expect_success()["data"].clone();
    assert_eq!(document["metadata"]["sourceFile"], "Übersicht.html", "a name, not a path");
}

#[tokio::test]
async fn broken_forms_are_refused_with_the_reason_and_leave_nothing() {
    let (dir, server) = start_own().await;
    let http = &server.http;
    let (file, second) = (file_part("a.html", PAGE.as_bytes()), file_part("b.html", PAGE.as_bytes()));
    let long_header = raw_part(&format!("X-Long: {}", "x".repeat(1_000_000)), b"x");
    let many = vec![options_part("{}"); 2000].concat();
    let unread = "the multipart body could not be read";
    for (why, body, text) in [
        ("no parts", form(&[]), "there is no part `file`"),
        ("only options", form(&[options_part("{}")]), "there is no part `file`"),
        ("two files", form(&[file.clone(), second]), "more than one part `file`"),
        (
            "two options",
            form(&[options_part("{}"), options_part("{}"), file.clone()]),
            "more than one part `options`",
        ),
        ("many parts", many, "more than one part `options`"),
        (
            "an unknown part",
            form(&[raw_part("Content-Disposition: form-data; name=\"x\"", b"1")]),
            "a part `x`; the parts are `file` and `options`",
        ),
        (
            "a part without a name",
            form(&[raw_part("Content-Disposition: form-data", b"1")]),
            "a part without a name; the parts are `file` and `options`",
        ),
        ("no end", file.clone(), unread),
        ("cut in the file", form(std::slice::from_ref(&file))[..200].to_vec(), unread),
        ("cut in a header", file[..40].to_vec(), unread),
        (
            "another boundary",
            b"--other\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n--other--\r\n".to_vec(),
            unread,
        ),
        ("no form at all", b"hello".to_vec(), unread),
        ("nothing", Vec::new(), unread),
        ("a header without end", long_header, unread),
        ("bytes before the first part", vec![b'x'; 3_000_000], unread),
        (
            "long options",
            form(&[options_part(&format!("{{\"origin\":\"{}\"}}", "x".repeat(1 << 20))), file.clone()]),
            "more than 1 MB",
        ),
        ("options that are no object", form(&[file.clone(), options_part("[1]")]), "expected an object"),
        ("options of a wrong type", form(&[file.clone(), options_part("{\"timeout\":\"x\"}")]), "timeout"),
        (
            "a reference beside a file",
            form(&[file.clone(), options_part("{\"uploadRef\":\"x\"}")]),
            "uploadRef",
        ),
    ] {
        let response = post_form(http, body).await;
        assert_eq!(
            (response.status, &response.json["code"]),
            (400, &json!("BAD_REQUEST")),
            "{why}: {}",
            response.text
        );
        assert!(response.json["error"].as_str().unwrap().contains(text), "{why}: {}", response.text);
    }
    for (text, code) in [
        ("{", "BAD_REQUEST_INVALID_JSON"),
        ("", "BAD_REQUEST_INVALID_JSON"),
        ("formats=x", "BAD_REQUEST_INVALID_JSON"),
    ] {
        let response = post_form(http, form(&[file.clone(), options_part(text)])).await;
        response.expect_error(400, "Bad Request: the part `options` is not valid JSON");
        assert_eq!(response.json["code"], code);
    }
    let unknown = post_form(http, form(&[file.clone(), options_part("{\"promt\":1}")])).await;
    assert_eq!(
        (unknown.status, &unknown.json["details"][0]["path"]),
        (400, &json!(["promt"])),
        "{}",
        unknown.text
    );
    for content_type in
        ["multipart/form-data", "multipart/form-data; boundary=", "Multipart/Form-Data; boundary=\"\""]
    {
        let request = http.request(Method::POST, "/v2/parse").header("content-type", content_type);
        let response = http.send(request.body(form(std::slice::from_ref(&file)))).await.unwrap();
        assert_eq!(response.status, 400, "{content_type}: {}", response.text);
    }
    let request = http.request(Method::POST, "/v2/parse").header("content-type", "text/plain").body("x");
    let response = http.send(request).await.unwrap();
    response.expect_error(415, "Unsupported Media Type: send multipart/form-data or application/json");
    http.post("/v2/parse", &json!({})).await.unwrap().expect_error(
        400,
        "Bad Request: uploadRef: required in a JSON body; or send the file as multipart/form-data",
    );
    wait_for_no_incoming(server.pid()).await;
    assert_eq!(names_of_incoming(&dir.join("data")), [""; 0]);
    expect_page(http).await;
}

#[tokio::test]
async fn options_about_fetching_are_refused() {
    let (_dir, server) = start_plain().await;
    let options = r#"{"waitFor":100,"formats":["markdown","screenshot"],"location":{"country":"DE"}}"#;
    let body = form(&[options_part(options), file_part("a.html", PAGE.as_bytes())]);
    let response = post_form(&server.http, body).await;
    response.expect_error(400, "Parse does not support these options: waitFor, location, formats");
    assert_eq!(response.json["code"], "PARSE_UNSUPPORTED_OPTIONS");
    assert_eq!(response.json["details"][2]["path"], json!(["formats", 1]));
}

/// The beginning of a form that promises more than it sends.
fn begin_upload(base: &str) -> TcpStream {
    let address = base.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let part = file_part("a.html", &vec![b'x'; 500_000]);
    write!(
        stream,
        "POST /v2/parse HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\ncontent-length: 9000000\r\n\
         content-type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n"
    )
    .and_then(|()| stream.write_all(&part))
    .expect("sending");
    stream
}

#[tokio::test]
async fn a_caller_who_hangs_up_leaves_nothing() {
    let (dir, server) = start_own().await;
    let stream = begin_upload(&server.http.base);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while super::open_incoming(server.pid()) == 0 {
        assert!(std::time::Instant::now() < end, "the file never came");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(names_of_incoming(&dir.join("data")), [""; 0], "it has no name even now");
    drop(stream);
    wait_for_no_incoming(server.pid()).await;
    // The other half of a connection that is closed for writing only gets its answer.
    let mut half = begin_upload(&server.http.base);
    half.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _ = half.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    wait_for_no_incoming(server.pid()).await;
    expect_page(&server.http).await;
    // A killed server leaves nothing either.
    let stream = begin_upload(&server.http.base);
    while super::open_incoming(server.pid()) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.kill();
    drop(stream);
    assert_eq!(names_of_incoming(&dir.join("data")), [""; 0]);
}
