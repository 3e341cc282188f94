//! The listener: accepts connections, bounds them, and stops gracefully.

use crate::connection::{Abort, Connection, prepare};
use crate::envelope::in_error_format;
use crate::peers::{Network, PeerLimit, PeerPlace};
use crate::public::drop_forwarded;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// Connections at once; more wait in the kernel's queue.
pub const MAX_CONNECTIONS: usize = 4096;
/// A client that dribbles its headers, or sends nothing at all, is cut off.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// What is read ahead of one connection: the head of a request, and requests that are sent before the answer to the first.
const MAX_READ_AHEAD: usize = 64 * 1024;

/// How connections are treated.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How long open requests may go on after a stop.
    pub shutdown_grace: Duration,
    /// How long a client may leave an answer unread.
    pub write_timeout: Duration,
    /// Connections of one address at once; 0 = no limit.
    pub connections_per_address: usize,
    /// Proxies of the operator: what they say about callers is believed, and their connections are not counted.
    pub trusted_proxies: Vec<Network>,
}

impl ServeOptions {
    fn trusts(&self, peer: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(peer))
    }
}

/// Serves until `stop`; then accepts nothing more, lets open requests end for at most the grace, and returns.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, options: ServeOptions) {
    // HTTP/1.1 only: guessing the version would wait for the first bytes without a time limit, and
    // HTTP/2 belongs to the proxy that also does TLS.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MAX_READ_AHEAD);
    // Outside the router, because only there is the list of allowed methods known.
    let service = ServiceExt::<Request<Incoming>>::map_response(router, in_error_format);
    let connections = TaskTracker::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let peers = PeerLimit::new(options.connections_per_address);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, peer, place)) = accepted else { continue };
        let trusted = options.trusts(peer.ip());
        let counted = if trusted { Some(PeerPlace::uncounted()) } else { peers.take(peer.ip()) };
        let Some(counted) = counted else {
            stream.abort();
            metrics::counter!("gannet_connections_cut_total", "reason" => "too_many").increment(1);
            continue;
        };
        let stream = Connection::new(stream, options.write_timeout, (place, counted));
        let service = service.clone().map_request(move |request| drop_forwarded(request, trusted));
        let connection =
            builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).with_upgrades();
        let stop = stop.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            // A broken connection is the client's business; what it asked for was logged with its request.
            if let Err(error) = ended {
                tracing::trace!(%error, "connection ended badly");
            }
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(options.shutdown_grace, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            prepare(&stream);
            Some((stream, peer, place))
        }
        Err(error) => {
            // Out of file handles, most likely: give others time to close some.
            tracing::warn!(%error, "could not accept a connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
