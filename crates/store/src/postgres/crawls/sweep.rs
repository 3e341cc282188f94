//! What nobody else would end: entries of lost workers, and crawls past their keeping.

use super::super::PostgresStore;
use super::standing;
use crate::StoreResult;
use crate::crawls::{CrawlState, CrawlSweep, EntryState};
use crate::ledger::standing::Moves;
use crate::rows::Columns;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The most entries that one sweep looks at.
const SWEEP_LIMIT: i64 = 1_000;

/// Each crawl in a transaction of its own, so that sweepers of several processes do not block each other.
pub(super) async fn sweep(store: &PostgresStore, most_attempts: u32) -> StoreResult<CrawlSweep> {
    let lost =
        sqlx::query(include_str!("../sql/crawls/lost.sql")).bind(SWEEP_LIMIT).fetch_all(&store.pool).await?;
    let mut by_crawl: BTreeMap<Uuid, Vec<i64>> = BTreeMap::new();
    for row in &lost {
        by_crawl.entry(row.id("crawl_id")?).or_default().push(row.int("seq")?);
    }
    let mut report = CrawlSweep::default();
    for (crawl, numbers) in by_crawl {
        match take_back(store, crawl, &numbers, most_attempts).await {
            Ok(moves) => {
                report.requeued += (moves.queued + moves.lists_queued).unsigned_abs();
                report.abandoned += (moves.fetched + moves.lists_fetched).unsigned_abs();
            }
            Err(error) if error.is_retryable() => return Err(error),
            // One crawl whose entries cannot be taken back must not keep the others from it.
            Err(error) => tracing::warn!(%crawl, %error, "entries could not be taken back"),
        }
    }
    Ok(report)
}

/// Takes entries from their silent workers, those that did not speak after all.
async fn take_back(
    store: &PostgresStore,
    crawl: Uuid,
    numbers: &[i64],
    most_attempts: u32,
) -> StoreResult<Moves> {
    let mut tx = store.change_ledger().await?;
    let found = standing::lock(&mut tx, crawl).await?;
    let mut moves = Moves::default();
    if found.is_none_or(|(standing, _)| standing.state != CrawlState::Active) {
        sqlx::query(include_str!("../sql/crawls/forget_leases.sql"))
            .bind(crawl)
            .bind(numbers)
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        return Ok(moves);
    }
    let taken = sqlx::query(include_str!("../sql/crawls/take_back.sql"))
        .bind(crawl)
        .bind(numbers)
        .bind(i64::from(most_attempts))
        .fetch_all(&mut tx)
        .await?;
    for row in &taken {
        let to = if row.int("state")? == 0 { EntryState::Queued } else { EntryState::Fetched };
        moves.add(row.flag("is_lists")?, EntryState::Running, to);
    }
    standing::count_moves(&mut tx, &BTreeMap::from([(crawl, moves)])).await?;
    PostgresStore::announce(&mut tx).await?;
    tx.commit().await?;
    Ok(moves)
}

/// Each call is short: a huge crawl must not hold its locks for long while it goes.
pub(super) async fn purge(store: &PostgresStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.change_ledger().await?;
    let gone = sqlx::query(include_str!("../sql/crawls/purge_crawls.sql"))
        .bind(i64::from(limit))
        .fetch_all(&mut tx)
        .await?;
    let gone = gone.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<_>>>()?;
    let mut left = u64::from(limit);
    if !gone.is_empty() {
        for statement in [
            // First what makes it readable, so that nobody sees half a crawl.
            include_str!("../sql/crawls/purge_luggage.sql"),
            include_str!("../sql/crawls/purge_documents.sql"),
            include_str!("../sql/crawls/purge_outcomes.sql"),
            include_str!("../sql/crawls/purge_entries.sql"),
            include_str!("../sql/crawls/purge.sql"),
        ] {
            let done = sqlx::query(statement).bind(&gone).bind(left.cast_signed()).execute(&mut tx).await?;
            left = left.saturating_sub(done.rows_affected());
        }
    }
    let paces = sqlx::query(include_str!("../sql/crawls/purge_paces.sql"))
        .bind(left.cast_signed())
        .execute(&mut tx)
        .await?;
    tx.commit().await?;
    Ok(u64::from(limit) - left.saturating_sub(paces.rows_affected()))
}
