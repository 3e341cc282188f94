//! Settling: what fetched entries come to, what they lead to, what they cost, and the end when nothing is
//! left.

use super::super::charges::charge_unreserved;
use super::super::credits::{charge_in, left_in};
use super::super::{SqlConnection, Transaction, webhooks};
use super::{CrawlBackend, progress, start};
use crate::crawls::{CrawlState, EntryDecision, Settled, Settlement};
use crate::ledger::decisions;
use crate::ledger::progress::CrawlProgress;
use crate::ledger::rows;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn settle_entries(
    store: &impl CrawlBackend,
    crawl: Uuid,
    version: u64,
    settlement: &Settlement,
) -> StoreResult<Settled> {
    if settlement.credits < 0 {
        return Err(StoreError::Misuse("credits cannot be negative".into()));
    }
    let mut tx = store.begin_ledger().await?;
    let found = progress::lock(&mut tx, crawl).await?;
    let Some((mut progress, now)) = found.filter(|(one, _)| one.is_live_at(version)) else {
        return Ok(Settled::Overtaken);
    };
    // What is settled goes: results of attempts, documents that do not count, the memory of before.
    if progress.private {
        tx.overwrite_freed_pages(true).await?;
    }
    apply_decisions(store, &mut tx, &mut progress, &settlement.decisions).await?;
    revive(&mut tx, &mut progress, &settlement.revived).await?;
    start::find(store, &mut tx, &mut progress, &settlement.found).await?;
    if let Some(memory) = &settlement.memory {
        tx.query("crawls.settlement_memory_write").bind(crawl).bind(memory).execute(&mut tx).await?;
    }
    charge(&mut tx, &mut progress, settlement.credits, now).await?;
    webhooks::insert(&mut tx, &settlement.deliveries).await?;
    progress.version += 1;
    progress.scan_again();
    if progress.is_done() {
        let reservation = progress.end(CrawlState::Completed, None, now);
        progress::release(&mut tx, reservation).await?;
        webhooks::insert(&mut tx, &settlement.at_end).await?;
    }
    progress::write(&mut tx, &progress).await?;
    if progress.private {
        tx.overwrite_freed_pages(false).await?;
    }
    // Something new, or room under the limit for something that waited.
    if progress.tally.queued + progress.tally.lists_queued > 0 {
        tx.announce().await?;
    }
    tx.commit().await?;
    // There may be more to start, and webhooks to send.
    store.wake();
    Ok(Settled::Now(progress.state))
}

async fn apply_decisions<B: CrawlBackend>(
    store: &B,
    tx: &mut B::Tx,
    progress: &mut CrawlProgress,
    decisions: &[(u64, EntryDecision)],
) -> StoreResult<()> {
    if decisions.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = decisions.iter().filter_map(|(seq, _)| i64::try_from(*seq).ok()).collect();
    let waiting = tx.query("crawls.waiting").bind(progress.id).bind_list(numbers).fetch_all(tx).await?;
    let waiting = waiting.iter().map(rows::waiting).collect::<StoreResult<Vec<_>>>()?;
    let judged = decisions::judge(progress, decisions, &waiting)?;
    store.write_decisions(tx, progress.id, judged).await
}

/// Queues skipped entries after all.
async fn revive(
    tx: &mut impl SqlConnection,
    progress: &mut CrawlProgress,
    numbers: &[u64],
) -> StoreResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = numbers.iter().filter_map(|seq| i64::try_from(*seq).ok()).collect();
    let revived = tx.query("crawls.revive").bind(progress.id).bind_list(numbers).execute(tx).await?;
    progress.tally.revive(i64::try_from(revived).unwrap_or(i64::MAX));
    Ok(())
}

async fn charge(
    tx: &mut impl SqlConnection,
    progress: &mut CrawlProgress,
    credits: i64,
    now: Millis,
) -> StoreResult<()> {
    if credits == 0 {
        return Ok(());
    }
    progress.credits += credits;
    // Files cost more than was set aside for a page. More was set aside when they were read, but entries that were
    // added to a batch at that moment brought a new reservation, which knows nothing of it.
    let mut unreserved = credits;
    if let Some(reservation) = progress.reservation {
        let covered = left_in(tx, reservation).await?.unwrap_or(credits).min(credits);
        charge_in(tx, reservation, covered).await?;
        unreserved -= covered;
    }
    if unreserved == 0 {
        return Ok(());
    }
    charge_unreserved(tx, progress.spender(clock::period(now).0), unreserved).await
}
