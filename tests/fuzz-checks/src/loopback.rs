//! What servers send back: DNS messages, HTTP response heads, compressed bodies. The bytes come over loopback
//! sockets from a server of this module, so the whole client is exercised, whatever libraries it is made of.

use net::{
    Credentials, Deadline, DnsResolver, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Limits, Purpose,
    Request, Resolve, retry_after,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Runtime;

const MAX_BODY_BYTES: u64 = 1 << 20;
/// One server answers at once and then closes, so a check takes about a millisecond. One that takes this long
/// hangs.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// The length of the fixed part of a DNS message: ID, flags and four counts.
const DNS_HEADER_BYTES: usize = 12;
/// Addresses that are accepted for one name: 64 of each family.
const MAX_ADDRESSES: usize = 128;

/// What the servers of this thread send next.
type Script = Arc<Mutex<Vec<u8>>>;

thread_local! {
    /// Never dropped: a runtime must not end while the variables of its thread are being destroyed.
    static LOOPBACK: &'static Loopback = Box::leak(Box::new(Loopback::start()));
}

/// The servers of one thread and the clients that ask them. Everything runs on one single-threaded runtime,
/// so that a fuzzer sees the same steps for the same input.
struct Loopback {
    runtime: Runtime,
    script: Script,
    fetcher: Fetcher,
    http_server: SocketAddr,
    resolver: DnsResolver,
}

impl Loopback {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let script = Script::default();
        let (http_server, dns_server) = runtime.block_on(async {
            let http = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let (dns_udp, dns_tcp) = bind_udp_and_tcp().await;
            let addresses = (local_address(&http), local_address(&dns_tcp));
            tokio::spawn(serve_http(http, Arc::clone(&script)));
            tokio::spawn(serve_dns_over_udp(dns_udp, Arc::clone(&script)));
            tokio::spawn(serve_dns_over_tcp(dns_tcp, Arc::clone(&script)));
            addresses
        });
        let policy = EgressPolicy::new(EgressAllow::parse("scrape=127.0.0.1/32").expect("a valid rule"));
        let settings = FetcherSettings { resolver: Arc::new(NoNames), ..FetcherSettings::new(policy) };
        let fetcher = Fetcher::new(settings).expect("a fetcher");
        Self { runtime, script, fetcher, http_server, resolver: DnsResolver::new(vec![dns_server]) }
    }

    fn set_response(&self, bytes: Vec<u8>) {
        *self.script.lock().expect("no panic while it is held") = bytes;
    }

    /// Fetches whatever the script says. Redirects are followed to this server only: the input must not
    /// choose what else on this machine is asked.
    fn fetch(&self) {
        let own_server = self.http_server;
        let limits = Limits {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            retries: 0,
            redirects: 3,
            wire_bytes: MAX_BODY_BYTES,
            body_bytes: MAX_BODY_BYTES,
            ..Limits::default()
        };
        let url = format!("http://{own_server}/start");
        let request = Request::get(Purpose::Scrape, &url, Credentials::none())
            .expect("a valid URL")
            .limits(limits)
            .allowed(Arc::new(move |url| {
                url.scheme() == "http"
                    && url.host_str() == Some("127.0.0.1")
                    && url.port() == Some(own_server.port())
            }));
        let fetching = self.fetcher.fetch(request, Deadline::after(CHECK_TIMEOUT));
        let fetched = self.runtime.block_on(async { tokio::time::timeout(CHECK_TIMEOUT, fetching).await });
        if let Ok(fetched) = fetched.expect("a fetch ends once the server has closed the connection") {
            let head = &fetched.meta.head;
            assert!(!head.status.is_informational(), "{}", head.status);
            assert!(head.headers.len() <= Limits::default().head_count);
            assert!(fetched.body.len() as u64 <= MAX_BODY_BYTES);
            retry_after(&head.headers);
        }
    }
}

/// Any response of a server, head and body, is read or refused within the limits.
pub fn http_response(bytes: &[u8]) {
    LOOPBACK.with(|loopback| {
        loopback.set_response(bytes.to_vec());
        loopback.fetch();
    });
}

