//! Snapshots for change tracking on SQLite.

use super::SqliteStore;
use crate::rows::{self, Columns};
use crate::snapshots::{NewSnapshot, Snapshot, Snapshots};
use crate::text::storable;
use crate::{StoreResult, clock, weight};
use uuid::Uuid;

#[async_trait::async_trait]
impl Snapshots for SqliteStore {
    async fn snapshot(&self, team: Uuid, key: &[u8; 32]) -> StoreResult<Option<Snapshot>> {
        let row = sqlx::query(include_str!("sql/snapshots/get.sql"))
            .bind(team)
            .bind(key.to_vec())
            .fetch_optional(&self.readers)
            .await?;
        row.as_ref().map(rows::snapshot).transpose()
    }

    async fn exchange_snapshot(&self, team: Uuid, new: NewSnapshot) -> StoreResult<Option<Snapshot>> {
        let mut tx = self.write().await?;
        let last = sqlx::query(include_str!("sql/snapshots/get.sql"))
            .bind(team)
            .bind(new.key.to_vec())
            .fetch_optional(&mut *tx)
            .await?;
        sqlx::query(include_str!("sql/snapshots/put.sql"))
            .bind(team)
            .bind(new.key.to_vec())
            .bind(clock::now())
            .bind(weight::snapshot(&new))
            .bind(storable(&new.url))
            .bind(storable(&new.tag))
            .bind(new.body)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        last.as_ref().map(rows::snapshot).transpose()
    }

    async fn snapshot_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("snapshots").await
    }

    async fn evict_snapshots(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        let Some(excess) = weight::excess(self.snapshot_bytes().await?, ceiling) else { return Ok(0) };
        let mut tx = self.write().await?;
        let found = sqlx::query(include_str!("sql/snapshots/oldest.sql"))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await?;
        let oldest = found
            .iter()
            .map(|row| Ok((row.int("number")?, row.int("bytes")?)))
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |(_, bytes)| *bytes);
        let numbers = super::number_list(chosen.into_iter().map(|(number, _)| number));
        let done =
            sqlx::query(include_str!("sql/snapshots/delete.sql")).bind(numbers).execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }
}
