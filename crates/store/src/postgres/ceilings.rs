//! Ceilings on PostgreSQL. Rows that others hold are passed over, so that nobody waits in a circle.

use super::PostgresStore;
use crate::ceilings::{Ceilings, Counted, SmallRows};
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
    pending: include_str!("sql/ceilings/crawls_pending.sql"),
    candidates: include_str!("sql/ceilings/crawls_candidates.sql"),
    expire: include_str!("sql/ceilings/crawls_expire.sql"),
};

const RUNS: Expiring = Expiring {
    kind: Counted::Runs,
    pending: include_str!("sql/ceilings/runs_pending.sql"),
    candidates: include_str!("sql/ceilings/runs_candidates.sql"),
    expire: include_str!("sql/ceilings/runs_expire.sql"),
};

impl PostgresStore {
    async fn over_ceiling(&self, kind: Counted, ceiling: u64) -> StoreResult<Option<i64>> {
        self.fold_stored_bytes(kind.name()).await?;
        Ok(weight::excess(self.stored_bytes(kind.name()).await?, ceiling))
    }

    async fn expire_early(
        &self,
        what: &Expiring,
        ceiling: u64,
        min_age: Duration,
        limit: u32,
    ) -> StoreResult<u64> {
        let Some(excess) = self.over_ceiling(what.kind, ceiling).await? else { return Ok(0) };
        let mut tx = self.write().await?;
        if sqlx::query(what.pending).fetch_one(&mut tx).await?.flag("pending")? {
            return Ok(0);
        }
        let found = sqlx::query(what.candidates)
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
        let done = sqlx::query(what.expire).bind(ids).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }
}

#[async_trait::async_trait]
impl Ceilings for PostgresStore {
    async fn counted_bytes(&self, kind: Counted) -> StoreResult<u64> {
        Ok(u64::try_from(self.stored_bytes(kind.name()).await?).unwrap_or(0))
    }

    async fn oversized_crawls(&self, each: u64, together: u64, limit: u32) -> StoreResult<Vec<Crawl>> {
        let found = sqlx::query(include_str!("sql/ceilings/crawls_oversized.sql"))
            .bind(i64::from(limit))
            .bind(i64::try_from(each).unwrap_or(i64::MAX))
            .bind(i64::try_from(together).unwrap_or(i64::MAX))
            .fetch_all(&self.pool)
            .await?;
        found.iter().map(ledger_rows::crawl).collect()
    }

    async fn evict_crawls(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64> {
        self.expire_early(&CRAWLS, ceiling, min_age, limit).await
    }

    async fn evict_runs(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64> {
        self.expire_early(&RUNS, ceiling, min_age, limit).await
    }

    async fn evict_deliveries(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        let Some(excess) = self.over_ceiling(Counted::Webhooks, ceiling).await? else { return Ok(0) };
        let mut tx = self.write().await?;
        let limit = i64::from(limit);
        let given_up = include_str!("sql/ceilings/deliveries_given_up.sql");
        let mut found = sqlx::query(given_up).bind(limit).fetch_all(&mut tx).await?;
        if found.is_empty() {
            let open = include_str!("sql/ceilings/deliveries_open.sql");
            found = sqlx::query(open).bind(limit).fetch_all(&mut tx).await?;
        }
        let oldest = found
            .iter()
            .map(|row| Ok((row.int("number")?, row.int("bytes")?)))
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |(_, bytes)| *bytes);
        let numbers: Vec<i64> = chosen.into_iter().map(|(number, _)| number).collect();
        let done = sqlx::query(include_str!("sql/ceilings/deliveries_delete.sql"))
            .bind(numbers)
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    async fn trim(&self, rows: SmallRows, keep: u32, limit: u32) -> StoreResult<u64> {
        let statement = match rows {
            SmallRows::Activity => include_str!("sql/ceilings/trim_activity.sql"),
            SmallRows::Searches => include_str!("sql/ceilings/trim_searches.sql"),
            SmallRows::Feedback => include_str!("sql/ceilings/trim_feedback.sql"),
            SmallRows::IdempotencyKeys => include_str!("sql/ceilings/trim_claims.sql"),
        };
        let done =
            sqlx::query(statement).bind(i64::from(keep)).bind(i64::from(limit)).execute(&self.pool).await?;
        Ok(done.rows_affected())
    }
}
