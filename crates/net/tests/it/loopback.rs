//! The loopback proxy, used as a browser would use it and as a compromised page would.

use crate::servers::{ScriptedResolver, Server, fetcher_with, page, policy};
use crate::ssrf::SPELLINGS;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gannet_net::proxy::{FailedRequest, FailureReply, Lease, LeaseRules, LoopbackProxy, RequestError};
use gannet_net::{
    Deadline, EgressError, FetchError, Fetcher, FetcherSettings, Proxy, ProxySettings, Purpose, Resolve,
    SizeLimit, UrlRule, Via,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

fn rules() -> LeaseRules {
    LeaseRules {
        purpose: Purpose::Scrape,
        via: Via::Settings,
        deadline: Deadline::after(Duration::from_secs(20)),
        max_bytes: 1 << 20,
        page_host: "site.example".into(),
        allowed_hosts: None,
        failure_reply: FailureReply::Response,
    }
}

fn login(lease: &Lease) -> String {
    let (user, password) = lease.credentials();
    format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(format!("{user}:{password}")))
}

/// Sends `request` to the proxy and reads until it closes.
async fn send_to_proxy(proxy: &LoopbackProxy, request: &str) -> String {
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "the proxy keeps the connection open: {}", String::from_utf8_lossy(&answer));
    String::from_utf8_lossy(&answer).into_owned()
}

/// Opens a tunnel and returns the stream after the proxy's response.
async fn tunnel(proxy: &LoopbackProxy, lease: &Lease, target: &str) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n", login(lease));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    if answer.starts_with("HTTP/1.1 200") { Ok(stream) } else { Err(answer) }
}

