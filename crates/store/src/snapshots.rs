//! Snapshots for change tracking: what a page looked like the last time, per team, page and tag (which
//! the caller's key covers). They do not expire; over a ceiling of their own the oldest go.

use crate::rows::Columns;
use crate::{Millis, StoreResult};
use uuid::Uuid;

#[derive(Debug, Clone)]
pub struct NewSnapshot {
    /// A hash of what makes two scrapes parts of one history.
    pub key: [u8; 32],
    /// For people who look into the database.
    pub url: String,
    pub tag: String,
    /// Compressed by the caller.
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub taken_at: Millis,
    pub body: Vec<u8>,
}

#[async_trait::async_trait]
pub trait SnapshotStore: Send + Sync + 'static {
    async fn snapshot(&self, team: Uuid, key: &[u8; 32]) -> StoreResult<Option<Snapshot>>;

    /// Puts a new snapshot in the place of the last one and returns that one, in one step: of several
    /// that race each sees the one before it, and none is compared with itself.
    async fn exchange_snapshot(&self, team: Uuid, new: NewSnapshot) -> StoreResult<Option<Snapshot>>;

    /// Bytes of all snapshots; kept as a running total, not counted anew.
    async fn snapshot_bytes(&self) -> StoreResult<i64>;

    /// While more than `ceiling` bytes are stored, deletes the oldest: up to `limit`, no more than
    /// needed. How many.
    async fn evict_snapshots(&self, ceiling: u64, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn snapshot_from_row(row: &impl Columns) -> StoreResult<Snapshot> {
    Ok(Snapshot { taken_at: row.int("taken_at")?, body: row.bytes("body")? })
}
