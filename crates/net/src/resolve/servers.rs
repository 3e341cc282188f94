//! Names asked of chosen name servers, past the system's resolver. For networks whose names the system does not know, and for
//! tests. Questions go to the servers of the settings and nowhere else; what they say meets the guard like any answer.

use super::Resolve;
use super::message::{self, Family, Said};
use async_trait::async_trait;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// How long one server is given for one question.
const PATIENCE: Duration = Duration::from_secs(2);
/// Times the list of servers is gone through.
const ROUNDS: usize = 2;
const LARGEST_DATAGRAM: usize = 4096;

/// Name servers, asked in the order they are given.
#[derive(Debug, Clone)]
pub struct NameServers(Vec<SocketAddr>);

impl NameServers {
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Self(servers)
    }

    /// The first server that gives an answer, be it that there is none.
    async fn ask(&self, host: &str, family: Family) -> io::Result<Vec<IpAddr>> {
        let mut last = io::Error::other("no name server is set");
        for server in std::iter::repeat_n(&self.0, ROUNDS).flatten() {
            let asked = timeout(PATIENCE, ask_one(*server, host, family)).await;
            match asked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(Said::Addresses(found)) => return Ok(found),
                Ok(Said::NoSuchName) => return Err(io::ErrorKind::NotFound.into()),
                Ok(Said::Failed(code)) => {
                    last = io::Error::other(format!("the name server says code {code}"));
                }
                Ok(Said::Truncated) => last = io::Error::other("the name server's answer is cut short"),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[async_trait]
impl Resolve for NameServers {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if is_localhost(host) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let (four, six) = tokio::join!(self.ask(host, Family::V4), self.ask(host, Family::V6));
        match (four, six) {
            (Ok(mut four), Ok(six)) => {
                four.extend(six);
                Ok(four)
            }
            // One family without an answer does not take the other one away.
            (Ok(found), Err(_)) | (Err(_), Ok(found)) if !found.is_empty() => Ok(found),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}

/// The name of this machine never leaves it (RFC 6761).
fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}

async fn ask_one(server: SocketAddr, host: &str, family: Family) -> io::Result<Said> {
    // A number nobody can guess, from a port of its own for each question: answers cannot be forged from afar.
    let id = u16::try_from(getrandom::u32().map_err(io::Error::other)? >> 16).unwrap_or_default();
    let Some(question) = message::question(id, host, family) else {
        return Ok(Said::NoSuchName);
    };
    match over_udp(server, &question).await? {
        Said::Truncated => over_tcp(server, &question).await,
        said => Ok(said),
    }
}

async fn over_udp(server: SocketAddr, question: &[u8]) -> io::Result<Said> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut buffer = [0; LARGEST_DATAGRAM];
    loop {
        let count = socket.recv(&mut buffer).await?;
        if let Some(said) = message::answer(question, &buffer[..count]) {
            return Ok(said);
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &[u8]) -> io::Result<Said> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), question].concat()).await?;
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    message::answer(question, &message)
        .ok_or_else(|| io::Error::other("the name server answers another question"))
}