/// Any body is decompressed within the limits or refused, whatever its `Content-Encoding` says.
pub fn response_body(bytes: &[u8]) {
    LOOPBACK.with(|loopback| {
        for encoding in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
                bytes.len()
            );
            loopback.set_response([head.as_bytes(), bytes].concat());
            loopback.fetch();
        }
    });
}

/// Any DNS message is read or passed over, and gives a bounded number of addresses.
///
/// The input is the part of a response after the ID and the question, which the server copies from the query:
/// two bytes of flags, six bytes of record counts, then records.
pub fn dns_response(bytes: &[u8]) {
    LOOPBACK.with(|loopback| {
        loopback.set_response(bytes.to_vec());
        let resolving = loopback.resolver.resolve("host.example");
        let resolved =
            loopback.runtime.block_on(async { tokio::time::timeout(CHECK_TIMEOUT, resolving).await });
        if let Ok(addresses) = resolved.expect("a look-up ends once there is a valid response") {
            assert!(addresses.len() <= MAX_ADDRESSES);
        }
    });
}

fn local_address(listener: &TcpListener) -> SocketAddr {
    listener.local_addr().expect("an address")
}

/// The same free port for both.
async fn bind_udp_and_tcp() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        if let Ok(socket) = UdpSocket::bind(local_address(&listener)).await {
            return (socket, listener);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

fn scripted(script: &Script) -> Vec<u8> {
    script.lock().expect("no panic while it is held").clone()
}

async fn serve_http(listener: TcpListener, script: Script) {
    loop {
        // A client that is gone already is an error of this connection only.
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let response = scripted(&script);
        if read_request_head(&mut stream).await.is_ok() {
            // The client may hang up before it has read everything.
            let _ = stream.write_all(&response).await;
            let _ = stream.shutdown().await;
        }
    }
}

async fn read_request_head(stream: &mut TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(())
}

/// Sends three datagrams: the input as a response to the query, the input without any of the query's parts,
/// and a valid response, which ends the look-up where the other two were passed over.
async fn serve_dns_over_udp(socket: UdpSocket, script: Script) {
    let mut query = [0; 512];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut query).await else { continue };
        let query = &query[..length];
        let input = scripted(&script);
        for message in [dns_message(query, &input), input, dns_message(query, &[0x81, 0x80])] {
            let _ = socket.send_to(&message, peer).await;
        }
    }
}

/// Asked when a response over UDP was marked as truncated. Here the input also says how long the message
/// claims to be.
async fn serve_dns_over_tcp(listener: TcpListener, script: Script) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let Ok(length) = stream.read_u16().await else { continue };
        let mut query = vec![0; usize::from(length)];
        if stream.read_exact(&mut query).await.is_err() {
            continue;
        }
        let input = scripted(&script);
        let message = dns_message(&query, &input);
        let claimed =
            u16::try_from(message.len()).unwrap_or(u16::MAX) ^ u16::from(input.last() == Some(&0xff));
        let _ = stream.write_all(&[&claimed.to_be_bytes(), &message[..]].concat()).await;
    }
}

/// A response to `query` with the flags, counts and records of `input`. What `input` is too short for is
/// zero.
fn dns_message(query: &[u8], input: &[u8]) -> Vec<u8> {
    let mut header = [0; DNS_HEADER_BYTES];
    header[..2].copy_from_slice(&query[..2]);
    header[4..6].copy_from_slice(&[0, 1]);
    for (place, byte) in [2, 3, 6, 7, 8, 9, 10, 11].into_iter().zip(input) {
        header[place] = *byte;
    }
    let records = input.get(8..).unwrap_or_default();
    [&header, query.get(DNS_HEADER_BYTES..).unwrap_or_default(), records].concat()
}

/// Redirects to a name lead nowhere.
#[derive(Debug)]
struct NoNames;

#[async_trait::async_trait]
impl Resolve for NoNames {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}
