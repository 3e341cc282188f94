//! What a team did lately, and which objects are stored for how long.

use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone)]
pub struct NewActivity {
    /// The job or request id, shown to the caller. Time-ordered (uuid v7).
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub endpoint: String,
    /// What it was about: a URL, a query, the start of a prompt.
    pub target: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEntry {
    pub id: Uuid,
    pub endpoint: String,
    pub target: String,
    /// Who stood behind it, where the caller said.
    pub audit: Option<String>,
    pub created_at: Millis,
}

/// Which entries of a team are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ActivityFilter<'a> {
    /// Only those of this endpoint.
    pub endpoint: Option<&'a str>,
    /// Only what a key may see; everything without one.
    pub seen_by: Option<Viewer<'a>>,
}

/// A key that does not see everything of its team.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a> {
    /// Sees what it did itself.
    pub key: Option<Uuid>,
    /// And what anybody did at these endpoints.
    pub endpoints: &'a [&'a str],
}

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
pub trait Activity {
    async fn record_activity(&self, entry: NewActivity) -> StoreResult<()>;
    /// Newest first (by id), strictly before `before` when given, no older than `within`.
    async fn list_activity(
        &self,
        team: Uuid,
        filter: ActivityFilter<'_>,
        before: Option<Uuid>,
        within: Duration,
        limit: u32,
    ) -> StoreResult<Vec<ActivityEntry>>;
    /// The same as whoever sees everything sees it.
    async fn activity(
        &self,
        team: Uuid,
        endpoint: Option<&str>,
        before: Option<Uuid>,
        within: Duration,
        limit: u32,
    ) -> StoreResult<Vec<ActivityEntry>> {
        let filter = ActivityFilter { endpoint, seen_by: None };
        self.list_activity(team, filter, before, within, limit).await
    }
    /// Deletes entries older than `older_than`; how many. Bounded work per call.
    async fn purge_activity(&self, older_than: Duration) -> StoreResult<u64>;

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
    /// Forgets objects as they were read; one that was noted anew since then is kept.
    async fn forget_objects(&self, entries: &[ObjectEntry]) -> StoreResult<()>;
}
