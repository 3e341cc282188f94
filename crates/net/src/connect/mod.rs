//! Makes connections: resolve, check, connect to the checked addresses, tunnel, TLS. The only module of this
//! crate that opens TCP connections to other machines. Speaks no HTTP beyond a proxy's `CONNECT`.

mod metered;
mod tunnel;

pub use metered::Traffic;
pub(crate) use metered::{ReadBudget, TrafficCounter};

use crate::allow::Purpose;
use crate::deadline::Deadline;
use crate::error::{FetchError, Phase, error_chain};
use crate::guard::{CheckedAddress, Destination, EgressPolicy};
use crate::resolve::{Resolve, means_not_found};
use crate::route::{Proxy, ProxyKind, Route};
use crate::tls::{self, Tls};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use metered::Metered;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long one address may take before the next is tried in parallel.
const NEXT_ADDRESS_DELAY: Duration = Duration::from_millis(250);
/// The most addresses of one host that are tried.
const MAX_DIALED_ADDRESSES: usize = 6;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How long the phases of opening a connection took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ConnectTimings {
    pub(crate) resolve: Duration,
    pub(crate) connect: Duration,
    pub(crate) proxy: Duration,
    pub(crate) tls: Duration,
}

/// A connection that is ready for HTTP.
pub(crate) struct OpenedConnection {
    pub(crate) stream: Pin<Box<dyn Stream>>,
    pub(crate) http2: bool,
    pub(crate) remote: SocketAddr,
    pub(crate) budget: Arc<ReadBudget>,
    pub(crate) timings: ConnectTimings,
}

/// Opens connections under one egress policy.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) policy: EgressPolicy,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) tls: Tls,
    pub(crate) traffic: TrafficCounter,
}

/// What to connect to, and how.
pub(crate) struct ConnectRequest<'a> {
    pub(crate) purpose: Purpose,
    pub(crate) destination: &'a Destination,
    pub(crate) route: &'a Route,
    pub(crate) check_certificate: bool,
    /// Bytes are passed on unchanged: without TLS of ours, and through a tunnel with every kind of proxy.
    pub(crate) raw: bool,
    /// For DNS, TCP, tunnel and TLS together.
    pub(crate) deadline: Deadline,
}

impl Connector {
    pub(crate) async fn open(&self, request: &ConnectRequest<'_>) -> Result<OpenedConnection, FetchError> {
        // Also when a proxy does the DNS: an IP address needs none.
        self.policy.check_literal(request.purpose, request.destination)?;
        match request.route {
            Route::Direct => self.open_direct(request).await,
            Route::Through(proxy) => {
                self.policy.check_through_proxy(request.purpose, request.destination)?;
                self.open_through(request, proxy).await
            }
        }
    }

    async fn open_direct(&self, request: &ConnectRequest<'_>) -> Result<OpenedConnection, FetchError> {
        let ConnectRequest { purpose, destination, deadline, .. } = *request;
        let mut timings = ConnectTimings::default();
        let started = Instant::now();
        let addresses = match destination.literal() {
            Some(address) => vec![address],
            None => self.resolve(&destination.name(), deadline).await?,
        };
        let checked = self.policy.check_addresses(purpose, destination, &addresses)?;
        timings.resolve = started.elapsed();
        let started = Instant::now();
        let checked = checked.iter().map(|address: &CheckedAddress| address.socket_address()).collect();
        let (stream, remote) = dial(checked, &destination.authority(), deadline).await?;
        timings.connect = started.elapsed();
        let metered = meter(stream, &self.traffic.direct);
        self.finish_with_tls(request, Box::pin(metered.0), metered.1, remote, timings).await
    }

    async fn open_through(
        &self,
        request: &ConnectRequest<'_>,
        proxy: &Proxy,
    ) -> Result<OpenedConnection, FetchError> {
        let ConnectRequest { destination, deadline, .. } = *request;
        let mut timings = ConnectTimings::default();
        let started = Instant::now();
        let addresses: Vec<IpAddr> = match &proxy.host {
            url::Host::Ipv4(address) => vec![(*address).into()],
            url::Host::Ipv6(address) => vec![(*address).into()],
            url::Host::Domain(name) => self.resolve(name, deadline).await.map_err(as_proxy_error)?,
        };
        timings.resolve = started.elapsed();
        let started = Instant::now();
        let sockets = addresses.iter().map(|address| SocketAddr::new(*address, proxy.port)).collect();
        let (stream, remote) = dial(sockets, &proxy.authority(), deadline).await.map_err(as_proxy_error)?;
        timings.connect = started.elapsed();
        let started = Instant::now();
        let (metered, budget) = meter(stream, &self.traffic.proxied);
        let mut stream: Pin<Box<dyn Stream>> = Box::pin(metered);
        if proxy.kind == ProxyKind::Https {
            let name = match &proxy.host {
                url::Host::Domain(name) => name.clone(),
                url::Host::Ipv4(address) => address.to_string(),
                url::Host::Ipv6(address) => address.to_string(),
            };
            stream = tls_handshake(self.tls.without_alpn(), &name, stream, deadline)
                .await
                .map_err(as_proxy_error)?
                .0;
        }
        // Plain http through an HTTP proxy needs no tunnel: the request line names the target.
        let tunnel = async {
            match proxy.kind {
                ProxyKind::Socks5 => tunnel::connect_socks5(&mut stream, proxy, destination).await,
                _ if destination.tls || request.raw => {
                    tunnel::connect_http(&mut stream, proxy, destination).await
                }
                _ => Ok(()),
            }
        };
        deadline.run(tunnel).await.map_err(|_| timeout(Phase::Proxy, started))??;
        timings.proxy = started.elapsed();
        self.finish_with_tls(request, stream, budget, remote, timings).await
    }

