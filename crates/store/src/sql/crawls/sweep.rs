//! What no worker would end: entries of lost workers, and crawls past their retention.

use super::super::{SqlConnection, Transaction};
use super::{CrawlBackend, progress};
use crate::StoreResult;
use crate::crawls::{CrawlState, CrawlSweep, EntryState};
use crate::ledger::progress::Moves;
use crate::rows::Columns;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The most entries that one sweep looks at.
const MAX_SWEPT_ENTRIES: i64 = 1_000;

/// Each crawl in a transaction of its own, so that sweepers of several processes do not block each other.
pub(super) async fn sweep(store: &impl CrawlBackend, max_attempts: u32) -> StoreResult<CrawlSweep> {
    let lost = store.query("crawls.lost").bind(MAX_SWEPT_ENTRIES).fetch_all(&mut store.reader()).await?;
    let mut by_crawl: BTreeMap<Uuid, Vec<i64>> = BTreeMap::new();
    for row in &lost {
        by_crawl.entry(row.id("crawl_id")?).or_default().push(row.int("seq")?);
    }
    let mut report = CrawlSweep::default();
    for (crawl, numbers) in by_crawl {
        match take_back(store, crawl, &numbers, max_attempts).await {
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
    store: &impl CrawlBackend,
    crawl: Uuid,
    numbers: &[i64],
    max_attempts: u32,
) -> StoreResult<Moves> {
    let mut tx = store.begin_ledger().await?;
    let found = progress::lock(&mut tx, crawl).await?;
    let mut moves = Moves::default();
    if found.is_none_or(|(progress, _)| progress.state != CrawlState::Active) {
        tx.query("crawls.forget_leases").bind(crawl).bind_list(numbers.to_vec()).execute(&mut tx).await?;
        tx.commit().await?;
        return Ok(moves);
    }
    let taken = tx
        .query("crawls.take_back")
        .bind(crawl)
        .bind_list(numbers.to_vec())
        .bind(i64::from(max_attempts))
        .fetch_all(&mut tx)
        .await?;
    for row in &taken {
        let to = if row.int("state")? == 0 { EntryState::Queued } else { EntryState::Fetched };
        moves.add(row.flag("is_lists")?, EntryState::Running, to);
    }
    progress::count_moves(&mut tx, &BTreeMap::from([(crawl, moves)])).await?;
    tx.announce().await?;
    tx.commit().await?;
    store.wake();
    Ok(moves)
}

/// Each call is short: a huge crawl must not hold its locks, or the only writer, for long while it goes.
pub(super) async fn purge(store: &impl CrawlBackend, limit: u32) -> StoreResult<u64> {
    let mut tx = store.begin_ledger().await?;
    let gone = tx.query("crawls.expired").bind(i64::from(limit)).fetch_all(&mut tx).await?;
    let mut private = false;
    for row in &gone {
        private |= row.flag("private")?;
    }
    if private {
        tx.overwrite_freed_pages(true).await?;
    }
    let gone = gone.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<_>>>()?;
    let mut left = u64::from(limit);
    if !gone.is_empty() {
        for statement in [
            // First what makes it readable, so that nobody sees half a crawl.
            "crawls.purge_payloads",
            "crawls.purge_documents",
            "crawls.purge_outcomes",
            "crawls.purge_entries",
            "crawls.purge",
        ] {
            let done =
                tx.query(statement).bind_list(gone.clone()).bind(left.cast_signed()).execute(&mut tx).await?;
            left = left.saturating_sub(done);
        }
    }
    let paces = tx.query("crawls.purge_paces").bind(left.cast_signed()).execute(&mut tx).await?;
    if private {
        tx.overwrite_freed_pages(false).await?;
    }
    tx.commit().await?;
    left = left.saturating_sub(paces);
    store.crawls_were_purged(private, left > 0).await?;
    Ok(u64::from(limit) - left)
}
