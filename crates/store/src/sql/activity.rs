//! What teams did lately.

use super::Backend;
use crate::activity::{ActivityEntry, ActivityFilter, ActivityStore, NewActivity, activity_entry_from_row};
use crate::text::storable;
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// The most entries that one purge deletes.
const MAX_PURGED_ENTRIES: i64 = 5_000;

#[async_trait::async_trait]
impl<B: Backend> ActivityStore for B {
    async fn record_activity(&self, entry: NewActivity) -> StoreResult<()> {
        self.query("activity.insert")
            .bind(entry.id)
            .bind(entry.team_id)
            .bind(entry.key_id)
            .bind(storable(&entry.endpoint))
            .bind(storable(&entry.target))
            .execute(&mut self.single())
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
        let found = self
            .query("activity.list")
            .bind(team)
            .bind(filter.endpoint.map(storable))
            .bind(before.unwrap_or(Uuid::max()))
            .bind(clock::millis(within))
            .bind(i64::from(limit))
            .bind_list_or_none(filter.seen_by.map(|viewer| viewer.endpoints.to_vec()))
            .bind(filter.seen_by.and_then(|viewer| viewer.key))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(activity_entry_from_row).collect()
    }

    async fn purge_activity(&self, older_than: Duration) -> StoreResult<u64> {
        let done = self
            .query("activity.purge")
            .bind(clock::millis(older_than))
            .bind(MAX_PURGED_ENTRIES)
            .execute(&mut self.single())
            .await?;
        Ok(done)
    }
}
