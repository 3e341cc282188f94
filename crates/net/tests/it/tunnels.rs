//! End-to-end TLS through proxies: what the proxy sees, and whose certificates are checked.

use crate::authority::Authority;
use crate::servers::{ScriptedResolver, Server, get, policy, short_limits, test_deadline};
use gannet_net::{
    FetchError, FetchedResponse, Fetcher, FetcherSettings, Proxy, ProxySettings, Purpose, Resolve, TlsError,
};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

/// Everything a proxy received before and inside the tunnel.
type Captured = Arc<Mutex<Vec<u8>>>;

/// Accepts one `CONNECT` and forwards it to `target`, recording the bytes.
async fn carry<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, target: SocketAddr, captured: Captured) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    captured.lock().unwrap().extend_from_slice(&head);
    let _ = stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await;
    let _ = stream.flush().await;
    let mut first = [0; 1024];
    let Ok(count) = stream.read(&mut first).await else { return };
    captured.lock().unwrap().extend_from_slice(&first[..count]);
    let mut onward = TcpStream::connect(target).await.unwrap();
    let _ = onward.write_all(&first[..count]).await;
    let _ = copy_bidirectional(&mut stream, &mut onward).await;
}

async fn plain_proxy(target: SocketAddr, captured: &Captured) -> Server {
    let captured = Arc::clone(captured);
    Server::raw("127.0.0.1:0", move |stream| carry(stream, target, Arc::clone(&captured))).await
}

async fn tls_proxy(authority: &Authority, target: SocketAddr, captured: &Captured) -> Server {
    let (acceptor, captured) = (authority.acceptor(&["127.0.0.1"], false, &[]), Arc::clone(captured));
    Server::raw("127.0.0.1:0", move |stream| {
        let (acceptor, captured) = (acceptor.clone(), Arc::clone(&captured));
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                carry(stream, target, captured).await;
            }
        }
    })
    .await
}

fn fetcher(trusted: &Authority, proxy: &str) -> (Fetcher, Arc<ScriptedResolver>) {
    let names = ScriptedResolver::new(&[]);
    let pool: Vec<Proxy> = vec![proxy.parse().unwrap()];
    let settings = FetcherSettings {
        resolver: Arc::clone(&names) as Arc<dyn Resolve>,
        proxies: ProxySettings { pool, purposes: vec![Purpose::Scrape], per_request: false },
        extra_roots: vec![trusted.root.clone()],
        ..FetcherSettings::new(policy(""))
    };
    (Fetcher::new(settings).unwrap(), names)
}

async fn ask(fetcher: &Fetcher, host: &str, skip: bool) -> Result<FetchedResponse, FetchError> {
    let request = get(&format!("https://{host}/")).limits(short_limits()).skip_tls_verification(skip);
    fetcher.fetch(request, test_deadline()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_come_through_either_kind_of_proxy_and_neither_reads_them() {
    let authority = Authority::new();
    let target = authority.server(&["site.example"], false).await;
    let captured = Captured::default();
    let plain = plain_proxy(target.address, &captured).await;
    let secure = tls_proxy(&authority, target.address, &captured).await;
    for proxy in
        [format!("http://me:secret@{}", plain.address), format!("https://me:secret@{}", secure.address)]
    {
        captured.lock().unwrap().clear();
        let (fetcher, names) = fetcher(&authority, &proxy);
        let found = ask(&fetcher, "site.example", false).await.unwrap();
        assert_eq!(&found.body[..], b"over TLS", "{proxy}");
        assert!(found.meta.head.proxy.is_some_and(|shown| !shown.contains("secret")));
        let heard = captured.lock().unwrap().clone();
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
    let captured = Captured::default();
    let plain = plain_proxy(target.address, &captured).await;
    let (through, _) = fetcher(&authority, &format!("http://{}", plain.address));
    let error = ask(&through, "other.example", false).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { error: TlsError::WrongName, .. }), "{error:?}");
    assert!(ask(&through, "other.example", true).await.is_ok(), "the page's may be left unchecked");
    let unknown = tls_proxy(&stranger, target.address, &captured).await;
    captured.lock().unwrap().clear();
    let (through, _) = fetcher(&authority, &format!("https://me:secret@{}", unknown.address));
    for skip in [false, true] {
        let error = ask(&through, "site.example", skip).await.unwrap_err();
        assert!(matches!(error, FetchError::Proxy(_)), "{error:?}");
    }
    assert!(captured.lock().unwrap().is_empty(), "a stranger never hears the login");
}
