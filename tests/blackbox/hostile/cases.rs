//! Hostile sites, case by case: what is requested, and the expected result.

use super::servers::{
    FOR_EVER, PROSE, Server, answer, endless, http, page, raw, redirect, repeat, resetting,
    respond_and_close, respond_and_stall,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The expected result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Fails(u16, &'static str),
    /// A document with this text.
    Page(&'static str),
}

pub const SITE_ERROR: Expect = Expect::Fails(500, "SCRAPE_SITE_ERROR");
pub const TIMEOUT_ERROR: Expect = Expect::Fails(408, "SCRAPE_TIMEOUT");
pub const TLS_ERROR: Expect = Expect::Fails(500, "SCRAPE_SSL_ERROR");
pub const NO_ENGINE_SUCCEEDED: Expect = Expect::Fails(500, "SCRAPE_ALL_ENGINES_FAILED");
pub const BLOCKED: Expect = Expect::Fails(403, "unsafe_domain_blocked");
pub const INVALID_URL: Expect = Expect::Fails(400, "BAD_REQUEST");
pub const UNKNOWN_HOST: Expect = Expect::Fails(200, "SCRAPE_DNS_RESOLUTION_ERROR");

#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub url: String,
    pub options: Value,
    pub expect: Expect,
}

/// Enough time for everything that does not wait on purpose.
const AMPLE_TIMEOUT_MS: u64 = 20_000;
/// The shortest timeout a request can have.
const MIN_TIMEOUT_MS: u64 = 1_000;

pub fn case(name: &str, url: String, expect: Expect) -> Case {
    let timeout = if expect == TIMEOUT_ERROR { MIN_TIMEOUT_MS } else { AMPLE_TIMEOUT_MS };
    let options = json!({ "timeout": timeout, "maxAge": 0, "fastMode": true });
    Case { name: name.to_owned(), url, options, expect }
}

fn at(name: &str, server: &Server, expect: Expect) -> Case {
    case(name, server.url("/"), expect)
}

/// Responses with a broken head.
pub async fn heads() -> Vec<Case> {
    let many = "X-Header: of ten thousand\r\n".repeat(10_000);
    let long = "x".repeat(1 << 20);
    let flood = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
    let mut cases = vec![
        at("silence", &respond_and_stall("").await, TIMEOUT_ERROR),
        at(
            "a head, letter by letter",
            &endless("HTTP/1.1 200 OK\r\nX: ", "x", Duration::from_millis(100)).await,
            TIMEOUT_ERROR,
        ),
        at(
            "a head without end",
            &endless("HTTP/1.1 200 OK\r\n", "X-Header: and one more\r\n", Duration::ZERO).await,
            SITE_ERROR,
        ),
        at(
            "a line without end",
            &endless("HTTP/1.1 200 OK\r\nX: ", "xxxxxxxx", Duration::ZERO).await,
            SITE_ERROR,
        ),
        at("hints without end", &endless("", flood, Duration::ZERO).await, SITE_ERROR),
        at("half a head", &respond_and_stall("HTTP/1.1 200 OK\r\nContent-Ty").await, TIMEOUT_ERROR),
        at("a reset instead of an answer", &resetting("").await, SITE_ERROR),
        at("a reset in the head", &resetting("HTTP/1.1 200 OK\r\nContent-").await, SITE_ERROR),
        at(
            "ten thousand headers",
            &respond_and_close(format!("HTTP/1.1 200 OK\r\n{many}\r\n")).await,
            SITE_ERROR,
        ),
        at(
            "a header of a megabyte",
            &respond_and_close(format!("HTTP/1.1 200 OK\r\nX: {long}\r\n\r\n")).await,
            SITE_ERROR,
        ),
        at(
            "a status of a megabyte",
            &respond_and_close(format!("HTTP/1.1 200 {long}\r\n\r\n")).await,
            SITE_ERROR,
        ),
    ];
    for (name, bytes) in [
        ("nothing at all", ""),
        ("HTTP/0.9", "<html><body>no head before this</body></html>"),
        ("another protocol", "SSH-2.0-OpenSSH_9.9\r\n"),
        ("TLS where none was asked for", "\x15\x03\x03\0\x02\x02\x28"),
        ("a version from the future", "HTTP/9.9 200 OK\r\n\r\nbody"),
        ("a status that is no number", "HTTP/1.1 abc OK\r\n\r\nbody"),
        ("a status of four digits", "HTTP/1.1 2000 OK\r\n\r\nbody"),
        ("a header without a colon", "HTTP/1.1 200 OK\r\nno colon here\r\n\r\nbody"),
        ("a header with a NUL", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\nbody"),
        ("a header with a space in its name", "HTTP/1.1 200 OK\r\nbad name : x\r\n\r\nbody"),
        ("another protocol, agreed to by nobody", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        ("a length below zero", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody"),
        (
            "a length beyond all numbers",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nbody",
        ),
        ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!"),
        ("a length in words", "HTTP/1.1 200 OK\r\nContent-Length: four\r\n\r\nbody"),
    ] {
        cases.push(at(name, &respond_and_close(bytes).await, SITE_ERROR));
    }
    cases
}

/// Bodies that differ from what the head announces.
pub async fn bodies() -> Vec<Case> {
    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let whole = String::from_utf8(page("extra")).unwrap();
    let plain = |body: &str| format!("{OK}\r\n<html><body><p>{PROSE}</p>{body}");
    let chunked = |body: &str| format!("{OK}Transfer-Encoding: chunked\r\n\r\n{body}");
    let length = |length: u64| format!("{OK}Content-Length: {length}\r\n\r\n<p>short</p>");
    let drip = Duration::from_millis(40);
    vec![
        at(
            "a body without end",
            &endless("HTTP/1.1 200 OK\r\n\r\n", ENDLESS, Duration::ZERO).await,
            SITE_ERROR,
        ),
        at("chunks without end", &endless(CHUNKED, ENDLESS_CHUNK, Duration::ZERO).await, SITE_ERROR),
        at("a body, letter by letter", &endless("HTTP/1.1 200 OK\r\n\r\n", "x", drip).await, TIMEOUT_ERROR),
        at("empty chunks of spaces", &endless(CHUNKED, "1\r\n \r\n", drip).await, TIMEOUT_ERROR),
        at("a chunk's name without end", &endless(CHUNKED, ZEROS, Duration::ZERO).await, SITE_ERROR),
        at(
            "a chunk's extension without end",
            &endless(CHUNKED_NAMED, "xxxxxxxx", Duration::ZERO).await,
            SITE_ERROR,
        ),
        at(
            "trailers without end",
            &endless(CHUNKED_OVER, "X-Trailer: and one more\r\n", Duration::ZERO).await,
            SITE_ERROR,
        ),
        at("more announced than sent", &respond_and_close(length(1000)).await, SITE_ERROR),
        at("more announced than sent, and waiting", &respond_and_stall(length(1000)).await, TIMEOUT_ERROR),
        at("ten gigabytes announced", &respond_and_stall(length(10 << 30)).await, SITE_ERROR),
        at(
            "less announced than sent",
            &respond_and_close(format!("{whole}HTTP/1.1 200 OK\r\n\r\nand more")).await,
            Expect::Page("extra"),
        ),
        at(
            "a reset in the body",
            &resetting("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<p>so far").await,
            SITE_ERROR,
        ),
        at("a chunk of no size", &respond_and_close(chunked("zz\r\nbody")).await, SITE_ERROR),
        at("a chunk of all sizes", &respond_and_close(chunked("ffffffffffffffff\r\nbody")).await, SITE_ERROR),
        at("a chunk that ends early", &respond_and_close(chunked("ff\r\nbody")).await, SITE_ERROR),
        at("a chunk without its end", &respond_and_close(chunked("4\r\nbodyXX4\r\nbody")).await, SITE_ERROR),
        at("chunks without the last", &respond_and_close(chunked("4\r\nbody\r\n")).await, SITE_ERROR),
        at(
            "nothing",
            &respond_and_close("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await,
            NO_ENGINE_SUCCEEDED,
        ),
        at("no content", &respond_and_close("HTTP/1.1 204 No Content\r\n\r\n").await, NO_ENGINE_SUCCEEDED),
        at(
            "not modified, though nobody asked",
            &respond_and_close("HTTP/1.1 304 Not Modified\r\n\r\n").await,
            NO_ENGINE_SUCCEEDED,
        ),
        at(
            "a hundred thousand open tags",
            &respond_and_close(plain(&"<div><b>".repeat(100_000))).await,
            Expect::Page("gannets"),
        ),
        at(
            "a tag with many attributes",
            &respond_and_close(plain(&format!("<p {}>x", "a=1 ".repeat(100_000)))).await,
            Expect::Page("gannets"),
        ),
        at(
            "bytes of no encoding",
            &respond_and_close([plain("").into_bytes(), vec![0xff, 0, 0xc0, 0x80]].concat()).await,
            Expect::Page("gannets"),
        ),
        at(
            "a charset of no name",
            &respond_and_close(plain("").replacen("text/html", "text/html; charset=\"\0x\"", 1)).await,
            SITE_ERROR,
        ),
        at(
            "a charset that is another",
            &respond_and_close(plain("").replacen("text/html", "text/html; charset=utf-16", 1)).await,
            Expect::Page("gannets"),
        ),
    ]
}

const ENDLESS: &str = "<p>and on and on it goes, from one paragraph to the next, without an end in sight, and on and on</p>\n\
    <p>and on and on it goes, from one paragraph to the next, without an end in sight, and on and on</p>\n\
    <p>and on and on it goes, from one paragraph to the next, without an end in sight, and on and on</p>\n";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNKED_NAMED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;name=";
const CHUNKED_OVER: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n";
const ENDLESS_CHUNK: &str = "40\r\n<p>sixty-four bytes of the same chunk, over and over and over.</p>\r\n";

/// Encodings that explode, end early or are not what they claim.
pub async fn encodings() -> Vec<Case> {
    let zeros = vec![b' '; 64 << 20];
    let gzip = |plain: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    };
    let deflated = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&zeros).unwrap();
        encoder.finish().unwrap()
    };
    let mut brotli = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 1, ..Default::default() };
    brotli::BrotliCompress(&mut zeros.as_slice(), &mut brotli, &params).unwrap();
    let bomb = gzip(&zeros);
    let text = gzip(PROSE.repeat(50).as_bytes());
    let mut cases = Vec::new();
    for (name, coding, bytes) in [
        ("a gzip bomb", "gzip", bomb.clone()),
        ("a gzip bomb in gzip", "gzip, gzip", gzip(&bomb)),
        ("a deflate bomb", "deflate", deflated),
        ("a brotli bomb", "br", brotli),
        ("a zstd bomb", "zstd", zstd::encode_all(zeros.as_slice(), 1).unwrap()),
        // A frame that wants a window of two gigabytes.
        ("a zstd window beyond reason", "zstd", vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0, 0]),
        ("a stack of encodings", "gzip, gzip, gzip, gzip", gzip(b"x")),
        ("gzip that ends early", "gzip", text[..text.len() / 2].to_vec()),
        ("gzip that is none", "gzip", b"<html><body>plain</body></html>".to_vec()),
        ("deflate that is none", "deflate", b"<html><body>plain</body></html>".to_vec()),
        ("brotli that is none", "br", b"<html><body>plain</body></html>".to_vec()),
        ("zstd that is none", "zstd", b"<html><body>plain</body></html>".to_vec()),
    ] {
        let body = answer("200 OK", &[("Content-Encoding", coding), ("Content-Type", "text/html")], &bytes);
        cases.push(at(name, &respond_and_close(body).await, SITE_ERROR));
    }
    let odd =
        String::from_utf8(page("odd coding")).unwrap().replacen("\r\n", "\r\nContent-Encoding: rot13\r\n", 1);
    cases.push(at("an encoding nobody knows", &respond_and_close(odd).await, Expect::Page("odd coding")));
    cases
}

