//! Asks configured name servers instead of the system's resolver: for networks whose names the system does
//! not know, and for tests. Queries go to the configured servers and nowhere else; the guard checks their
//! results like any other.

use super::Resolve;
use super::dns_message::{self, DnsResponse, Family};
use async_trait::async_trait;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// How long one server may take for one query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// How many times the list of servers is tried.
const ROUNDS: usize = 2;
const MAX_DATAGRAM_BYTES: usize = 4096;

/// Asks name servers, in the given order.
#[derive(Debug, Clone)]
pub struct DnsResolver(Vec<SocketAddr>);

impl DnsResolver {
    pub fn new(servers: Vec<SocketAddr>) -> Self {
        Self(servers)
    }

    /// The result of the first server that responds, also if the name has no addresses.
    async fn query(&self, host: &str, family: Family) -> io::Result<Vec<IpAddr>> {
        let mut last = io::Error::other("no name server is configured");
        for server in std::iter::repeat_n(&self.0, ROUNDS).flatten() {
            let queried = timeout(QUERY_TIMEOUT, query_server(*server, host, family)).await;
            match queried.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(DnsResponse::Addresses(found)) => return Ok(found),
                Ok(DnsResponse::NoSuchName) => return Err(io::ErrorKind::NotFound.into()),
                Ok(DnsResponse::Failed(code)) => {
                    last = io::Error::other(format!("the name server returned code {code}"));
                }
                Ok(DnsResponse::Truncated) => {
                    last = io::Error::other("the name server's response is truncated");
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[async_trait]
impl Resolve for DnsResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if is_localhost(host) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let (four, six) = tokio::join!(self.query(host, Family::V4), self.query(host, Family::V6));
        match (four, six) {
            (Ok(mut four), Ok(six)) => {
                four.extend(six);
                Ok(four)
            }
            // One family without addresses does not hide those of the other one.
            (Ok(found), Err(_)) | (Err(_), Ok(found)) if !found.is_empty() => Ok(found),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}

/// `localhost` is never sent to a name server (RFC 6761).
fn is_localhost(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}

async fn query_server(server: SocketAddr, host: &str, family: Family) -> io::Result<DnsResponse> {
    // A random id from a new port for each query: responses cannot be forged by others.
    let id = u16::try_from(getrandom::u32().map_err(io::Error::other)? >> 16).unwrap_or_default();
    let Some(query) = dns_message::encode_query(id, host, family) else {
        return Ok(DnsResponse::NoSuchName);
    };
    match query_udp(server, &query).await? {
        DnsResponse::Truncated => query_tcp(server, &query).await,
        response => Ok(response),
    }
}

async fn query_udp(server: SocketAddr, query: &[u8]) -> io::Result<DnsResponse> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(query).await?;
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    loop {
        let count = socket.recv(&mut buffer).await?;
        if let Some(response) = dns_message::parse_response(query, &buffer[..count]) {
            return Ok(response);
        }
    }
}

async fn query_tcp(server: SocketAddr, query: &[u8]) -> io::Result<DnsResponse> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(query.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), query].concat()).await?;
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    dns_message::parse_response(query, &message)
        .ok_or_else(|| io::Error::other("the name server's response is for another query"))
}