async fn start(allow: &str) -> (LoopbackProxy, Fetcher) {
    let names = ScriptedResolver::new(&[
        ("site.example", &[&["127.0.0.1"]]),
        ("rebind.example", &[&["8.8.8.8", "127.0.0.1"]]),
        ("clients2.google.com", &[&["127.0.0.1"]]),
    ]);
    let fetcher = fetcher_with(allow, &names);
    (LoopbackProxy::start(&fetcher).await.unwrap(), fetcher)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_without_a_password_is_for_the_peers_that_it_knows() {
    let target = Server::http("127.0.0.1:0", |_| page("secret")).await;
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let asked = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target.url("/"));
    for is_known in [true, false] {
        let address = proxy.address();
        let _lease = proxy.lease_without_password(
            rules(),
            Arc::new(move |peer, at| is_known && peer.ip().is_loopback() && peer != at && at == address),
        );
        let answer = send_to_proxy(&proxy, &asked).await;
        assert_eq!(answer.contains("secret"), is_known, "{answer}");
        assert_eq!(answer.starts_with("HTTP/1.1 407"), !is_known, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_asked_who_they_are_and_get_nothing() {
    let target = Server::http("127.0.0.1:0", |_| page("secret")).await;
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let wrong = format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode("lease:guess"));
    for login in
        ["", wrong.as_str(), "Proxy-Authorization: Basic !!!\r\n", "Proxy-Authorization: Bearer x\r\n"]
    {
        let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n{login}\r\n", target.url("/"));
        assert!(send_to_proxy(&proxy, &request).await.starts_with("HTTP/1.1 407"));
        let request = format!("CONNECT {} HTTP/1.1\r\nHost: x\r\n{login}\r\n", target.address);
        assert!(send_to_proxy(&proxy, &request).await.starts_with("HTTP/1.1 407"));
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_an_address_gets_through() {
    let target = Server::http("127.0.0.1:0", |_| page("secret")).await;
    let (proxy, fetcher) = start("").await;
    let lease = proxy.lease(rules()).unwrap();
    let port = target.port();
    for host in SPELLINGS.iter().chain(&["site.example", "rebind.example"]) {
        for request in [
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}\r\n"),
            format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}\r\n"),
        ] {
            let answer = send_to_proxy(&proxy, &format!("{request}{}\r\n", login(&lease))).await;
            let refused = answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 400");
            assert!(refused, "{request}: {answer}");
        }
    }
    assert_eq!((target.connections(), fetcher.traffic().direct), (0, 0));
    let failed = lease.failed_requests();
    assert_eq!(failed.len(), 64, "bounded");
    assert!(matches!(failed[0].error, RequestError::Fetch(FetchError::Refused(EgressError::Address { .. }))));
}

#[tokio::test(flavor = "multi_thread")]
async fn tunnels_and_plain_requests_pass_and_are_counted() {
    let target = Server::http("127.0.0.1:0", |_| page("through")).await;
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let lease = proxy.lease(rules()).unwrap();
    let mut stream = tunnel(&proxy, &lease, &format!("site.example:{}", target.port())).await.unwrap();
    stream.write_all(b"GET /t HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut answer = vec![0; page("through").len()];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, page("through"));
    let used = lease.traffic();
    assert_eq!((used.sent, used.received), (28, answer.len() as u64));
    // Two requests on one connection: only the first is served, so no response can be taken for another's.
    let one = format!(
        "GET {} HTTP/1.1\r\nHost: lie.example\r\n{}Connection: keep-alive\r\n\r\n",
        target.url("/p?q"),
        login(&lease)
    );
    let answer = send_to_proxy(&proxy, &format!("{one}{one}")).await;
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    assert!(answer.ends_with("through"));
    let head = target.heads().pop().unwrap();
    assert!(
        head.starts_with("GET /p?q HTTP/1.1\r\n") && !head.to_ascii_lowercase().contains("proxy-"),
        "{head}"
    );
    assert!(head.to_ascii_lowercase().contains(&format!("host: {}", target.address)), "{head}");
    assert!(lease.traffic().received > used.received);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_headers_arrive_as_they_were_sent() {
    let target = Server::http("127.0.0.1:0", |_| {
        b"HTTP/1.1 200 Fine\r\nX-Own-NAME: a\r\nContent-Length: 2\r\n\r\nok".to_vec()
    })
    .await;
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let lease = proxy.lease(rules()).unwrap();
    let request =
        format!("GET {} HTTP/1.1\r\nHost: x\r\nX-Their-NAME: b\r\n{}\r\n", target.url("/"), login(&lease));
    let answer = send_to_proxy(&proxy, &request).await;
    assert!(answer.starts_with("HTTP/1.1 200 Fine\r\n") && answer.contains("X-Own-NAME: a"), "{answer}");
    let head = target.heads().pop().unwrap();
    assert!(head.contains("X-Their-NAME: b"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_request_is_answered_or_its_connection_closed() {
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    // A port on which nobody listens any more.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let ask = async |reply: FailureReply, url: String| {
        let lease = proxy.lease(LeaseRules { failure_reply: reply, ..rules() }).unwrap();
        send_to_proxy(&proxy, &format!("GET {url} HTTP/1.1\r\nHost: x\r\n{}\r\n", login(&lease))).await
    };
    let answered = ask(FailureReply::Response, format!("http://{closed}/")).await;
    assert!(answered.starts_with("HTTP/1.1 502"), "{answered}");
    assert_eq!(ask(FailureReply::Disconnect, format!("http://{closed}/")).await, "");
    let refused = ask(FailureReply::Disconnect, "http://10.1.2.3/".into()).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "what is refused is told: {refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_home_and_the_proxy_itself_are_refused_and_remembered() {
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let lease = proxy.lease(rules()).unwrap();
    assert!(tunnel(&proxy, &lease, "clients2.google.com:443").await.unwrap_err().starts_with("HTTP/1.1 403"));
    assert!(
        tunnel(&proxy, &lease, &proxy.address().to_string()).await.unwrap_err().starts_with("HTTP/1.1 403")
    );
    let failed = lease.failed_requests();
    assert_eq!(
        failed[0],
        FailedRequest { target: "clients2.google.com:443".into(), error: RequestError::BrowserService }
    );
    assert!(matches!(
        failed[1].error,
        RequestError::Fetch(FetchError::Refused(EgressError::OwnListener { .. }))
    ));
    // Unless it is the requested page.
    let target = Server::http("127.0.0.1:0", |_| page("page")).await;
    let wanted = proxy.lease(LeaseRules { page_host: "clients2.google.com".into(), ..rules() }).unwrap();
    assert!(tunnel(&proxy, &wanted, &format!("clients2.google.com:{}", target.port())).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_the_holder_forbids_are_not_reached() {
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let target = Server::http("127.0.0.1:0", |_| page("page")).await;
    let hosts: UrlRule = Arc::new(|url| url.host_str() != Some("127.0.0.1"));
    let lease = proxy.lease(LeaseRules { allowed_hosts: Some(hosts), ..rules() }).unwrap();
    let refused = tunnel(&proxy, &lease, &target.address.to_string()).await.unwrap_err();
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert_eq!(
        lease.failed_requests(),
        [FailedRequest { target: target.address.to_string(), error: RequestError::HostNotAllowed }]
    );
    let free = proxy.lease(rules()).unwrap();
    assert!(tunnel(&proxy, &free, &target.address.to_string()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_ends_with_its_owner_its_deadline_or_its_fill() {
    let endless = Server::raw("127.0.0.1:0", |mut stream| async move {
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let (proxy, _) = start("scrape=127.0.0.0/8").await;
    let target = endless.address.to_string();
    let drained = |mut stream: TcpStream| async move {
        let mut all = Vec::new();
        // A reset counts as an end.
        let _ = timeout(Duration::from_secs(5), stream.read_to_end(&mut all)).await.expect("it ends");
        all.len()
    };
    let owned = proxy.lease(LeaseRules { max_bytes: u64::MAX, ..rules() }).unwrap();
    let stream = tunnel(&proxy, &owned, &target).await.unwrap();
    let void = login(&owned);
    drop(owned);
    drained(stream).await;
    let late = send_to_proxy(&proxy, &format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n{void}\r\n")).await;
    assert!(late.starts_with("HTTP/1.1 407"), "{late}");
    let deadline = Deadline::after(Duration::from_millis(300));
    let brief = proxy.lease(LeaseRules { max_bytes: u64::MAX, deadline, ..rules() }).unwrap();
    drained(tunnel(&proxy, &brief, &target).await.unwrap()).await;
    let full = proxy.lease(LeaseRules { max_bytes: 100_000, ..rules() }).unwrap();
    let came = drained(tunnel(&proxy, &full, &target).await.unwrap()).await;
    assert!((50_000..200_000).contains(&came), "{came}");
    let too_large = FetchError::TooLarge { what: SizeLimit::WireBody, limit: 100_000 };
    assert_eq!(full.failed_requests()[0].error, RequestError::Fetch(too_large));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_goes_through_the_pool_too() {
    let upstream = Server::http("127.0.0.1:0", |head| {
        assert!(head.starts_with("CONNECT site.example:"), "{head}");
        b"HTTP/1.1 200 OK\r\n\r\nfrom upstream".to_vec()
    })
    .await;
    let names = ScriptedResolver::new(&[]);
    let resolver: Arc<dyn Resolve> = names;
    let pool: Vec<Proxy> = vec![format!("http://{}", upstream.address).parse().unwrap()];
    let proxies = ProxySettings { pool, purposes: vec![Purpose::Scrape], per_request: false };
    let settings = FetcherSettings { resolver, proxies, ..FetcherSettings::new(policy("")) };
    let fetcher = Fetcher::new(settings).unwrap();
    let proxy = LoopbackProxy::start(&fetcher).await.unwrap();
    let lease = proxy.lease(rules()).unwrap();
    for target in ["site.example:443", "site.example:80"] {
        let mut stream = tunnel(&proxy, &lease, target).await.unwrap();
        let mut answer = [0; 13];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"from upstream");
    }
    assert_eq!((fetcher.traffic().direct, upstream.connections()), (0, 2));
}