/// Redirects that never end, or lead to forbidden places.
pub async fn redirects(own_listener: &str) -> Vec<Case> {
    let mut cases = vec![
        at("a loop", &http("127.0.0.1:0", |_| redirect("/")).await, SITE_ERROR),
        at(
            "a loop of two",
            &http("127.0.0.1:0", |head| redirect(if head.starts_with("GET /a") { "/b" } else { "/a" })).await,
            SITE_ERROR,
        ),
    ];
    let count = AtomicUsize::new(0);
    let chain =
        http("127.0.0.1:0", move |_| redirect(&format!("/{}", count.fetch_add(1, Ordering::SeqCst)))).await;
    cases.push(at("a chain without end", &chain, SITE_ERROR));
    let count = AtomicUsize::new(0);
    let cookies = http("127.0.0.1:0", move |_| {
        let cookie = format!("turn={}", count.fetch_add(1, Ordering::SeqCst));
        answer("302 Found", &[("Location", "/"), ("Set-Cookie", &cookie)], b"")
    });
    cases.push(at("a loop that changes its cookie", &cookies.await, SITE_ERROR));
    let slow = raw("127.0.0.1:0", |mut stream| async move {
        let mut turn = 0;
        while super::servers::read_head(&mut stream).await.is_some() {
            sleep(Duration::from_millis(300)).await;
            turn += 1;
            let _ = stream.write_all(&redirect(&format!("/{turn}"))).await;
        }
    });
    cases.push(at("a slow chain", &slow.await, TIMEOUT_ERROR));
    let long = format!("/{}", "x".repeat(100_000));
    for (location, expect) in [
        ("http://10.0.0.1/", BLOCKED),
        ("http://169.254.169.254/latest/meta-data/", BLOCKED),
        ("http://[::ffff:10.0.0.1]/", BLOCKED),
        ("http://0x0a.1/", BLOCKED),
        ("//192.168.0.1/", BLOCKED),
        (own_listener, BLOCKED),
        ("file:///etc/passwd", SITE_ERROR),
        ("ftp://127.0.0.1/", SITE_ERROR),
        ("javascript:alert(1)", SITE_ERROR),
        ("data:text/html,here", SITE_ERROR),
        ("gopher://127.0.0.1:70/", SITE_ERROR),
        ("http://127.0.0.1:25/", SITE_ERROR),
        ("http://[::1/", SITE_ERROR),
        ("http://nobody.invalid/", UNKNOWN_HOST),
        (long.as_str(), SITE_ERROR),
    ] {
        let answer = redirect(location);
        let server = http("127.0.0.1:0", move |_| answer.clone()).await;
        let shown = &location[..location.len().min(50)];
        cases.push(at(&format!("a redirect to {shown}"), &server, expect));
    }
    cases
}

