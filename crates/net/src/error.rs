//! Everything that can go wrong on the way out, as one type. Capabilities map it to their own codes; no
//! one has to read texts. Texts from libraries are carried along bounded, for people only.

use crate::address::AddressClass;
use crate::allow::Purpose;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Why a fetch did not end in a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error("the address cannot be fetched: {0}")]
    BadUrl(BadUrl),
    /// The caller's own headers, body or options cannot be sent as they are.
    #[error("the request cannot be sent: {0}")]
    BadRequest(String),
    /// The guard said no, before a connection was made.
    #[error("refused: {0}")]
    Refused(Refusal),
    #[error("the name {host} does not exist or has no address: {detail}")]
    NameNotFound { host: String, detail: String },
    #[error("the name {host} could not be resolved: {detail}")]
    NameLookupFailed { host: String, detail: String },
    #[error("no connection to {to}: {detail}")]
    Connect { to: String, detail: String },
    #[error("TLS with {host} failed: {problem}")]
    Tls { host: String, problem: TlsProblem },
    #[error("the proxy did not let the request through: {0}")]
    Proxy(String),
    #[error("time ran out while {phase}, after {after:?}")]
    Timeout { phase: Phase, after: Duration },
    #[error("too large: {what} passed the limit of {limit}")]
    TooLarge { what: Excess, limit: u64 },
    /// The other side does not speak HTTP as it should.
    #[error("the answer is not valid HTTP: {0}")]
    BadProtocol(String),
    /// The connection ended before the answer did.
    #[error("the connection ended before the answer was complete: {0}")]
    Incomplete(String),
    #[error("more than {limit} redirects")]
    TooManyRedirects { limit: usize },
    /// A server sent us where nothing can be fetched: the site's mistake, not the caller's.
    #[error("a redirect leads to what cannot be fetched: {0}")]
    BadRedirect(BadUrl),
    #[error("the redirects lead back to {url}")]
    RedirectLoop { url: String },
    /// The body is not what its `Content-Encoding` says.
    #[error("the body is not valid {encoding}: {detail}")]
    BadEncoding { encoding: &'static str, detail: String },
}

/// What is wrong with an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadUrl {
    #[error("{0}")]
    Invalid(String),
    #[error("only http and https are fetched, not {0}")]
    Scheme(String),
    #[error("it has no host")]
    NoHost,
    #[error("port {0} belongs to another protocol")]
    Port(u16),
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
}

/// What the guard refused, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("{host} is at {address}, {class}, which is not open for {purpose}")]
    Address { host: String, address: IpAddr, class: AddressClass, purpose: Purpose },
    /// Through a proxy, which would resolve the name in its own network.
    #[error("{host} is a name of private networks, which is not open for {purpose}")]
    LocalName { host: String, purpose: Purpose },
    #[error("{address} is this server's own")]
    OwnListener { address: SocketAddr },
    #[error("a request may not choose its own proxy here")]
    RequestProxy,
    /// The rules the caller gave for this request: on the first address or on one a redirect led to.
    #[error("{url} is not allowed for this request")]
    Rule { url: String },
}

/// Why TLS failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsProblem {
    /// The certificate is for another name.
    WrongName,
    Expired,
    NotYetValid,
    UnknownIssuer,
    Revoked,
    /// The certificate is wrong in another way.
    Certificate(String),
    /// It did not come to a certificate.
    Handshake(String),
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongName => out.write_str("the certificate is for another name"),
            Self::Expired => out.write_str("the certificate has expired"),
            Self::NotYetValid => out.write_str("the certificate is not valid yet"),
            Self::UnknownIssuer => out.write_str("the certificate comes from an unknown issuer"),
            Self::Revoked => out.write_str("the certificate was revoked"),
            Self::Certificate(detail) | Self::Handshake(detail) => out.write_str(detail),
        }
    }
}

/// What a fetch was doing when its time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    Resolve,
    Connect,
    Tls,
    Proxy,
    /// Sending the request and waiting for the head of the answer.
    FirstByte,
    /// Between two pieces of the body.
    Idle,
    /// The body as a whole: the deadline of the request.
    Body,
    /// Waiting before the next attempt.
    Retry,
    /// Before more of the body is read: too much of others is in memory.
    Room,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Resolve => "resolving the name",
            Self::Connect => "connecting",
            Self::Tls => "agreeing on TLS",
            Self::Proxy => "waiting for the proxy",
            Self::FirstByte => "waiting for the answer",
            Self::Idle => "waiting for more of the body",
            Self::Body => "reading the body",
            Self::Retry => "waiting to try again",
            Self::Room => "waiting for memory to read the page into",
        })
    }
}

/// What grew too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Excess {
    /// The head of the answer, in bytes or in number of headers.
    Head,
    /// The body as it came over the wire.
    WireBody,
    /// The body after decompression.
    Body,
    /// Decompressed bytes for each compressed one.
    Ratio,
}

impl fmt::Display for Excess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Head => "the head of the answer",
            Self::WireBody => "the body on the wire",
            Self::Body => "the body",
            Self::Ratio => "the compression ratio",
        })
    }
}

impl From<BadUrl> for FetchError {
    fn from(bad: BadUrl) -> Self {
        Self::BadUrl(bad)
    }
}

impl From<Refusal> for FetchError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// An error with all its causes, on one bounded line.
pub(crate) fn detail(error: &(dyn std::error::Error + 'static)) -> String {
    const LONGEST: usize = 300;
    let mut text = error.to_string();
    let mut cause = error.source();
    // Chains are short; the bound is for those that are not.
    for _ in 0..8 {
        let Some(next) = cause else { break };
        let next_text = next.to_string();
        if !text.contains(&next_text) {
            text.push_str(": ");
            text.push_str(&next_text);
        }
        cause = next.source();
    }
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}
