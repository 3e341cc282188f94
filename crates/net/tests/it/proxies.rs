//! Proxies are used for every request, and no byte bypasses them.

use crate::servers::{
    ScriptedResolver, Server, fetch, get, header, page, policy, read_request, redirect, short_limits,
    test_deadline,
};
use gannet_net::{
    Credentials, EgressError, FetchError, Fetcher, FetcherSettings, Phase, Proxy, ProxySettings, Purpose,
    Request, Resolve, Via,
};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// A test proxy that sends everything to one target and records its own addresses.
struct TestProxy {
    server: Server,
    /// Local addresses of the proxy's connections to the target.
    own_ends: Arc<Mutex<Vec<SocketAddr>>>,
    asked: Arc<Mutex<Vec<String>>>,
    bytes: Arc<AtomicU64>,
}

impl TestProxy {
    async fn http(target: SocketAddr) -> Self {
        Self::start(target, false).await
    }

    async fn socks(target: SocketAddr) -> Self {
        Self::start(target, true).await
    }

    async fn start(target: SocketAddr, socks: bool) -> Self {
        let own_ends: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let bytes: Arc<AtomicU64> = Arc::default();
        let (ends, heads, count) = (Arc::clone(&own_ends), Arc::clone(&asked), Arc::clone(&bytes));
        let server = Server::raw("127.0.0.1:0", move |mut stream| {
            let (ends, heads, count) = (Arc::clone(&ends), Arc::clone(&heads), Arc::clone(&count));
            async move {
                let forward = if socks {
                    let Some(asked) = accept_socks(&mut stream).await else { return };
                    heads.lock().unwrap().push(asked);
                    None
                } else {
                    let Some(head) = read_request(&mut stream).await else { return };
                    heads.lock().unwrap().push(head.clone());
                    if head.starts_with("CONNECT ") {
                        let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\nVia: test\r\n\r\n").await;
                        None
                    } else {
                        Some(head)
                    }
                };
                let mut onward = TcpStream::connect(target).await.unwrap();
                ends.lock().unwrap().push(onward.local_addr().unwrap());
                if let Some(head) = forward {
                    let _ = onward.write_all(head.as_bytes()).await;
                }
                if let Ok((up, down)) = copy_bidirectional(&mut stream, &mut onward).await {
                    count.fetch_add(up + down, Ordering::SeqCst);
                }
            }
        })
        .await;
        Self { server, own_ends, asked, bytes }
    }

    fn url(&self, scheme: &str) -> Proxy {
        format!("{scheme}://me:secret@{}", self.server.address).parse().unwrap()
    }
}

async fn accept_socks(stream: &mut TcpStream) -> Option<String> {
    let mut offer = [0; 4];
    stream.read_exact(&mut offer).await.ok()?;
    assert_eq!(offer, [5, 2, 0, 2]);
    stream.write_all(&[5, 2]).await.ok()?;
    let mut login = [0; 11];
    stream.read_exact(&mut login).await.ok()?;
    assert_eq!(&login, b"\x01\x02me\x06secret");
    stream.write_all(&[1, 0]).await.ok()?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.ok()?;
    let name = if head[3] == 1 {
        std::net::Ipv4Addr::from(stream.read_u32().await.ok()?).to_string()
    } else {
        assert_eq!(head, [5, 1, 0, 3], "names go to the proxy as names");
        let mut name = vec![0; usize::from(stream.read_u8().await.ok()?)];
        stream.read_exact(&mut name).await.ok()?;
        String::from_utf8(name).unwrap()
    };
    let port = stream.read_u16().await.ok()?;
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok()?;
    Some(format!("{name}:{port}"))
}

