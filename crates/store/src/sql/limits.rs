//! Rate windows and leased slots. On PostgreSQL a row lock makes a take whole, and a lock per team an
//! acquisition; on SQLite the one writer does.

use super::{Backend, SqlConnection, Transaction};
use crate::limits::{LimitStore, RateTaken};
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::HashSet;
use std::time::Duration;
use uuid::Uuid;

/// The most windows and slots that one sweep deletes.
const MAX_SWEPT_ROWS: i64 = 1_000;

#[async_trait::async_trait]
impl<B: Backend> LimitStore for B {
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
            let found =
                self.query("limits.look").bind(team).bind(group).fetch_optional(&mut self.reader()).await?;
            let Some(row) = found else {
                return Ok(RateTaken { granted: 0, remaining: limit, resets_in: window });
            };
            let remaining = limit.saturating_sub(row.small("taken")?);
            return Ok(RateTaken { granted: 0, remaining, resets_in: clock::span(row.int("resets_in")?) });
        }
        let row = self
            .query("limits.take")
            .bind(team)
            .bind(group)
            .bind(i64::from(limit))
            .bind(clock::millis(window))
            .bind(i64::from(wanted))
            .fetch_one(&mut self.single())
            .await?;
        Ok(RateTaken {
            granted: row.small("granted")?,
            remaining: limit.saturating_sub(row.small("taken")?),
            resets_in: clock::span(row.int("resets_in")?),
        })
    }

    async fn acquire_slot(&self, team: Uuid, max: u32, lease_for: Duration) -> StoreResult<Option<Uuid>> {
        let mut tx = self.begin().await?;
        tx.lock("limits.slots_lock").bind(team).execute(&mut tx).await?;
        let held = tx.query("limits.slots_held").bind(team).fetch_one(&mut tx).await?.count("held")?;
        if held >= u64::from(max) {
            return Ok(None);
        }
        let slot = Uuid::now_v7();
        tx.query("limits.slot_insert")
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
        let mut tx = self.begin().await?;
        let renewed = tx
            .batch("limits.slot_renew", slots)
            .column(|slot| *slot)
            .bind(clock::millis(lease_for))
            .fetch_all(&mut tx)
            .await?;
        tx.commit().await?;
        let live = renewed.iter().map(|row| row.id("id")).collect::<StoreResult<HashSet<_>>>()?;
        Ok(slots.iter().copied().filter(|slot| live.contains(slot)).collect())
    }

    async fn release_slot(&self, slot: Uuid) -> StoreResult<()> {
        self.query("limits.slot_delete").bind(slot).execute(&mut self.single()).await?;
        Ok(())
    }

    async fn slots_in_use(&self, team: Uuid) -> StoreResult<u32> {
        let row = self.query("limits.slots_held").bind(team).fetch_one(&mut self.reader()).await?;
        row.small("held")
    }

    async fn sweep_limits(&self) -> StoreResult<()> {
        for sweep in ["limits.sweep_slots", "limits.sweep_windows"] {
            self.query(sweep).bind(MAX_SWEPT_ROWS).execute(&mut self.single()).await?;
        }
        Ok(())
    }
}
