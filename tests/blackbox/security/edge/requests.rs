//! What the server trusts in a request: foreign web pages, hosts, proxies, and IDs of other teams.

use crate::scrape::other_team_key;
use crate::server::{Server, ServerConfig};
use crate::site_server::SiteServer;
use axum::Router;
use axum::routing::get;
use reqwest::Method;
use serde_json::json;
use testkit::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The status of a GET with these headers, without a key.
async fn status(server: &Server, path: &str, headers: &[(&str, &str)]) -> u16 {
    let http = server.http.with_key(None);
    let request = headers
        .iter()
        .fold(http.request(Method::GET, path), |request, (name, value)| request.header(*name, *value));
    http.send(request).await.unwrap().status
}

#[tokio::test]
async fn without_authentication_foreign_web_pages_are_refused() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("auth", "off").start().await;
    let search = "/v2/search/developer?query=gannets";
    // What programs, people at the address bar and our own pages send.
    assert_eq!(status(&server, search, &[]).await, 200);
    assert_eq!(status(&server, search, &[("sec-fetch-site", "none")]).await, 200);
    assert_eq!(status(&server, search, &[("sec-fetch-site", "same-origin")]).await, 200);
    let used = server.http.get("/v2/team/credit-usage/historical").await.unwrap().text;
    // An image, a script or a link in a foreign page: a GET without an origin.
    for site in ["cross-site", "same-site"] {
        for path in [search, "/v2/team/activity", "/admin/keys"] {
            assert_eq!(status(&server, path, &[("sec-fetch-site", site)]).await, 403, "{path} from {site}");
        }
    }
    assert_eq!(
        server.http.get("/v2/team/credit-usage/historical").await.unwrap().text,
        used,
        "it was charged"
    );
    // A foreign name that resolves to this machine.
    for path in [search, "/metrics", "/ready", "/docs", "/v2/openapi.json"] {
        assert_eq!(status(&server, path, &[("host", "evil.example")]).await, 403, "{path}");
        assert_eq!(status(&server, path, &[("host", "localhost:3002")]).await, 200, "{path}");
    }
    let shop = TempDir::new();
    let server =
        ServerConfig::at(shop.path()).set("auth", "off").set("cors", "https://app.example").start().await;
    let from = |origin| [("origin", origin), ("sec-fetch-site", "cross-site")];
    assert_eq!(status(&server, search, &from("https://app.example")).await, 200);
    assert_eq!(status(&server, search, &from("https://evil.example")).await, 403);
}

#[tokio::test]
async fn metrics_are_for_this_machine_and_not_for_web_pages_on_it() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("cors", "*").start().await;
    for host in ["localhost:3002", "127.0.0.1:3002", "[::1]"] {
        assert_eq!(status(&server, "/metrics", &[("host", host)]).await, 200, "{host}");
    }
    for header in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example"),
        ("origin", "https://evil.example"),
        ("x-forwarded-for", "203.0.113.7"),
        ("x-forwarded-host", "api.example"),
    ] {
        assert_eq!(status(&server, "/metrics", &[header]).await, 401, "{header:?}");
    }
    let with_key = server.http.request(Method::GET, "/metrics").header("host", "gannet.example");
    assert_eq!(server.http.send(with_key).await.unwrap().status, 200, "an operator has a key");
}

/// What the server takes for its own base URL.
async fn own_address(server: &Server) -> String {
    let path = "/.well-known/oauth-protected-resource";
    let request = server.http.request(Method::GET, path);
    let request = request.header("x-forwarded-host", "api.example").header("x-forwarded-proto", "https");
    let response = server.http.send(request).await.unwrap();
    response.json["resource"].as_str().unwrap_or_else(|| panic!("{}", response.text)).to_owned()
}

#[tokio::test]
async fn forwarded_headers_are_trusted_from_configured_proxies_only() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).start().await;
    assert_eq!(own_address(&server).await, format!("{}/", server.http.base));
    server.kill();
    let server = ServerConfig::at(dir.path()).set("trusted_proxies", "10.0.0.0/8,127.0.0.1").start().await;
    assert_eq!(own_address(&server).await, "https://api.example/");
    server.kill();
    let server = ServerConfig::at(dir.path()).set("trusted_proxies", "10.0.0.0/8").start().await;
    assert_eq!(own_address(&server).await, format!("{}/", server.http.base));
}

/// How a WebSocket ends: its close code and reason.
async fn watch_ends(server: &Server, key: &str, path: &str) -> (u16, String) {
    let address = server.http.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let ask = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
    // The first frame must be the close frame: short, and not masked.
    let (kind, length) = (stream.read_u8().await.unwrap(), stream.read_u8().await.unwrap());
    assert_eq!(kind, 0x88, "the first frame is not the close frame");
    let code = stream.read_u16().await.unwrap();
    let mut reason = vec![0; usize::from(length) - 2];
    stream.read_exact(&mut reason).await.unwrap();
    (code, String::from_utf8(reason).unwrap())
}

#[tokio::test]
async fn a_websocket_reveals_nothing_of_other_teams() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("egress_allow", "scrape=127.0.0.0/8").start().await;
    let site = SiteServer::start(Router::new().route("/", get(|| async { "a page of some words" })));
    let crawl = server.http.post("/v2/crawl", &json!({ "url": site.url("/") })).await.unwrap();
    let theirs = format!("/v2/crawl/{}", crawl.expect_success()["id"].as_str().unwrap());
    let nobodys = "/v2/crawl/01890000-0000-7000-8000-000000000000";
    let key = other_team_key(&dir).await;
    let unknown = watch_ends(&server, &key, nobodys).await;
    assert_eq!(unknown.0, 1008, "{unknown:?}");
    assert_eq!(watch_ends(&server, &key, &theirs).await, unknown);
}
