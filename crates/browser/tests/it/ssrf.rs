//! Server-side request forgery: forbidden addresses in every spelling and by every kind of request a page can
//! make. A listener that must never be reached counts its connections; the same pages do reach it where it is
//! allowed, so the requests work.

use crate::site::{ScriptedResolver, Site, fetcher, html, redirect, response, settings, within};
use gannet_browser::{BrowserSettings, Browsers, NavigationError, Screenshot, Visit, VisitError};
use net::FetchError;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;
use url::Url;

/// Spellings of 127.0.0.2 and related addresses, and names that resolve to it.
const SPELLINGS: [&str; 24] = [
    "127.0.0.2",
    "127.0.0.2.",
    "127.2",
    "127.0.2",
    "2130706434",
    "0x7f000002",
    "0x7f.0.0.2",
    "0177.0.0.2",
    "017700000002",
    "127.0.0.0x2",
    "%31%32%37.0.0.2",
    "①②⑦.0.0.2",
    "127。0。0。2",
    "[::ffff:127.0.0.2]",
    "[::ffff:7f00:2]",
    "[0:0:0:0:0:ffff:7f00:0002]",
    "[64:ff9b::7f00:2]",
    "[2002:7f00:2::]",
    "[::127.0.0.2]",
    "[::1]",
    "inner.example",
    "INNER.example.",
    "rebind.example",
    "user:word@127.0.0.2",
];

/// Ways in which a page can make a request. `HOST` is replaced.
const REQUEST_KINDS: [&str; 24] = [
    "<iframe src='http://HOST/iframe'></iframe>",
    "<img src='http://HOST/img'>",
    "<img srcset='http://HOST/srcset 2x'>",
    "<script src='http://HOST/script'></script>",
    "<link rel=stylesheet href='http://HOST/style'>",
    "<style>@import url('http://HOST/import'); body { background: url('http://HOST/background') }</style>",
    "<style>@font-face { font-family: f; src: url('http://HOST/font') } p { font-family: f }</style><p>font",
    "<video src='http://HOST/video' preload=auto autoplay></video>",
    "<object data='http://HOST/object'></object>",
    "<embed src='http://HOST/embed'>",
    "<link rel=preload as=fetch href='http://HOST/preload'>",
    "<link rel=prefetch href='http://HOST/prefetch'>",
    "<link rel=preconnect href='http://HOST'>",
    "<link rel=icon href='http://HOST/icon'>",
    "<script>fetch('http://HOST/fetch').catch(() => {})</script>",
    "<script>fetch('http://HOST/no-cors', { mode: 'no-cors', method: 'POST', body: 'x' }).catch(() => {})</script>",
    "<script>const x = new XMLHttpRequest(); x.open('GET', 'http://HOST/xhr'); x.send()</script>",
    "<script>try { new WebSocket('ws://HOST/socket') } catch {}</script>",
    "<script>try { new EventSource('http://HOST/events') } catch {}</script>",
    "<script>navigator.sendBeacon('http://HOST/beacon', 'x')</script>",
    "<iframe name=target></iframe><form id=form method=post target=target action='http://HOST/form'><input name=a></form>\
     <script>document.getElementById('form').submit()</script>",
    "<script>new Worker(URL.createObjectURL(new Blob([\"try { importScripts('http://HOST/imported') } catch {} \
     fetch('http://HOST/worker').catch(() => {})\"])))</script>",
    "<script>try { const c = new RTCPeerConnection({ iceServers: [{ urls: 'stun:HOST' }, { urls: 'turn:HOST?transport=tcp', \
     username: 'a', credential: 'b' }] }); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) } \
     catch {}</script>",
    "<script>open('http://HOST/window'); try { new WebTransport('https://HOST/transport') } catch {}</script>",
];

/// A listener that must not be reached, over TCP and UDP, IPv4 and IPv6.
struct ForbiddenListener {
    port: u16,
    paths: Arc<Mutex<BTreeSet<String>>>,
    reached: Vec<Site>,
    datagrams: Arc<AtomicUsize>,
}

impl ForbiddenListener {
    async fn listen() -> Self {
        let paths: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let seen = Arc::clone(&paths);
        let first = Site::bound("127.0.0.2:0", move |path, _| {
            seen.lock().unwrap().insert(path.to_owned());
            response(
                "200 OK",
                &[("Access-Control-Allow-Origin", "*"), ("Content-Type", "text/html")],
                b"reached",
            )
        })
        .await;
        let port = first.port();
        let second = Site::bound(&format!("[::1]:{port}"), |_, _| html("reached")).await;
        let socket = UdpSocket::bind(("127.0.0.2", port)).await.unwrap();
        let datagrams: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&datagrams);
        tokio::spawn(async move {
            let mut piece = [0; 64];
            while socket.recv_from(&mut piece).await.is_ok() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, paths, reached: vec![first, second], datagrams }
    }

    fn reached(&self) -> usize {
        self.reached.iter().map(Site::connections).sum::<usize>() + self.datagrams.load(Ordering::SeqCst)
    }
}

fn browsers(allow: &str) -> Browsers {
    let names = ScriptedResolver::new(&[
        ("inner.example", &[&["127.0.0.2"]]),
        ("INNER.example", &[&["127.0.0.2"]]),
        // The guard sees a good address first and the forbidden one from then on.
        ("rebind.example", &[&["127.0.0.1"], &["127.0.0.2"]]),
    ]);
    Browsers::new(fetcher(allow, &names), BrowserSettings { max_pages: 4, ..settings() })
}

