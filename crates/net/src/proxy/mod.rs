//! The proxy the browser must use. It listens on a loopback port, serves holders of a lease only, and sends
//! every target through the same guard, resolver and routes as the fetcher. Interception inside the browser
//! sees URLs as text and misses some of the sockets that pages open; here nothing is missed. Never looks into
//! the bytes it forwards.

mod connection;
mod lease;

pub use lease::{FailureReply, Lease, LeaseRules, LeaseTraffic, PeerRule};

use crate::connect::{ConnectRequest, Connector, OpenedConnection};
use crate::error::{BadUrl, FetchError};
use crate::fetch::Fetcher;
use crate::guard::Destination;
use crate::route::Routes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use hyper::http::header::{HeaderMap, PROXY_AUTHORIZATION};
use lease::{LeaseState, Leases};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

/// The body of the response to a plain request that failed. The browser crate recognises such a response by
/// its length.
pub const FAILED_REQUEST_BODY: &str = "not fetched";

const USER: &str = "lease";
/// The name of the lease that needs no password.
const NO_PASSWORD: &str = "";
const MAX_CONNECTIONS: usize = 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Hosts that a browser contacts by itself whatever its flags say. Pages do not need them.
const BROWSER_SERVICE_HOSTS: [&str; 14] = [
    "accounts.google.com",
    "android.clients.google.com",
    "clients1.google.com",
    "clients2.google.com",
    "clients2.googleusercontent.com",
    "clients3.google.com",
    "clients4.google.com",
    "clientservices.googleapis.com",
    "content-autofill.googleapis.com",
    "edgedl.me.gvt1.com",
    "optimizationguide-pa.googleapis.com",
    "redirector.gvt1.com",
    "safebrowsing.googleapis.com",
    "update.googleapis.com",
];

/// A request of the browser that the proxy did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// `host:port`
    pub target: String,
    pub error: RequestError,
}

/// Why a request through the proxy failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The browser's own background services, not the page.
    BrowserService,
    /// The rules of the lease forbid the host.
    HostNotAllowed,
    Fetch(FetchError),
}

/// The running proxy. Dropping it stops it and all its connections.
pub struct LoopbackProxy {
    address: SocketAddr,
    leases: Leases,
    ended: CancellationToken,
}

/// What every connection shares.
struct ProxyContext {
    connector: Connector,
    routes: Arc<Routes>,
    leases: Leases,
    address: SocketAddr,
}

