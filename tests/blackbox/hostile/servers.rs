//! Servers that misbehave, byte by byte. Each listens on a loopback port of its own and stops with the test's
//! runtime.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Longer than any test waits.
pub const FOR_EVER: Duration = Duration::from_mins(1);

/// A server that counts its connections.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    reached: Arc<AtomicUsize>,
}

impl Server {
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn reached(&self) -> usize {
        self.reached.load(Ordering::SeqCst)
    }
}

/// Passes every connection to `serve`.
pub async fn raw<F, Fut>(bind: &str, serve: F) -> Server
where
    F: Fn(TcpStream) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind(bind).await.unwrap();
    let server = Server { address: listener.local_addr().unwrap(), reached: Arc::default() };
    let reached = Arc::clone(&server.reached);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            reached.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream));
        }
    });
    server
}

/// Responds to each request with what `answer` returns for its head; connections are kept open.
pub async fn http(bind: &str, answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Server {
    let answer = Arc::new(answer);
    raw(bind, move |mut stream| {
        let answer = Arc::clone(&answer);
        async move {
            while let Some(head) = read_head(&mut stream).await {
                if stream.write_all(&answer(&head)).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

/// Reads a request, sends `bytes` and closes the connection.
pub async fn respond_and_close(bytes: impl Into<Vec<u8>>) -> Server {
    respond_and_wait(bytes.into(), Duration::ZERO).await
}

/// Reads a request, sends `bytes`, and then neither sends more nor closes the connection.
pub async fn respond_and_stall(bytes: impl Into<Vec<u8>>) -> Server {
    respond_and_wait(bytes.into(), FOR_EVER).await
}

async fn respond_and_wait(bytes: Vec<u8>, wait: Duration) -> Server {
    let bytes = Arc::new(bytes);
    raw("127.0.0.1:0", move |mut stream| {
        let bytes = Arc::clone(&bytes);
        async move {
            let head = read_head(&mut stream).await;
            let _ = stream.write_all(&bytes).await;
            let _ = stream.flush().await;
            if head.is_some() && wait.is_zero() {
                let _ = stream.shutdown().await;
            }
            wait_for_disconnect(&mut stream, wait).await;
        }
    })
    .await
}

/// Reads a request, sends `start`, and then `piece` again and again until the client disconnects.
pub async fn endless(start: &'static str, piece: &'static str, pause: Duration) -> Server {
    raw("127.0.0.1:0", move |mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(start.as_bytes()).await;
        repeat(&mut stream, piece.as_bytes(), pause).await;
    })
    .await
}

pub async fn repeat<S: AsyncWrite + Unpin>(stream: &mut S, piece: &[u8], pause: Duration) {
    while stream.write_all(piece).await.is_ok() {
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
}

/// Reads a request and resets the connection.
pub async fn resetting(bytes: &'static str) -> Server {
    raw("127.0.0.1:0", move |mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(bytes.as_bytes()).await;
        sleep(Duration::from_millis(50)).await;
        let _ = stream.set_zero_linger();
    })
    .await
}

pub async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 64 * 1024 {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// Waits until the client has disconnected, or `max_wait` is over.
async fn wait_for_disconnect(stream: &mut TcpStream, max_wait: Duration) {
    let mut rest = [0; 1024];
    let reading = async { while matches!(stream.read(&mut rest).await, Ok(1..)) {} };
    let _ = tokio::time::timeout(max_wait, reading).await;
}

/// A complete response.
pub fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    out.extend(b"\r\n");
    out.extend(body);
    out
}

pub fn page(text: &str) -> Vec<u8> {
    let body = format!(
        "<html><head><title>{text}</title></head><body><article><h1>{text}</h1><p>{PROSE}</p></article>"
    );
    answer("200 OK", &[("Content-Type", "text/html")], body.as_bytes())
}

/// Enough words to count as a page.
pub const PROSE: &str = "The gannets came back to the cliff in the third week of March, later than in any year since the \
    warden began to keep count. By the first of April every ledge was taken, and the noise could be heard from the pier.";

pub fn redirect(location: &str) -> Vec<u8> {
    answer("302 Found", &[("Location", location)], b"")
}
