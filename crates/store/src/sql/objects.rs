//! The index of stored objects.

use super::{Backend, SqlConnection, Transaction};
use crate::objects::{ObjectEntry, ObjectIndex, object_entry_from_row};
use crate::rows::Columns;
use crate::{StoreError, StoreResult, clock};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

async fn add_to_total(tx: &mut impl SqlConnection, team: Uuid, bytes: i64) -> StoreResult<()> {
    tx.query("objects.total_add").bind(team).bind(bytes).execute(tx).await?;
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> ObjectIndex for B {
    async fn note_object(&self, key: &str, team: Uuid, bytes: i64, keep_for: Duration) -> StoreResult<()> {
        if bytes < 0 {
            return Err(StoreError::Misuse("an object cannot have a negative size".into()));
        }
        let keep_for = clock::millis(keep_for);
        loop {
            let mut tx = self.begin().await?;
            let inserted = tx
                .query("objects.insert")
                .bind(key)
                .bind(team)
                .bind(bytes)
                .bind(keep_for)
                .execute(&mut tx)
                .await?;
            if inserted > 0 {
                add_to_total(&mut tx, team, bytes).await?;
            } else {
                let row = tx.query("objects.lock").bind(key).fetch_optional(&mut tx).await?;
                // Forgotten by somebody between the two statements: then it is a new one after all.
                let Some(row) = row else { continue };
                let known = object_entry_from_row(&row)?;
                tx.query("objects.update").bind(key).bind(bytes).bind(keep_for).execute(&mut tx).await?;
                add_to_total(&mut tx, known.team_id, bytes - known.bytes).await?;
            }
            tx.commit().await?;
            return Ok(());
        }
    }

    async fn object(&self, key: &str) -> StoreResult<Option<ObjectEntry>> {
        let row = self.query("objects.get").bind(key).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(object_entry_from_row).transpose()
    }

    async fn expired_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found =
            self.query("objects.expired").bind(i64::from(limit)).fetch_all(&mut self.reader()).await?;
        found.iter().map(object_entry_from_row).collect()
    }

    async fn soonest_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found =
            self.query("objects.soonest").bind(i64::from(limit)).fetch_all(&mut self.reader()).await?;
        found.iter().map(object_entry_from_row).collect()
    }

    async fn object_bytes(&self) -> StoreResult<i64> {
        let row = self.query("objects.total").fetch_one(&mut self.reader()).await?;
        row.int("bytes")
    }

    async fn bytes_under(&self, prefix: &str) -> StoreResult<i64> {
        let row = self.query("objects.bytes_under").bind(prefix).fetch_one(&mut self.reader()).await?;
        row.int("bytes")
    }

    async fn oldest_under(&self, prefix: &str, limit: u32) -> StoreResult<Vec<ObjectEntry>> {
        let found = self
            .query("objects.oldest_under")
            .bind(prefix)
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(object_entry_from_row).collect()
    }

    async fn forget_objects(&self, entries: &[ObjectEntry]) -> StoreResult<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        let gone = tx
            .batch("objects.forget", entries)
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
