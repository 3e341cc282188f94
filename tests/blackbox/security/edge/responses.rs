//! Responses that nobody reads: long documents take little of the memory, and who leaves too much unread is refused.

use crate::http::Http;
use crate::processes::tree;
use crate::scrape::{config, other_team, scrape_as};
use crate::server::Server;
use crate::site_server::SiteServer;
use crate::wait;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::json;
use std::fmt::Write as _;
use testkit::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A page of text that repeats itself, and one of digits that do not.
fn long_pages() -> SiteServer {
    let sentence = "<p>Gannets dive into the sea for fish every day of the year and come back.</p>";
    let repeated = format!("<title>Long</title><main>{}</main>", sentence.repeat(50_000));
    let (mut digits, mut state) = (String::from("<title>Digits</title><main>"), 1_u64);
    for _ in 0..6_000 {
        digits.push_str("<p>");
        for _ in 0..60 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let _ = write!(digits, "{state:016x} ");
        }
        digits.push_str("</p>");
    }
    let page = |text: String| get(move || std::future::ready(Html(text.clone())));
    SiteServer::start(Router::new().route("/repeated", page(repeated)).route("/digits", page(digits)))
}

/// The path of the result of a scrape, and the JSON of its document.
async fn scraped(http: &Http, url: &str, formats: serde_json::Value) -> (String, String) {
    let done = scrape_as(http, url, json!({ "formats": formats, "timeout": 120_000 })).await;
    let data = &done.expect_success()["data"];
    let id = data["metadata"]["scrapeId"].as_str().unwrap();
    (format!("/v2/scrape/{id}"), done.text.clone())
}

/// Asks for a response with these headers, and reads no more of it than the head.
async fn ask_without_reading(server: &Server, path: &str, headers: &str) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = server.http.base.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    (stream, head)
}

fn key_header(server: &Server) -> String {
    format!("Authorization: Bearer {}\r\n", server.http.key().unwrap())
}

/// Memory of the server itself, which is the first of its processes.
fn memory_kb(server: &Server) -> u64 {
    tree(server.pid())[0].memory_kb()
}

#[tokio::test]
async fn long_documents_that_nobody_reads_take_little_memory() {
    let (dir, site) = (TempDir::new(), long_pages());
    let server = config(&dir).set("browser", "off").start().await;
    let formats = json!(["rawHtml", "markdown", "html"]);
    let (path, text) = scraped(&server.http, &site.url("/repeated"), formats).await;
    assert!(text.len() > 10_000_000, "{}", text.len());
    assert_eq!(server.http.get(&path).await.unwrap().text, text, "the same again, whole");
    let before = memory_kb(&server);
    let mut unread = Vec::new();
    for _ in 0..20 {
        unread.push(ask_without_reading(&server, &path, &key_header(&server)).await);
    }
    let taken = memory_kb(&server).saturating_sub(before);
    assert!(taken < 80_000, "20 unread responses of {} bytes take {taken} KB", text.len());
    let (stream, head) = &mut unread[7];
    assert!(head.contains(&format!("content-length: {}\r\n", text.len())), "{head}");
    let mut whole = vec![0; text.len()];
    stream.read_exact(&mut whole).await.unwrap();
    assert_eq!(whole, text.as_bytes(), "who reads late gets all of it");
}

#[tokio::test]
async fn what_everybody_may_read_is_shared_by_its_readers() {
    let dir = TempDir::new();
    let server = config(&dir).set("browser", "off").start().await;
    let document = server.http.with_key(None).get("/v2/openapi.json").await.unwrap();
    assert!(document.text.len() > 300_000 && document.json["openapi"].is_string());
    let before = memory_kb(&server);
    let mut unread = Vec::new();
    for coding in
        ["", "Accept-Encoding: br\r\n", "Accept-Encoding: zstd\r\n", "Accept-Encoding: gzip, br\r\n"]
    {
        for _ in 0..25 {
            let (stream, head) = ask_without_reading(&server, "/v2/openapi.json", coding).await;
            let encoding = head.lines().find_map(|line| line.strip_prefix("content-encoding: "));
            assert_eq!(encoding, coding.contains("gzip").then_some("gzip"), "{head}");
            unread.push(stream);
        }
    }
    let taken = memory_kb(&server).saturating_sub(before);
    assert!(taken < 20_000, "100 readers without a key take {taken} KB");
}

#[tokio::test]
async fn who_leaves_responses_unread_is_refused_and_others_are_not() {
    let (dir, site) = (TempDir::new(), long_pages());
    let server = config(&dir).set("browser", "off").set("response_memory", "4MB").start().await;
    let (path, _) = scraped(&server.http, &site.url("/digits"), json!(["rawHtml"])).await;
    let (unread, _) = ask_without_reading(&server, &path, &key_header(&server)).await;
    let refused = server.http.get(&path).await.unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, "5"), "{}", refused.text);
    assert!(refused.text.contains(&format!("may be read by GET {path}")), "{}", refused.text);
    // Work whose response might find no memory does not begin.
    let robots = site.url("/robots.txt");
    let work = server.http.post("/v2/map", &json!({ "url": robots })).await.unwrap();
    assert_eq!(work.status, 503, "{}", work.text);
    assert!(work.text.contains("responses of this team wait to be read"), "{}", work.text);
    server.http.get("/v2/team/credit-usage").await.unwrap().expect_success();
    let other = other_team(&dir, &server.http).await;
    let (path_of_other, text) = scraped(&other, &site.url("/digits"), json!(["rawHtml"])).await;
    assert_eq!(other.get(&path_of_other).await.unwrap().text, text);
    drop(unread);
    wait::eventually("the memory is given back", async || {
        server.http.get(&path).await.unwrap().status == 200
    })
    .await;
}
