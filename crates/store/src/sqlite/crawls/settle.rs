//! Settling: the fates of entries, what they lead to, what they cost and who is told, in one transaction.

use super::super::credits::{charge_in, use_in};
use super::super::secrets::overwrite_freed_pages;
use super::super::{SqliteStore, Tx, number_list, webhooks};
use super::{end, entries, standing};
use crate::crawls::{CrawlState, Fate, Settled, Settlement};
use crate::ledger::fates::{self, SettledLine};
use crate::ledger::rows as ledger_rows;
use crate::ledger::standing::Standing;
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreError, StoreResult, clock};
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) async fn settle(
    store: &SqliteStore,
    crawl: Uuid,
    version: u64,
    settlement: Settlement,
) -> StoreResult<Settled> {
    let mut tx = store.write().await?;
    let now = clock::now();
    let found = standing::read(&mut tx, crawl).await?;
    let Some(mut standing) = found.filter(|one| one.is_live_at(version)) else {
        return Ok(Settled::Overtaken);
    };
    // What is settled goes: results of attempts, documents that do not count, the memory of before.
    let private =
        sqlx::query(include_str!("../sql/crawls/is_private.sql")).bind(crawl).fetch_one(&mut *tx).await?;
    let private = private.flag("private")?;
    if private {
        overwrite_freed_pages(&mut tx, true).await?;
    }
    write_fates(&mut tx, &mut standing, &settlement.fates, now).await?;
    revive(&mut tx, &mut standing, &settlement.revived, now).await?;
    entries::add(&mut tx, &mut standing, &settlement.found, now).await?;
    if let Some(memory) = settlement.memory {
        sqlx::query(include_str!("../sql/crawls/memory_write.sql"))
            .bind(crawl)
            .bind(memory)
            .execute(&mut *tx)
            .await?;
    }
    charge(&mut tx, &mut standing, settlement.credits, now).await?;
    webhooks::insert(&mut tx, &settlement.deliveries).await?;
    standing.version += 1;
    standing.look_again();
    if standing.is_done() {
        webhooks::insert(&mut tx, &settlement.at_end).await?;
        end::end(&mut tx, &mut standing, CrawlState::Completed, None, now).await?;
    }
    standing::write(&mut tx, &standing).await?;
    if private {
        overwrite_freed_pages(&mut tx, false).await?;
    }
    tx.commit().await?;
    // There may be more to start, and somebody to tell.
    store.wake();
    Ok(Settled::Now(standing.state))
}

async fn write_fates(
    tx: &mut Tx,
    standing: &mut Standing,
    fates: &[(u64, Fate)],
    now: Millis,
) -> StoreResult<()> {
    if fates.is_empty() {
        return Ok(());
    }
    let numbers = number_list(fates.iter().map(|(seq, _)| seq.cast_signed()));
    let found = sqlx::query(include_str!("../sql/crawls/waiting.sql"))
        .bind(standing.id)
        .bind(numbers)
        .fetch_all(&mut **tx)
        .await?;
    let waiting = found.iter().map(ledger_rows::waiting).collect::<StoreResult<Vec<_>>>()?;
    let judged = fates::judge(standing, fates, &waiting)?;
    sqlx::query(include_str!("../sql/crawls/settle.sql"))
        .bind(standing.id)
        .bind(Value::from(judged.lines.iter().map(line).collect::<Vec<_>>()).to_string())
        .bind(now)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

fn line(settled: &SettledLine) -> Value {
    json!([settled.seq, settled.state, settled.number, settled.document_bytes, settled.reason.map(storable)])
}

/// Queues skipped entries after all.
async fn revive(tx: &mut Tx, standing: &mut Standing, numbers: &[u64], now: Millis) -> StoreResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let done = sqlx::query(include_str!("../sql/crawls/revive.sql"))
        .bind(standing.id)
        .bind(number_list(numbers.iter().map(|seq| seq.cast_signed())))
        .bind(now)
        .execute(&mut **tx)
        .await?;
    standing.tally.revive(done.rows_affected().cast_signed());
    Ok(())
}

async fn charge(tx: &mut Tx, standing: &mut Standing, credits: i64, now: Millis) -> StoreResult<()> {
    if credits < 0 {
        return Err(StoreError::Misuse("credits cannot be negative".into()));
    }
    if credits == 0 {
        return Ok(());
    }
    standing.credits += credits;
    match standing.reservation {
        Some(reservation) => charge_in(tx, reservation, credits).await,
        None => use_in(tx, &standing.spender(clock::period(now).0), credits).await,
    }
}
