//! The janitor: takes back what lost workers held, and deletes what has expired. Every process runs
//! one; each round does bounded work and is safe to run beside others.

use crate::callers::Callers;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::objects::Objects;
use tokio_util::sync::CancellationToken;

/// Activity is shown for a day.
pub const ACTIVITY_KEPT: Duration = Duration::from_hours(24);
/// Rows deleted in one transaction, and transactions in one round: others must get a turn.
const PURGE_BATCH: u32 = 2000;
const PURGE_BATCHES: u32 = 500;

#[derive(Debug, Clone, Copy)]
pub struct JanitorOptions {
    /// How often lost leases and passed deadlines are looked for.
    pub sweep_every: Duration,
    /// How often expired results, objects and counters are deleted.
    pub purge_every: Duration,
    /// The most bytes that stored objects may take; the soonest to expire go first.
    pub object_ceiling: u64,
}

/// Runs until told to stop. Errors are logged and the next round tries again.
pub async fn run(
    store: Arc<dyn Store>,
    objects: Arc<Objects>,
    callers: Arc<Callers>,
    options: JanitorOptions,
    stop: CancellationToken,
) {
    let mut next_purge = tokio::time::Instant::now();
    while stop.run_until_cancelled(tokio::time::sleep(options.sweep_every)).await.is_some() {
        match store.sweep().await {
            Ok(report) if report.requeued + report.abandoned + report.overdue > 0 => {
                tracing::info!(?report, "swept jobs of lost workers and overdue jobs");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "sweep failed"),
        }
        if let Err(error) = callers.flush_used().await {
            tracing::warn!(%error, "could not note when keys were used");
        }
        if tokio::time::Instant::now() >= next_purge {
            purge(store.as_ref(), &objects, options.object_ceiling).await;
            next_purge = tokio::time::Instant::now() + options.purge_every;
        }
    }
}

async fn purge(store: &dyn Store, objects: &Objects, ceiling: u64) {
    let rounds: [(&str, store::StoreResult<()>); 5] = [
        ("jobs", purge_jobs(store).await),
        ("activity", store.purge_activity(ACTIVITY_KEPT).await.map(drop)),
        ("limits", store.sweep_limits().await),
        ("reservations", store.sweep_reservations().await.map(drop)),
        ("objects", objects.sweep(ceiling).await.map(drop)),
    ];
    for (what, outcome) in rounds {
        if let Err(error) = outcome {
            tracing::warn!(%error, what, "could not delete what has expired");
        }
    }
}

async fn purge_jobs(store: &dyn Store) -> store::StoreResult<()> {
    for _ in 0..PURGE_BATCHES {
        if store.purge(PURGE_BATCH).await? < u64::from(PURGE_BATCH) {
            break;
        }
    }
    Ok(())
}
