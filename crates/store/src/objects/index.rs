//! The index of stored objects: which there are, whose they are, and how long they stay.

use crate::rows::Columns;
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// An object that the object storage holds (or is about to, or held until a crash).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEntry {
    pub key: String,
    pub team_id: Uuid,
    pub bytes: i64,
    pub created_at: Millis,
    pub expires_at: Millis,
}

#[async_trait::async_trait]
pub trait ObjectIndex: Send + Sync + 'static {
    /// Notes an object before its bytes are written, so that no stored byte is ever unknown.
    /// A key that is noted already gets the new size and expiry.
    async fn note_object(&self, key: &str, team: Uuid, bytes: i64, keep_for: Duration) -> StoreResult<()>;
    async fn object(&self, key: &str) -> StoreResult<Option<ObjectEntry>>;
    /// Expired objects, soonest first.
    async fn expired_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>>;
    /// Objects that would expire soonest, whether expired or not: what eviction takes first.
    async fn soonest_objects(&self, limit: u32) -> StoreResult<Vec<ObjectEntry>>;
    /// Sum of all noted sizes; kept as a running total, not counted anew.
    async fn object_bytes(&self) -> StoreResult<i64>;
    /// Sum of the sizes of objects whose key begins with a prefix.
    async fn bytes_under(&self, prefix: &str) -> StoreResult<i64>;
    /// Those objects, oldest first.
    async fn oldest_under(&self, prefix: &str, limit: u32) -> StoreResult<Vec<ObjectEntry>>;
    /// Forgets objects as they were read; one that was noted anew since then is kept.
    async fn forget_objects(&self, entries: &[ObjectEntry]) -> StoreResult<()>;
}

pub(crate) fn object_entry_from_row(row: &impl Columns) -> StoreResult<ObjectEntry> {
    Ok(ObjectEntry {
        key: row.text("key")?,
        team_id: row.id("team_id")?,
        bytes: row.int("bytes")?,
        created_at: row.int("created_at")?,
        expires_at: row.int("expires_at")?,
    })
}
