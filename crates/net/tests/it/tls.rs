//! TLS: invalid certificates, handshakes that hang, HTTP/2.

use crate::authority::Authority;
use crate::servers::{
    ScriptedResolver, Server, get, get_with, policy, read_request, short_limits, test_deadline,
};
use bytes::Bytes;
use gannet_net::{
    Credentials, FetchError, FetchedResponse, Fetcher, FetcherSettings, Limits, Phase, Purpose, Request,
    Resolve, TlsError, Version,
};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

fn fetcher_trusting(authority: &Authority) -> Fetcher {
    let names =
        ScriptedResolver::new(&[("site.example", &[&["127.0.0.1"]]), ("other.example", &[&["127.0.0.1"]])]);
    let resolver: Arc<dyn Resolve> = names;
    let settings = FetcherSettings {
        resolver,
        extra_roots: vec![authority.root.clone()],
        ..FetcherSettings::new(policy("scrape=127.0.0.0/8"))
    };
    Fetcher::new(settings).unwrap()
}

async fn ask(
    fetcher: &Fetcher,
    host: &str,
    server: &Server,
    skip: bool,
) -> Result<FetchedResponse, FetchError> {
    let request =
        get(&format!("https://{host}:{}/", server.port())).limits(short_limits()).skip_tls_verification(skip);
    fetcher.fetch(request, test_deadline()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_carries_credentials_checks_the_certificate_whatever_it_was_told() {
    let (known, stranger) = (Authority::new(), Authority::new());
    let server = stranger.server(&["site.example"], false).await;
    let url = format!("https://site.example:{}/", server.port());
    let ask = async |request: Request| {
        // The server responds once per connection, so no request finds an idle one.
        let fetcher = fetcher_trusting(&known);
        fetcher.fetch(request.limits(short_limits()).skip_tls_verification(true), test_deadline()).await
    };
    assert!(ask(get(&url)).await.is_ok(), "nothing is at stake");
    assert!(ask(get_with(&url, &[("User-Agent", "Own/1")])).await.is_ok(), "nor here");
    assert_eq!(tls_error(ask(get_with(&url, &[("X-Pass", "p")])).await), TlsError::UnknownIssuer);
    let with_login = url.replace("https://", "https://me:secret@");
    assert_eq!(tls_error(ask(get(&with_login)).await), TlsError::UnknownIssuer);
    // Credentials for another origin are not sent here, so nothing is at risk either.
    let others = Credentials::for_address("https://other.example/", [("X-Pass", "p")]).unwrap();
    let request = Request::get(Purpose::Scrape, &url, others).unwrap();
    assert!(ask(request).await.is_ok());
    let own = Credentials::for_address(&url, [("X-Pass", "p")]).unwrap().accepting_any_certificate(true);
    assert!(ask(Request::get(Purpose::Scrape, &url, own).unwrap()).await.is_ok(), "the owner wants it so");
}

fn tls_error(outcome: Result<FetchedResponse, FetchError>) -> TlsError {
    match outcome.map(|found| found.meta) {
        Err(FetchError::Tls { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_certificates_are_refused_by_their_fault_unless_told_otherwise() {
    let known = Authority::new();
    let stranger = Authority::new();
    let good = known.server(&["site.example"], false).await;
    let expired = known.server(&["site.example"], true).await;
    let untrusted = stranger.server(&["site.example"], false).await;
    let fetcher = fetcher_trusting(&known);
    let found = ask(&fetcher, "site.example", &good, false).await.unwrap();
    assert_eq!(&found.body[..], b"over TLS");
    assert!(found.meta.timings.tls > Duration::ZERO);
    assert_eq!(tls_error(ask(&fetcher, "other.example", &good, false).await), TlsError::WrongName);
    assert_eq!(tls_error(ask(&fetcher, "127.0.0.1", &good, false).await), TlsError::WrongName);
    assert_eq!(tls_error(ask(&fetcher, "site.example", &expired, false).await), TlsError::Expired);
    assert_eq!(tls_error(ask(&fetcher, "site.example", &untrusted, false).await), TlsError::UnknownIssuer);
    for server in [&expired, &untrusted] {
        let found = ask(&fetcher, "other.example", server, true).await.unwrap();
        assert_eq!(&found.body[..], b"over TLS");
        // The idle unchecked connection must not serve a request that wants a check.
        assert!(ask(&fetcher, "other.example", server, false).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn handshakes_that_hang_or_are_none_end() {
    let fetcher = fetcher_trusting(&Authority::new());
    let silent = Server::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_secs(9)).await;
        drop(stream);
    })
    .await;
    let limits = Limits { connect: Duration::from_millis(500), ..short_limits() };
    let request = get(&format!("https://127.0.0.1:{}/", silent.port())).limits(limits);
    let error = fetcher.fetch(request, test_deadline()).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { phase: Phase::Tls, .. }), "{error:?}");
    let plain = Server::raw("127.0.0.1:0", |mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        read_request(&mut stream).await;
    })
    .await;
    assert!(matches!(tls_error(ask(&fetcher, "127.0.0.1", &plain, false).await), TlsError::Handshake(_)));
    let shut = Server::raw("127.0.0.1:0", |stream| async move { drop(stream) }).await;
    assert!(matches!(tls_error(ask(&fetcher, "127.0.0.1", &shut, false).await), TlsError::Handshake(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn http2_is_spoken_where_it_is_offered_and_one_connection_serves_many() {
    let authority = Authority::new();
    let acceptor = authority.acceptor(&["site.example"], false, &["h2", "http/1.1"]);
    let server = Server::raw("127.0.0.1:0", move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| async move {
                let mut response = hyper::Response::builder();
                if request.uri().path() == "/headers" {
                    for number in 0..3000 {
                        response = response.header(format!("x-{number}"), "a value of some length");
                    }
                }
                let text = format!("{} {:?}", request.uri(), request.headers().get("host"));
                Ok::<_, Infallible>(response.body(Full::new(Bytes::from(text))).unwrap())
            });
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        }
    })
    .await;
    let fetcher = fetcher_trusting(&authority);
    for round in 0..5 {
        let found = ask(&fetcher, "site.example", &server, false).await.unwrap();
        assert_eq!(found.meta.head.version, Version::HTTP_2);
        assert_eq!(found.meta.timings.reused, round > 0);
        assert_eq!(found.body, format!("https://site.example:{}/ None", server.port()));
    }
    assert_eq!(server.connections(), 1);
    let request = get(&format!("https://site.example:{}/headers", server.port())).limits(short_limits());
    let error =
        fetcher.fetch(request, test_deadline()).await.map(|found| found.meta.head.headers.len()).unwrap_err();
    assert!(
        matches!(error, FetchError::TooLarge { .. } | FetchError::BadProtocol(_) | FetchError::Incomplete(_)),
        "{error:?}"
    );
    assert!(ask(&fetcher, "site.example", &server, false).await.is_ok());
}
