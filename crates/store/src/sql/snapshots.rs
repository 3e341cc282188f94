//! Snapshots for change tracking. A row lock makes an exchange whole on PostgreSQL, the one writer on SQLite.

use super::{Backend, SqlConnection, Transaction};
use crate::rows::Columns;
use crate::snapshots::{NewSnapshot, Snapshot, SnapshotStore, snapshot_from_row};
use crate::text::storable;
use crate::{Millis, StoreResult, weight};
use uuid::Uuid;

/// What can be evicted, as it was when it was read.
struct EvictableSnapshot {
    team: Uuid,
    key: Vec<u8>,
    taken_at: Millis,
    bytes: i64,
}

/// Writes a snapshot by inserting or updating; whether there was something to insert or update.
async fn write(
    tx: &mut impl SqlConnection,
    statement: &'static str,
    team: Uuid,
    new: &NewSnapshot,
) -> StoreResult<bool> {
    let done = tx
        .query(statement)
        .bind(team)
        .bind(new.key.as_slice())
        .bind(weight::snapshot(new))
        .bind(storable(&new.url))
        .bind(storable(&new.tag))
        .bind(new.body.as_slice())
        .execute(tx)
        .await?;
    Ok(done > 0)
}

#[async_trait::async_trait]
impl<B: Backend> SnapshotStore for B {
    async fn snapshot(&self, team: Uuid, key: &[u8; 32]) -> StoreResult<Option<Snapshot>> {
        let row = self
            .query("snapshots.get")
            .bind(team)
            .bind(key.as_slice())
            .fetch_optional(&mut self.reader())
            .await?;
        row.as_ref().map(snapshot_from_row).transpose()
    }

    async fn exchange_snapshot(&self, team: Uuid, new: NewSnapshot) -> StoreResult<Option<Snapshot>> {
        loop {
            let mut tx = self.begin().await?;
            let last = tx
                .query("snapshots.lock")
                .bind(team)
                .bind(new.key.as_slice())
                .fetch_optional(&mut tx)
                .await?;
            let statement = match last {
                Some(_) => "snapshots.update",
                None => "snapshots.insert",
            };
            if write(&mut tx, statement, team, &new).await? {
                tx.commit().await?;
                return last.as_ref().map(snapshot_from_row).transpose();
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
        let found =
            self.query("snapshots.oldest").bind(i64::from(limit)).fetch_all(&mut self.reader()).await?;
        let oldest = found
            .iter()
            .map(|row| {
                let (team, key, taken_at) = (row.id("team_id")?, row.bytes("key")?, row.int("at")?);
                Ok(EvictableSnapshot { team, key, taken_at, bytes: row.int("bytes")? })
            })
            .collect::<StoreResult<Vec<_>>>()?;
        let chosen = weight::enough(oldest, excess, |one| one.bytes);
        let mut tx = self.begin().await?;
        let gone = tx
            .batch("snapshots.delete", &chosen)
            .column(|one| one.team)
            .column(|one| &one.key[..])
            .column(|one| one.taken_at)
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(gone)
    }
}
