//! Bodies: nobody has one read before it is known who they are, but for a small one.

use crate::server::{Server, start_plain};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The first line that the server sends for a request which asks whether its body is wanted.
async fn first_line(server: &Server, path: &str, key: Option<&str>, bytes: usize) -> String {
    let mut client = TcpStream::connect(server.http.base.strip_prefix("http://").unwrap()).await.unwrap();
    let key = key.map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"));
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {bytes}\r\nExpect: 100-continue\r\n{key}\r\n",
        server.http.base
    );
    client.write_all(head.as_bytes()).await.unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(timeout(Duration::from_secs(10), client.read_u8()).await.expect("an answer").unwrap());
    }
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

#[tokio::test]
async fn a_body_is_read_once_it_is_known_who_sends_it() {
    let (_dir, server) = start_plain().await;
    for path in ["/v1/scrape", "/v1/crawl", "/v1/deep-research", "/v1/x", "/v2/scrape", "/mcp"] {
        let line = first_line(&server, path, None, 10_000_000).await;
        assert_eq!(line, "HTTP/1.1 401 Unauthorized", "{path} without a key");
        let line = first_line(&server, path, Some("gn-wrong-0123456789abcdef"), 10_000_000).await;
        assert_eq!(line, "HTTP/1.1 401 Unauthorized", "{path} with a wrong key");
    }
    let key = server.http.key();
    assert_eq!(first_line(&server, "/v1/scrape", key, 1_000).await, "HTTP/1.1 100 Continue");
}

#[tokio::test]
async fn open_routes_take_small_bodies_only() {
    let (_dir, server) = start_plain().await;
    let http = server.http.with_key(None);
    let send = async |path: &str, bytes: usize| {
        let body = format!("{{\"key\":\"{}\"}}", "x".repeat(bytes));
        let request = http.request(reqwest::Method::POST, path).header("origin", &http.base);
        http.send(request.header("content-type", "application/json").body(body)).await.unwrap()
    };
    for path in ["/admin/sign-in", "/v2/monitor/email/confirm"] {
        assert_ne!(send(path, 8_000).await.status, 413, "{path}");
        send(path, 20_000).await.expect_error(413, "Payload Too Large");
    }
}
