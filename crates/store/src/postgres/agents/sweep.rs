//! What nobody else would end: runs of lost workers, runs that only wait, and those past their keeping.

use super::super::PostgresStore;
use crate::StoreResult;
use crate::agents::Run;
use crate::agents::rows;
use crate::rows::Columns;

/// The most runs that one sweep takes back.
const SWEEP_LIMIT: i64 = 500;

pub(super) async fn take_back(store: &PostgresStore) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let done =
        sqlx::query(include_str!("../sql/agents/take_back.sql")).bind(SWEEP_LIMIT).execute(&mut tx).await?;
    if done.rows_affected() > 0 {
        PostgresStore::announce(&mut tx).await?;
    }
    tx.commit().await?;
    Ok(done.rows_affected())
}

pub(super) async fn stranded(store: &PostgresStore, most_lost: u32, limit: u32) -> StoreResult<Vec<Run>> {
    let found = sqlx::query(include_str!("../sql/agents/stranded.sql"))
        .bind(i64::from(most_lost))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::run).collect()
}

/// Each call is one short transaction.
pub(super) async fn purge(store: &PostgresStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let gone = sqlx::query(include_str!("../sql/agents/expired.sql"))
        .bind(i64::from(limit))
        .fetch_all(&mut tx)
        .await?;
    let gone = gone.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<_>>>()?;
    let mut left = u64::from(limit);
    if !gone.is_empty() {
        for statement in [
            // First what makes it readable, so that nobody sees half a run.
            include_str!("../sql/agents/purge_luggage.sql"),
            include_str!("../sql/agents/purge_snapshots.sql"),
            include_str!("../sql/agents/purge_events.sql"),
            include_str!("../sql/agents/purge.sql"),
        ] {
            let done = sqlx::query(statement).bind(&gone).bind(left.cast_signed()).execute(&mut tx).await?;
            left = left.saturating_sub(done.rows_affected());
        }
    }
    let threads = sqlx::query(include_str!("../sql/agents/purge_threads.sql"))
        .bind(left.cast_signed())
        .execute(&mut tx)
        .await?;
    tx.commit().await?;
    Ok(u64::from(limit) - left.saturating_sub(threads.rows_affected()))
}
