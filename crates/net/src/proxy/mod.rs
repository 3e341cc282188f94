//! The proxy the browser must use: on a loopback port, for holders of a lease only, with every target through
//! the same guard, resolver and routes as the fetcher. Interception inside a browser sees addresses as
//! text and misses sockets of pages; down here nothing is missed. Never looks into what it passes on.

mod lease;
mod passage;

pub use lease::{Lease, LeaseRules, LeaseTraffic};

use crate::connect::{Connector, Opened, Wanted};
use crate::error::{BadUrl, FetchError};
use crate::fetch::Fetcher;
use crate::guard::Destination;
use crate::route::Routes;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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

const USER: &str = "lease";
const MOST_CONNECTIONS: usize = 1024;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Hosts a browser calls by itself whatever its flags say. Pages do not need them.
const CALLS_HOME: [&str; 14] = [
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

/// A request of the browser that did not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfetched {
    /// `host:port`
    pub target: String,
    pub why: WhyNot,
}

/// Why it did not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNot {
    /// The browser's own business, not the page's.
    CallHome,
    /// The holder of the lease forbids the host.
    Forbidden,
    Failed(FetchError),
}

/// The running proxy. Dropping it ends it and everything that passes through it.
pub struct LoopbackProxy {
    address: SocketAddr,
    leases: Leases,
    ended: CancellationToken,
}

/// What every connection needs.
struct Gate {
    connector: Connector,
    routes: Arc<Routes>,
    leases: Leases,
}

impl LoopbackProxy {
    /// Starts on a free loopback port, under the rules of `fetcher`.
    pub async fn start(fetcher: &Fetcher) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (mut connector, routes) = fetcher.ways();
        // An open loopback network must not let a page talk to the proxy through the proxy.
        connector.policy = connector.policy.without_listener(address);
        let leases = Leases::default();
        let gate = Arc::new(Gate { connector, routes, leases: leases.clone() });
        let ended = CancellationToken::new();
        tokio::spawn(accept(listener, gate, ended.clone()));
        Ok(Self { address, leases, ended })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens the proxy for one holder.
    pub fn lease(&self, rules: LeaseRules) -> io::Result<Lease> {
        let mut secret = [0; 24];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        Ok(self.leases.add(STANDARD.encode(secret), rules, self.ended.child_token()))
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

async fn accept(listener: TcpListener, gate: Arc<Gate>, ended: CancellationToken) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let accepting = async {
        loop {
            // Beyond the limit the kernel's queue holds the rest back.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let serving = passage::serve(Arc::clone(&gate), stream, Arc::new(place));
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

impl Gate {
    /// Whose request this is; `None` for strangers.
    fn holder(&self, headers: &HeaderMap) -> Option<Arc<LeaseState>> {
        let text = headers.get(PROXY_AUTHORIZATION)?.to_str().ok()?;
        let (scheme, coded) = text.split_once(' ')?;
        let plain = STANDARD.decode(coded.trim()).ok()?;
        let plain = String::from_utf8(plain).ok()?;
        let (user, password) = plain.split_once(':')?;
        // Looked up by 192 random bits: a comparison that takes longer gives nothing away worth having.
        if scheme.eq_ignore_ascii_case("basic") && user == USER { self.leases.find(password) } else { None }
    }

    /// Opens the way to a target, if it may be opened.
    async fn open(&self, lease: &LeaseState, destination: &Destination) -> Result<Opened, WhyNot> {
        let host = destination.name();
        let host = host.strip_suffix('.').unwrap_or(&host);
        if CALLS_HOME.contains(&host) && host != lease.rules.page_host {
            return Err(WhyNot::CallHome);
        }
        if let Some(hosts) = &lease.rules.hosts
            && !address_of(destination).is_some_and(|url| hosts(&url))
        {
            return Err(WhyNot::Forbidden);
        }
        let route = self.routes.choose(lease.rules.purpose, &lease.rules.via).map_err(WhyNot::Failed)?;
        let wanted = Wanted {
            purpose: lease.rules.purpose,
            destination,
            route: &route,
            check_certificate: true,
            bare: true,
            deadline: lease.rules.deadline.child(CONNECT_LIMIT),
        };
        self.connector.open(&wanted).await.map_err(WhyNot::Failed)
    }
}

/// Where a `CONNECT host:port` wants to go.
fn tunnel_target(authority: Option<&hyper::http::uri::Authority>) -> Result<Destination, FetchError> {
    // Read by `url`, as every other address, so that odd spellings of hosts end up plain.
    let text = authority.map(ToString::to_string).unwrap_or_default();
    let url = Url::parse(&format!("https://{text}/")).map_err(|error| BadUrl::Invalid(error.to_string()))?;
    if text.contains('@') {
        return Err(BadUrl::Invalid("a tunnel takes no login".into()).into());
    }
    Ok(Destination::of(&url)?)
}

/// A destination as an address, for rules about hosts.
fn address_of(destination: &Destination) -> Option<Url> {
    let scheme = if destination.tls { "https" } else { "http" };
    Url::parse(&format!("{scheme}://{}:{}/", destination.host, destination.port)).ok()
}

/// `host:port`, for people.
fn shown(host: &Host<String>, port: u16) -> String {
    format!("{host}:{port}")
}
