//! An accepted connection as hyper reads and writes it. It keeps its slots in the connection limits until it
//! is closed, also after an upgrade to a WebSocket, and it is closed if the client stops reading while a
//! response is being written.

use crate::message_meter::MessageMeter;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A blocked connection must accept this many bytes in every write timeout, so that reading single bytes does
/// not keep it open. A slow link moves much more: the kernel asks for more only after some 60 KB have been
/// sent, which takes half a minute at 2 KB a second.
const MIN_PROGRESS_BYTES: usize = 16 * 1024;
/// What is read at once. hyper begins with a buffer of 8 KB for each connection and doubles it whenever a read fills it,
/// up to the limit for the head of a request: whoever connects could have that much kept by sending a long body. Reads
/// that never fill it leave it as it is.
const MAX_READ_BYTES: usize = 8 * 1024 - 1;
/// Unsent bytes that the kernel buffers for one connection. With its default of several megabytes a slow
/// reader would seem to make no progress for minutes, because the socket only becomes writable again after a
/// third has been sent.
#[cfg(target_os = "linux")]
const MAX_UNSENT_BYTES: u32 = 16 * 1024;

/// A stream that can be closed without waiting for the other side.
pub trait Abort {
    fn abort(&self);
}

impl Abort for TcpStream {
    fn abort(&self) {
        // Otherwise the kernel would keep offering the unread bytes to the client. A socket that rejects the
        // option is closed anyway.
        let _ = self.set_zero_linger();
    }
}

/// Prepares an accepted socket: small responses are sent at once, and the progress of large ones is visible.
pub fn configure_socket(stream: &TcpStream) {
    // A socket that rejects an option still works.
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(MAX_UNSENT_BYTES);
}

/// A stream with a timeout for writes that make no progress. Idle connections, which have nothing to write,
/// are not limited here.
pub struct Connection<S, P> {
    stream: S,
    write_timeout: Duration,
    blocked: Option<Blocked>,
    meter: MessageMeter,
    /// Held until the connection is closed.
    _slots: P,
}

/// The client has not accepted everything that was written.
struct Blocked {
    /// Bytes accepted since the timer was started.
    taken: usize,
    timer: Pin<Box<Sleep>>,
}

impl<S: Abort, P> Connection<S, P> {
    pub fn new(stream: S, write_timeout: Duration, slots: P) -> Self {
        Self { stream, write_timeout, blocked: None, meter: MessageMeter::default(), _slots: slots }
    }

    /// Counts what is read, once the connection has become a WebSocket whose messages are limited.
    pub fn meter(&self) -> MessageMeter {
        self.meter.clone()
    }

    /// Records the result of a write of `offered` bytes, and ends the connection if writes are blocked for
    /// too long.
    fn note_write(
        &mut self,
        cx: &mut Context<'_>,
        offered: usize,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) if count >= offered => self.blocked = None,
            Poll::Ready(Ok(count)) => {
                if let Some(blocked) = &mut self.blocked {
                    blocked.taken += count;
                    if blocked.taken >= MIN_PROGRESS_BYTES {
                        blocked.taken = 0;
                        blocked.timer.as_mut().reset(Instant::now() + self.write_timeout);
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let timeout = self.write_timeout;
                let start = || Blocked { taken: 0, timer: Box::pin(sleep(timeout)) };
                ready!(self.blocked.get_or_insert_with(start).timer.as_mut().poll(cx));
                self.stream.abort();
                metrics::counter!("gannet_connections_cut_total", "reason" => "not_reading").increment(1);
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client does not read the response",
                )));
            }
        }
        written
    }
}

impl<S: AsyncRead + Abort + Unpin, P: Unpin> AsyncRead for Connection<S, P> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut part = [0; MAX_READ_BYTES];
        let most = part.len().min(buffer.remaining());
        let mut part = ReadBuf::new(&mut part[..most]);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        buffer.put_slice(part.filled());
        let counted = self.meter.note_read(part.filled().len());
        if counted.is_err() {
            self.stream.abort();
            metrics::counter!("gannet_connections_cut_total", "reason" => "too_much_at_once").increment(1);
        }
        Poll::Ready(counted)
    }
}

impl<S: AsyncWrite + Abort + Unpin, P: Unpin> AsyncWrite for Connection<S, P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note_write(cx, bytes.len(), written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.note_write(cx, slices.iter().map(|slice| slice.len()).sum(), written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S, P> std::fmt::Debug for Connection<S, P> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Connection").field("blocked", &self.blocked.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    impl Abort for DuplexStream {
        fn abort(&self) {}
    }

    const TIMEOUT: Duration = Duration::from_millis(300);

    fn connection() -> (Connection<DuplexStream, ()>, DuplexStream) {
        let (ours, theirs) = duplex(1024);
        (Connection::new(ours, TIMEOUT, ()), theirs)
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let (mut ours, _theirs) = connection();
        let began = Instant::now();
        let error = ours.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= TIMEOUT);
    }

    #[tokio::test]
    async fn reading_single_bytes_does_not_keep_a_connection() {
        let (mut ours, mut theirs) = connection();
        tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                tokio::time::sleep(TIMEOUT / 30).await;
            }
        });
        let written = tokio::time::timeout(TIMEOUT * 20, ours.write_all(&vec![0; 64 * 1024])).await;
        assert_eq!(written.expect("cut").unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_slow_reader_gets_everything() {
        let (mut ours, mut theirs) = connection();
        let reader = tokio::spawn(async move {
            let (mut total, mut buffer) = (0, [0; 1024]);
            while total < 200 * 1024 {
                total += theirs.read(&mut buffer).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let began = Instant::now();
        ours.write_all(&vec![0; 200 * 1024]).await.unwrap();
        reader.await.unwrap();
        assert!(began.elapsed() > TIMEOUT * 2, "it took longer than one timeout");
    }

    #[tokio::test]
    async fn a_read_never_fills_the_buffer_that_would_then_be_doubled() {
        let (ours, mut theirs) = duplex(1 << 20);
        let mut ours = Connection::new(ours, TIMEOUT, ());
        let sent: Vec<u8> = (0..100_000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        theirs.write_all(&sent).await.unwrap();
        drop(theirs);
        let (mut received, mut buffer) = (Vec::new(), [0; 8192]);
        loop {
            let count = ours.read(&mut buffer).await.unwrap();
            if count == 0 {
                break;
            }
            assert!(count < 8192);
            received.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(received, sent);
    }

    #[tokio::test]
    async fn an_idle_connection_has_no_limit() {
        let (mut ours, mut theirs) = connection();
        ours.write_all(b"one").await.unwrap();
        tokio::time::sleep(TIMEOUT * 2).await;
        ours.write_all(b"two").await.unwrap();
        let mut read = [0; 6];
        theirs.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"onetwo");
    }
}
