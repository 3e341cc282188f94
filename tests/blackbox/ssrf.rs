//! Attempts to reach private networks through the API, over HTTP and through the browser. A listener that
//! nobody may reach counts connections; the same URLs do reach it where it is allowed, so a count of zero
//! means something.
//!
//! `127.0.0.2` plays the public web and is allowed; `127.0.0.1` plays the private network and is not.

use crate::hostile::servers::{Server, answer, http, page, redirect};
use crate::http::{Http, HttpResponse};
use crate::scrape::{ScrapeFixture, scrape_as};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::{DnsResponse, DnsServer};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Loopback addresses in every spelling an attacker would try. `PORT` is the listener's.
const PRIVATE_URLS: &[&str] = &[
    "127.0.0.1:PORT",
    "127.1:PORT",
    "127.0.1:PORT",
    "127.0.0.1.:PORT",
    "0x7f.0.0.1:PORT",
    "0x7F000001:PORT",
    "0x7f.1:PORT",
    "2130706433:PORT",
    "017700000001:PORT",
    "0177.0.0.1:PORT",
    "0177.0x0.0.1:PORT",
    "00000177.0.0.01:PORT",
    "%31%32%37.0.0.1:PORT",
    "127%2e0%2e0%2e1:PORT",
    "１２７.０.０.１:PORT",
    "127。0。0。1:PORT",
    "①②⑦.⓪.⓪.①:PORT",
    "me:word@127.0.0.1:PORT",
    "public.example@127.0.0.1:PORT",
    "127.0.0.1:PORT/?http://public.example",
    "localhost:PORT",
    "LOCALHOST.:PORT",
    "a.localhost:PORT",
    "inner.example:PORT",
    "INNER.example.:PORT",
    "mixed.example:PORT",
];

/// Other addresses that must not be reached.
const OTHER_FORBIDDEN_URLS: &[&str] = &[
    "0.0.0.0:PORT",
    "0:PORT",
    "[::]:PORT",
    "[::1]:PORT",
    "[0:0:0:0:0:0:0:1]:PORT",
    "[::ffff:127.0.0.1]:PORT",
    "[::ffff:7f00:1]:PORT",
    "[::127.0.0.1]:PORT",
    "[::ffff:0:127.0.0.1]:PORT",
    "[64:ff9b::7f00:1]:PORT",
    "[2002:7f00:1::]:PORT",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT",
    "mapped.example:PORT",
    "10.0.0.1",
    "10.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254/latest/meta-data/",
    "0xa9fea9fe/latest/meta-data/",
    "[::ffff:169.254.169.254]",
    "100.100.100.200",
    "[fd00:ec2::254]",
    "[fd00::1]",
    "[fe80::1]",
    "[ff02::1]",
    "224.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "192.0.2.1",
    "240.0.0.1",
];

/// How a page can load something. `HOST` is the listener.
const RESOURCE_MARKUP: &str = "<iframe src='http://HOST/iframe'></iframe><img src='http://HOST/img'><script src='http://HOST/script'></script>\
    <link rel=stylesheet href='http://HOST/style'><object data='http://HOST/object'></object>\
    <link rel=preconnect href='http://HOST'><link rel=prefetch href='http://HOST/prefetch'>\
    <style>body { background: url('http://HOST/background') }</style>\
    <script>const quiet = () => {};\
    fetch('http://HOST/fetch', { mode: 'no-cors' }).catch(quiet);\
    const x = new XMLHttpRequest(); x.open('POST', 'http://HOST/xhr'); x.send('x');\
    new WebSocket('ws://HOST/socket').onerror = quiet;\
    new EventSource('http://HOST/events').onerror = quiet;\
    navigator.sendBeacon('http://HOST/beacon', 'x');\
    new Worker(URL.createObjectURL(new Blob([\"fetch('http://HOST/worker').catch(() => {})\"])));\
    window.open('http://HOST/window');\
    const form = document.createElement('form'); form.action = 'http://HOST/form'; form.method = 'POST'; form.target = 'elsewhere';\
    document.documentElement.append(form); form.submit();</script>";

/// A server whose public web is `127.0.0.2`, and a listener on the private network.
struct SsrfFixture {
    scraping: ScrapeFixture,
    forbidden: Server,
    names: DnsServer,
}

impl SsrfFixture {
    async fn start(open: &str) -> Self {
        let forbidden = http("127.0.0.1:0", |_| page("the secret")).await;
        let names = DnsServer::start(|name, before| match (name, before) {
            ("mixed.example", _) => DnsResponse::from_addresses(&["127.0.0.2", "127.0.0.1"]),
            ("mapped.example", _) => DnsResponse::from_addresses(&["127.0.0.2", "::ffff:127.0.0.1"]),
            ("turning.example", 0) | ("public.example", _) => DnsResponse::from_addresses(&["127.0.0.2"]),
            ("inner.example" | "turning.example", _) => DnsResponse::from_addresses(&["127.0.0.1"]),
            _ => DnsResponse::NoSuchName,
        });
        let servers = names.address.to_string();
        let scraping =
            ScrapeFixture::with(|config| config.set("egress_allow", open).set("name_servers", &servers))
                .await;
        Self { scraping, forbidden, names }
    }

    fn url(&self, form: &str) -> String {
        format!("http://{}", self.fill(form))
    }

    fn fill(&self, form: &str) -> String {
        form.replace("PORT", &self.forbidden.address.port().to_string())
    }

    fn host(&self) -> String {
        self.forbidden.address.to_string()
    }
}

fn options(by_browser: bool) -> Value {
    // A wait needs a browser, so this forces one.
    if by_browser { json!({ "maxAge": 0, "waitFor": 1 }) } else { json!({ "maxAge": 0, "fastMode": true }) }
}

