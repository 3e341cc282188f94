//! What nobody else would end: runs of lost workers, runs that only wait, and those past their keeping.

use super::super::SqliteStore;
use crate::agents::Run;
use crate::agents::rows;
use crate::{StoreResult, clock};

/// The most runs that one sweep takes back.
const SWEEP_LIMIT: i64 = 500;

pub(super) async fn take_back(store: &SqliteStore) -> StoreResult<u64> {
    let done = sqlx::query(include_str!("../sql/agents/take_back.sql"))
        .bind(clock::now())
        .bind(SWEEP_LIMIT)
        .execute(&store.writer)
        .await?;
    store.wake_if(done.rows_affected() > 0);
    Ok(done.rows_affected())
}

pub(super) async fn stranded(store: &SqliteStore, most_lost: u32, limit: u32) -> StoreResult<Vec<Run>> {
    let found = sqlx::query(include_str!("../sql/agents/stranded.sql"))
        .bind(clock::now())
        .bind(i64::from(most_lost))
        .bind(i64::from(limit))
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(rows::run).collect()
}

/// Each call is one short transaction.
pub(super) async fn purge(store: &SqliteStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let now = clock::now();
    let mut left = u64::from(limit);
    for statement in [
        // First what makes it readable, so that nobody sees half a run.
        include_str!("../sql/agents/purge_luggage.sql"),
        include_str!("../sql/agents/purge_snapshots.sql"),
        include_str!("../sql/agents/purge_events.sql"),
        include_str!("../sql/agents/purge.sql"),
        include_str!("../sql/agents/purge_threads.sql"),
    ] {
        let done = sqlx::query(statement).bind(now).bind(left.cast_signed()).execute(&mut *tx).await?;
        left = left.saturating_sub(done.rows_affected());
    }
    tx.commit().await?;
    Ok(u64::from(limit) - left)
}
