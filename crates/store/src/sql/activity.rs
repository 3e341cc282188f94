//! Activity and the index of objects.

use super::{Backend, Connection, Transaction};
use crate::activity::{Activity, ActivityEntry, ActivityFilter, NewActivity, ObjectEntry};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{StoreError, StoreResult, clock};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

/// The most entries that one purge deletes.
const MAX_PURGED_ENTRIES: i64 = 5_000;

async fn add_to_total(tx: &mut impl Connection, team: Uuid, bytes: i64) -> StoreResult<()> {
    tx.query("activity.object_total_add").bind(team).bind(bytes).execute(tx).await?;
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> Activity for B {
    async fn record_activity(&self, entry: NewActivity) -> StoreResult<()> {
        self.query("activity.insert")
            .bind(entry.id)
            .bind(entry.team_id)
            .bind(entry.key_id)
            .bind(storable(&entry.endpoint))
            .bind(storable(&entry.target))
            .execute(&mut self.single())
            .await?;
        Ok(())
    }

    async fn list_activity(
        &self,
        team: Uuid,
        filter: ActivityFilter<'_>,
        before: Option<Uuid>,
        within: Duration,
        limit: u32,
    ) -> StoreResult<Vec<ActivityEntry>> {
        let found = self
            .query("activity.list")
            .bind(team)
            .bind(filter.endpoint.map(storable))
            .bind(before.unwrap_or(Uuid::max()))
            .bind(clock::millis(within))
            .bind(i64::from(limit))
            .bind_list_or_none(filter.seen_by.map(|viewer| viewer.endpoints.to_vec()))
            .bind(filter.seen_by.and_then(|viewer| viewer.key))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(rows::activity_entry).collect()
    }

    async fn purge_activity(&self, older_than: Duration) -> StoreResult<u64> {
        let done = self
            .query("activity.purge")
            .bind(clock::millis(older_than))
            .bind(MAX_PURGED_ENTRIES)
            .execute(&mut self.single())
            .await?;
        Ok(done)
    }

    async fn note_object(&self, key: &str, team: Uuid, bytes: i64, keep_for: Duration) -> StoreResult<()> {
        if bytes < 0 {
            return Err(StoreError::Misuse("an object cannot have a negative size".into()));
        }
        let keep_for = clock::millis(keep_for);
        loop {
            let mut tx = self.begin().await?;
            let inserted = tx
                .query("activity.object_insert")
                .bind(key)
                .bind(team)
                .bind(bytes)
                .bind(keep_for)
                .execute(&mut tx)
                .await?;
            if inserted > 0 {
                add_to_total(&mut tx, team, bytes).await?;
            } else {
                let row = tx.query("activity.object_lock").bind(key).fetch_optional(&mut tx).await?;
                // Forgotten by somebody between the two statements: then it is a new one after all.
                let Some(row) = row else { continue };
                let known = rows::object_entry(&row)?;
                tx.query("activity.object_update")
                    .bind(key)
                    .bind(bytes)
                    .bind(keep_for)
                    .execute(&mut tx)
                    .await?;
                add_to_total(&mut tx, known.team_id, bytes - known.bytes).await?;
            }
            tx.commit().await?;
            return Ok(());
        }
    }

    async fn object(&self, key: &str) -> StoreResult<Option<ObjectEntry>> {
        let row = self.query("activity.object").bind(key).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(rows::object_entry).transpose()
    }

    async fn expired_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found = self
            .query("activity.objects_expired")
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(rows::object_entry).collect()
    }

    async fn soonest_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found = self
            .query("activity.objects_soonest")
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(rows::object_entry).collect()
    }

    async fn object_bytes(&self) -> StoreResult<i64> {
        let row = self.query("activity.object_total").fetch_one(&mut self.reader()).await?;
        row.int("bytes")
    }

    async fn forget_objects(&self, entries: &[ObjectEntry]) -> StoreResult<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        let gone = tx
            .batch("activity.object_forget", entries)
            .column(|entry| entry.key.as_str())
            .column(|entry| entry.expires_at)
            .fetch_all(&mut tx)
            .await?;
        let mut freed: BTreeMap<Uuid, i64> = BTreeMap::new();
        for row in &gone {
            *freed.entry(row.id("team_id")?).or_default() += row.int("bytes")?;
        }
        for (team, bytes) in freed {
            add_to_total(&mut tx, team, -bytes).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}