/// TLS errors, and no TLS at all.
pub async fn tls() -> Vec<Case> {
    let other_name = acceptor("other.example", false);
    let expired = acceptor("127.0.0.1", true);
    let self_signed = acceptor("127.0.0.1", false);
    let mut cases = Vec::new();
    for (name, acceptor) in [
        ("a certificate for another name", other_name),
        ("a certificate that has expired", expired),
        ("a certificate that nobody signed", self_signed),
    ] {
        let server = raw("127.0.0.1:0", move |stream| {
            let acceptor = acceptor.clone();
            async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.write_all(&page("behind TLS")).await;
                    let _ = stream.flush().await;
                    sleep(FOR_EVER).await;
                }
            }
        });
        cases.push(secure(name, &server.await, TLS_ERROR));
    }
    let plain = raw("127.0.0.1:0", |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        sleep(FOR_EVER).await;
    });
    cases.push(secure("no TLS at all", &plain.await, TLS_ERROR));
    let shut = raw("127.0.0.1:0", |stream| async move { drop(stream) });
    cases.push(secure("a greeting without an answer", &shut.await, TLS_ERROR));
    let alert = raw("127.0.0.1:0", |mut stream| async move {
        let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]).await;
        sleep(FOR_EVER).await;
    });
    cases.push(secure("an alert", &alert.await, TLS_ERROR));
    let flood =
        raw(
            "127.0.0.1:0",
            |mut stream| async move { repeat(&mut stream, &[0x16, 3, 3], Duration::ZERO).await },
        );
    cases.push(secure("records of no sense", &flood.await, TLS_ERROR));
    let silent = raw("127.0.0.1:0", |stream| async move {
        sleep(FOR_EVER).await;
        drop(stream);
    });
    cases.push(secure("a handshake that hangs", &silent.await, TIMEOUT_ERROR));
    cases
}

