//! What a fetch does when all goes well: headers, cookies, redirects, retries, reused connections, streaming.

use crate::servers::{
    ScriptedResolver, Server, fetch, fetcher, fetcher_with, get, get_with, header, page, redirect, response,
    short_limits, test_deadline,
};
use bytes::Bytes;
use gannet_net::{
    BodySink, Credentials, FetchError, Limits, Locale, Method, Profile, Purpose, Request, ResponseHead,
    Truncation,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LOOPBACK_ALLOWED: &str = "scrape=127.0.0.0/8;webhook=127.0.0.0/8;model=127.0.0.0/8";

#[tokio::test(flavor = "multi_thread")]
async fn the_result_tells_the_whole_story() {
    let end =
        Server::http("127.0.0.1:0", |_| response("404 Not Found", &[("X-Kind", "page")], b"gone")).await;
    let location = end.url("/end");
    let start = Server::http("127.0.0.1:0", move |_| redirect(&location)).await;
    let found = fetch(&fetcher(LOOPBACK_ALLOWED), &start.url("/start#part")).await.unwrap();
    let outcome = &found.meta;
    assert_eq!((outcome.head.status.as_u16(), &found.body[..]), (404, &b"gone"[..]));
    assert_eq!(outcome.head.url.as_str(), format!("{}#part", end.url("/end")));
    assert_eq!(
        (outcome.head.remote, &outcome.head.headers["x-kind"]),
        (end.address, &"page".parse().unwrap())
    );
    let hop = &outcome.head.hops[0];
    assert_eq!((hop.status.as_u16(), hop.remote, hop.downgrade), (302, start.address, false));
    assert_eq!(
        (outcome.requests, outcome.wire_bytes, outcome.body_bytes, outcome.truncated),
        (2, 4, 4, None)
    );
    assert!(outcome.timings.total >= outcome.timings.first_byte && outcome.timings.connect > Duration::ZERO);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_look_like_a_browsers_and_can_be_changed() {
    let server = Server::http("127.0.0.1:0", |_| page("ok")).await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let ask = |request: Request| fetcher.fetch(request.limits(short_limits()), test_deadline());
    ask(get(&server.url("/"))).await.unwrap();
    ask(get(&server.url("/")).profile(Profile::Mobile).locale(Locale::from_country("DE"))).await.unwrap();
    let own = [("User-Agent", "Own/1"), ("X-Own", "yes"), ("Accept-Language", "fr")];
    ask(get_with(&server.url("/"), &own)).await.unwrap();
    let login = server.url("/").replace("http://", "http://us%65r:p%40ss@");
    let found = ask(get(&login)).await.unwrap();
    assert!(!found.meta.head.url.as_str().contains("ss@"));
    let body = Bytes::from_static(b"{}");
    let none = Credentials::none();
    let hook = Request::post(Purpose::Webhook, &server.url("/hook"), none, "application/json", body).unwrap();
    ask(hook).await.unwrap();
    let heads = server.heads();
    assert_eq!(header(&heads[0], "host"), Some(server.address.to_string().as_str()));
    assert!(header(&heads[0], "user-agent").unwrap().contains("Chrome/"));
    assert_eq!(header(&heads[0], "accept-encoding"), Some("gzip, deflate, br, zstd"));
    assert_eq!(header(&heads[0], "accept-language"), Some("en-US,en;q=0.9"));
    assert_eq!(header(&heads[0], "sec-fetch-mode"), Some("navigate"));
    assert!(header(&heads[1], "user-agent").unwrap().contains("Mobile"));
    assert_eq!(header(&heads[1], "accept-language"), Some("de-DE,de;q=0.9,en;q=0.8"));
    assert_eq!(header(&heads[2], "user-agent"), Some("Own/1"));
    assert_eq!((header(&heads[2], "x-own"), header(&heads[2], "accept-language")), (Some("yes"), Some("fr")));
    assert_eq!(header(&heads[3], "authorization"), Some("Basic dXNlcjpwQHNz"));
    assert!(heads[4].starts_with("POST /hook "));
    assert!(header(&heads[4], "user-agent").unwrap().starts_with("Gannet/"));
    assert_eq!(
        (header(&heads[4], "content-type"), header(&heads[4], "content-length")),
        (Some("application/json"), Some("2"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_follow_redirects_on_their_site_and_do_not_come_back() {
    let here: &[&[&str]] = &[&["127.0.0.1"]];
    let names = ["other.example", "site.example", "deep.site.example"].map(|host| (host, here));
    let names = ScriptedResolver::new(&names);
    let server = Server::http("127.0.0.1:0", |head| {
        let port = header(head, "host").unwrap().split(':').nth(1).unwrap().to_owned();
        match head.split(' ').nth(1).unwrap() {
            "/" => response("302 Found", &[("Location", "/same"), ("Set-Cookie", "jar=1")], b""),
            "/same" => redirect(&format!("http://deep.site.example:{port}/deep")),
            "/deep" => redirect(&format!("http://other.example:{port}/else")),
            "/else" => redirect(&format!("http://site.example:{port}/back")),
            _ => page("end"),
        }
    })
    .await;
    let fetcher = fetcher_with(LOOPBACK_ALLOWED, &names);
    let own = [("Authorization", "Bearer s"), ("Cookie", "own=1"), ("X-Pass", "p"), ("User-Agent", "Own/1")];
    let request = get_with(&format!("http://site.example:{}/", server.port()), &own).limits(short_limits());
    let found = fetcher.fetch(request, test_deadline()).await.unwrap();
    assert_eq!((found.meta.head.hops.len(), found.meta.cookies.len()), (4, 1));
    let heads = server.heads();
    assert_eq!(header(&heads[1], "cookie"), Some("own=1; jar=1"));
    for head in &heads[..3] {
        assert_eq!(header(head, "authorization"), Some("Bearer s"), "{head}");
        assert_eq!(header(head, "x-pass"), Some("p"), "{head}");
    }
    assert_eq!(header(&heads[2], "cookie"), Some("own=1"), "the jar is for the host that filled it");
    for head in &heads[3..] {
        for name in ["authorization", "x-pass"] {
            assert_eq!(header(head, name), None, "{head}");
        }
        assert!(!head.contains("own=1"), "{head}");
        assert_eq!(header(head, "user-agent"), Some("Own/1"));
    }
    // Nothing is left for the next request.
    fetch(&fetcher, &format!("http://site.example:{}/back", server.port())).await.unwrap();
    assert_eq!(header(&server.heads()[5], "cookie"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_follow_a_redirect_only_as_the_status_says() {
    let server = Server::http("127.0.0.1:0", |head| match head.split(' ').nth(1).unwrap() {
        "/303" => response("303 See Other", &[("Location", "/end")], b""),
        "/307" => response("307 Temporary Redirect", &[("Location", "/end")], b""),
        _ => page("end"),
    })
    .await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let post = |path: &str| {
        let (none, body) = (Credentials::none(), Bytes::from_static(b"body"));
        Request::post(Purpose::Webhook, &server.url(path), none, "text/plain", body)
            .unwrap()
            .limits(short_limits())
    };
    let stopped = fetcher.fetch(post("/307"), test_deadline()).await.unwrap();
    assert_eq!(stopped.meta.head.status.as_u16(), 307, "a body is not passed on unless asked");
    fetcher.fetch(post("/303").follow_redirects(true), test_deadline()).await.unwrap();
    fetcher.fetch(post("/307").follow_redirects(true), test_deadline()).await.unwrap();
    let heads = server.heads();
    assert!(heads[2].starts_with("GET /end") && header(&heads[2], "content-type").is_none());
    assert!(heads[4].starts_with("POST /end") && header(&heads[4], "content-length") == Some("4"));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_safe_requests_are_repeated_and_waits_are_bounded() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let server = Server::http("127.0.0.1:0", move |head| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        match head.split(' ').nth(1).unwrap() {
            "/later" if number == 0 => response("503 Service Unavailable", &[("Retry-After", "1")], b"later"),
            "/never" => response("503 Service Unavailable", &[("Retry-After", "3600")], b"never"),
            "/down" => response("502 Bad Gateway", &[], b"down"),
            _ => page("ok"),
        }
    })
    .await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let limits = Limits { retries: 2, ..short_limits() };
    let ask = |method, path: &str| {
        count.store(0, Ordering::SeqCst);
        let request = Request::new(Purpose::Scrape, method, &server.url(path), Credentials::none())
            .unwrap()
            .limits(limits.clone());
        fetcher.fetch(request, test_deadline())
    };
    let started = Instant::now();
    let found = ask(Method::GET, "/later").await.unwrap();
    assert_eq!((&found.body[..], found.meta.requests), (&b"ok"[..], 2));
    assert!(started.elapsed() >= Duration::from_millis(990), "as long as the server asked for");
    let found = ask(Method::GET, "/never").await.unwrap();
    assert_eq!((found.meta.head.status.as_u16(), found.meta.requests), (503, 1));
    let found = ask(Method::GET, "/down").await.unwrap();
    assert_eq!((&found.body[..], found.meta.requests), (&b"down"[..], 3), "the last answer is the answer");
    let found = ask(Method::POST, "/down").await.unwrap();
    assert_eq!(found.meta.requests, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_kept_and_a_stale_one_costs_nothing() {
    let server = Server::http("127.0.0.1:0", |head| {
        let mut bytes = page("ok");
        if head.starts_with("GET /close") {
            bytes = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec();
        }
        bytes
    })
    .await;
    let fetcher_one = fetcher(LOOPBACK_ALLOWED);
    for _ in 0..5 {
        fetch(&fetcher_one, &server.url("/")).await.unwrap();
    }
    assert_eq!((server.connections(), fetcher_one.idle_connections()), (1, 1));
    fetch(&fetcher_one, &server.url("/close")).await.unwrap();
    let found = fetch(&fetcher_one, &server.url("/")).await.unwrap();
    assert_eq!((found.meta.timings.reused, server.connections()), (false, 2));
    // A server that closes after each response without announcing it: the next request finds a dead
    // connection.
    let rude = Server::raw("127.0.0.1:0", |mut stream| async move {
        use tokio::io::AsyncWriteExt;
        crate::servers::read_request(&mut stream).await;
        let _ = stream.write_all(&page("ok")).await;
    })
    .await;
    for _ in 0..10 {
        assert_eq!(&fetch(&fetcher_one, &rude.url("/")).await.unwrap().body[..], b"ok");
    }
}

struct FirstBytes(Vec<u8>, bool);

impl BodySink for FirstBytes {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        let wanted = head.headers.get("content-type").is_some_and(|kind| kind == "text/html");
        if wanted || !self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.0.extend_from_slice(bytes);
        if self.0.len() >= 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_may_stop_at_the_head_or_in_the_body() {
    let server = Server::raw("127.0.0.1:0", |mut stream| async move {
        use tokio::io::AsyncWriteExt;
        crate::servers::read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n").await;
        while stream.write_all(&[b'x'; 500]).await.is_ok() {}
    })
    .await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let mut picky = FirstBytes(Vec::new(), true);
    let outcome = fetcher
        .fetch_into(get(&server.url("/")).limits(short_limits()), test_deadline(), &mut picky)
        .await
        .unwrap();
    assert_eq!((outcome.truncated, picky.0.len()), (Some(Truncation::Stopped), 0));
    let mut easy = FirstBytes(Vec::new(), false);
    let outcome = fetcher
        .fetch_into(get(&server.url("/")).limits(short_limits()), test_deadline(), &mut easy)
        .await
        .unwrap();
    assert_eq!(outcome.truncated, Some(Truncation::Stopped));
    assert!(easy.0.len() >= 1000 && outcome.body_bytes == easy.0.len() as u64);
    assert_eq!(fetcher.idle_connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_a_body_and_odd_but_legal_ones_are_read() {
    let server = Server::http("127.0.0.1:0", |head| match head.split(' ').nth(1).unwrap() {
        "/204" => b"HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
        "/304" => b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n".to_vec(),
        "/hints" => [&b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"[..], &page("after hints")].concat(),
        "/chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n".to_vec(),
        "/head" => b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n".to_vec(),
        "/names" => response("200 OK", &[("Content-Encoding", "utf-8")], b"as it is"),
        _ => b"HTTP/1.0 200 OK\r\n\r\nold".to_vec(),
    })
    .await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    for (path, status, body) in [
        ("/204", 204, ""),
        ("/304", 304, ""),
        ("/hints", 200, "after hints"),
        ("/chunks", 200, "abcde"),
        ("/names", 200, "as it is"),
    ] {
        let found = fetch(&fetcher, &server.url(path)).await.unwrap();
        assert_eq!((found.meta.head.status.as_u16(), &found.body[..]), (status, body.as_bytes()), "{path}");
    }
    let head = Request::new(Purpose::Scrape, Method::HEAD, &server.url("/head"), Credentials::none())
        .unwrap()
        .limits(short_limits());
    assert!(fetcher.fetch(head, test_deadline()).await.unwrap().body.is_empty());
    for method in [Method::CONNECT, Method::TRACE] {
        let refused = Request::new(Purpose::Scrape, method, &server.url("/"), Credentials::none());
        assert!(matches!(refused, Err(FetchError::BadRequest(_))));
    }
}