    async fn finish_with_tls(
        &self,
        request: &ConnectRequest<'_>,
        stream: Pin<Box<dyn Stream>>,
        budget: Arc<ReadBudget>,
        remote: SocketAddr,
        mut timings: ConnectTimings,
    ) -> Result<OpenedConnection, FetchError> {
        let ConnectRequest { destination, check_certificate, deadline, .. } = *request;
        if !destination.tls || request.raw {
            return Ok(OpenedConnection { stream, http2: false, remote, budget, timings });
        }
        let started = Instant::now();
        let connector = self.tls.for_pages(check_certificate);
        let (stream, http2) = tls_handshake(connector, &destination.name(), stream, deadline).await?;
        timings.tls = started.elapsed();
        Ok(OpenedConnection { stream, http2, remote, budget, timings })
    }

    async fn resolve(&self, host: &str, deadline: Deadline) -> Result<Vec<IpAddr>, FetchError> {
        let started = Instant::now();
        let found =
            deadline.run(self.resolver.resolve(host)).await.map_err(|_| timeout(Phase::Resolve, started))?;
        let host = host.to_owned();
        match found {
            Ok(addresses) if addresses.is_empty() => {
                Err(FetchError::NameNotFound { host, detail: "no addresses".into() })
            }
            Ok(addresses) => Ok(addresses),
            Err(error) if means_not_found(&error) => {
                Err(FetchError::NameNotFound { host, detail: error_chain(&error) })
            }
            Err(error) => Err(FetchError::NameLookupFailed { host, detail: error_chain(&error) }),
        }
    }
}

fn meter(stream: TcpStream, traffic: &Arc<AtomicU64>) -> (Metered, Arc<ReadBudget>) {
    let metered = Metered::new(stream, Arc::clone(traffic));
    let budget = metered.budget();
    (metered, budget)
}

/// Connects to the first address that accepts. The next one is tried when one fails, or in parallel when it
/// is slow, so that a dead IPv6 route costs a moment and not the whole timeout.
async fn dial(
    addresses: Vec<SocketAddr>,
    to: &str,
    deadline: Deadline,
) -> Result<(TcpStream, SocketAddr), FetchError> {
    let started = Instant::now();
    let mut waiting = interleave_families(addresses).into_iter().take(MAX_DIALED_ADDRESSES);
    let mut running = FuturesUnordered::new();
    let mut last_error = String::from("no address");
    let race = async {
        loop {
            let Some(next) = waiting.next() else {
                // No address left to try; wait for the attempts in progress.
                while let Some((address, outcome)) = running.next().await {
                    match outcome {
                        Ok(stream) => return Some((stream, address)),
                        Err(error) => last_error = error_text(&error),
                    }
                }
                return None;
            };
            running.push(async move { (next, TcpStream::connect(next).await) });
            tokio::select! {
                Some((address, outcome)) = running.next() => match outcome {
                    Ok(stream) => return Some((stream, address)),
                    Err(error) => last_error = error_text(&error),
                },
                () = sleep(NEXT_ADDRESS_DELAY) => {}
            }
        }
    };
    let connected = deadline.run(race).await.map_err(|_| timeout(Phase::Connect, started))?;
    let Some((stream, address)) = connected else {
        return Err(FetchError::Connect { to: to.to_owned(), detail: last_error });
    };
    // Small requests must not be delayed; a failure here only costs speed.
    let _ = stream.set_nodelay(true);
    Ok((stream, address))
}

/// What the system says, without its number.
fn error_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// Alternates between IPv4 and IPv6, starting with the family of the first address.
fn interleave_families(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v4 = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let longest = first.len().max(second.len());
    (0..longest).flat_map(|place| [first.get(place), second.get(place)]).flatten().copied().collect()
}

pub(crate) async fn tls_handshake(
    connector: &TlsConnector,
    host: &str,
    stream: Pin<Box<dyn Stream>>,
    deadline: Deadline,
) -> Result<(Pin<Box<dyn Stream>>, bool), FetchError> {
    let started = Instant::now();
    let host = host.strip_suffix('.').unwrap_or(host);
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| crate::error::BadUrl::Invalid("the host is not a valid TLS server name".into()))?;
    let stream = deadline
        .run(connector.connect(name, stream))
        .await
        .map_err(|_| timeout(Phase::Tls, started))?
        .map_err(|error| FetchError::Tls { host: host.to_owned(), error: tls::handshake_error(&error) })?;
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok((Box::pin(stream), http2))
}

fn timeout(phase: Phase, started: Instant) -> FetchError {
    FetchError::Timeout { phase, after: started.elapsed() }
}

/// An error on the way to a proxy is the proxy's, not the target's.
fn as_proxy_error(error: FetchError) -> FetchError {
    match error {
        FetchError::Timeout { after, .. } => FetchError::Timeout { phase: Phase::Proxy, after },
        other => FetchError::Proxy(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let socket = |text: &str| text.parse::<SocketAddr>().unwrap();
        let given = ["[::1]:1", "[::2]:1", "1.1.1.1:1", "[::3]:1"].map(socket).to_vec();
        let expected = ["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"].map(socket).to_vec();
        assert_eq!(interleave_families(given), expected);
        assert!(interleave_families(Vec::new()).is_empty());
    }
}
