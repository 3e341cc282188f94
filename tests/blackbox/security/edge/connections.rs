//! Connections: clients that do not read, clients that read slowly, and clients that open too many.

use super::set_if_known;
use crate::http::Http;
use crate::server::{Server, ServerConfig};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use testkit::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

/// The largest response that needs no key.
const LARGE_RESPONSE_PATH: &str = "GET /v2/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn address(server: &Server) -> SocketAddr {
    server.http.base.strip_prefix("http://").unwrap().parse().unwrap()
}

/// A client with a small receive buffer: what it does not read stays with the server.
async fn connect(server: &Server) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    socket.connect(address(server)).await.unwrap()
}

/// Whether the server has closed this connection, found out without reading.
fn is_cut(client: &TcpStream) -> bool {
    match client.try_write(b"\r\n") {
        Ok(_) => false,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

#[tokio::test]
async fn clients_that_do_not_read_are_disconnected_and_slow_ones_are_served() {
    let dir = TempDir::new();
    let server = set_if_known(ServerConfig::at(dir.path()), "write_timeout", "2s").start().await;
    let mut stuck = Vec::new();
    for _ in 0..10 {
        let mut client = connect(&server).await;
        client.write_all(LARGE_RESPONSE_PATH.repeat(20).as_bytes()).await.unwrap();
        stuck.push(client);
    }
    // Slow but steady: for longer than the time limit, and it gets three complete responses.
    let slow = async {
        let mut client = connect(&server).await;
        let last = "GET /v2/openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        client.write_all([LARGE_RESPONSE_PATH, LARGE_RESPONSE_PATH, last].concat().as_bytes()).await.unwrap();
        let (mut all, mut piece) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            match client.read(&mut piece).await.expect("the slow client is not cut") {
                0 => return all,
                count => all.extend_from_slice(&piece[..count]),
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    let began = Instant::now();
    let all = slow.await;
    assert!(began.elapsed() > Duration::from_millis(2500), "took {:?}", began.elapsed());
    let document = Http::new(&server.http.base, None).get("/v2/openapi.json").await.unwrap().text;
    let whole = String::from_utf8(all).unwrap();
    assert_eq!(whole.matches(&document).count(), 3, "{} bytes", whole.len());
    let end = Instant::now() + Duration::from_secs(6);
    while !stuck.iter().all(is_cut) {
        assert!(
            Instant::now() < end,
            "{} connections are still open",
            stuck.iter().filter(|one| !is_cut(one)).count()
        );
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn one_address_cannot_take_all_connections() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).set("connections_per_address", "3").start().await;
    let mut held = Vec::new();
    for _ in 0..6 {
        // A connection over the limit may be closed before the call returns.
        held.extend(TcpStream::connect(address(&server)).await);
    }
    let end = Instant::now() + Duration::from_secs(5);
    while held.iter().filter(|client| !is_cut(client)).count() > 3 {
        assert!(Instant::now() < end, "all of them are held");
        sleep(Duration::from_millis(20)).await;
    }
    held.clear();
    let fresh = Http::new(&server.http.base, None);
    while fresh.get("/health").await.is_err() {
        assert!(Instant::now() < end, "places are not free again");
        sleep(Duration::from_millis(20)).await;
    }
    // Behind a proxy all callers come from one address.
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path())
        .set("connections_per_address", "1")
        .set("trusted_proxies", "127.0.0.0/8");
    let server = config.start().await;
    let mut held = Vec::new();
    for _ in 0..6 {
        held.push(TcpStream::connect(address(&server)).await.unwrap());
    }
    Http::new(&server.http.base, None).get("/health").await.expect("proxies are not counted");
    assert!(!held.iter().any(is_cut));
}
