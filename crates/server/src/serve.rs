//! The listener: accepts connections, limits them, and stops gracefully.

use crate::base_url::{drop_forwarding_headers, note_client_address};
use crate::connection::{Abort, Connection, configure_socket};
use crate::peers::{Network, PeerLimit, PeerSlot};
use crate::request_wrapper::to_error_format;
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
/// A client that sends its headers too slowly, or nothing at all, is disconnected.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Limit of the read buffer of one connection: the head of a request, and pipelined requests.
const MAX_READ_BUFFER_BYTES: usize = 64 * 1024;

/// Limits of connections.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How long open requests may continue after a stop.
    pub shutdown_grace: Duration,
    /// How long a client may leave a response unread.
    pub write_timeout: Duration,
    /// Concurrent connections of one client address; 0 = no limit.
    pub connections_per_address: usize,
    /// Proxies of the operator: their forwarding headers are trusted, and their connections are not
    /// counted.
    pub trusted_proxies: Vec<Network>,
}

impl ServeOptions {
    fn is_trusted(&self, peer: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(peer))
    }
}

/// Serves until `stop`; then accepts no more connections, waits for open requests for at most the grace
/// period, and returns.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, options: ServeOptions) {
    // HTTP/1.1 only: guessing the version would wait for the first bytes without a time limit, and
    // HTTP/2 belongs to the proxy that also does TLS.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(MAX_READ_BUFFER_BYTES);
    // Outside the router, because only there is the list of allowed methods known.
    let service = ServiceExt::<Request<Incoming>>::map_response(router, to_error_format);
    let connections = TaskTracker::new();
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let peers = PeerLimit::new(options.connections_per_address);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, peer, slot)) = accepted else { continue };
        let trusted = options.is_trusted(peer.ip());
        let peer_slot = if trusted { Some(PeerSlot::uncounted()) } else { peers.acquire(peer.ip()) };
        let Some(peer_slot) = peer_slot else {
            stream.abort();
            metrics::counter!("gannet_connections_cut_total", "reason" => "too_many").increment(1);
            continue;
        };
        let stream = Connection::new(stream, options.write_timeout, (slot, peer_slot));
        let meter = stream.meter();
        let service = service.clone().map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(meter.clone());
            let request = note_client_address(request, peer.ip(), trusted);
            drop_forwarding_headers(request, trusted)
        });
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
            // Connection errors are usually caused by the client; its requests have been logged.
            if let Err(error) = ended {
                tracing::trace!(%error, "connection ended with an error");
            }
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(options.shutdown_grace, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not finish within the grace period and were aborted");
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            configure_socket(&stream);
            Some((stream, peer, slot))
        }
        Err(error) => {
            // Most likely out of file descriptors: give other connections time to close.
            tracing::warn!(%error, "could not accept a connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
