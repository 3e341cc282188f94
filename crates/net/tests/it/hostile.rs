//! Hostile and broken servers. Each causes its typed error within the limits, and the next fetch by the same
//! fetcher works.

use crate::servers::{
    ScriptedResolver, Server, fetch, fetcher_with, get, page, read_request, redirect, response, short_limits,
    test_deadline,
};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use gannet_net::{
    AtLimit, Credentials, Deadline, FetchError, Fetcher, Limits, Phase, Purpose, Request, SizeLimit,
    Truncation,
};
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Writes `piece` forever, one every `pause`.
async fn drip(stream: &mut TcpStream, piece: &[u8], pause: Duration) {
    while stream.write_all(piece).await.is_ok() {
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
}

fn tight_limits() -> Limits {
    Limits {
        head_bytes: 64 * 1024,
        head_count: 100,
        wire_bytes: 1 << 20,
        body_bytes: 4 << 20,
        redirects: 10,
        ..short_limits()
    }
}

/// Sends `bytes` to every client, then closes.
async fn server_sending(bytes: &'static [u8]) -> Server {
    Server::raw("127.0.0.1:0", move |mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(bytes).await;
    })
    .await
}

/// Sends `start`, then `piece` forever.
async fn endless(start: &'static [u8], piece: &'static [u8], pause: Duration) -> Server {
    Server::raw("127.0.0.1:0", move |mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(start).await;
        drip(&mut stream, piece, pause).await;
    })
    .await
}

struct Fixture {
    fetcher: Fetcher,
    good: Server,
}

impl Fixture {
    async fn new() -> Self {
        let names = ScriptedResolver::new(&[("empty.example", &[&[]])]);
        Self {
            fetcher: fetcher_with("scrape=127.0.0.0/8", &names),
            good: Server::http("127.0.0.1:0", |_| page("good")).await,
        }
    }

    /// Fetches `url`, expects an error within the limits, and then fetches successfully.
    async fn fails(&self, what: &str, url: &str) -> FetchError {
        let started = Instant::now();
        let request = Request::get(Purpose::Scrape, url, Credentials::none()).unwrap().limits(tight_limits());
        let error =
            self.fetcher.fetch(request, test_deadline()).await.map(|found| found.meta).expect_err(what);
        assert!(started.elapsed() < Duration::from_secs(5), "{what} took {:?}", started.elapsed());
        let next = fetch(&self.fetcher, &self.good.url("/")).await.unwrap();
        assert_eq!(&next.body[..], b"good", "after {what}");
        error
    }
}

