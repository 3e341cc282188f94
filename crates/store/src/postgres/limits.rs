//! Rate windows and leased slots on PostgreSQL. A row lock makes a take whole, a lock per team an acquisition.

use super::PostgresStore;
use crate::limits::{Limits, RateTaken};
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

/// The most windows and slots that one sweep forgets.
const SWEEP_LIMIT: i64 = 1_000;

#[async_trait::async_trait]
impl Limits for PostgresStore {
    async fn take_rate(
        &self,
        team: Uuid,
        group: &str,
        limit: u32,
        window: Duration,
        wanted: u32,
    ) -> StoreResult<RateTaken> {
        if limit == 0 || wanted == 0 {
            // Only looks: a window starts with the first token taken.
            let found = sqlx::query(include_str!("sql/limits/look.sql"))
                .bind(team)
                .bind(group)
                .fetch_optional(&self.pool)
                .await?;
            let Some(row) = found else {
                return Ok(RateTaken { granted: 0, remaining: limit, resets_in: window });
            };
            let remaining = limit.saturating_sub(row.small("taken")?);
            return Ok(RateTaken { granted: 0, remaining, resets_in: clock::span(row.int("resets_in")?) });
        }
        let row = sqlx::query(include_str!("sql/limits/take.sql"))
            .bind(team)
            .bind(group)
            .bind(i64::from(limit))
            .bind(clock::millis(window))
            .bind(i64::from(wanted))
            .fetch_one(&self.pool)
            .await?;
        Ok(RateTaken {
            granted: row.small("granted")?,
            remaining: limit.saturating_sub(row.small("taken")?),
            resets_in: clock::span(row.int("resets_in")?),
        })
    }

    async fn acquire_slot(&self, team: Uuid, max: u32, lease_for: Duration) -> StoreResult<Option<Uuid>> {
        let mut tx = self.write().await?;
        sqlx::query(include_str!("sql/limits/slots_lock.sql")).bind(team).execute(&mut tx).await?;
        let held = sqlx::query(include_str!("sql/limits/slots_held.sql"))
            .bind(team)
            .fetch_one(&mut tx)
            .await?
            .count("held")?;
        if held >= u64::from(max) {
            return Ok(None);
        }
        let slot = Uuid::now_v7();
        sqlx::query(include_str!("sql/limits/slot_insert.sql"))
            .bind(slot)
            .bind(team)
            .bind(clock::millis(lease_for))
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(Some(slot))
    }

    async fn renew_slots(&self, slots: &[Uuid], lease_for: Duration) -> StoreResult<Vec<Uuid>> {
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let renewed = sqlx::query(include_str!("sql/limits/slot_renew.sql"))
            .bind(slots)
            .bind(clock::millis(lease_for))
            .fetch_all(&self.pool)
            .await?;
        let held = renewed.iter().map(|row| row.id("id")).collect::<StoreResult<HashSet<_>>>()?;
        Ok(slots.iter().copied().filter(|slot| held.contains(slot)).collect())
    }

    async fn release_slot(&self, slot: Uuid) -> StoreResult<()> {
        sqlx::query(include_str!("sql/limits/slot_delete.sql")).bind(slot).execute(&self.pool).await?;
        Ok(())
    }

    async fn slots_in_use(&self, team: Uuid) -> StoreResult<u32> {
        let row =
            sqlx::query(include_str!("sql/limits/slots_held.sql")).bind(team).fetch_one(&self.pool).await?;
        row.small("held")
    }

    async fn sweep_limits(&self) -> StoreResult<()> {
        for sweep in
            [include_str!("sql/limits/sweep_slots.sql"), include_str!("sql/limits/sweep_windows.sql")]
        {
            sqlx::query(sweep).bind(SWEEP_LIMIT).execute(&self.pool).await?;
        }
        Ok(())
    }
}