fn fetcher(pool: Vec<Proxy>, per_request: bool) -> (Fetcher, Arc<ScriptedResolver>) {
    let names = ScriptedResolver::new(&[]);
    let resolver: Arc<dyn Resolve> = Arc::clone(&names) as Arc<dyn Resolve>;
    let proxies = ProxySettings { pool, purposes: vec![Purpose::Scrape], per_request };
    // The targets are directly reachable; only the route prevents it.
    let settings = FetcherSettings {
        resolver,
        proxies,
        ..FetcherSettings::new(policy("scrape=127.0.0.0/8,*.example;model=127.0.0.0/8"))
    };
    (Fetcher::new(settings).unwrap(), names)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_byte_goes_around_a_proxy() {
    let target = Server::http("127.0.0.1:0", |head| match head.split(' ').nth(1).unwrap() {
        path if path.ends_with("/moved") => redirect("http://next.example/end"),
        _ => page("through"),
    })
    .await;
    let http = TestProxy::http(target.address).await;
    let socks = TestProxy::socks(target.address).await;
    let (fetcher, names) = fetcher(vec![http.url("http"), socks.url("socks5")], false);
    for round in 0..6 {
        let url = if round % 2 == 0 { "http://site.example/page" } else { "http://site.example/moved" };
        let found = fetch(&fetcher, url).await.unwrap();
        assert_eq!(&found.body[..], b"through");
        assert!(found.meta.head.proxy.is_some());
        assert!(!format!("{:?}", found.meta.head).contains("secret"));
    }
    let literal = fetch(&fetcher, &target.url("/page")).await.unwrap();
    assert_eq!(&literal.body[..], b"through");
    // Our byte count at the sockets and the target's peers: every connection was made by a proxy.
    assert_eq!(fetcher.traffic().direct, 0);
    assert!(fetcher.traffic().proxied > 0);
    assert_eq!(names.lookups.load(Ordering::SeqCst), 0, "names are the proxy's to resolve");
    let mut from_proxies = http.own_ends.lock().unwrap().clone();
    from_proxies.extend(socks.own_ends.lock().unwrap().iter());
    let strangers = target.peers.lock().unwrap().iter().filter(|peer| !from_proxies.contains(peer)).count();
    assert_eq!(strangers, 0);
    assert!(http.server.connections() > 0 && socks.server.connections() > 0, "both take their turn");
    let heads = http.asked.lock().unwrap().clone();
    assert!(heads.iter().any(|head| head.starts_with("GET http://site.example/")), "{heads:?}");
    assert_eq!(header(&heads[0], "proxy-authorization"), Some("Basic bWU6c2VjcmV0"));
    assert!(socks.asked.lock().unwrap().contains(&"site.example:80".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn https_goes_through_a_tunnel_and_the_login_stays_with_the_proxy() {
    // The target sees the bytes inside the tunnel: a TLS handshake, and no CONNECT.
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let target = Server::raw("127.0.0.1:0", {
        let seen = Arc::clone(&seen);
        move |mut stream| {
            let seen = Arc::clone(&seen);
            async move {
                let mut start = [0; 5];
                if stream.read_exact(&mut start).await.is_ok() {
                    seen.lock().unwrap().extend(start);
                }
            }
        }
    })
    .await;
    let proxy = TestProxy::http(target.address).await;
    let (fetcher, _) = fetcher(vec![proxy.url("http")], false);
    let error = fetch(&fetcher, "https://site.example/").await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. }), "{error:?}");
    assert!(proxy.asked.lock().unwrap()[0].starts_with("CONNECT site.example:443 HTTP/1.1\r\n"));
    assert_eq!(seen.lock().unwrap()[..2], [0x16, 3], "a TLS handshake record");
    assert_eq!(fetcher.traffic().direct, 0);
    sleep(Duration::from_millis(50)).await;
    assert!(proxy.bytes.load(Ordering::SeqCst) > 0 || target.connections() == 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_proxy_is_an_error_and_never_a_way_around() {
    let target = Server::http("127.0.0.1:0", |_| page("direct")).await;
    let closed = testkit::ClosedPort::hold();
    let dead: Proxy = format!("http://{}", closed.address()).parse().unwrap();
    let silent = Server::raw("127.0.0.1:0", |stream| async move {
        sleep(Duration::from_secs(9)).await;
        drop(stream);
    })
    .await;
    let refusing =
        Server::http("127.0.0.1:0", |_| b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n".to_vec()).await;
    let endless = Server::raw("127.0.0.1:0", |mut stream| async move {
        while stream.write_all(&[b'x'; 1024]).await.is_ok() {}
    })
    .await;
    for (proxy, url) in [
        (dead, target.url("/")),
        (format!("socks5://{}", silent.address).parse().unwrap(), target.url("/")),
        (format!("http://{}", refusing.address).parse().unwrap(), "https://site.example/".to_owned()),
        (format!("http://{}", endless.address).parse().unwrap(), "https://site.example/".to_owned()),
        (format!("socks5://{}", endless.address).parse().unwrap(), target.url("/")),
        ("http://missing.example".parse().unwrap(), target.url("/")),
    ] {
        let (fetcher, _) = fetcher(vec![proxy.clone()], false);
        let error = fetch(&fetcher, &url).await.unwrap_err();
        let as_it_should =
            matches!(error, FetchError::Proxy(_) | FetchError::Timeout { phase: Phase::Proxy, .. });
        assert!(as_it_should, "{proxy}: {error:?}");
        assert_eq!(fetcher.traffic().direct, 0);
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_bring_its_own_proxy_only_where_that_is_allowed() {
    let target = Server::http("127.0.0.1:0", |_| page("through")).await;
    let proxy = TestProxy::http(target.address).await;
    let ask = |fetcher: Fetcher| {
        let via = Via::Proxy(proxy.url("http"));
        async move {
            fetcher.fetch(get("http://site.example/").via(via).limits(short_limits()), test_deadline()).await
        }
    };
    let error = ask(fetcher(Vec::new(), false).0).await.unwrap_err();
    assert_eq!(error, FetchError::Refused(EgressError::RequestProxy));
    assert_eq!(proxy.server.connections(), 0);
    assert_eq!(&ask(fetcher(Vec::new(), true).0).await.unwrap().body[..], b"through");
    // A private IP address is refused before the proxy sees it.
    let (fetcher, _) = fetcher(vec![proxy.url("http")], false);
    let before = proxy.server.connections();
    assert!(matches!(fetch(&fetcher, "http://10.0.0.1/").await, Err(FetchError::Refused(_))));
    assert_eq!(proxy.server.connections(), before);
    // Purposes that are not configured for the pool connect directly.
    let request =
        Request::get(Purpose::Model, &target.url("/"), Credentials::none()).unwrap().limits(short_limits());
    assert_eq!(fetcher.fetch(request, test_deadline()).await.unwrap().meta.head.proxy, None);
}
