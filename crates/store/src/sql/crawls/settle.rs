//! Settling: what fetched entries come to, what they lead to, what they cost, and the end when nothing is
//! left.

use super::super::charges::charge_unreserved;
use super::super::credits::charge_in;
use super::super::{SqlConnection, Transaction, webhooks};
use super::{CrawlBackend, standing, start};
use crate::crawls::{CrawlState, Fate, Settled, Settlement};
use crate::ledger::fates;
use crate::ledger::rows;
use crate::ledger::standing::Standing;
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
    let found = standing::lock(&mut tx, crawl).await?;
    let Some((mut standing, now)) = found.filter(|(one, _)| one.is_live_at(version)) else {
        return Ok(Settled::Overtaken);
    };
    // What is settled goes: results of attempts, documents that do not count, the memory of before.
    if standing.private {
        tx.overwrite_freed_pages(true).await?;
    }
    give_fates(store, &mut tx, &mut standing, &settlement.fates).await?;
    revive(&mut tx, &mut standing, &settlement.revived).await?;
    start::find(store, &mut tx, &mut standing, &settlement.found).await?;
    if let Some(memory) = &settlement.memory {
        tx.query("crawls.settlement_memory_write").bind(crawl).bind(memory).execute(&mut tx).await?;
    }
    charge(&mut tx, &mut standing, settlement.credits, now).await?;
    webhooks::insert(&mut tx, &settlement.deliveries).await?;
    standing.version += 1;
    standing.scan_again();
    if standing.is_done() {
        let reservation = standing.end(CrawlState::Completed, None, now);
        standing::release(&mut tx, reservation).await?;
        webhooks::insert(&mut tx, &settlement.at_end).await?;
    }
    standing::write(&mut tx, &standing).await?;
    if standing.private {
        tx.overwrite_freed_pages(false).await?;
    }
    // Something new, or room under the limit for something that waited.
    if standing.tally.queued + standing.tally.lists_queued > 0 {
        tx.announce().await?;
    }
    tx.commit().await?;
    // There may be more to start, and webhooks to send.
    store.wake();
    Ok(Settled::Now(standing.state))
}

async fn give_fates<B: CrawlBackend>(
    store: &B,
    tx: &mut B::Tx,
    standing: &mut Standing,
    fates: &[(u64, Fate)],
) -> StoreResult<()> {
    if fates.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = fates.iter().filter_map(|(seq, _)| i64::try_from(*seq).ok()).collect();
    let waiting = tx.query("crawls.waiting").bind(standing.id).bind_list(numbers).fetch_all(tx).await?;
    let waiting = waiting.iter().map(rows::waiting).collect::<StoreResult<Vec<_>>>()?;
    let judged = fates::judge(standing, fates, &waiting)?;
    store.write_fates(tx, standing.id, judged).await
}

/// Queues skipped entries after all.
async fn revive(tx: &mut impl SqlConnection, standing: &mut Standing, numbers: &[u64]) -> StoreResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = numbers.iter().filter_map(|seq| i64::try_from(*seq).ok()).collect();
    let revived = tx.query("crawls.revive").bind(standing.id).bind_list(numbers).execute(tx).await?;
    standing.tally.revive(i64::try_from(revived).unwrap_or(i64::MAX));
    Ok(())
}

async fn charge(
    tx: &mut impl SqlConnection,
    standing: &mut Standing,
    credits: i64,
    now: Millis,
) -> StoreResult<()> {
    if credits == 0 {
        return Ok(());
    }
    standing.credits += credits;
    if let Some(reservation) = standing.reservation {
        return charge_in(tx, reservation, credits).await;
    }
    charge_unreserved(tx, standing.spender(clock::period(now).0), credits).await
}
