//! What a fetch gives back.

use crate::cookies::CookieJar;
use crate::decode::Encoding;
use crate::error::Excess;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::http::HeaderMap;
use hyper::http::header::CONTENT_LENGTH;
use hyper::{StatusCode, Version};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;
use url::Url;

/// Most that is set aside for a body before it comes.
const LARGEST_RESERVE: usize = 1 << 20;

/// The head of the last answer, as a [`BodySink`] sees it before the body.
#[derive(Debug, Clone)]
pub struct Head {
    /// Where the answer came from, after all redirects. Never holds a user or a password.
    pub url: Url,
    pub status: StatusCode,
    pub version: Version,
    pub headers: HeaderMap,
    /// The redirects on the way, oldest first.
    pub hops: Vec<Hop>,
    /// The other end of the connection: the server, or the proxy where there is one.
    pub remote: SocketAddr,
    /// Through which proxy, without its password.
    pub proxy: Option<String>,
    /// Codings of the body, in the order they were applied.
    pub encodings: Vec<Encoding>,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub url: Url,
    pub status: StatusCode,
    pub remote: SocketAddr,
    /// It led from https to http.
    pub downgrade: bool,
}

/// Where the time went. Phases that did not take place are zero: a kept connection resolves and connects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    pub resolve: Duration,
    pub connect: Duration,
    pub proxy: Duration,
    pub tls: Duration,
    /// From sending the last request to the head of its answer.
    pub first_byte: Duration,
    pub body: Duration,
    /// Everything, with redirects, retries and waits.
    pub total: Duration,
    /// The last request went over a connection that was already open.
    pub reused: bool,
}

/// Why a body is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truncation {
    /// The sink asked to stop.
    Stopped,
    /// A limit was met and the request said to cut there.
    Limit(Excess),
}

/// A fetch that came to an answer, without its body.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub head: Head,
    /// Body bytes as they came over the wire.
    pub wire_bytes: u64,
    /// Body bytes after decoding.
    pub body_bytes: u64,
    pub truncated: Option<Truncation>,
    pub timings: Timings,
    /// Requests made, redirects and retries included.
    pub requests: u32,
    /// The jar the request came with, and what the answers added.
    pub cookies: CookieJar,
}

/// A fetch with its body in memory.
#[derive(Debug, Clone)]
pub struct Fetched {
    pub outcome: Outcome,
    pub body: Bytes,
}

/// Takes a body as it arrives, decoded, and may stop it at any point. Called between network reads: it must
/// not block.
pub trait BodySink: Send {
    /// The head of the final answer. `Break` leaves the body unread.
    fn head(&mut self, head: &Head) -> ControlFlow<()> {
        let _ = head;
        ControlFlow::Continue(())
    }

    fn piece(&mut self, bytes: &[u8]) -> ControlFlow<()>;

    /// What to wait for before more of the body is read, after the head and after every piece: how a sink keeps what all bodies take
    /// together within bounds. The deadline of the fetch stands above it.
    fn room(&mut self) -> Option<BoxFuture<'_, ()>> {
        None
    }
}

/// Keeps everything.
impl BodySink for Vec<u8> {
    fn head(&mut self, head: &Head) -> ControlFlow<()> {
        // Room for what is announced, in moderation: the length is only a claim.
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        self.reserve(announced.unwrap_or(0usize).min(LARGEST_RESERVE));
        ControlFlow::Continue(())
    }

    fn piece(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}
