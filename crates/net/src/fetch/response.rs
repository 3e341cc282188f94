//! The result of a fetch.

use crate::cookies::CookieJar;
use crate::decode::Encoding;
use crate::error::SizeLimit;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::http::HeaderMap;
use hyper::http::header::CONTENT_LENGTH;
use hyper::{StatusCode, Version};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;
use url::Url;

/// The most memory reserved for a body before it arrives.
const MAX_RESERVED_BYTES: usize = 1 << 20;

/// The head of the final response, which a [`BodySink`] gets before the body.
#[derive(Debug, Clone)]
pub struct ResponseHead {
    /// The URL of the response, after all redirects. Never contains a user name or password.
    pub url: Url,
    pub status: StatusCode,
    pub version: Version,
    pub headers: HeaderMap,
    /// The redirects that were followed, oldest first.
    pub hops: Vec<Hop>,
    /// The other end of the connection: the server, or the proxy if there is one.
    pub remote: SocketAddr,
    /// The proxy that was used, without its password.
    pub proxy: Option<String>,
    /// Content encodings of the body, in the order they were applied.
    pub encodings: Vec<Encoding>,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub url: Url,
    pub status: StatusCode,
    pub remote: SocketAddr,
    /// The redirect led from https to http.
    pub downgrade: bool,
}

/// Durations by phase. Phases that did not take place are zero: a reused connection needs no DNS and no TCP
/// connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    pub resolve: Duration,
    pub connect: Duration,
    pub proxy: Duration,
    pub tls: Duration,
    /// From sending the last request to receiving the response head.
    pub first_byte: Duration,
    pub body: Duration,
    /// The whole fetch, with redirects, retries and waits.
    pub total: Duration,
    /// The last request used a connection that was already open.
    pub reused: bool,
}

/// Why a body is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truncation {
    /// The sink asked to stop.
    Stopped,
    /// A limit was reached and the request said to truncate there.
    Limit(SizeLimit),
}

/// A response without its body.
#[derive(Debug, Clone)]
pub struct ResponseMeta {
    pub head: ResponseHead,
    /// Body bytes as received, before decoding.
    pub wire_bytes: u64,
    /// Body bytes after decoding.
    pub body_bytes: u64,
    pub truncated: Option<Truncation>,
    pub timings: Timings,
    /// Requests made, redirects and retries included.
    pub requests: u32,
    /// The cookies of the request and those that the responses set.
    pub cookies: CookieJar,
}

/// A response with its body in memory.
#[derive(Debug, Clone)]
pub struct FetchedResponse {
    pub meta: ResponseMeta,
    pub body: Bytes,
}

/// Receives a decoded body as it arrives, and may stop it at any point. Called between network reads, so it
/// must not block.
pub trait BodySink: Send {
    /// The head of the final response. `Break` leaves the body unread.
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        let _ = head;
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()>;

    /// A future to wait for before more of the body is read, after the head and after every chunk. A sink
    /// uses it to bound the memory of all bodies together. The deadline of the fetch still applies.
    fn wait_for_room(&mut self) -> Option<BoxFuture<'_, ()>> {
        None
    }
}

/// Collects the whole body.
impl BodySink for Vec<u8> {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        // Reserves the announced length, within bounds: it is only a claim.
        let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        self.reserve(announced.unwrap_or(0usize).min(MAX_RESERVED_BYTES));
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}
