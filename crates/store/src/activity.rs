//! What a team did lately.

use crate::rows::Columns;
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

#[async_trait::async_trait]
pub trait ActivityStore: Send + Sync + 'static {
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
}

pub(crate) fn activity_entry_from_row(row: &impl Columns) -> StoreResult<ActivityEntry> {
    Ok(ActivityEntry {
        id: row.id("id")?,
        endpoint: row.text("endpoint")?,
        target: row.text("target")?,
        audit: row.text_or_none("audit")?,
        created_at: row.int("created_at")?,
    })
}
