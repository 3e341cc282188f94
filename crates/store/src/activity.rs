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
    pub key_id: Option<Uuid>,
    /// The name of the key; none where the key is gone or there was none.
    pub key_name: Option<String>,
    /// What became of it; unknown when its record is gone.
    pub outcome: Option<ActivityOutcome>,
    /// Of crawls and batches: pages that were read, and pages that could not be.
    pub pages: Option<i64>,
    pub failed_pages: Option<i64>,
    /// What it cost, or has cost so far.
    pub credits: Option<i64>,
    /// How long it took; none while it runs.
    pub took: Option<Millis>,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityOutcome {
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl ActivityOutcome {
    /// As callers read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
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
        key_id: row.id_or_none("key_id")?,
        key_name: row.text_or_none("key_name")?,
        outcome: outcome_from_row(row)?,
        pages: row.int_or_none("pages")?,
        failed_pages: row.int_or_none("failed_pages")?,
        credits: row.int_or_none("credits")?,
        took: row.int_or_none("took")?.map(|took| took.max(0)),
    })
}

/// By the state of the job, in the codes of its table.
fn outcome_from_row(row: &impl Columns) -> StoreResult<Option<ActivityOutcome>> {
    let scrape = row.int_or_none("scrape_ok")?.map(|ok| match ok {
        0 => ActivityOutcome::Failed,
        _ => ActivityOutcome::Completed,
    });
    let crawl = row.int_or_none("crawl_state")?.map(|state| match state {
        0 => ActivityOutcome::Running,
        1 => ActivityOutcome::Completed,
        3 => ActivityOutcome::Cancelled,
        _ => ActivityOutcome::Failed,
    });
    let run = row.int_or_none("run_state")?.map(|state| match state {
        0 | 1 => ActivityOutcome::Running,
        2 => ActivityOutcome::Completed,
        4 => ActivityOutcome::Cancelled,
        _ => ActivityOutcome::Failed,
    });
    Ok(scrape.or(crawl).or(run))
}
