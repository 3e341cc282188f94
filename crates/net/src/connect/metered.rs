//! A stream that counts what passes, and stops reading when an answer grows past its budget.
//! Counting here, at the socket, is what makes "bytes that left another way" a number.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What has left and come in over all connections of a fetcher, handshakes included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes exchanged directly with targets.
    pub direct: u64,
    /// Bytes exchanged with proxies.
    pub proxied: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TrafficCount {
    pub(crate) direct: Arc<AtomicU64>,
    pub(crate) proxied: Arc<AtomicU64>,
}

impl TrafficCount {
    pub(crate) fn read(&self) -> Traffic {
        Traffic { direct: self.direct.load(Ordering::Relaxed), proxied: self.proxied.load(Ordering::Relaxed) }
    }
}

/// How much a connection may still read before the next part of an answer, its head or a piece of its body, must be
/// there. What an HTTP library makes of the bytes does not matter here: framing that never comes to an end is counted too.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    read: AtomicU64,
    until: AtomicU64,
    /// Where `until` ends, however many pieces come.
    most: AtomicU64,
    spent: AtomicBool,
}

impl ReadBudget {
    /// Nothing is limited before it is asked for.
    fn unlimited() -> Self {
        let all = || AtomicU64::new(u64::MAX);
        Self { read: AtomicU64::new(0), until: all(), most: all(), spent: AtomicBool::new(false) }
    }

    /// The next part may take `bytes`, and it and all that follow `in_all`.
    pub(crate) fn start(&self, bytes: u64, in_all: u64) {
        self.most.store(self.read.load(Ordering::Relaxed).saturating_add(in_all), Ordering::Relaxed);
        self.go_on(bytes);
    }

    /// The part is there; the next one may take `bytes`.
    pub(crate) fn go_on(&self, bytes: u64) {
        let until = self.read.load(Ordering::Relaxed).saturating_add(bytes);
        self.until.store(until.min(self.most.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    pub(crate) fn was_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }
}

/// A TCP connection, counted.
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
        if self.budget.read.load(Ordering::Relaxed) > self.budget.until.load(Ordering::Relaxed) {
            self.budget.spent.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("the answer is too large")));
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
