//! A stream that counts its bytes, and stops reading when a response exceeds its budget. Counting at the
//! socket is how tests can prove that no byte bypassed a proxy.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Bytes sent and received over all connections of a fetcher, handshakes included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes exchanged directly with targets.
    pub direct: u64,
    /// Bytes exchanged with proxies.
    pub proxied: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TrafficCounter {
    pub(crate) direct: Arc<AtomicU64>,
    pub(crate) proxied: Arc<AtomicU64>,
}

impl TrafficCounter {
    pub(crate) fn snapshot(&self) -> Traffic {
        Traffic { direct: self.direct.load(Ordering::Relaxed), proxied: self.proxied.load(Ordering::Relaxed) }
    }
}

/// How many bytes a connection may still read before the next part of a response (its head or a chunk of its
/// body) must be complete. Independent of what the HTTP library makes of the bytes, so endless framing is
/// counted too.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    read: AtomicU64,
    limit: AtomicU64,
    /// The upper bound of `limit`, however many chunks come.
    max_total: AtomicU64,
    exhausted: AtomicBool,
}

impl ReadBudget {
    /// No limit until `start` is called.
    fn unlimited() -> Self {
        let all = || AtomicU64::new(u64::MAX);
        Self { read: AtomicU64::new(0), limit: all(), max_total: all(), exhausted: AtomicBool::new(false) }
    }

    /// The next part may take `bytes`, and all parts together `in_all`.
    pub(crate) fn start(&self, bytes: u64, in_all: u64) {
        self.max_total.store(self.read.load(Ordering::Relaxed).saturating_add(in_all), Ordering::Relaxed);
        self.extend(bytes);
    }

    /// A part is complete; the next one may take `bytes`.
    pub(crate) fn extend(&self, bytes: u64) {
        let limit = self.read.load(Ordering::Relaxed).saturating_add(bytes);
        self.limit.store(limit.min(self.max_total.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }
}

/// A TCP connection with byte counting.
#[derive(Debug)]
pub(crate) struct Metered {
    stream: TcpStream,
    traffic: Arc<AtomicU64>,
    budget: Arc<ReadBudget>,
}

impl Metered {
    pub(crate) fn new(stream: TcpStream, traffic: Arc<AtomicU64>) -> Self {
        let budget = Arc::new(ReadBudget::unlimited());
        Self { stream, traffic, budget }
    }

    pub(crate) fn budget(&self) -> Arc<ReadBudget> {
        Arc::clone(&self.budget)
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.budget.read.load(Ordering::Relaxed) > self.budget.limit.load(Ordering::Relaxed) {
            self.budget.exhausted.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("the response is too large")));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = (buffer.filled().len() - before) as u64;
        self.budget.read.fetch_add(count, Ordering::Relaxed);
        self.traffic.fetch_add(count, Ordering::Relaxed);
        polled
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &polled {
            self.traffic.fetch_add(*count as u64, Ordering::Relaxed);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
