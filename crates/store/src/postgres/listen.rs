//! Wake-ups from other processes: LISTEN on a connection of its own, come back when it is lost.

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

const CHANNEL: &str = "gannet_work";
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The task that listens; it ends with this value.
#[derive(Debug)]
pub(super) struct Listener {
    task: JoinHandle<()>,
}

impl Listener {
    pub(super) fn start(connection: PgConnectOptions, wait: Duration, work: watch::Sender<u64>) -> Self {
        Self { task: tokio::spawn(listen(connection, wait, work)) }
    }

    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn listen(connection: PgConnectOptions, wait: Duration, work: watch::Sender<u64>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(wait)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(connection.clone());
        let lost = follow(&pool, &work, &mut pause).await;
        tracing::warn!(error = %lost, "wake-ups from the database stopped; polling goes on");
        pool.close().await;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Passes wake-ups on until the connection is lost; returns why.
async fn follow(pool: &sqlx::PgPool, work: &watch::Sender<u64>, pause: &mut Duration) -> sqlx::Error {
    let mut listener = match PgListener::connect_with(pool).await {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    if let Err(error) = listener.listen(CHANNEL).await {
        return error;
    }
    *pause = FIRST_PAUSE;
    loop {
        // Also once at the start and after a silent reconnection: something may have been missed.
        work.send_modify(|count| *count = count.wrapping_add(1));
        if let Err(error) = listener.try_recv().await {
            return error;
        }
    }
}