/// Scrapes all URLs, a few at a time; returns each with its response.
async fn scrape_all(http: &Http, urls: Vec<String>, by_browser: bool) -> Vec<(String, HttpResponse)> {
    let places = Arc::new(Semaphore::new(8));
    let mut running = JoinSet::new();
    for url in urls {
        let (http, places) = (http.clone(), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            let response = scrape_as(&http, &url, options(by_browser)).await;
            (url, response)
        });
    }
    running.join_all().await
}

#[track_caller]
fn assert_all_refused(responses: &[(String, HttpResponse)]) {
    for (url, response) in responses {
        let status_and_code = (response.status, response.json["code"].as_str().unwrap_or_default());
        assert_eq!(status_and_code, (403, "unsafe_domain_blocked"), "{url}: {}", response.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_private_address_is_reached_over_http_unless_allowed() {
    let fixture = SsrfFixture::start("scrape=127.0.0.2").await;
    let forms: Vec<String> =
        PRIVATE_URLS.iter().chain(OTHER_FORBIDDEN_URLS).map(|form| fixture.url(form)).collect();
    assert!(forms.len() >= 55, "{}", forms.len());
    let mut hops = Vec::new();
    for form in &forms {
        let answer = redirect(form);
        hops.push(http("127.0.0.2:0", move |_| answer.clone()).await);
    }
    assert_all_refused(&scrape_all(fixture.scraping.http(), forms, false).await);
    assert_all_refused(
        &scrape_all(fixture.scraping.http(), hops.iter().map(|hop| hop.url("/")).collect(), false).await,
    );
    assert!(hops.iter().all(|hop| hop.reached() > 0), "every redirect was followed as far as it may be");
    assert_eq!(fixture.forbidden.reached(), 0);
    // The same spellings where loopback is allowed: they do lead to the listener.
    let open = SsrfFixture::start("scrape=127.0.0.0/8,::1/128").await;
    let forms = PRIVATE_URLS.iter().map(|form| open.url(form)).collect();
    for (url, response) in scrape_all(open.scraping.http(), forms, false).await {
        assert!(response.status == 200 && response.text.contains("the secret"), "{url}: {}", response.text);
    }
    assert!(open.forbidden.reached() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_private_address_is_reached_through_the_browser() {
    let fixture = SsrfFixture::start("scrape=127.0.0.2").await;
    let direct: Vec<String> =
        PRIVATE_URLS.iter().chain(OTHER_FORBIDDEN_URLS).step_by(2).map(|form| fixture.url(form)).collect();
    assert_all_refused(&scrape_all(fixture.scraping.http(), direct, true).await);
    let mut hops = Vec::new();
    for form in ["127.0.0.1:PORT", "0x7f.1:PORT", "inner.example:PORT", "[::1]:PORT", "169.254.169.254"] {
        let answer = redirect(&fixture.url(form));
        hops.push(http("127.0.0.2:0", move |_| answer.clone()).await);
    }
    assert_all_refused(
        &scrape_all(fixture.scraping.http(), hops.iter().map(|hop| hop.url("/")).collect(), true).await,
    );
    // Pages that are allowed themselves, but load something that is not.
    let hosts = [
        fixture.host(),
        fixture.fill("2130706433:PORT"),
        fixture.fill("inner.example:PORT"),
        fixture.fill("[::1]:PORT"),
    ];
    let mut pages = Vec::new();
    for host in &hosts {
        let body = format!(
            "{}{}",
            String::from_utf8_lossy(&page("in order")),
            RESOURCE_MARKUP.replace("HOST", host)
        );
        let body = body.split_once("\r\n\r\n").unwrap().1.to_owned();
        let answer = answer("200 OK", &[("Content-Type", "text/html")], body.as_bytes());
        pages.push(http("127.0.0.2:0", move |_| answer.clone()).await);
    }
    for (url, response) in
        scrape_all(fixture.scraping.http(), pages.iter().map(|page| page.url("/")).collect(), true).await
    {
        assert!(response.status == 200 && response.text.contains("in order"), "{url}: {}", response.text);
        assert!(!response.text.contains("the secret"), "{url}: {}", response.text);
    }
    assert_eq!(fixture.forbidden.reached(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn dns_rebinding_does_not_reach_a_private_address() {
    let fixture = SsrfFixture::start("scrape=127.0.0.2").await;
    let port = fixture.forbidden.address.port();
    let visits = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&visits);
    // The page comes from the public address, and loads its own origin again after the name has changed.
    let public = http(&format!("127.0.0.2:{port}"), move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        let again = "<script>setTimeout(() => fetch('/inner').then(got => got.text()).then(text => document.title = text), 6000)</script>";
        let body = String::from_utf8(page("harmless")).unwrap().split_once("\r\n\r\n").unwrap().1.to_owned() + again;
        answer("200 OK", &[("Content-Type", "text/html"), ("Connection", "close")], body.as_bytes())
    })
    .await;
    let url = format!("http://turning.example:{port}/");
    let response = scrape_as(fixture.scraping.http(), &url, json!({ "maxAge": 0, "waitFor": 6_500 })).await;
    assert!(response.status == 200 && response.text.contains("harmless"), "{}", response.text);
    assert!(!response.text.contains("the secret"), "{}", response.text);
    assert!(public.reached() > 0 && visits.load(Ordering::SeqCst) > 0);
    for by_browser in [false, true] {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_all_refused(&scrape_all(fixture.scraping.http(), vec![url.clone()], by_browser).await);
    }
    let lookups = fixture.names.queried_names().iter().filter(|name| *name == "turning.example").count();
    assert!(lookups >= 2, "the name was looked up again: {lookups}");
    assert_eq!(fixture.forbidden.reached(), 0);
}
