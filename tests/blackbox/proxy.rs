//! With a proxy configured, nothing goes around it: neither pages over HTTP nor anything the browser loads.

use crate::hostile::servers::{Server, answer, page, raw, read_head, redirect};
use crate::scrape::{ScrapeFixture, scrape_as};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use testkit::{DnsResponse, DnsServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

/// `me:pass-word`, as it is sent.
const LOGIN: &str = "Proxy-Authorization: Basic bWU6cGFzcy13b3Jk";

/// A proxy that connects to one target, whatever host is asked for.
struct Proxy {
    server: Server,
    /// Connections it has made to the target.
    onward: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn to(target: SocketAddr) -> Self {
        let onward: Arc<AtomicUsize> = Arc::default();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (made, seen) = (Arc::clone(&onward), Arc::clone(&heads));
        let server = raw("127.0.0.1:0", move |mut stream| {
            let (made, seen) = (Arc::clone(&made), Arc::clone(&seen));
            async move {
                let Some(head) = read_head(&mut stream).await else { return };
                seen.lock().unwrap().push(head.clone());
                if !head.to_ascii_lowercase().contains(&LOGIN.to_ascii_lowercase()) {
                    let _ = stream
                        .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                        .await;
                    return;
                }
                made.fetch_add(1, Ordering::SeqCst);
                let mut target = TcpStream::connect(target).await.unwrap();
                if head.starts_with("CONNECT ") {
                    let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await;
                    let _ = copy_bidirectional(&mut stream, &mut target).await;
                } else {
                    relay(&mut stream, &mut target, head).await;
                }
            }
        });
        Self { server: server.await, onward, heads }
    }

    fn setting(&self, login: &str) -> String {
        format!("http://{login}@{}", self.server.address)
    }

    fn onward(&self) -> usize {
        self.onward.load(Ordering::SeqCst)
    }
}

/// Forwards plain requests one after the other, without the login, which is for the proxy only.
async fn relay(stream: &mut TcpStream, target: &mut TcpStream, first: String) {
    let mut next = Some(first);
    while let Some(head) = next {
        let lines = head.split_inclusive("\r\n");
        let onward: String = lines.filter(|line| !line.to_ascii_lowercase().starts_with("proxy-")).collect();
        let _ = target.write_all(onward.as_bytes()).await;
        let Some(answered) = read_head(target).await else { return };
        let length = answered.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        let _ = target.read_exact(&mut body).await;
        let _ = stream.write_all(&[answered.as_bytes(), &body].concat()).await;
        next = read_head(stream).await;
    }
}

/// A site with several resources, which records what was requested.
async fn site(heads: &Arc<Mutex<Vec<String>>>) -> Server {
    let heads = Arc::clone(heads);
    crate::hostile::servers::http("127.0.0.1:0", move |head| {
        heads.lock().unwrap().push(head.to_owned());
        let path = head.split(' ').nth(1).unwrap_or_default();
        let path = path.strip_prefix("http://site.example").unwrap_or(path);
        match path {
            "/moved" => redirect("http://other.example/page"),
            "/parts" => {
                let more = "<link rel=stylesheet href=/style><script src=http://cdn.example/script></script><img src=/image>\
                    <iframe src=http://frame.example/page></iframe><p id=late></p>\
                    <script>fetch('/data').then(got => got.text()).then(text => late.textContent = text)</script>";
                let whole = String::from_utf8(page("of parts")).unwrap();
                let body = format!("{}{more}", whole.split_once("\r\n\r\n").unwrap().1);
                answer("200 OK", &[("Content-Type", "text/html")], body.as_bytes())
            }
            "/data" => answer("200 OK", &[], b"the word that came late"),
            "/style" | "/script" | "/image" => answer("200 OK", &[], b""),
            _ => page("through the proxy"),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_goes_around_a_proxy_over_http_or_through_the_browser() {
    let request_heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let target = site(&request_heads).await;
    let proxy = Proxy::to(target.address).await;
    let names = DnsServer::start(|_, _| DnsResponse::from_addresses(&["127.0.0.1"]));
    let (way, servers) = (proxy.setting("me:pass-word"), names.address.to_string());
    let fixture =
        ScrapeFixture::with(|config| config.set("proxies", &way).set("name_servers", &servers)).await;
    let http = fixture.http();
    // The target is open to this server and could be reached directly; only the setting prevents it.
    for url in
        ["http://site.example/page".to_owned(), "http://site.example/moved".to_owned(), target.url("/page")]
    {
        let response = scrape_as(http, &url, json!({ "maxAge": 0, "fastMode": true })).await;
        assert!(
            response.status == 200 && response.text.contains("through the proxy"),
            "{url}: {}",
            response.text
        );
        assert!(!response.text.contains("pass-word"), "{}", response.text);
    }
    assert_eq!((target.reached(), target.reached() > 0), (proxy.onward(), true), "over HTTP");
    let by_hand = proxy.onward();
    let response = scrape_as(
        http,
        "http://site.example/parts",
        json!({ "maxAge": 0, "waitFor": 300, "formats": ["markdown", "screenshot"], "onlyMainContent": false }),
    )
    .await;
    assert!(response.status == 200 && response.text.contains("the word that came late"), "{}", response.text);
    assert!(
        proxy.onward() > by_hand + 3,
        "the page and its parts came through the proxy: {}",
        proxy.onward()
    );
    assert_eq!(target.reached(), proxy.onward(), "through the browser");
    assert_eq!(names.queried_names(), Vec::<String>::new(), "names are the proxy's to resolve");
    assert!(proxy.heads.lock().unwrap().iter().any(|head| head.starts_with("CONNECT cdn.example:80 ")));
    let leaked = request_heads
        .lock()
        .unwrap()
        .iter()
        .any(|head| head.to_ascii_lowercase().contains("proxy-authorization"));
    assert!(!leaked, "the target never hears the login");
    assert!(!fixture.server.log().contains("pass-word"), "{}", fixture.server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_refuses_is_reported_and_not_bypassed() {
    let target = site(&Arc::default()).await;
    let proxy = Proxy::to(target.address).await;
    let fixture = ScrapeFixture::with(|config| config.set("proxies", &proxy.setting("me:wrong-word"))).await;
    for (url, options) in [
        ("https://site.example/", json!({ "maxAge": 0, "fastMode": true })),
        ("http://site.example/page", json!({ "maxAge": 0, "waitFor": 1 })),
    ] {
        let response = scrape_as(fixture.http(), url, options).await;
        let status_and_code = (response.status, response.json["code"].as_str().unwrap_or_default());
        assert_eq!(status_and_code, (500, "SCRAPE_PROXY_SELECTION_ERROR"), "{url}: {}", response.text);
        assert!(!response.text.contains("wrong-word"), "{}", response.text);
    }
    assert!(!proxy.heads.lock().unwrap().is_empty());
    assert_eq!((target.reached(), proxy.onward()), (0, 0));
}
