//! The audit log of each team.

use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{
    Actor, AuditAction, AuditEntry, AuditFilter, AuditStore, NewAuditEntry, audit_entry_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// Teams that one purge looks at which have too many rows.
const MAX_PURGED_TEAMS: i64 = 20;

#[async_trait::async_trait]
impl<B: Backend> AuditStore for B {
    async fn record_audit(&self, entry: NewAuditEntry, by: &Actor) -> StoreResult<()> {
        let mut tx = self.begin().await?;
        insert_audit(&mut tx, entry, by).await?;
        tx.commit().await
    }

    async fn audit_entries(
        &self,
        team: Uuid,
        filter: AuditFilter<'_>,
        before: Option<Uuid>,
        limit: u32,
    ) -> StoreResult<Vec<AuditEntry>> {
        let found = self
            .query("audit_log.list")
            .bind(team)
            .bind(before.unwrap_or(Uuid::max()))
            .bind(filter.action.map(storable))
            .bind(filter.id)
            .bind(filter.from.unwrap_or(0))
            .bind(filter.until.unwrap_or(i64::MAX))
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        found.iter().map(audit_entry_from_row).collect()
    }

    async fn purge_audit(&self, older_than: Duration, keep: u32, limit: u32) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let old = tx.query("audit_log.purge").bind(clock::millis(older_than)).bind(i64::from(limit));
        let mut deleted = old.execute(&mut tx).await?;
        let many = tx.query("audit_log.large_teams").bind(i64::from(keep)).bind(MAX_PURGED_TEAMS);
        for row in many.fetch_all(&mut tx).await? {
            let left = i64::from(limit).saturating_sub(i64::try_from(deleted).unwrap_or(i64::MAX));
            let trim = tx.query("audit_log.trim").bind(row.id("team_id")?).bind(i64::from(keep));
            deleted += trim.bind(left.max(0)).execute(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(deleted)
    }
}

/// Writes a row in the transaction of the change that it tells of.
pub(super) async fn insert_audit(
    tx: &mut impl SqlConnection,
    entry: NewAuditEntry,
    by: &Actor,
) -> StoreResult<()> {
    tx.query("audit_log.insert")
        .bind(Uuid::now_v7())
        .bind(entry.team)
        .bind(entry.action.name())
        .bind(by.kind.name())
        .bind(by.key)
        .bind(storable(&by.name))
        .bind(by.address.map(|address| address.to_canonical().to_string()))
        .bind(entry.subject)
        .bind(storable(&entry.details.to_string()))
        .execute(tx)
        .await?;
    Ok(())
}

/// The same for something that happened to a thing with an id.
pub(super) async fn note(
    tx: &mut impl SqlConnection,
    by: &Actor,
    team: Uuid,
    action: AuditAction,
    subject: Uuid,
    details: Value,
) -> StoreResult<()> {
    insert_audit(tx, NewAuditEntry { team, action, subject: Some(subject), details }, by).await
}
