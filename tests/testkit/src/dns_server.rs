//! A DNS server for tests: on a free loopback port, over UDP and TCP, with responses from a function.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const POLL: Duration = Duration::from_millis(20);

/// The response to queries for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DnsResponse {
    /// Each address family gets its own records, which follow an alias.
    Addresses(Vec<IpAddr>),
    /// Too much for a datagram: truncated over UDP, complete over TCP.
    Long(Vec<IpAddr>),
    NoSuchName,
    /// The server fails (SERVFAIL).
    Failure,
    /// A forged response with a wrong ID comes first, then that of the server.
    Forged {
        wrong: IpAddr,
        right: IpAddr,
    },
    Silence,
}

impl DnsResponse {
    pub fn from_addresses(addresses: &[&str]) -> Self {
        Self::Addresses(addresses.iter().map(|text| text.parse().expect("an address")).collect())
    }
}

/// Stops when dropped.
#[derive(Debug)]
pub struct DnsServer {
    pub address: SocketAddr,
    queried: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
}

impl DnsServer {
    /// `respond` gets the name and how often its IPv4 addresses were queried before, so that responses can
    /// change.
    pub fn start(respond: impl Fn(&str, usize) -> DnsResponse + Send + Sync + 'static) -> Self {
        let (socket, listener) = bind_both();
        let address = socket.local_addr().expect("an address");
        let queried: Arc<Mutex<Vec<String>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let script = Arc::new(Script { respond: Box::new(respond), queried: queried.clone() });
        socket.set_read_timeout(Some(POLL)).expect("a time-out");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let (over_udp, over_tcp, end_udp, end_tcp) = (script.clone(), script, ended.clone(), ended.clone());
        std::thread::spawn(move || serve_udp(&socket, &over_udp, &end_udp));
        std::thread::spawn(move || serve_tcp(&listener, &over_tcp, &end_tcp));
        Self { address, queried, ended }
    }

    /// Names whose IPv4 addresses were queried, oldest first.
    pub fn queried_names(&self) -> Vec<String> {
        self.queried.lock().expect("names").clone()
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
    }
}

/// The same free port for both.
fn bind_both() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        if let Ok(socket) = UdpSocket::bind(listener.local_addr().expect("an address")) {
            return (socket, listener);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

type ResponseFunction = dyn Fn(&str, usize) -> DnsResponse + Send + Sync;

struct Script {
    respond: Box<ResponseFunction>,
    queried: Arc<Mutex<Vec<String>>>,
}

/// A query, parsed as far as the tests need it.
struct Query<'a> {
    message: &'a [u8],
    name: String,
    six: bool,
}

impl<'a> Query<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        let (mut at, mut name) = (12, String::new());
        while *message.get(at)? != 0 {
            let end = at + 1 + usize::from(message[at]);
            name.push_str(&String::from_utf8_lossy(message.get(at + 1..end)?).to_lowercase());
            name.push('.');
            at = end;
        }
        let six = *message.get(at + 2)? == 28;
        name.pop();
        Some(Self { message: message.get(..at + 5)?, name, six })
    }

    fn response(&self, flags: [u8; 2], addresses: &[IpAddr]) -> Vec<u8> {
        let wanted: Vec<&IpAddr> = addresses.iter().filter(|address| address.is_ipv6() == self.six).collect();
        let mut response = self.message.to_vec();
        response[2..4].copy_from_slice(&flags);
        response[7] = u8::try_from(wanted.len() + 1).expect("few addresses");
        // An alias of the name itself, followed by its addresses.
        response.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 1, 0, 4, 1, b'a', 0xc0, 12]);
        for address in wanted {
            let (kind, octets) = match address {
                IpAddr::V4(address) => (1, address.octets().to_vec()),
                IpAddr::V6(address) => (28, address.octets().to_vec()),
            };
            let length = u8::try_from(octets.len()).expect("an address");
            response.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, length]);
            response.extend(octets);
        }
        response
    }
}

impl Script {
    /// The messages to send for a query.
    fn responses(&self, message: &[u8], datagram: bool) -> Vec<Vec<u8>> {
        const FOUND: [u8; 2] = [0x81, 0x80];
        let Some(query) = Query::parse(message) else { return Vec::new() };
        let before = {
            let mut queried = self.queried.lock().expect("names");
            let before = queried.iter().filter(|name| **name == query.name).count();
            if !query.six {
                queried.push(query.name.clone());
            }
            // The query for IPv6 belongs to the one for IPv4 that came with it.
            if query.six { before.saturating_sub(1) } else { before }
        };
        match (self.respond)(&query.name, before) {
            DnsResponse::Long(_) if datagram => vec![query.response([0x83, 0x80], &[])],
            DnsResponse::Addresses(found) | DnsResponse::Long(found) => vec![query.response(FOUND, &found)],
            DnsResponse::NoSuchName => vec![query.response([0x81, 0x83], &[])],
            DnsResponse::Failure => vec![query.response([0x81, 0x82], &[])],
            DnsResponse::Forged { wrong, right } => {
                let mut forged = query.response(FOUND, &[wrong]);
                forged[0] ^= 0x55;
                vec![forged, query.response(FOUND, &[right])]
            }
            DnsResponse::Silence => Vec::new(),
        }
    }
}

fn serve_udp(socket: &UdpSocket, script: &Script, ended: &AtomicBool) {
    let mut buffer = [0; 1024];
    while !ended.load(Ordering::SeqCst) {
        let Ok((count, peer)) = socket.recv_from(&mut buffer) else { continue };
        for response in script.responses(&buffer[..count], true) {
            let _ = socket.send_to(&response, peer);
        }
    }
}

fn serve_tcp(listener: &TcpListener, script: &Script, ended: &AtomicBool) {
    while !ended.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => drop(serve_stream(stream, script)),
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

fn serve_stream(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message)?;
    for response in script.responses(&message, false) {
        let length = u16::try_from(response.len()).expect("a short reply");
        stream.write_all(&length.to_be_bytes())?;
        stream.write_all(&response)?;
    }
    Ok(())
}