static ZEROS: [u8; 16 * 1024] = [b'0'; 16 * 1024];
static BLOCK: [u8; 4096] = [b'x'; 4096];
const NONE: Duration = Duration::ZERO;
const SLOW: Duration = Duration::from_millis(50);

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_never_end_are_too_large_or_too_late() {
    let fixture = Fixture::new().await;
    let too_large = |error: &FetchError| matches!(error, FetchError::TooLarge { what: SizeLimit::Head, .. });
    let too_late = |error: &FetchError| matches!(error, FetchError::Timeout { phase: Phase::FirstByte, .. });
    let ok = b"HTTP/1.1 200 OK\r\n";
    for (what, server) in [
        ("endless headers", endless(ok, b"X-More: and more and more and more\r\n", NONE).await),
        ("one endless header", endless(ok, b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NONE).await),
        ("an endless status line", endless(b"HTTP/1.1 200 ", b"OKOKOKOKOKOKOKOKOKOKOKOKOKOKOK", NONE).await),
        (
            "a flood of interim answers",
            endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", NONE).await,
        ),
        ("a flood of 100s", endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", NONE).await),
    ] {
        let error = fixture.fails(what, &server.url("/")).await;
        assert!(too_large(&error), "{what}: {error:?}");
    }
    for (what, count) in [("10,000 headers", 10_000), ("101 headers", 101)] {
        let headers: Vec<u8> =
            (0..count).flat_map(|number| format!("X-{number}: 1\r\n").into_bytes()).collect();
        let bytes: &'static [u8] = [&ok[..], &headers, b"Content-Length: 0\r\n\r\n"].concat().leak();
        let error = fixture.fails(what, &server_sending(bytes).await.url("/")).await;
        assert!(too_large(&error), "{what}: {error:?}");
    }
    for (what, server) in [
        ("slow headers", endless(ok, b"X: y\r\n", SLOW).await),
        ("slow interim answers", endless(b"", b"HTTP/1.1 102 Processing\r\n\r\n", SLOW).await),
        ("half a status line", endless(b"HTTP/1.", b"", Duration::from_secs(9)).await),
        ("silence", endless(b"", b"", Duration::from_secs(9)).await),
    ] {
        let error = fixture.fails(what, &server.url("/")).await;
        assert!(too_late(&error), "{what}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_never_end_are_too_large_or_too_late() {
    let fixture = Fixture::new().await;
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let too_large =
        |error: &FetchError| matches!(error, FetchError::TooLarge { what: SizeLimit::WireBody, .. });
    for (what, server) in [
        ("an endless body", endless(b"HTTP/1.1 200 OK\r\n\r\n", &BLOCK, NONE).await),
        ("endless chunks", endless(chunked, b"400\r\n", NONE).await),
        (
            "a huge promise",
            endless(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", &BLOCK, SLOW).await,
        ),
    ] {
        let error = fixture.fails(what, &server.url("/")).await;
        let bad_chunks = what == "endless chunks" && matches!(error, FetchError::BadProtocol(_));
        assert!(too_large(&error) || bad_chunks, "{what}: {error:?}");
    }
    // Bytes that complete no chunk of a body are counted where they are read.
    let sizes = endless(chunked, &ZEROS, NONE).await;
    let patient = Limits { idle: Duration::from_secs(30), ..tight_limits() };
    let error =
        fixture.fetcher.fetch(get(&sizes.url("/")).limits(patient), test_deadline()).await.unwrap_err();
    assert!(too_large(&error), "a chunk whose size never ends: {error:?}");
    for (what, server) in [
        (
            "a body that stops",
            endless(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"", Duration::from_secs(9)).await,
        ),
        (
            "chunks that stop",
            endless(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                b"",
                Duration::from_secs(9),
            )
            .await,
        ),
    ] {
        let error = fixture.fails(what, &server.url("/")).await;
        assert!(matches!(error, FetchError::Timeout { phase: Phase::Idle, .. }), "{what}: {error:?}");
    }
    // A body that always has one more byte ends at the deadline.
    let slow = endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x", SLOW).await;
    let started = Instant::now();
    let request =
        Request::get(Purpose::Scrape, &slow.url("/"), Credentials::none()).unwrap().limits(tight_limits());
    let error = fixture.fetcher.fetch(request, Deadline::after(Duration::from_secs(1))).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { phase: Phase::Body, .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_http_is_said_to_be_so() {
    let fixture = Fixture::new().await;
    for (what, bytes) in [
        ("garbage", &b"\x00\x01\x02\x03garbage\xff\xfe\r\n\r\n"[..]),
        ("HTTP/0.9", b"<html>hello</html>"),
        ("another protocol", b"220 mail.example ESMTP ready\r\n"),
        ("a TLS record", b"\x15\x03\x01\x00\x02\x02\x28"),
        ("a bad version", b"HTTP/7.0 200 OK\r\n\r\n"),
        ("a bad status", b"HTTP/1.1 abc OK\r\n\r\n"),
        ("a bad header", b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"),
        ("a header with a zero", b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"),
        ("a bad length", b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
        ("a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
        ("bad chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"),
        (
            "a chunk too long",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n",
        ),
        (
            "a chunk without its end",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcXX\r\n0\r\n\r\n",
        ),
        (
            "a switch nobody asked for",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        ),
        ("an HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ] {
        let error = fixture.fails(what, &server_sending(bytes).await.url("/")).await;
        assert!(matches!(error, FetchError::BadProtocol(_)), "{what}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_break_are_incomplete_answers() {
    let fixture = Fixture::new().await;
    for (what, bytes) in
        [("closing at once after the request", &b""[..]), ("half a head", b"HTTP/1.1 200 OK\r\nContent-Le")]
    {
        let error = fixture.fails(what, &server_sending(bytes).await.url("/")).await;
        assert!(matches!(error, FetchError::Incomplete(_)), "{what}: {error:?}");
    }
    for (what, bytes) in [
        ("less than promised", &b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"[..]),
        ("half a chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nshort"),
        ("no last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"),
    ] {
        let error = fixture.fails(what, &server_sending(bytes).await.url("/")).await;
        assert!(matches!(error, FetchError::CutOff(_)), "{what}: {error:?}");
        assert!(!error.is_broken_response(), "{what}: a part of a page is no other way to refuse a client");
    }
    let shut = Server::raw("127.0.0.1:0", |stream| async move { drop(stream) }).await;
    let error = fixture.fails("closing at once", &shut.url("/")).await;
    assert!(matches!(error, FetchError::Incomplete(_)), "{error:?}");
    // Closing with unread data makes the kernel send a reset.
    let reset = Server::raw("127.0.0.1:0", |stream| async move {
        stream.readable().await.unwrap();
        drop(stream);
    })
    .await;
    let error = fixture.fails("a reset", &reset.url("/")).await;
    assert!(matches!(error, FetchError::Incomplete(_)), "{error:?}");
    let mid_body = Server::raw("127.0.0.1:0", |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc").await;
        sleep(Duration::from_millis(100)).await;
        drop(stream);
    })
    .await;
    let error = fixture.fails("a reset in the body", &mid_body.url("/")).await;
    // A reset takes along what was not read yet, sometimes the head.
    assert!(matches!(error, FetchError::CutOff(_) | FetchError::Incomplete(_)), "{error:?}");
    let closed = testkit::ClosedPort::hold();
    let error = fixture.fails("nobody there", &format!("http://{}/", closed.address())).await;
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_lead_nowhere_say_which_way() {
    let fixture = Fixture::new().await;
    let error = fixture.fails("no such name", "http://missing.example/").await;
    assert!(matches!(error, FetchError::NameNotFound { .. }), "{error:?}");
    let error = fixture.fails("a name without addresses", "http://empty.example/").await;
    assert!(matches!(error, FetchError::NameNotFound { .. }), "{error:?}");
    let error = fixture.fails("a broken resolver", "http://broken.example/").await;
    assert!(matches!(error, FetchError::NameLookupFailed { .. }), "{error:?}");
    let error = fixture.fails("a silent resolver", "http://silent.example/").await;
    assert!(matches!(error, FetchError::Timeout { phase: Phase::Resolve, .. }), "{error:?}");
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    written(GzEncoder::new(Vec::new(), Compression::default()), plain, |encoder| encoder.finish().unwrap())
}

fn written<W: Write>(mut encoder: W, plain: &[u8], finish: impl FnOnce(W) -> Vec<u8>) -> Vec<u8> {
    encoder.write_all(plain).unwrap();
    finish(encoder)
}

fn encoded(plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let level = Compression::default();
    let mut brotli = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 1, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut brotli, &params).unwrap();
    vec![
        ("gzip", gzip(plain)),
        ("deflate", written(ZlibEncoder::new(Vec::new(), level), plain, |encoder| encoder.finish().unwrap())),
        (
            "deflate",
            written(DeflateEncoder::new(Vec::new(), level), plain, |encoder| encoder.finish().unwrap()),
        ),
        ("br", brotli),
        ("zstd", zstd::encode_all(plain, 3).unwrap()),
    ]
}

async fn sending(encoding: &'static str, bytes: Vec<u8>) -> Server {
    Server::http("127.0.0.1:0", move |_| response("200 OK", &[("Content-Encoding", encoding)], &bytes)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn bombs_cut_and_damaged_encodings_are_refused() {
    let fixture = Fixture::new().await;
    // Exceeds the ratio long before the body limit.
    for (encoding, bytes) in encoded(&vec![0; 16 << 20]) {
        let server = sending(encoding, bytes).await;
        let error = fixture.fails("a bomb", &server.url("/")).await;
        let refused = matches!(error, FetchError::TooLarge { what: SizeLimit::Ratio | SizeLimit::Body, .. });
        assert!(refused, "{encoding}: {error:?}");
    }
    let text = "all work and no play ".repeat(5000);
    for (encoding, bytes) in encoded(text.as_bytes()) {
        let cut = sending(encoding, bytes[..bytes.len() / 2].to_vec()).await;
        let error = fixture.fails("a cut body", &cut.url("/")).await;
        assert!(matches!(error, FetchError::BadEncoding { .. }), "{encoding}: {error:?}");
        let other = sending(encoding, b"<html>this is no archive</html>".to_vec()).await;
        let error = fixture.fails("a lie about the encoding", &other.url("/")).await;
        assert!(matches!(error, FetchError::BadEncoding { .. }), "{encoding}: {error:?}");
        let whole = sending(encoding, bytes).await;
        let found = fetch(&fixture.fetcher, &whole.url("/")).await.unwrap();
        assert_eq!(found.body, text.as_bytes(), "{encoding}");
        assert!(found.meta.wire_bytes < found.meta.body_bytes);
        assert_eq!(found.meta.head.encodings[0].name(), encoding);
    }
    let stacked = sending("gzip, gzip, gzip, gzip", gzip(b"x")).await;
    let error = fixture.fails("a stack of encodings", &stacked.url("/")).await;
    assert!(matches!(error, FetchError::BadEncoding { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_be_cut_at_the_limit_and_says_so_but_a_bomb_still_fails() {
    let fixture = Fixture::new().await;
    let cut = |limits: Limits| Limits { at_limit: AtLimit::Truncate, ..limits };
    let long = Server::http("127.0.0.1:0", |_| page(&"x".repeat(3 << 20))).await;
    let ask = |url: String, limits| {
        fixture.fetcher.fetch(
            Request::get(Purpose::Scrape, &url, Credentials::none()).unwrap().limits(limits),
            test_deadline(),
        )
    };
    let found = ask(long.url("/"), cut(tight_limits())).await.unwrap();
    assert_eq!(found.body.len(), 1 << 20);
    assert_eq!(found.meta.truncated, Some(Truncation::Limit(SizeLimit::WireBody)));
    let found = ask(long.url("/"), cut(Limits { body_bytes: 1000, ..tight_limits() })).await.unwrap();
    assert_eq!((found.body.len(), found.meta.truncated), (1000, Some(Truncation::Limit(SizeLimit::Body))));
    let bomb = sending("gzip", gzip(&vec![0; 16 << 20])).await;
    let error = ask(bomb.url("/"), cut(tight_limits())).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { what: SizeLimit::Ratio, .. }), "{error:?}");
    assert_eq!(fixture.fetcher.idle_connections(), 0, "a connection with an unread body is not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_that_do_not_end_are_stopped() {
    let fixture = Fixture::new().await;
    let itself = Server::http("127.0.0.1:0", |_| redirect("/")).await;
    let error = fixture.fails("a loop of one", &itself.url("/")).await;
    assert!(matches!(error, FetchError::RedirectLoop { .. }), "{error:?}");
    let pair =
        Server::http("127.0.0.1:0", |head| redirect(if head.starts_with("GET /a") { "/b" } else { "/a" }))
            .await;
    let error = fixture.fails("a loop of two", &pair.url("/a")).await;
    assert!(matches!(error, FetchError::RedirectLoop { .. }), "{error:?}");
    let chain = Server::http("127.0.0.1:0", |head| {
        let number: u32 = head.split(' ').nth(1).unwrap()[1..].parse().unwrap();
        redirect(&format!("/{}", number + 1))
    })
    .await;
    let error = fixture.fails("an endless chain", &chain.url("/0")).await;
    assert_eq!(error, FetchError::TooManyRedirects { limit: 10 });
    assert_eq!(chain.heads().len(), 11);
    // The same URL with a new cookie is not a loop.
    let wall = Server::http("127.0.0.1:0", |head| {
        if head.contains("Cookie: seen=1") {
            page("welcome")
        } else {
            response("302 Found", &[("Location", "/"), ("Set-Cookie", "seen=1")], b"")
        }
    })
    .await;
    assert_eq!(&fetch(&fixture.fetcher, &wall.url("/")).await.unwrap().body[..], b"welcome");
    for location in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "javascript:alert(1)",
        "http://[::",
        "http://127.0.0.1:25/",
    ] {
        let bad = Server::http("127.0.0.1:0", move |_| redirect(location)).await;
        let error = fixture.fails(location, &bad.url("/")).await;
        assert!(matches!(error, FetchError::BadRedirect(_)), "{location}: {error:?}");
    }
    let lost = Server::http("127.0.0.1:0", |_| response("302 Found", &[], b"no way on")).await;
    let found = fetch(&fixture.fetcher, &lost.url("/")).await.unwrap();
    assert_eq!((found.meta.head.status.as_u16(), &found.body[..]), (302, &b"no way on"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_redirect_chain_shares_one_deadline() {
    let fixture = Fixture::new().await;
    let slow = Server::raw("127.0.0.1:0", |mut stream| async move {
        for number in 0.. {
            if read_request(&mut stream).await.is_none() {
                return;
            }
            sleep(Duration::from_millis(300)).await;
            let _ = stream.write_all(&redirect(&format!("/{number}"))).await;
        }
    })
    .await;
    let started = Instant::now();
    let request =
        Request::get(Purpose::Scrape, &slow.url("/x"), Credentials::none()).unwrap().limits(short_limits());
    let error = fixture.fetcher.fetch(request, Deadline::after(Duration::from_secs(1))).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { .. }), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}
