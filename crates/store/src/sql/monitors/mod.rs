//! Monitors; each concern has its file, this one only ties them to the trait. On PostgreSQL a transaction that
//! changes a monitor or a check locks its row first; on SQLite the one writer makes every read and the change
//! that follows it one step.

mod checks;
mod fire;
mod pages;
mod purge;

use super::charges::charge_unreserved;
use super::credits::{charge_in, left_in};
use super::{Backend, SqlConnection, Transaction, webhooks};
use crate::batch::Spender;
use crate::monitors::{
    Check, CheckEnd, CheckLease, CheckPage, CheckPageStatus, CheckState, ClaimedCheck, Fired, Firing,
    KnownPage, Monitor, MonitorSnapshot, MonitorState, MonitorStore, MonitorUpdate, NewCheck, NewCheckPage,
    NewMonitor, Recipient, RecipientStatus, RequestedCheck, RewrittenSnapshot, UpdatedMonitor, WrittenPage,
    check_from_row, monitor_from_row, recipient_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::work::LeaseStatus;
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

fn recipient_code(status: RecipientStatus) -> i64 {
    match status {
        RecipientStatus::Pending => 0,
        RecipientStatus::Confirmed => 1,
        RecipientStatus::Unsubscribed => 2,
    }
}

#[async_trait::async_trait]
impl<B: Backend> MonitorStore for B {
    async fn create_monitor(&self, monitor: NewMonitor) -> StoreResult<()> {
        let NewMonitor { recipients, mut deliveries, .. } = monitor;
        let request = self.sealer().seal_monitor_request(monitor.id, &storable(&monitor.request))?;
        self.sealer().seal_deliveries(&mut deliveries)?;
        let mut tx = self.begin().await?;
        tx.query("monitors.create")
            .bind(monitor.id)
            .bind(monitor.team_id)
            .bind(monitor.key_id)
            .bind(clock::millis(monitor.retain_for))
            .bind(monitor.next_run_at)
            .bind(request)
            .execute(&mut tx)
            .await?;
        write_recipients(&mut tx, monitor.id, &recipients).await?;
        webhooks::insert(&mut tx, &deliveries).await?;
        tx.commit().await?;
        if !deliveries.is_empty() {
            self.wake();
        }
        Ok(())
    }

    async fn monitor(&self, team: Uuid, monitor: Uuid) -> StoreResult<Option<Monitor>> {
        let row =
            self.query("monitors.find").bind(team).bind(monitor).fetch_optional(&mut self.reader()).await?;
        let mut found = row.as_ref().map(monitor_from_row).transpose()?;
        self.sealer().open_monitors(&mut found)?;
        Ok(found)
    }

    async fn linked_monitor(&self, monitor: Uuid) -> StoreResult<Option<Monitor>> {
        let row = self.query("monitors.linked").bind(monitor).fetch_optional(&mut self.reader()).await?;
        let mut found = row.as_ref().map(monitor_from_row).transpose()?;
        self.sealer().open_monitors(&mut found)?;
        Ok(found)
    }

    async fn linked_check(&self, check: Uuid) -> StoreResult<Option<Check>> {
        let row = self.query("monitors.linked_check").bind(check).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(check_from_row).transpose()
    }

    async fn monitors(&self, team: Uuid, limit: u32, offset: u32) -> StoreResult<Vec<Monitor>> {
        let rows = self
            .query("monitors.list")
            .bind(team)
            .bind(i64::from(limit))
            .bind(i64::from(offset))
            .fetch_all(&mut self.reader())
            .await?;
        let mut found = rows.iter().map(monitor_from_row).collect::<StoreResult<Vec<_>>>()?;
        self.sealer().open_monitors(&mut found)?;
        Ok(found)
    }

    async fn update_monitor(
        &self,
        team: Uuid,
        monitor: Uuid,
        update: MonitorUpdate,
    ) -> StoreResult<UpdatedMonitor> {
        let MonitorUpdate { recipients, mut deliveries, .. } = update;
        self.sealer().seal_deliveries(&mut deliveries)?;
        let request = self.sealer().seal_monitor_request(monitor, &storable(&update.request))?;
        let mut tx = self.begin().await?;
        let found = tx.query("monitors.lock").bind(team).bind(monitor).fetch_optional(&mut tx).await?;
        if found.is_none() {
            return Ok(UpdatedMonitor::NotFound);
        }
        let done = tx
            .query("monitors.update")
            .bind(team)
            .bind(monitor)
            .bind(i64::try_from(update.version).unwrap_or(-1))
            .bind(i64::from(update.state == MonitorState::Paused))
            .bind(request)
            .bind(update.next_run_at)
            .bind(clock::millis(update.retain_for))
            .execute(&mut tx)
            .await?;
        if done == 0 {
            return Ok(UpdatedMonitor::Conflict);
        }
        if let Some(recipients) = &recipients {
            write_recipients(&mut tx, monitor, recipients).await?;
        }
        webhooks::insert(&mut tx, &deliveries).await?;
        tx.commit().await?;
        if !deliveries.is_empty() {
            self.wake();
        }
        Ok(UpdatedMonitor::Updated)
    }

    async fn delete_monitor(&self, team: Uuid, monitor: Uuid) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        // The request may hold secrets: nothing of it is left in the file.
        tx.overwrite_freed_pages(true).await?;
        let done = tx.query("monitors.delete").bind(team).bind(monitor).execute(&mut tx).await?;
        if done > 0 {
            tx.query("monitors.delete_checks").bind(monitor).execute(&mut tx).await?;
        }
        tx.overwrite_freed_pages(false).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    async fn due_monitors(&self, limit: u32) -> StoreResult<Vec<Monitor>> {
        let rows = self.query("monitors.due").bind(i64::from(limit)).fetch_all(&mut self.reader()).await?;
        let mut found = rows.iter().map(monitor_from_row).collect::<StoreResult<Vec<_>>>()?;
        self.sealer().open_monitors(&mut found)?;
        Ok(found)
    }

    async fn fire_monitor(&self, firing: Firing) -> StoreResult<Fired> {
        fire::fire(self, firing).await
    }

    async fn request_check(&self, team: Uuid, monitor: Uuid, check: NewCheck) -> StoreResult<RequestedCheck> {
        fire::request(self, team, monitor, check).await
    }

    async fn claim_checks(
        &self,
        owner: Uuid,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<ClaimedCheck>> {
        let mut claimed = checks::claim(self, owner, limit, lease_for).await?;
        self.sealer().open_monitors(claimed.iter_mut().map(|claimed| &mut claimed.monitor))?;
        Ok(claimed)
    }

    async fn keep_checks(&self, leases: &[CheckLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        checks::keep(self, leases, lease_for).await
    }

    async fn hand_back_check(&self, lease: &CheckLease) -> StoreResult<bool> {
        checks::hand_back(self, lease).await
    }

    async fn sweep_checks(&self) -> StoreResult<u64> {
        checks::sweep(self).await
    }

    async fn write_check_page(&self, lease: &CheckLease, mut page: NewCheckPage) -> StoreResult<bool> {
        self.sealer().seal_deliveries(&mut page.deliveries)?;
        pages::write(self, lease, &page).await
    }

    async fn written_pages(&self, check: Uuid) -> StoreResult<Vec<WrittenPage>> {
        pages::written(self, check).await
    }

    async fn monitor_snapshot(&self, monitor: Uuid, key: &[u8; 32]) -> StoreResult<Option<MonitorSnapshot>> {
        pages::snapshot(self, monitor, key).await
    }

    async fn rewrite_snapshot(
        &self,
        team: Uuid,
        monitor: Uuid,
        key: &[u8; 32],
        read: &MonitorSnapshot,
        body: Vec<u8>,
    ) -> StoreResult<RewrittenSnapshot> {
        pages::rewrite_snapshot(self, (team, monitor), key, read, &body).await
    }

    async fn known_pages(&self, monitor: Uuid, target: Uuid, limit: u32) -> StoreResult<Vec<KnownPage>> {
        pages::known(self, monitor, target, limit).await
    }

    async fn end_check(&self, lease: &CheckLease, mut end: CheckEnd) -> StoreResult<bool> {
        self.sealer().seal_deliveries(&mut end.deliveries)?;
        checks::end(self, lease, &end).await
    }

    async fn checks(
        &self,
        monitor: Uuid,
        state: Option<CheckState>,
        limit: u32,
        offset: u32,
    ) -> StoreResult<Vec<Check>> {
        let rows = self
            .query("monitors.checks")
            .bind(monitor)
            .bind(state.map_or(-1, CheckState::code))
            .bind(i64::from(limit))
            .bind(i64::from(offset))
            .fetch_all(&mut self.reader())
            .await?;
        rows.iter().map(check_from_row).collect()
    }

    async fn check(&self, monitor: Uuid, check: Uuid) -> StoreResult<Option<Check>> {
        let row =
            self.query("monitors.check").bind(monitor).bind(check).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(check_from_row).transpose()
    }

    async fn told_checks(
        &self,
        monitor: Uuid,
        ended: std::ops::RangeInclusive<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Check>> {
        let rows = self
            .query("monitors.told_checks")
            .bind(monitor)
            .bind(*ended.start())
            .bind(*ended.end())
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        rows.iter().map(check_from_row).collect()
    }

    async fn check_pages(
        &self,
        check: Uuid,
        status: Option<CheckPageStatus>,
        limit: u32,
        skip: u32,
    ) -> StoreResult<Vec<CheckPage>> {
        pages::read(self, check, status, limit, skip).await
    }

    async fn set_recipients(&self, monitor: Uuid, recipients: Vec<Recipient>) -> StoreResult<()> {
        let mut tx = self.begin().await?;
        write_recipients(&mut tx, monitor, &recipients).await?;
        tx.commit().await
    }

    async fn recipients(&self, monitor: Uuid) -> StoreResult<Vec<Recipient>> {
        let rows = self.query("monitors.recipients").bind(monitor).fetch_all(&mut self.reader()).await?;
        rows.iter().map(recipient_from_row).collect()
    }

    async fn recipient(&self, token_hash: &[u8; 32]) -> StoreResult<Option<(Uuid, Recipient)>> {
        let row = self
            .query("monitors.recipient")
            .bind(token_hash.as_slice())
            .fetch_optional(&mut self.reader())
            .await?;
        row.as_ref().map(|row| Ok((row.id("monitor_id")?, recipient_from_row(row)?))).transpose()
    }

    async fn set_recipient_status(
        &self,
        token_hash: &[u8; 32],
        status: RecipientStatus,
    ) -> StoreResult<bool> {
        let done = self
            .query("monitors.recipient_status")
            .bind(token_hash.as_slice())
            .bind(recipient_code(status))
            .execute(&mut self.single())
            .await?;
        Ok(done > 0)
    }

    async fn purge_monitors(&self, limit: u32) -> StoreResult<u64> {
        purge::purge(self, limit).await
    }
}

/// Makes these the recipients; those that were there keep their status, and those that unsubscribed stay.
async fn write_recipients(
    tx: &mut impl SqlConnection,
    monitor: Uuid,
    recipients: &[Recipient],
) -> StoreResult<()> {
    let emails: Vec<String> = recipients.iter().map(|one| storable(&one.email).into_owned()).collect();
    tx.query("monitors.recipients_drop").bind(monitor).bind_list(emails).execute(tx).await?;
    for recipient in recipients {
        tx.query("monitors.recipient_insert")
            .bind(monitor)
            .bind(storable(&recipient.email))
            .bind(recipient_code(recipient.status))
            .bind(i64::from(!recipient.is_of_team))
            .bind(recipient.token_hash.as_slice())
            .execute(tx)
            .await?;
    }
    Ok(())
}

/// The monitor that a check belongs to, who pays, and how long its checks are kept, while the lease is held.
/// Until the transaction ends nobody else changes the check.
struct HeldCheck {
    monitor: Uuid,
    retain_for: i64,
    spender: Spender,
}

async fn held(tx: &mut impl SqlConnection, lease: &CheckLease) -> StoreResult<Option<HeldCheck>> {
    let row = tx
        .query("monitors.held")
        .bind(lease.check)
        .bind(lease.owner)
        .bind(lease_number(lease))
        .fetch_optional(tx)
        .await?;
    let read = |row: &super::SqlRow| {
        let spender = Spender {
            team: row.id("team_id")?,
            period: clock::period(row.int("now")?).0,
            key: row.id_or_none("key_id")?,
            purpose: "monitor".to_owned(),
        };
        Ok(HeldCheck { monitor: row.id("monitor_id")?, retain_for: row.int("retain_for")?, spender })
    };
    row.as_ref().map(read).transpose()
}

/// Charges credits: what is left of the reservation pays first. One that ran out of time has nothing left.
async fn charge(
    tx: &mut impl SqlConnection,
    spender: Spender,
    reservation: Option<Uuid>,
    credits: i64,
) -> StoreResult<()> {
    let mut reserved = 0;
    if let Some(reservation) = reservation.filter(|_| credits > 0) {
        reserved = left_in(tx, reservation).await?.unwrap_or(0).clamp(0, credits);
        if reserved > 0 {
            charge_in(tx, reservation, reserved).await?;
        }
    }
    charge_unreserved(tx, spender, credits - reserved).await
}

fn lease_number(lease: &CheckLease) -> i64 {
    i64::try_from(lease.number).unwrap_or(-1)
}
