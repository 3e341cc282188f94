//! A stream that counts what passes, and stops reading when the head of an answer grows past its budget.
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

/// How much a connection may still read before the head of the present answer must be complete.
#[derive(Debug, Default)]
pub(crate) struct HeadBudget {
    read: AtomicU64,
    until: AtomicU64,
    spent: AtomicBool,
}

impl HeadBudget {
    /// A head is awaited: `bytes` more may be read.
    pub(crate) fn start(&self, bytes: u64) {
        self.until.store(self.read.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
    }

    /// The head is there; bodies have limits of their own.
    pub(crate) fn lift(&self) {
        self.until.store(u64::MAX, Ordering::Relaxed);
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
    budget: Arc<HeadBudget>,
}

impl Metered {
    pub(crate) fn new(stream: TcpStream, traffic: Arc<AtomicU64>) -> Self {
        let budget = Arc::new(HeadBudget { until: AtomicU64::new(u64::MAX), ..HeadBudget::default() });
        Self { stream, traffic, budget }
    }

    pub(crate) fn budget(&self) -> Arc<HeadBudget> {
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
            return Poll::Ready(Err(io::Error::other("the head of the answer is too large")));
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