impl LoopbackProxy {
    /// Starts on a free loopback port, with the rules of `fetcher`.
    pub fn start(fetcher: &Fetcher) -> BoxFuture<'_, io::Result<Self>> {
        Box::pin(async move {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            let (mut connector, routes) = fetcher.connector_and_routes();
            // Even where loopback is allowed, a page must not reach the proxy through the proxy.
            connector.policy = connector.policy.refuse_own_listener(address);
            let leases = Leases::default();
            let context = Arc::new(ProxyContext { connector, routes, leases: leases.clone(), address });
            let ended = CancellationToken::new();
            tokio::spawn(accept(listener, context, ended.clone()));
            Ok(Self { address, leases, ended })
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives access without a password to those who connect and whom `peers` knows: for a proxy that serves one browser
    /// only. Chromium cannot be given a password at its start, and asking for it over the protocol would interfere
    /// with the interception of whoever drives that browser. A page of another browser cannot use it even where
    /// loopback addresses are allowed: what it sends through its own proxy never has the form of a proxy request.
    pub fn lease_without_password(&self, rules: LeaseRules, peers: PeerRule) -> Lease {
        self.leases.add(NO_PASSWORD.to_owned(), rules, Some(peers), self.ended.child_token())
    }

    /// Gives one holder access to the proxy.
    pub fn lease(&self, rules: LeaseRules) -> io::Result<Lease> {
        let mut secret = [0; 24];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        Ok(self.leases.add(STANDARD.encode(secret), rules, None, self.ended.child_token()))
    }
}

impl fmt::Debug for LoopbackProxy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LoopbackProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for LoopbackProxy {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

async fn accept(listener: TcpListener, context: Arc<ProxyContext>, ended: CancellationToken) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accepting = async {
        loop {
            // Beyond the limit, connections wait in the kernel's queue.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let serving = connection::serve(Arc::clone(&context), stream, peer, Arc::new(permit));
                    let ended = ended.clone();
                    tokio::spawn(async move { ended.run_until_cancelled(serving).await });
                }
                // Out of file handles: waiting is better than spinning.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    ended.run_until_cancelled(accepting).await;
}

impl ProxyContext {
    /// The lease that a request of this peer belongs to; `None` if it has no valid password, and needs one.
    async fn find_lease(&self, headers: &HeaderMap, peer: SocketAddr) -> Option<Arc<LeaseState>> {
        let lease = self.lease_of_password(headers)?;
        let Some(peers) = lease.peers.clone() else { return Some(lease) };
        let proxy = self.address;
        let is_known = tokio::task::spawn_blocking(move || peers(peer, proxy)).await.unwrap_or(false);
        if !is_known {
            tracing::debug!(%peer, "a stranger asked the proxy of a browser");
        }
        is_known.then_some(lease)
    }

    fn lease_of_password(&self, headers: &HeaderMap) -> Option<Arc<LeaseState>> {
        let Some(header) = headers.get(PROXY_AUTHORIZATION) else { return self.leases.find(NO_PASSWORD) };
        let text = header.to_str().ok()?;
        let (scheme, coded) = text.split_once(' ')?;
        let plain = STANDARD.decode(coded.trim()).ok()?;
        let plain = String::from_utf8(plain).ok()?;
        let (user, password) = plain.split_once(':')?;
        // The password has 192 random bits, so the timing of the lookup reveals nothing useful.
        if scheme.eq_ignore_ascii_case("basic") && user == USER { self.leases.find(password) } else { None }
    }

    /// Connects to a target, if it is allowed.
    async fn open(
        &self,
        lease: &LeaseState,
        destination: &Destination,
    ) -> Result<OpenedConnection, RequestError> {
        let host = destination.name();
        let host = host.strip_suffix('.').unwrap_or(&host);
        if BROWSER_SERVICE_HOSTS.contains(&host) && host != lease.rules.page_host {
            return Err(RequestError::BrowserService);
        }
        if let Some(hosts) = &lease.rules.allowed_hosts
            && !destination_url(destination).is_some_and(|url| hosts(&url))
        {
            return Err(RequestError::HostNotAllowed);
        }
        let route = self.routes.choose(lease.rules.purpose, &lease.rules.via).map_err(RequestError::Fetch)?;
        let request = ConnectRequest {
            purpose: lease.rules.purpose,
            destination,
            route: &route,
            check_certificate: true,
            raw: true,
            deadline: lease.rules.deadline.child(CONNECT_TIMEOUT),
        };
        self.connector.open(&request).await.map_err(RequestError::Fetch)
    }
}

/// The target of a `CONNECT host:port`.
fn tunnel_target(authority: Option<&hyper::http::uri::Authority>) -> Result<Destination, FetchError> {
    // Parsed by `url`, like every other URL, so that unusual spellings of hosts become plain.
    let text = authority.map(ToString::to_string).unwrap_or_default();
    let url = Url::parse(&format!("https://{text}/")).map_err(|error| BadUrl::Invalid(error.to_string()))?;
    if text.contains('@') {
        return Err(BadUrl::Invalid("a tunnel target must not contain a login".into()).into());
    }
    Ok(Destination::from_url(&url)?)
}

/// The URL of a destination, for rules about hosts.
fn destination_url(destination: &Destination) -> Option<Url> {
    let scheme = if destination.tls { "https" } else { "http" };
    Url::parse(&format!("{scheme}://{}:{}/", destination.host, destination.port)).ok()
}

fn host_and_port(host: &Host<String>, port: u16) -> String {
    format!("{host}:{port}")
}
