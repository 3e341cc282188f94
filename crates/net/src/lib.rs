//! Outbound HTTP: fetching pages, calling webhooks and model servers, and the loopback proxy that the browser
//! must use. Owns the egress guard, DNS, connections, redirects, cookies and proxies. Never parses the bodies
//! it fetches. One kind of outbound traffic does not pass here: object storage (S3), for which the `store`
//! crate has a client of its own, because its endpoint is an operator's setting and never a caller's.
//!
//! The order of a fetch: [`Request`] (validated when it is made) → [`EgressPolicy`] (hosts that are IP
//! addresses) → DNS by our own resolver → [`EgressPolicy`] again (every resolved address) → a connection to a
//! checked address and to no other → the response → for each redirect all of it again. One [`Deadline`]
//! bounds everything. Mail servers are reached over a [`GuardedStream`], a connection made under the same
//! rules.

mod address;
mod allow;
mod bot_auth;
mod connect;
mod cookies;
mod credentials;
mod deadline;
mod decode;
mod error;
mod fetch;
mod guard;
mod guarded_stream;
mod gzip;
mod headers;
mod pool;
pub mod proxy;
mod resolve;
mod route;
mod tls;

pub use address::AddressClass;
pub use allow::{AllowError, EgressAllow, Purpose};
pub use bot_auth::{BOT_DIRECTORY_PATH, BotIdentity, BotKeyError, SIGNATURE_HEADERS};
pub use connect::Traffic;
pub use cookies::CookieJar;
pub use credentials::{CredentialScope, Credentials, HEADERS_FOR_ANY_HOST, Login, take_login, without_login};
pub use deadline::{Deadline, Elapsed};
pub use decode::Encoding;
pub use error::{BadUrl, EgressError, FetchError, Phase, SizeLimit, TlsError};
pub use fetch::{
    AtLimit, BodySink, FetchedResponse, Fetcher, FetcherSettings, Hop, Limits, Request, ResponseHead,
    ResponseMeta, Timings, Truncation, UrlRule, Validators, parse_retry_after, retry_after,
};
pub use guard::{CheckedAddress, Destination, EgressPolicy, MAX_URL_BYTES};
pub use guarded_stream::GuardedStream;
pub use headers::{CustomHeaders, Locale, Profile};
pub use hyper::http::{HeaderMap, HeaderName, HeaderValue};
pub use hyper::{Method, StatusCode, Version};
pub use resolve::{CachingResolver, DnsResolver, Resolve, SystemResolver};
pub use route::{Proxy, ProxyError, ProxySettings, Via};
pub use tls::{PemError, parse_pem_certificates};
pub use tokio_rustls::rustls::pki_types::CertificateDer;
