//! Lookups with a test name server: what it may respond, and what changing responses achieve.

use crate::servers::{Server, fetch, page, policy};
use gannet_net::{DnsResolver, FetchError, Fetcher, FetcherSettings, Resolve};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::{DnsResponse, DnsServer};

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_server_is_asked_and_believed_only_where_it_answers() {
    let many: Vec<String> = (1..=80).map(|number| format!("10.0.0.{number}")).collect();
    let server = DnsServer::start(move |name, _| match name {
        "site.example" => DnsResponse::from_addresses(&["192.0.2.1", "2001:db8::1", "192.0.2.2"]),
        "long.example" => DnsResponse::Long(many.iter().map(|text| text.parse().unwrap()).collect()),
        "empty.example" => DnsResponse::from_addresses(&[]),
        "broken.example" => DnsResponse::Failure,
        "forged.example" => {
            DnsResponse::Forged { wrong: "192.0.2.66".parse().unwrap(), right: "192.0.2.1".parse().unwrap() }
        }
        _ => DnsResponse::NoSuchName,
    });
    let names = DnsResolver::new(vec![server.address]);
    let both = addresses(&["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
    assert_eq!(names.resolve("site.example").await.unwrap(), both);
    assert_eq!(names.resolve("SITE.example.").await.unwrap(), both);
    assert_eq!(
        names.resolve("long.example").await.unwrap().len(),
        64,
        "over TCP, and no more than is honest"
    );
    assert_eq!(names.resolve("forged.example").await.unwrap(), addresses(&["192.0.2.1"]));
    assert!(names.resolve("empty.example").await.unwrap().is_empty());
    assert_eq!(names.resolve("missing.example").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(names.resolve("no..name").await.unwrap_err().kind(), ErrorKind::NotFound);
    let failed = names.resolve("broken.example").await.unwrap_err();
    assert!(failed.kind() != ErrorKind::NotFound && failed.to_string().contains('2'), "{failed}");
    let before = server.queried_names().len();
    let local = names.resolve("a.localhost").await.unwrap();
    assert!(local.iter().all(IpAddr::is_loopback) && !local.is_empty());
    assert_eq!(server.queried_names().len(), before, "this machine's own name is asked of nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_name_server_is_left_for_the_next_one() {
    let silent = DnsServer::start(|_, _| DnsResponse::Silence);
    let good = DnsServer::start(|_, _| DnsResponse::from_addresses(&["192.0.2.1"]));
    let names = DnsResolver::new(vec![silent.address, good.address]);
    let began = Instant::now();
    assert_eq!(names.resolve("site.example").await.unwrap(), addresses(&["192.0.2.1"]));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    // Nothing listens there: reported at once, without waiting.
    let closed: SocketAddr = {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    let began = Instant::now();
    assert!(DnsResolver::new(vec![closed]).resolve("site.example").await.is_err());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

/// DNS rebinding with real datagrams: public at the first lookup, private at the next. `127.0.0.2` stands for
/// the public address, so that nothing leaves this machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_server_that_changes_its_mind_gains_nothing() {
    let secret = Server::http("127.0.0.1:0", |_| page("secret")).await;
    let public = Server::http(&format!("127.0.0.2:{}", secret.port()), |_| {
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".to_vec()
    })
    .await;
    let server = DnsServer::start(|name, before| match (name, before) {
        ("turning.example", 0) => DnsResponse::from_addresses(&["127.0.0.2"]),
        ("mixed.example", _) => DnsResponse::from_addresses(&["127.0.0.2", "127.0.0.1"]),
        ("mapped.example", _) => DnsResponse::from_addresses(&["127.0.0.2", "::ffff:127.0.0.1"]),
        _ => DnsResponse::from_addresses(&["127.0.0.1"]),
    });
    let resolver: Arc<dyn Resolve> = Arc::new(DnsResolver::new(vec![server.address]));
    let settings = FetcherSettings { resolver, ..FetcherSettings::new(policy("scrape=127.0.0.2")) };
    let fetcher = Fetcher::new(settings).unwrap();
    let url = |name: &str| format!("http://{name}.example:{}/", secret.port());
    let first = fetch(&fetcher, &url("turning")).await.unwrap();
    assert_eq!((&first.body[..], first.meta.head.remote), (&b"ok"[..], public.address));
    for name in ["turning", "mixed", "mapped", "private"] {
        let error = fetch(&fetcher, &url(name)).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(_)), "{name}: {error:?}");
    }
    assert_eq!((secret.connections(), public.connections()), (0, 1));
}
