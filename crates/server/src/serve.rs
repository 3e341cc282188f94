//! The listener: accepts connections, bounds them, and stops gracefully.

use crate::envelope::in_error_format;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// Connections at once; more wait in the kernel's queue.
pub const MAX_CONNECTIONS: usize = 4096;
/// A client that dribbles its headers, or sends nothing at all, is cut off.
const HEADER_TIME: Duration = Duration::from_secs(30);

/// Serves until `stop`; then accepts nothing more, lets open requests end for at most `grace`, and returns.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, grace: Duration) {
    // HTTP/1.1 only: guessing the version would wait for the first bytes without a time limit, and
    // HTTP/2 belongs to the proxy that also does TLS.
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    // Outside the router, because only there is the list of allowed methods known.
    let service =
        TowerToHyperService::new(ServiceExt::<Request<Incoming>>::map_response(router, in_error_format));
    let connections = TaskTracker::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        let connection = builder.serve_connection(TokioIo::new(stream), service.clone()).with_upgrades();
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
            drop(place);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Small answers should leave at once; a socket that refuses the option still works.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            // Out of file handles, most likely: give others time to close some.
            tracing::warn!(%error, "could not accept a connection");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
