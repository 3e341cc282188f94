//! Settling: what fetched entries come to, what they lead to, what they cost, and the end when nothing is left.

use super::super::charges::Charges;
use super::super::credits::charge_in;
use super::super::{PostgresStore, Tx, webhooks};
use super::{add, standing};
use crate::crawls::{CrawlState, Fate, Settled, Settlement};
use crate::ledger::fates::{self, SettledLine};
use crate::ledger::rows;
use crate::ledger::standing::Standing;
use crate::text::storable;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn settle(
    store: &PostgresStore,
    crawl: Uuid,
    version: u64,
    settlement: &Settlement,
) -> StoreResult<Settled> {
    if settlement.credits < 0 {
        return Err(StoreError::Misuse("credits cannot be negative".into()));
    }
    let mut tx = store.change_ledger().await?;
    let found = standing::lock(&mut tx, crawl).await?;
    let Some((mut standing, now)) = found.filter(|(one, _)| one.is_live_at(version)) else {
        return Ok(Settled::Overtaken);
    };
    give_fates(&mut tx, &mut standing, &settlement.fates).await?;
    revive(&mut tx, &mut standing, &settlement.revived).await?;
    add::find(&mut tx, &mut standing, &settlement.found).await?;
    if let Some(memory) = &settlement.memory {
        sqlx::query(include_str!("../sql/crawls/memory_write.sql"))
            .bind(crawl)
            .bind(memory)
            .execute(&mut tx)
            .await?;
    }
    charge(&mut tx, &mut standing, settlement.credits, now).await?;
    webhooks::insert(&mut tx, &settlement.deliveries).await?;
    standing.version += 1;
    standing.look_again();
    if standing.is_done() {
        let reservation = standing.end(CrawlState::Completed, None, now);
        standing::release(&mut tx, reservation).await?;
        webhooks::insert(&mut tx, &settlement.at_end).await?;
    }
    standing::write(&mut tx, &standing).await?;
    // Something new, or room under the limit for something that waited.
    if standing.tally.queued + standing.tally.lists_queued > 0 {
        PostgresStore::announce(&mut tx).await?;
    }
    tx.commit().await?;
    Ok(Settled::Now(standing.state))
}

async fn give_fates(tx: &mut Tx, standing: &mut Standing, fates: &[(u64, Fate)]) -> StoreResult<()> {
    if fates.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = fates.iter().filter_map(|(seq, _)| i64::try_from(*seq).ok()).collect();
    let waiting = sqlx::query(include_str!("../sql/crawls/waiting.sql"))
        .bind(standing.id)
        .bind(numbers)
        .fetch_all(&mut *tx)
        .await?;
    let waiting = waiting.iter().map(rows::waiting).collect::<StoreResult<Vec<_>>>()?;
    let judged = fates::judge(standing, fates, &waiting)?;
    let column = |of: fn(&SettledLine<'_>) -> Option<i64>| judged.lines.iter().map(of).collect::<Vec<_>>();
    sqlx::query(include_str!("../sql/crawls/settle.sql"))
        .bind(standing.id)
        .bind(column(|line| Some(line.seq)))
        .bind(column(|line| Some(line.state)))
        .bind(column(|line| line.number))
        .bind(column(|line| line.document_bytes))
        .bind(judged.lines.iter().map(|line| line.reason.map(storable)).collect::<Vec<_>>())
        .bind(judged.dropped)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

async fn revive(tx: &mut Tx, standing: &mut Standing, numbers: &[u64]) -> StoreResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = numbers.iter().filter_map(|seq| i64::try_from(*seq).ok()).collect();
    let revived = sqlx::query(include_str!("../sql/crawls/revive.sql"))
        .bind(standing.id)
        .bind(numbers)
        .execute(&mut *tx)
        .await?;
    standing.tally.revive(i64::try_from(revived.rows_affected()).unwrap_or(i64::MAX));
    Ok(())
}

async fn charge(tx: &mut Tx, standing: &mut Standing, credits: i64, now: Millis) -> StoreResult<()> {
    if credits == 0 {
        return Ok(());
    }
    standing.credits += credits;
    if let Some(reservation) = standing.reservation {
        return charge_in(tx, reservation, credits).await;
    }
    let mut charges = Charges::default();
    charges.add(standing.spender(clock::period(now).0), credits, 0);
    charges.write(tx).await
}
