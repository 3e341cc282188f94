//! A name server of the tests' own: on a free loopback port, over UDP and TCP, with answers from a function.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const POLL: Duration = Duration::from_millis(20);

/// What is said of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameAnswer {
    /// Each family gets its own; records follow an alias, as they often do.
    Addresses(Vec<IpAddr>),
    /// Too much for a datagram: cut over UDP, whole over TCP.
    Long(Vec<IpAddr>),
    NoSuchName,
    /// The server says that it failed.
    Failure,
    /// Somebody else answers first, with a wrong number; then the server itself.
    Forged {
        wrong: IpAddr,
        right: IpAddr,
    },
    Silence,
}

impl NameAnswer {
    pub fn of(addresses: &[&str]) -> Self {
        Self::Addresses(addresses.iter().map(|text| text.parse().expect("an address")).collect())
    }
}

/// Ends when dropped.
#[derive(Debug)]
pub struct NameServer {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
}

impl NameServer {
    /// `answer` is given the name and how often its IPv4 addresses were asked for before, so that answers can change.
    pub fn start(answer: impl Fn(&str, usize) -> NameAnswer + Send + Sync + 'static) -> Self {
        let (socket, listener) = bind_both();
        let address = socket.local_addr().expect("an address");
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let script = Arc::new(Script { answer: Box::new(answer), asked: asked.clone() });
        socket.set_read_timeout(Some(POLL)).expect("a time-out");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let (over_udp, over_tcp, end_udp, end_tcp) = (script.clone(), script, ended.clone(), ended.clone());
        std::thread::spawn(move || serve_udp(&socket, &over_udp, &end_udp));
        std::thread::spawn(move || serve_tcp(&listener, &over_tcp, &end_tcp));
        Self { address, asked, ended }
    }

    /// Names whose IPv4 addresses were asked for, oldest first.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("names").clone()
    }
}

impl Drop for NameServer {
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

type AnswerTo = dyn Fn(&str, usize) -> NameAnswer + Send + Sync;

struct Script {
    answer: Box<AnswerTo>,
    asked: Arc<Mutex<Vec<String>>>,
}

/// A question, read as far as the tests need it.
struct Question<'a> {
    message: &'a [u8],
    name: String,
    six: bool,
}

impl<'a> Question<'a> {
    fn read(message: &'a [u8]) -> Option<Self> {
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

    fn reply(&self, flags: [u8; 2], addresses: &[IpAddr]) -> Vec<u8> {
        let wanted: Vec<&IpAddr> = addresses.iter().filter(|address| address.is_ipv6() == self.six).collect();
        let mut reply = self.message.to_vec();
        reply[2..4].copy_from_slice(&flags);
        reply[7] = u8::try_from(wanted.len() + 1).expect("few addresses");
        // An alias to the name itself with a label in front; addresses are given for the alias.
        reply.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 1, 0, 4, 1, b'a', 0xc0, 12]);
        for address in wanted {
            let (kind, octets) = match address {
                IpAddr::V4(address) => (1, address.octets().to_vec()),
                IpAddr::V6(address) => (28, address.octets().to_vec()),
            };
            let length = u8::try_from(octets.len()).expect("an address");
            reply.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, length]);
            reply.extend(octets);
        }
        reply
    }
}

impl Script {
    /// The datagrams to send for a question.
    fn replies(&self, message: &[u8], datagram: bool) -> Vec<Vec<u8>> {
        const FOUND: [u8; 2] = [0x81, 0x80];
        let Some(question) = Question::read(message) else { return Vec::new() };
        let before = {
            let mut asked = self.asked.lock().expect("names");
            let before = asked.iter().filter(|name| **name == question.name).count();
            if !question.six {
                asked.push(question.name.clone());
            }
            // The question for IPv6 belongs to the one for IPv4 that came with it.
            if question.six { before.saturating_sub(1) } else { before }
        };
        match (self.answer)(&question.name, before) {
            NameAnswer::Long(_) if datagram => vec![question.reply([0x83, 0x80], &[])],
            NameAnswer::Addresses(found) | NameAnswer::Long(found) => vec![question.reply(FOUND, &found)],
            NameAnswer::NoSuchName => vec![question.reply([0x81, 0x83], &[])],
            NameAnswer::Failure => vec![question.reply([0x81, 0x82], &[])],
            NameAnswer::Forged { wrong, right } => {
                let mut forged = question.reply(FOUND, &[wrong]);
                forged[0] ^= 0x55;
                vec![forged, question.reply(FOUND, &[right])]
            }
            NameAnswer::Silence => Vec::new(),
        }
    }
}

fn serve_udp(socket: &UdpSocket, script: &Script, ended: &AtomicBool) {
    let mut buffer = [0; 1024];
    while !ended.load(Ordering::SeqCst) {
        let Ok((count, peer)) = socket.recv_from(&mut buffer) else { continue };
        for reply in script.replies(&buffer[..count], true) {
            let _ = socket.send_to(&reply, peer);
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
    for reply in script.replies(&message, false) {
        let length = u16::try_from(reply.len()).expect("a short reply");
        stream.write_all(&length.to_be_bytes())?;
        stream.write_all(&reply)?;
    }
    Ok(())
}
