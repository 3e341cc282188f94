//! All errors of outbound requests, as one type. Callers match on it and map it to their own error codes;
//! nobody has to read the texts. Texts from libraries are included for people to read, bounded in length.

use crate::address::AddressClass;
use crate::allow::Purpose;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Why a fetch did not end in a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error("the URL cannot be fetched: {0}")]
    BadUrl(BadUrl),
    /// The caller's own headers, body or options cannot be sent as they are.
    #[error("the request cannot be sent: {0}")]
    BadRequest(String),
    /// The egress guard refused before a connection was made.
    #[error("{0}")]
    Refused(EgressError),
    #[error("{host} does not exist or has no address")]
    NameNotFound { host: String, detail: String },
    #[error("DNS lookup of {host} failed: {detail}")]
    NameLookupFailed { host: String, detail: String },
    #[error("could not connect to {to}: {detail}")]
    Connect { to: String, detail: String },
    #[error("TLS connection to {host} failed: {error}")]
    Tls { host: String, error: TlsError },
    #[error("proxy error: {0}")]
    Proxy(String),
    #[error("timed out while {phase}, after {after:?}")]
    Timeout { phase: Phase, after: Duration },
    #[error("too large: {what} exceeds the limit of {limit}")]
    TooLarge { what: SizeLimit, limit: u64 },
    /// The other side does not speak valid HTTP.
    #[error("the response is not valid HTTP: {0}")]
    BadProtocol(String),
    /// The connection was closed before the response was complete.
    #[error("the connection was closed before the response was complete: {0}")]
    Incomplete(String),
    /// The connection was closed in the middle of the body: a part of it came.
    #[error("the connection was closed in the middle of the body: {0}")]
    CutOff(String),
    #[error("too many redirects: more than {limit}")]
    TooManyRedirects { limit: usize },
    /// A redirect to a URL that cannot be fetched: the site's mistake, not the caller's.
    #[error("invalid redirect: {0}")]
    BadRedirect(BadUrl),
    #[error("redirect loop at {url}")]
    RedirectLoop { url: String },
    /// The body is not what its `Content-Encoding` says.
    #[error("the body is not valid {encoding}: {detail}")]
    BadEncoding { encoding: &'static str, detail: String },
}

impl FetchError {
    /// Whether something came back that is no valid response. Some servers answer so to clients that they do
    /// not expect.
    pub fn is_broken_response(&self) -> bool {
        matches!(self, Self::BadProtocol(_) | Self::Incomplete(_) | Self::BadEncoding { .. })
    }
}

/// The beginning of a sentence about where a host is; a host that is an address is named once.
fn host_and_address(host: &str, address: IpAddr) -> String {
    let is_address = host.trim_matches(['[', ']']).parse() == Ok(address);
    if is_address { format!("{address} is ") } else { format!("{host} is at {address}, ") }
}

/// What is wrong with a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadUrl {
    #[error("{0}")]
    Invalid(String),
    #[error("only http and https URLs can be fetched, not {0}")]
    Scheme(String),
    #[error("the URL has no host")]
    NoHost,
    #[error("port {0} is blocked because it belongs to another protocol")]
    Port(u16),
    #[error("the URL is longer than {0} bytes")]
    TooLong(usize),
}

/// Why the egress guard refused a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressError {
    #[error("{}{class}, which is not allowed for {purpose}", host_and_address(.host, *.address))]
    Address { host: String, address: IpAddr, class: AddressClass, purpose: Purpose },
    /// Only for requests through a proxy, which would resolve the name in its own network.
    #[error("{host} is a private network name, which is not allowed for {purpose}")]
    LocalName { host: String, purpose: Purpose },
    #[error("{address} is this server's own address")]
    OwnListener { address: SocketAddr },
    #[error("requests may not choose their own proxy here")]
    RequestProxy,
    /// The caller's own rule for this request refused the first URL or a redirect target.
    #[error("{url} is not allowed for this request")]
    Rule { url: String },
}

/// Why TLS failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificate is for another name.
    WrongName,
    Expired,
    NotYetValid,
    UnknownIssuer,
    Revoked,
    /// The certificate is invalid in another way.
    Certificate(String),
    /// The handshake failed before a certificate was checked.
    Handshake(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongName => out.write_str("the certificate is for another host name"),
            Self::Expired => out.write_str("the certificate has expired"),
            Self::NotYetValid => out.write_str("the certificate is not valid yet"),
            Self::UnknownIssuer => out.write_str("the certificate is from an unknown issuer"),
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
    /// Sending the request and waiting for the response head.
    FirstByte,
    /// Between two chunks of the body.
    Idle,
    /// The body as a whole: the deadline of the request passed.
    Body,
    /// Waiting before the next attempt.
    Retry,
    /// Waiting for memory before more of the body is read: other bodies use too much of it.
    Room,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Resolve => "resolving the host name",
            Self::Connect => "connecting",
            Self::Tls => "negotiating TLS",
            Self::Proxy => "waiting for the proxy",
            Self::FirstByte => "waiting for the response",
            Self::Idle => "waiting for more of the body",
            Self::Body => "reading the body",
            Self::Retry => "waiting to retry",
            Self::Room => "waiting for memory for the body",
        })
    }
}

/// What grew too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SizeLimit {
    /// The response head, in bytes or in number of headers.
    Head,
    /// The body as it came over the wire.
    WireBody,
    /// The body after decompression.
    Body,
    /// Decompressed bytes per compressed byte.
    Ratio,
}

impl fmt::Display for SizeLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Head => "the response head",
            Self::WireBody => "the compressed body",
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

impl From<EgressError> for FetchError {
    fn from(refusal: EgressError) -> Self {
        Self::Refused(refusal)
    }
}

/// The text of an error with all its causes, on one line of bounded length.
pub(crate) fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    const MAX_BYTES: usize = 300;
    let mut text = error.to_string();
    let mut cause = error.source();
    // Chains are short in practice; the bound protects against endless ones.
    for _ in 0..8 {
        let Some(next) = cause else { break };
        let next_text = next.to_string();
        if !text.contains(&next_text) {
            text.push_str(": ");
            text.push_str(&next_text);
        }
        cause = next.source();
    }
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push('…');
    }
    text
}
