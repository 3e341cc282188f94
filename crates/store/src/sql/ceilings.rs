//! Ceilings. On PostgreSQL rows that others have locked are passed over, so that nobody waits in a circle.

use super::{Backend, SqlConnection, Transaction};
use crate::ceilings::{CeilingStore, Counted, SmallRows};
use crate::crawls::Crawl;
use crate::ledger::rows as ledger_rows;
use crate::rows::Columns;
use crate::{StoreResult, clock, weight};
use std::time::Duration;
use uuid::Uuid;

/// The statements that let finished work of a kind expire early.
struct Expiring {
    kind: Counted,
    pending: &'static str,
    candidates: &'static str,
    expire: &'static str,
}

const CRAWLS: Expiring = Expiring {
    kind: Counted::Crawls,
    pending: "ceilings.crawls_pending",
    candidates: "ceilings.crawls_candidates",
    expire: "ceilings.crawls_expire",
};

const RUNS: Expiring = Expiring {
    kind: Counted::Runs,
    pending: "ceilings.runs_pending",
    candidates: "ceilings.runs_candidates",
    expire: "ceilings.runs_expire",
};

async fn over_ceiling(store: &impl Backend, kind: Counted, ceiling: u64) -> StoreResult<Option<i64>> {
    store.fold_stored_bytes(kind.name()).await?;
    Ok(weight::excess(store.stored_bytes(kind.name()).await?, ceiling))
}

async fn expire_early(
    store: &impl Backend,
    what: &Expiring,
    ceiling: u64,
    min_age: Duration,
    limit: u32,
) -> StoreResult<u64> {
    let Some(excess) = over_ceiling(store, what.kind, ceiling).await? else { return Ok(0) };
    let mut tx = store.begin().await?;
    if tx.query(what.pending).fetch_one(&mut tx).await?.flag("pending")? {
        return Ok(0);
    }
    let found = tx
        .query(what.candidates)
        .bind(clock::millis(min_age))
        .bind(i64::from(limit))
        .fetch_all(&mut tx)
        .await?;
    let soonest = found
        .iter()
        .map(|row| Ok((row.id("id")?, row.int("bytes")?)))
        .collect::<StoreResult<Vec<(Uuid, i64)>>>()?;
    let chosen = weight::enough(soonest, excess, |(_, bytes)| *bytes);
    let ids: Vec<Uuid> = chosen.into_iter().map(|(id, _)| id).collect();
    let done = tx.query(what.expire).bind_list(ids).execute(&mut tx).await?;
    tx.commit().await?;
    Ok(done)
}

#[async_trait::async_trait]
impl<B: Backend> CeilingStore for B {
    async fn counted_bytes(&self, kind: Counted) -> StoreResult<u64> {
        Ok(u64::try_from(self.stored_bytes(kind.name()).await?).unwrap_or(0))
    }

    async fn oversized_crawls(&self, each: u64, together: u64, limit: u32) -> StoreResult<Vec<Crawl>> {
        let found = self
            .query("ceilings.crawls_oversized")
            .bind(i64::from(limit))
            .bind(i64::try_from(each).unwrap_or(i64::MAX))
            .bind(i64::try_from(together).unwrap_or(i64::MAX))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(ledger_rows::crawl).collect()
    }

    async fn evict_crawls(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64> {
        expire_early(self, &CRAWLS, ceiling, min_age, limit).await
    }

    async fn evict_runs(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64> {
        expire_early(self, &RUNS, ceiling, min_age, limit).await
    }

    async fn evict_deliveries(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        let Some(excess) = over_ceiling(self, Counted::Webhooks, ceiling).await? else { return Ok(0) };
        let mut tx = self.begin().await?;
        let limit = i64::from(limit);
        let given_up = "ceilings.deliveries_given_up";
        let mut found = tx.query(given_up).bind(limit).fetch_all(&mut tx).await?;
        if found.is_empty() {
            let open = "ceilings.deliveries_open";
            found = tx.query(open).bind(limit).fetch_all(&mut tx).await?;
        }
        let oldest = found
            .iter()
            .map(|row| Ok((row.int("number")?, row.int("bytes")?)))
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |(_, bytes)| *bytes);
        let numbers: Vec<i64> = chosen.into_iter().map(|(number, _)| number).collect();
        let done = tx.query("ceilings.deliveries_delete").bind_list(numbers).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn trim(&self, rows: SmallRows, keep: u32, limit: u32) -> StoreResult<u64> {
        let statement = match rows {
            SmallRows::Activity => "ceilings.trim_activity",
            SmallRows::Searches => "ceilings.trim_searches",
            SmallRows::Feedback => "ceilings.trim_feedback",
            SmallRows::IdempotencyKeys => "ceilings.trim_idempotency_keys",
        };
        let done = self
            .query(statement)
            .bind(i64::from(keep))
            .bind(i64::from(limit))
            .execute(&mut self.single())
            .await?;
        Ok(done)
    }
}
