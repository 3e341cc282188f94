//! The only way out. Every outbound byte of the product passes here: pages, webhooks, model calls and, through
//! a loopback proxy, the browser. Owns the egress guard, name resolution, connections, fetching, redirects,
//! cookies and proxies. Never parses what it brings.
//!
//! The order of a fetch: [`Request`] (validated when made) → [`EgressPolicy`] (literal hosts) → names resolved by us →
//! [`EgressPolicy`] again (every address) → a connection to a checked address and no other → the answer → for
//! each redirect all of it once more. One [`Deadline`] stands above everything.

mod address;
mod allow;
mod connect;
mod cookies;
mod credentials;
mod deadline;
mod decode;
mod error;
mod fetch;
mod guard;
mod gzip;
mod headers;
mod pool;
pub mod proxy;
mod resolve;
mod route;
mod tls;

pub use address::AddressClass;
pub use allow::{AllowError, EgressAllow, Purpose};
pub use connect::Traffic;
pub use cookies::CookieJar;
pub use credentials::{CredentialScope, Credentials, HEADERS_FOR_ANY_HOST, Login, take_login, without_login};
pub use deadline::{Deadline, Elapsed};
pub use decode::Encoding;
pub use error::{BadUrl, Excess, FetchError, Phase, Refusal, TlsProblem};
pub use fetch::{
    AtLimit, BodySink, Fetched, Fetcher, FetcherSettings, Head, Hop, HopRule, Limits, Outcome, Request,
    Timings, Truncation, Validators, retry_after,
};
pub use guard::{CheckedAddress, Destination, EgressPolicy, LONGEST_URL};
pub use headers::{CustomHeaders, Locale, Profile};
pub use hyper::http::{HeaderMap, HeaderName, HeaderValue};
pub use hyper::{Method, StatusCode, Version};
pub use resolve::{NameServers, RecentNames, Resolve, SystemResolver};
pub use route::{Proxy, ProxyError, ProxySettings, Via};
pub use tls::{PemError, certificates_of_pem};
pub use tokio_rustls::rustls::pki_types::CertificateDer;
