//! Monitors: what is checked and when, the checks with their pages, and what later checks compare with.
//!
//! Rules that hold on both stores:
//! - A firing of a schedule becomes exactly one check: [`MonitorStore::fire_monitor`] moves the next firing and
//!   writes the check in one transaction, and only if the firing is still the next one.
//! - A monitor has one check at a time that waits or runs; a firing meanwhile is a check that was skipped.
//! - A worker holds a check by a [`CheckLease`]; a write with a lost lease changes nothing.
//! - A page of a check is one transaction with its snapshot, its credits and its webhooks, and is written once,
//!   however often the check is taken up again. So is the end of a check.
//! - Nothing of a deleted monitor can be read or written; its rows go bit by bit.

use crate::rows::Columns;
use crate::webhooks::NewDelivery;
use crate::work::LeaseStatus;
use crate::{Millis, StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Clone)]
pub struct NewMonitor {
    /// Time-ordered (uuid v7).
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    /// What was asked, as JSON text, opaque to the store.
    pub request: String,
    /// The first firing.
    pub next_run_at: Millis,
    /// How long checks are kept.
    pub retain_for: Duration,
    pub recipients: Vec<Recipient>,
    /// What is sent because there is a new monitor.
    pub deliveries: Vec<NewDelivery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorState {
    Active,
    Paused,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Monitor {
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub state: MonitorState,
    /// Counts changes of the request.
    pub version: u64,
    pub request: String,
    pub next_run_at: Option<Millis>,
    pub last_run_at: Option<Millis>,
    /// The check that waits or runs.
    pub current_check: Option<Uuid>,
    /// The summary of the last check that ended, as JSON text.
    pub last_summary: Option<String>,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// The store's clock when this was read.
    pub now: Millis,
}

/// A monitor as it shall be.
#[derive(Debug, Clone)]
pub struct MonitorUpdate {
    /// The version that the change was made on: a change in between makes this one fail.
    pub version: u64,
    pub request: String,
    pub state: MonitorState,
    /// None while it is paused.
    pub next_run_at: Option<Millis>,
    pub retain_for: Duration,
    /// The recipients as they shall be; `None` leaves them as they are.
    pub recipients: Option<Vec<Recipient>>,
    /// What is sent because of the change.
    pub deliveries: Vec<NewDelivery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdatedMonitor {
    Updated,
    /// Somebody else changed it first.
    Conflict,
    NotFound,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckState {
    Queued,
    Running,
    Completed,
    Failed,
    Partial,
    SkippedOverlap,
    SkippedNoCredits,
}

impl CheckState {
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Queued => 0,
            Self::Running => 1,
            Self::Completed => 2,
            Self::Failed => 3,
            Self::Partial => 4,
            Self::SkippedOverlap => 5,
            Self::SkippedNoCredits => 6,
        }
    }

    fn from_code(code: i64) -> StoreResult<Self> {
        Ok(match code {
            0 => Self::Queued,
            1 => Self::Running,
            2 => Self::Completed,
            3 => Self::Failed,
            4 => Self::Partial,
            5 => Self::SkippedOverlap,
            6 => Self::SkippedNoCredits,
            other => return Err(StoreError::Database(format!("a check is in the unknown state {other}"))),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckCause {
    Schedule,
    Request,
}

#[derive(Debug, Clone, Copy)]
pub struct NewCheck {
    pub id: Uuid,
    pub estimated_credits: i64,
}

/// The firing of a schedule.
#[derive(Debug, Clone, Copy)]
pub struct Firing {
    pub monitor: Uuid,
    /// The firing that is due, as the monitor was read.
    pub due_at: Millis,
    /// The one after it; none for a schedule that never runs again.
    pub next_run_at: Option<Millis>,
    pub check: NewCheck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    Queued,
    /// The check before it still goes on.
    SkippedOverlap,
    /// Another process fired it, or the monitor was changed.
    NotDue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedCheck {
    Queued,
    AlreadyRunning,
    Paused,
    NotFound,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub id: Uuid,
    pub monitor_id: Uuid,
    pub state: CheckState,
    pub cause: CheckCause,
    pub scheduled_for: Millis,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    /// How often its workers were lost.
    pub lost_leases: u32,
    pub estimated_credits: i64,
    pub credits: i64,
    /// What it came to, as JSON text, opaque to the store.
    pub result: Option<String>,
}

/// Proof that a worker holds a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckLease {
    pub check: Uuid,
    pub owner: Uuid,
    pub number: u64,
}

#[derive(Debug, Clone)]
pub struct ClaimedCheck {
    pub lease: CheckLease,
    pub check: Check,
    pub monitor: Monitor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckPageStatus {
    Same,
    New,
    Changed,
    Removed,
    Error,
}

impl CheckPageStatus {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Same => 0,
            Self::New => 1,
            Self::Changed => 2,
            Self::Removed => 3,
            Self::Error => 4,
        }
    }

    fn from_code(code: i64) -> StoreResult<Self> {
        Ok(match code {
            0 => Self::Same,
            1 => Self::New,
            2 => Self::Changed,
            3 => Self::Removed,
            4 => Self::Error,
            other => return Err(StoreError::Database(format!("a page has the unknown status {other}"))),
        })
    }
}

/// A page of a check with all that is written together with it.
#[derive(Debug, Clone)]
pub struct NewCheckPage {
    /// Time-ordered: pages are listed in the order of their ids.
    pub id: Uuid,
    /// A hash of the target and the address.
    pub key: [u8; 32],
    pub status: CheckPageStatus,
    /// Charged together with the page, and so once.
    pub credits: i64,
    /// What was set aside for the check; it pays first.
    pub reservation: Option<Uuid>,
    /// Compressed by the caller.
    pub body: Vec<u8>,
    pub snapshot: SnapshotChange,
    pub deliveries: Vec<NewDelivery>,
}

/// What becomes of the snapshot of a page.
#[derive(Debug, Clone)]
pub enum SnapshotChange {
    Keep,
    Replace { target: Uuid, url: String, body: Vec<u8> },
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckPage {
    pub id: Uuid,
    pub status: CheckPageStatus,
    pub created_at: Millis,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorSnapshot {
    pub taken_at: Millis,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewrittenSnapshot {
    Rewritten,
    /// A check waits or runs, which writes the snapshot itself, or has just written it.
    CheckRunning,
    NotFound,
}

/// A page that an earlier check knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPage {
    pub key: Vec<u8>,
    pub url: String,
}

/// A page that a check has written already, before its worker was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPage {
    pub key: Vec<u8>,
    pub status: CheckPageStatus,
    pub credits: i64,
}

#[derive(Debug, Clone)]
pub struct CheckEnd {
    /// A terminal one.
    pub state: CheckState,
    /// What all of it cost. It was charged with the pages, crawls and searches.
    pub credits: i64,
    /// What was set aside for the check; the rest of it is released.
    pub reservation: Option<Uuid>,
    pub result: String,
    pub summary: String,
    /// Whether there was something to tell people.
    pub told: bool,
    pub deliveries: Vec<NewDelivery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipientStatus {
    Pending,
    Confirmed,
    Unsubscribed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    pub email: String,
    pub status: RecipientStatus,
    /// Whether it belongs to the team and need not confirm.
    pub is_of_team: bool,
    pub token_hash: [u8; 32],
}

#[async_trait::async_trait]
pub trait MonitorStore: Send + Sync + 'static {
    async fn create_monitor(&self, monitor: NewMonitor) -> StoreResult<()>;

    /// `None` for unknown ids and for those of other teams alike.
    async fn monitor(&self, team: Uuid, monitor: Uuid) -> StoreResult<Option<Monitor>>;

    /// A monitor by its id alone, for whoever holds a signed link to it.
    async fn linked_monitor(&self, monitor: Uuid) -> StoreResult<Option<Monitor>>;

    /// A check by its id alone, for whoever holds a signed link to it.
    async fn linked_check(&self, check: Uuid) -> StoreResult<Option<Check>>;

    /// The team's monitors, newest first.
    async fn monitors(&self, team: Uuid, limit: u32, offset: u32) -> StoreResult<Vec<Monitor>>;

    async fn update_monitor(
        &self,
        team: Uuid,
        monitor: Uuid,
        update: MonitorUpdate,
    ) -> StoreResult<UpdatedMonitor>;

    /// Whether there was one.
    async fn delete_monitor(&self, team: Uuid, monitor: Uuid) -> StoreResult<bool>;

    /// Active monitors whose next firing has come, the longest overdue first.
    async fn due_monitors(&self, limit: u32) -> StoreResult<Vec<Monitor>>;

    /// Turns a firing into a check.
    async fn fire_monitor(&self, firing: Firing) -> StoreResult<Fired>;

    /// Queues a check that a caller asked for.
    async fn request_check(&self, team: Uuid, monitor: Uuid, check: NewCheck) -> StoreResult<RequestedCheck>;

    /// Hands out queued checks, in turn between teams, the oldest of a team first.
    async fn claim_checks(
        &self,
        owner: Uuid,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<ClaimedCheck>>;

    /// Extends leases from now; answers in the order asked.
    async fn keep_checks(&self, leases: &[CheckLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>>;

    /// Back to the queue: the worker is shutting down.
    async fn hand_back_check(&self, lease: &CheckLease) -> StoreResult<bool>;

    /// Takes back checks of lost workers; how many.
    async fn sweep_checks(&self) -> StoreResult<u64>;

    /// Writes a page; whether the lease was held. A page that is written already changes nothing.
    async fn write_check_page(&self, lease: &CheckLease, page: NewCheckPage) -> StoreResult<bool>;

    /// The pages that a check has written.
    async fn written_pages(&self, check: Uuid) -> StoreResult<Vec<WrittenPage>>;

    async fn monitor_snapshot(&self, monitor: Uuid, key: &[u8; 32]) -> StoreResult<Option<MonitorSnapshot>>;

    /// Writes a snapshot anew, as long as it is the one that was read and no check waits or runs.
    async fn rewrite_snapshot(
        &self,
        team: Uuid,
        monitor: Uuid,
        key: &[u8; 32],
        read: &MonitorSnapshot,
        body: Vec<u8>,
    ) -> StoreResult<RewrittenSnapshot>;

    /// The pages of a target that have a snapshot, by key.
    async fn known_pages(&self, monitor: Uuid, target: Uuid, limit: u32) -> StoreResult<Vec<KnownPage>>;

    /// Ends a check; whether the lease was held.
    async fn end_check(&self, lease: &CheckLease, end: CheckEnd) -> StoreResult<bool>;

    /// The checks of a monitor, newest first.
    async fn checks(
        &self,
        monitor: Uuid,
        state: Option<CheckState>,
        limit: u32,
        offset: u32,
    ) -> StoreResult<Vec<Check>>;

    async fn check(&self, monitor: Uuid, check: Uuid) -> StoreResult<Option<Check>>;

    /// The checks of a monitor that ended in this time and had something to tell, newest first.
    async fn told_checks(
        &self,
        monitor: Uuid,
        ended: std::ops::RangeInclusive<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Check>>;

    /// Pages of a check in the order in which they were written.
    async fn check_pages(
        &self,
        check: Uuid,
        status: Option<CheckPageStatus>,
        limit: u32,
        skip: u32,
    ) -> StoreResult<Vec<CheckPage>>;

    /// Makes these the recipients of a monitor; those that were there keep their status and token.
    async fn set_recipients(&self, monitor: Uuid, recipients: Vec<Recipient>) -> StoreResult<()>;

    /// Those that unsubscribed are among them for ever, so that nobody asks them again.
    async fn recipients(&self, monitor: Uuid) -> StoreResult<Vec<Recipient>>;

    /// The recipient with a token, and the monitor that they are a recipient of.
    async fn recipient(&self, token_hash: &[u8; 32]) -> StoreResult<Option<(Uuid, Recipient)>>;

    /// Changes the status of the recipient with a token; whether there is one.
    async fn set_recipient_status(&self, token_hash: &[u8; 32], status: RecipientStatus)
    -> StoreResult<bool>;

    /// Deletes up to `limit` rows: checks past their keeping, except the last of a monitor, and what is left of
    /// deleted monitors. Fewer than `limit` means that nothing is left.
    async fn purge_monitors(&self, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn monitor_from_row(row: &impl Columns) -> StoreResult<Monitor> {
    let state = match row.int("state")? {
        0 => MonitorState::Active,
        1 => MonitorState::Paused,
        other => return Err(StoreError::Database(format!("a monitor is in the unknown state {other}"))),
    };
    Ok(Monitor {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        key_id: row.id_or_none("key_id")?,
        state,
        version: row.count("version")?,
        request: row.text("request")?,
        next_run_at: row.int_or_none("next_run_at")?,
        last_run_at: row.int_or_none("last_run_at")?,
        current_check: row.id_or_none("current_check")?,
        last_summary: row.text_or_none("last_summary")?,
        created_at: row.int("created_at")?,
        updated_at: row.int("updated_at")?,
        now: row.int("now")?,
    })
}

pub(crate) fn check_from_row(row: &impl Columns) -> StoreResult<Check> {
    Ok(Check {
        id: row.id("id")?,
        monitor_id: row.id("monitor_id")?,
        state: CheckState::from_code(row.int("state")?)?,
        cause: if row.int("cause")? == 0 { CheckCause::Schedule } else { CheckCause::Request },
        scheduled_for: row.int("scheduled_for")?,
        created_at: row.int("created_at")?,
        updated_at: row.int("updated_at")?,
        started_at: row.int_or_none("started_at")?,
        finished_at: row.int_or_none("finished_at")?,
        lost_leases: row.small("lost_leases")?,
        estimated_credits: row.int("estimated_credits")?,
        credits: row.int("credits")?,
        result: row.text_or_none("result")?,
    })
}

pub(crate) fn page_status_from_row(row: &impl Columns) -> StoreResult<CheckPageStatus> {
    CheckPageStatus::from_code(row.int("status")?)
}

pub(crate) fn recipient_from_row(row: &impl Columns) -> StoreResult<Recipient> {
    let status = match row.int("status")? {
        0 => RecipientStatus::Pending,
        1 => RecipientStatus::Confirmed,
        _ => RecipientStatus::Unsubscribed,
    };
    let token_hash = row.bytes("token_hash")?.try_into();
    Ok(Recipient {
        email: row.text("email")?,
        status,
        is_of_team: row.int("source")? == 0,
        token_hash: token_hash
            .map_err(|_| StoreError::Database("the hash of a token has another size".to_owned()))?,
    })
}
