//! The listener: accepts connections, bounds them, and stops gracefully.

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Connections at once; more wait in the kernel's queue.
pub const MAX_CONNECTIONS: usize = 4096;
/// A client that dribbles its headers is cut off.
const HEADER_TIME: Duration = Duration::from_secs(15);
/// Streams of one HTTP/2 connection at once.
const MAX_STREAMS: u32 = 256;

/// Serves until `stop`; then accepts nothing more, lets open requests end for at most `grace`, and returns.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, grace: Duration) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(MAX_STREAMS);
    let builder = Arc::new(builder);
    let service = TowerToHyperService::new(router);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        let watcher = graceful.watcher();
        let (builder, service) = (builder.clone(), service.clone());
        tokio::spawn(async move {
            let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
            // A broken connection is the client's business; what it asked for was logged with its request.
            if let Err(error) = watcher.watch(connection.into_owned()).await {
                tracing::trace!(%error, "connection ended badly");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
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
