//! Runs that no worker would end: those of lost workers, those that only wait, and those past their
//! retention.

use super::super::{Backend, SqlConnection, Transaction};
use crate::StoreResult;
use crate::agents::Run;
use crate::agents::rows;
use crate::rows::Columns;

/// The most runs that one sweep takes back.
const MAX_TAKEN_BACK: i64 = 500;

pub(super) async fn take_back(store: &impl Backend) -> StoreResult<u64> {
    let mut tx = store.begin().await?;
    let done = tx.query("agents.take_back").bind(MAX_TAKEN_BACK).execute(&mut tx).await?;
    if done > 0 {
        tx.announce().await?;
    }
    tx.commit().await?;
    if done > 0 {
        store.wake();
    }
    Ok(done)
}

pub(super) async fn stranded(
    store: &impl Backend,
    max_lost_leases: u32,
    limit: u32,
) -> StoreResult<Vec<Run>> {
    let found = store
        .query("agents.stranded")
        .bind(i64::from(max_lost_leases))
        .bind(i64::from(limit))
        .fetch_all(&mut store.reader())
        .await?;
    found.iter().map(rows::run).collect()
}

/// Each call is one short transaction.
pub(super) async fn purge(store: &impl Backend, limit: u32) -> StoreResult<u64> {
    let mut tx = store.begin().await?;
    let gone = tx.query("agents.expired").bind(i64::from(limit)).fetch_all(&mut tx).await?;
    let gone = gone.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<_>>>()?;
    let mut left = u64::from(limit);
    if !gone.is_empty() {
        for statement in [
            // First what makes it readable, so that nobody sees half a run.
            "agents.purge_payloads",
            "agents.purge_snapshots",
            "agents.purge_events",
            "agents.purge",
        ] {
            let done =
                tx.query(statement).bind_list(gone.clone()).bind(left.cast_signed()).execute(&mut tx).await?;
            left = left.saturating_sub(done);
        }
    }
    let threads = tx.query("agents.purge_threads").bind(left.cast_signed()).execute(&mut tx).await?;
    tx.commit().await?;
    Ok(u64::from(limit) - left.saturating_sub(threads))
}
