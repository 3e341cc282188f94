//! TLS from end to end through proxies: what the proxy sees, and whose certificates count.

use crate::authority::Authority;
use crate::servers::{Names, Server, get, policy, short, soon};
use gannet_net::{
    FetchError, Fetched, Fetcher, FetcherSettings, Proxy, ProxySettings, Purpose, Resolve, TlsProblem,
};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

/// What a proxy could read: everything it was sent before and inside the tunnel.
type Overheard = Arc<Mutex<Vec<u8>>>;

/// Takes one `CONNECT` and carries it to `target`, listening.
async fn carry<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, target: SocketAddr, overheard: Overheard) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    overheard.lock().unwrap().extend_from_slice(&head);
    let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await;
    let _ = stream.flush().await;
    let mut first = [0; 1024];
    let Ok(count) = stream.read(&mut first).await else { return };
    overheard.lock().unwrap().extend_from_slice(&first[..count]);
    let mut onward = TcpStream::connect(target).await.unwrap();
    let _ = onward.write_all(&first[..count]).await;
    let _ = copy_bidirectional(&mut stream, &mut onward).await;
}

async fn plain_proxy(target: SocketAddr, overheard: &Overheard) -> Server {
    let overheard = Arc::clone(overheard);
    Server::raw("127.0.0.1:0", move |stream| carry(stream, target, Arc::clone(&overheard))).await
}

async fn tls_proxy(authority: &Authority, target: SocketAddr, overheard: &Overheard) -> Server {
    let (acceptor, overheard) = (authority.acceptor(&["127.0.0.1"], false, &[]), Arc::clone(overheard));
    Server::raw("127.0.0.1:0", move |stream| {
        let (acceptor, overheard) = (acceptor.clone(), Arc::clone(&overheard));
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                carry(stream, target, overheard).await;
            }
        }
    })
    .await
}

fn fetcher(trusted: &Authority, proxy: &str) -> (Fetcher, Arc<Names>) {
    let names = Names::new(&[]);
    let pool: Vec<Proxy> = vec![proxy.parse().unwrap()];
    let settings = FetcherSettings {
        resolver: Arc::clone(&names) as Arc<dyn Resolve>,
        proxies: ProxySettings { pool, purposes: vec![Purpose::Scrape], per_request: false },
        extra_roots: vec![trusted.root.clone()],
        ..FetcherSettings::new(policy(""))
    };
    (Fetcher::new(settings).unwrap(), names)
}

async fn ask(fetcher: &Fetcher, host: &str, skip: bool) -> Result<Fetched, FetchError> {
    let request = get(&format!("https://{host}/")).limits(short()).skip_tls_verification(skip);
    fetcher.fetch(request, soon()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_come_through_either_kind_of_proxy_and_neither_reads_them() {
    let authority = Authority::new();
    let target = authority.server(&["site.example"], false).await;
    let overheard = Overheard::default();
    let plain = plain_proxy(target.address, &overheard).await;
    let secure = tls_proxy(&authority, target.address, &overheard).await;
    for proxy in
        [format!("http://me:secret@{}", plain.address), format!("https://me:secret@{}", secure.address)]
    {
        overheard.lock().unwrap().clear();
        let (fetcher, names) = fetcher(&authority, &proxy);
        let found = ask(&fetcher, "site.example", false).await.unwrap();
        assert_eq!(&found.body[..], b"over TLS", "{proxy}");
        assert!(found.outcome.head.proxy.is_some_and(|shown| !shown.contains("secret")));
        let heard = overheard.lock().unwrap().clone();
        let text = String::from_utf8_lossy(&heard);
        assert!(text.starts_with("CONNECT site.example:443 HTTP/1.1\r\n"), "{text}");
        assert!(text.contains("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"), "{text}");
        let after = &heard[text.find("\r\n\r\n").unwrap() + 4..];
        assert_eq!(after[..2], [0x16, 3], "a TLS greeting follows, and nothing of the request");
        assert_eq!((fetcher.traffic().direct, names.lookups.load(Ordering::SeqCst)), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_checked_inside_the_tunnel_and_a_proxys_own_always() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let target = authority.server(&["site.example"], false).await;
    let overheard = Overheard::default();
    let plain = plain_proxy(target.address, &overheard).await;
    let (through, _) = fetcher(&authority, &format!("http://{}", plain.address));
    let error = ask(&through, "other.example", false).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { problem: TlsProblem::WrongName, .. }), "{error:?}");
    assert!(ask(&through, "other.example", true).await.is_ok(), "the page's may be left unchecked");
    let unknown = tls_proxy(&stranger, target.address, &overheard).await;
    overheard.lock().unwrap().clear();
    let (through, _) = fetcher(&authority, &format!("https://me:secret@{}", unknown.address));
    for skip in [false, true] {
        let error = ask(&through, "site.example", skip).await.unwrap_err();
        assert!(matches!(error, FetchError::Proxy(_)), "{error:?}");
    }
    assert!(overheard.lock().unwrap().is_empty(), "a stranger never hears the login");
}
