//! Options of a request: which URLs are allowed, and conditional requests.

use crate::servers::{Server, fetcher, get, header, redirect, response, short_limits, test_deadline};
use gannet_net::{EgressError, FetchError, StatusCode, Validators};
use std::sync::{Arc, Mutex};
use url::Url;

const LOOPBACK_ALLOWED: &str = "scrape=127.0.0.0/8";

#[tokio::test(flavor = "multi_thread")]
async fn every_hop_is_asked_for_and_a_forbidden_one_is_never_reached() {
    let forbidden = Server::http("127.0.0.1:0", |_| response("200 OK", &[], b"secret")).await;
    let location = forbidden.url("/end");
    let start = Server::http("127.0.0.1:0", move |head| match head.split(' ').nth(1) {
        Some("/a") => redirect("/b"),
        _ => redirect(&location),
    })
    .await;
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (log, port) = (Arc::clone(&asked), forbidden.port());
    let rule = Arc::new(move |url: &Url| {
        log.lock().unwrap().push(url.path().to_owned());
        url.port() != Some(port)
    });
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let request = get(&start.url("/a")).limits(short_limits()).allowed(rule.clone());
    let error = fetcher.fetch(request, test_deadline()).await.map(|found| found.meta).unwrap_err();
    assert_eq!(error, FetchError::Refused(EgressError::Rule { url: forbidden.url("/end") }));
    assert_eq!(*asked.lock().unwrap(), ["/a", "/b", "/end"]);
    let request = get(&forbidden.url("/")).limits(short_limits()).allowed(rule);
    let error = fetcher.fetch(request, test_deadline()).await.map(|found| found.meta).unwrap_err();
    assert!(
        matches!(error, FetchError::Refused(EgressError::Rule { .. })),
        "the first address as well: {error:?}"
    );
    assert_eq!(forbidden.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_answer_is_asked_about_at_its_own_address_and_304_comes_back() {
    let server = Server::http("127.0.0.1:0", |head| {
        let fresh = header(head, "if-none-match") == Some("\"v1\"");
        match head.split(' ').nth(1) {
            Some("/start") => redirect("/page"),
            _ if fresh => response("304 Not Modified", &[("ETag", "\"v1\"")], b""),
            _ => {
                let marks = [("ETag", "\"v1\""), ("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")];
                response("200 OK", &marks, b"page")
            }
        }
    })
    .await;
    let fetcher = fetcher(LOOPBACK_ALLOWED);
    let first =
        fetcher.fetch(get(&server.url("/start#part")).limits(short_limits()), test_deadline()).await.unwrap();
    let known = Validators::from_head(&first.meta.head).unwrap();
    assert_eq!((known.etag(), known.url().as_str()), (Some("\"v1\""), server.url("/page").as_str()));
    // Stored as text and read back, as a cache does.
    let known = Validators::new(known.url().clone(), known.etag(), known.last_modified()).unwrap();
    let again = fetcher
        .fetch(get(&server.url("/start")).limits(short_limits()).revalidate(known), test_deadline())
        .await
        .unwrap();
    assert_eq!((again.meta.head.status, &again.body[..]), (StatusCode::NOT_MODIFIED, &b""[..]));
    let heads = server.heads();
    assert_eq!(header(&heads[2], "if-none-match"), None, "the redirect has marks of its own");
    assert_eq!(header(&heads[3], "if-modified-since"), Some("Wed, 21 Oct 2015 07:28:00 GMT"));
    assert!(again.meta.timings.reused, "a 304 leaves the connection as good as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_that_cannot_be_sent_are_refused_and_answers_without_any_have_none() {
    let url = Url::parse("http://a.example/").unwrap();
    assert!(Validators::new(url.clone(), Some("a\r\nb"), None).is_err());
    assert!(Validators::new(url, None, Some(&"x".repeat(2000))).is_err());
    let server = Server::http("127.0.0.1:0", |_| response("200 OK", &[], b"plain")).await;
    let found = fetcher(LOOPBACK_ALLOWED).fetch(get(&server.url("/")), test_deadline()).await.unwrap();
    assert_eq!(Validators::from_head(&found.meta.head), None);
}