fn all_request_kinds(host: &str) -> String {
    let parts: String = REQUEST_KINDS.iter().map(|part| part.replace("HOST", host)).collect();
    format!("<!doctype html><body><h1>the page itself</h1>{parts}")
}

/// A site that redirects to the spelling, or contains all kinds of requests to it.
async fn attacker(port: u16) -> Site {
    Site::new(move |path, _| {
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let (way, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let Some(spelling) = number.parse().ok().and_then(|number: usize| SPELLINGS.get(number)) else {
            return response("404 Not Found", &[], b"");
        };
        let host = format!("{spelling}:{port}");
        match way {
            "redirect" => redirect(&format!("http://{host}/redirect")),
            "script" => html(&format!("<script>location = 'http://{host}/location'</script>")),
            "refresh" => html(&format!("<meta http-equiv=refresh content=\"0;url=http://{host}/refresh\">")),
            _ => html(&all_request_kinds(&host)),
        }
    })
    .await
}

fn refused(error: &VisitError) -> bool {
    match error {
        VisitError::Navigation(NavigationError::Network(error)) => {
            // NAT64 and similar addresses are refused by the guard; without such a network nothing is reached
            // anyway.
            matches!(error, FetchError::Refused(_) | FetchError::NameNotFound { .. } | FetchError::BadUrl(_))
        }
        VisitError::Navigation(NavigationError::Other(_)) => true,
        _ => false,
    }
}

/// The first address of the name that changes its own is good, and nobody listens there.
fn is_rebound(spelling: &str, error: &VisitError) -> bool {
    let VisitError::Navigation(NavigationError::Network(error)) = error else { return false };
    spelling == "rebind.example" && matches!(error, FetchError::Connect { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_reaches_a_forbidden_address_by_any_spelling_or_request() {
    let forbidden = Arc::new(ForbiddenListener::listen().await);
    let site = attacker(forbidden.port).await;
    let browsers = browsers("scrape=127.0.0.1/32");
    let mut running = tokio::task::JoinSet::new();
    for (number, spelling) in SPELLINGS.iter().enumerate() {
        let (browsers, site, forbidden) = (browsers.clone(), site.clone(), Arc::clone(&forbidden));
        running.spawn(async move {
            let direct = Url::parse(&format!("http://{spelling}:{}/navigation", forbidden.port));
            let led = ["redirect", "script", "refresh"].map(|way| Ok(site.url(&format!("/{way}/{number}"))));
            for url in std::iter::once(direct).chain(led).flatten() {
                let outcome = browsers.visit(Visit::new(url.clone()), within(240)).await;
                let error = outcome.err().unwrap_or_else(|| panic!("{spelling}: {url} was brought"));
                assert!(refused(&error) || is_rebound(spelling, &error), "{spelling}: {url}: {error:?}");
            }
            let mut visit = Visit::new(site.url(&format!("/all/{number}")));
            // With a screenshot, so that images and fonts are requested as well.
            visit.screenshot = Some(Screenshot::default());
            let page = browsers
                .visit(visit, within(240))
                .await
                .unwrap_or_else(|error| panic!("{spelling}: {error:?}"));
            assert!(page.html.contains("the page itself") && !page.html.contains("reached"), "{spelling}");
            spelling.len()
        });
    }
    assert_eq!(running.join_all().await.len(), SPELLINGS.len());
    assert_eq!(forbidden.reached(), 0, "{:?}", forbidden.paths.lock().unwrap());
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_visit_forbids_is_reached_by_no_request_sockets_included() {
    let forbidden = ForbiddenListener::listen().await;
    let site = attacker(forbidden.port).await;
    let browsers = browsers("scrape=127.0.0.0/8");
    let mut visit = Visit::new(site.url("/all/0"));
    visit.screenshot = Some(Screenshot::default());
    visit.wait_for = Duration::from_millis(300);
    visit.filter = Some(Arc::new(|url: &Url| url.host_str() != Some("127.0.0.2")));
    let page = browsers.visit(visit, within(240)).await.unwrap();
    assert!(page.html.contains("the page itself"));
    assert_eq!(forbidden.reached(), 0, "{:?}", forbidden.paths.lock().unwrap());
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_requests_arrive_where_they_are_allowed() {
    let forbidden = ForbiddenListener::listen().await;
    let site = attacker(forbidden.port).await;
    let browsers = browsers("scrape=127.0.0.0/8");
    let mut visit = Visit::new(site.url("/all/0"));
    visit.screenshot = Some(Screenshot::default());
    visit.wait_for = Duration::from_millis(300);
    browsers.visit(visit, within(240)).await.unwrap();
    let paths = forbidden.paths.lock().unwrap().clone();
    let expected = [
        "/iframe",
        "/img",
        "/script",
        "/style",
        "/import",
        "/background",
        "/font",
        "/video",
        "/object",
        "/embed",
        "/preload",
        "/fetch",
        "/no-cors",
        "/xhr",
        "/socket",
        "/events",
        "/beacon",
        "/form",
        "/imported",
        "/worker",
    ];
    let missing: Vec<&&str> = expected.iter().filter(|path| !paths.contains(**path)).collect();
    assert!(missing.is_empty(), "{missing:?} of {paths:?}");
    assert_eq!(forbidden.datagrams.load(Ordering::SeqCst), 0, "nothing goes around the proxy");
    browsers.shut_down().await;
}
