//! Activity and the index of objects on PostgreSQL.

use super::{PostgresStore, Tx};
use crate::activity::{Activity, ActivityEntry, ActivityFilter, NewActivity, ObjectEntry};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{StoreError, StoreResult, clock};
use sqlx::Row;
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

/// The most entries that one purge deletes.
const PURGE_LIMIT: i64 = 5_000;

async fn add_to_total(tx: &mut Tx, team: Uuid, bytes: i64) -> StoreResult<()> {
    sqlx::query(include_str!("sql/activity/object_total_add.sql"))
        .bind(team)
        .bind(bytes)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Activity for PostgresStore {
    async fn record_activity(&self, entry: NewActivity) -> StoreResult<()> {
        sqlx::query(include_str!("sql/activity/insert.sql"))
            .bind(entry.id)
            .bind(entry.team_id)
            .bind(entry.key_id)
            .bind(storable(&entry.endpoint))
            .bind(storable(&entry.target))
            .execute(&self.pool)
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
        let found = sqlx::query(include_str!("sql/activity/list.sql"))
            .bind(team)
            .bind(filter.endpoint.map(storable))
            .bind(before)
            .bind(clock::millis(within))
            .bind(i64::from(limit))
            .bind(filter.seen_by.map(|viewer| viewer.endpoints.to_vec()))
            .bind(filter.seen_by.and_then(|viewer| viewer.key))
            .fetch_all(&self.pool)
            .await?;
        found.iter().map(rows::activity_entry).collect()
    }

    async fn purge_activity(&self, older_than: Duration) -> StoreResult<u64> {
        let done = sqlx::query(include_str!("sql/activity/purge.sql"))
            .bind(clock::millis(older_than))
            .bind(PURGE_LIMIT)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }

    async fn note_object(&self, key: &str, team: Uuid, bytes: i64, keep_for: Duration) -> StoreResult<()> {
        if bytes < 0 {
            return Err(StoreError::Misuse("an object cannot have a negative size".into()));
        }
        let keep_for = clock::millis(keep_for);
        loop {
            let mut tx = self.write().await?;
            let inserted = sqlx::query(include_str!("sql/activity/object_insert.sql"))
                .bind(key)
                .bind(team)
                .bind(bytes)
                .bind(keep_for)
                .execute(&mut tx)
                .await?;
            if inserted.rows_affected() > 0 {
                add_to_total(&mut tx, team, bytes).await?;
            } else {
                let row = sqlx::query(include_str!("sql/activity/object_lock.sql"))
                    .bind(key)
                    .fetch_optional(&mut tx)
                    .await?;
                // Forgotten by somebody between the two statements: then it is a new one after all.
                let Some(row) = row else { continue };
                let known = rows::object_entry(&row)?;
                sqlx::query(include_str!("sql/activity/object_update.sql"))
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
        let row =
            sqlx::query(include_str!("sql/activity/object.sql")).bind(key).fetch_optional(&self.pool).await?;
        row.as_ref().map(rows::object_entry).transpose()
    }

    async fn expired_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found = sqlx::query(include_str!("sql/activity/objects_expired.sql"))
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        found.iter().map(rows::object_entry).collect()
    }

    async fn soonest_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found = sqlx::query(include_str!("sql/activity/objects_soonest.sql"))
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        found.iter().map(rows::object_entry).collect()
    }

    async fn object_bytes(&self) -> StoreResult<i64> {
        let row = sqlx::query(include_str!("sql/activity/object_total.sql")).fetch_one(&self.pool).await?;
        Ok(row.try_get(0)?)
    }

    async fn forget_objects(&self, entries: &[ObjectEntry]) -> StoreResult<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        let expiries: Vec<i64> = entries.iter().map(|entry| entry.expires_at).collect();
        let mut tx = self.write().await?;
        let gone = sqlx::query(include_str!("sql/activity/object_forget.sql"))
            .bind(keys)
            .bind(expiries)
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