fn secure(name: &str, server: &Server, expect: Expect) -> Case {
    let mut case = case(name, server.url("/").replacen("http:", "https:", 1), expect);
    case.options["skipTlsVerification"] = false.into();
    case
}

fn acceptor(name: &str, expired: bool) -> TlsAcceptor {
    let (certificate, key) = if expired {
        let mut params = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2015, 1, 1);
        params.not_after = rcgen::date_time_ymd(2016, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        (params.self_signed(&key).unwrap(), key)
    } else {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
        (cert, signing_key)
    };
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Malformed URLs.
pub async fn addresses() -> Vec<Case> {
    let good = http("127.0.0.1:0", |_| page("reached after all")).await;
    let login = http("127.0.0.1:0", |head| {
        let known = head.to_ascii_lowercase().contains("authorization: basic bwu6d29yza==");
        if known { page("logged in") } else { answer("401 Unauthorized", &[], b"who is there?") }
    })
    .await;
    let (port, reached) = (good.address.port(), Expect::Page("reached after all"));
    let closed = testkit::FreePort::find().0;
    let mut cases = vec![
        case("a closed port", format!("http://127.0.0.1:{closed}/"), SITE_ERROR),
        case(
            "a login in the address",
            login.url("/").replacen("http://", "http://me:word@", 1),
            Expect::Page("logged in"),
        ),
        case("an international name", format!("http://bücher.example:{port}/"), reached),
        case("a name that nobody has", "http://nobody.invalid/".to_owned(), UNKNOWN_HOST),
        case("8 KB", good.url(&format!("/{}", "x".repeat(8000))), reached),
        case("more than 8 KB", good.url(&format!("/{}", "x".repeat(9000))), INVALID_URL),
        case("a port of mail", "http://127.0.0.1:25/".to_owned(), INVALID_URL),
        case("a name of 300 letters", format!("http://{}.example/", "x".repeat(300)), UNKNOWN_HOST),
    ];
    for host in ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "１２７.0.0.1", "%31%32%37.0.0.1"] {
        cases.push(case(&format!("loopback as {host}"), format!("http://{host}:{port}/"), reached));
    }
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "javascript:alert(1)",
        "data:text/html,x",
        "view-source:http://a.example/",
        "blob:http://a.example/1",
        "http:///",
        "http://a b/",
        "http://[::1",
    ] {
        cases.push(case(&format!("the address {url}"), url.to_owned(), INVALID_URL));
    }
    cases
}
