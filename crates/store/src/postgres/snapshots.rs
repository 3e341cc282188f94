//! Snapshots for change tracking on PostgreSQL. A row lock makes an exchange whole.

use super::{PostgresStore, Tx};
use crate::rows::{self, Columns};
use crate::snapshots::{NewSnapshot, Snapshot, Snapshots};
use crate::text::storable;
use crate::{StoreResult, weight};
use uuid::Uuid;

/// Writes a snapshot by inserting or updating; whether there was something to insert or update.
async fn write(tx: &mut Tx, statement: &'static str, team: Uuid, new: &NewSnapshot) -> StoreResult<bool> {
    let done = sqlx::query(statement)
        .bind(team)
        .bind(new.key.as_slice())
        .bind(weight::snapshot(new))
        .bind(storable(&new.url))
        .bind(storable(&new.tag))
        .bind(new.body.as_slice())
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected() > 0)
}

#[async_trait::async_trait]
impl Snapshots for PostgresStore {
    async fn snapshot(&self, team: Uuid, key: &[u8; 32]) -> StoreResult<Option<Snapshot>> {
        let row = sqlx::query(include_str!("sql/snapshots/get.sql"))
            .bind(team)
            .bind(key.as_slice())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(rows::snapshot).transpose()
    }

    async fn exchange_snapshot(&self, team: Uuid, new: NewSnapshot) -> StoreResult<Option<Snapshot>> {
        loop {
            let mut tx = self.write().await?;
            let last = sqlx::query(include_str!("sql/snapshots/lock.sql"))
                .bind(team)
                .bind(new.key.as_slice())
                .fetch_optional(&mut tx)
                .await?;
            let statement = match last {
                Some(_) => include_str!("sql/snapshots/update.sql"),
                None => include_str!("sql/snapshots/insert.sql"),
            };
            if write(&mut tx, statement, team, &new).await? {
                tx.commit().await?;
                return last.as_ref().map(rows::snapshot).transpose();
            }
            // Somebody put the first one there between the two statements: that is the last one now.
        }
    }

    async fn snapshot_bytes(&self) -> StoreResult<i64> {
        self.stored_bytes("snapshots").await
    }

    async fn evict_snapshots(&self, ceiling: u64, limit: u32) -> StoreResult<u64> {
        self.fold_stored_bytes("snapshots").await?;
        let Some(excess) = weight::excess(self.snapshot_bytes().await?, ceiling) else { return Ok(0) };
        let found = sqlx::query(include_str!("sql/snapshots/oldest.sql"))
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        let (mut teams, mut keys, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let oldest = found.iter().map(|row| Ok((row, row.int("bytes")?))).collect::<StoreResult<Vec<_>>>()?;
        for (row, _) in weight::enough(oldest, excess, |(_, bytes)| *bytes) {
            teams.push(row.id("team_id")?);
            keys.push(row.bytes("key")?);
            times.push(row.int("at")?);
        }
        let done = sqlx::query(include_str!("sql/snapshots/delete.sql"))
            .bind(teams)
            .bind(keys)
            .bind(times)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }
}
