//! Runs of agents: what was asked, who works on it, every step that was told, and how it ended.
//!
//! Rules that hold on both stores:
//! - A run accepted by [`RunStore::start_run`] is on disk, with its first events, before the call returns.
//! - A worker holds a run by a [`RunLease`]; every write about a running run carries it, and a write with a lost lease
//!   changes nothing.
//! - A step is one transaction: what was told, the snapshots, the artifact as it stands, the credits spent so far and the
//!   webhooks. So is the end: its state, its result, its last events, what is charged or released, the webhooks.
//! - Events of a run are numbered from 1 without gaps, and counted from 1 for each who tells. Nothing follows the end.
//! - Only a run that succeeded is charged, and never more than its `max_credits`.
//! - A thread has one run at a time.

pub(crate) mod choose;
pub(crate) mod rows;

use crate::admission::{Admission, NotAdmitted};
use crate::webhooks::NewDelivery;
use crate::work::{LeaseStatus, PlanSlots};
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    Agent,
    Extract,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Waits for a worker.
    Queued,
    /// A worker holds it.
    Running,
    Succeeded,
    Failed,
    Cancelled,
    Refused,
    CreditLimitReached,
}

impl RunState {
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

#[derive(Clone)]
pub struct NewRun {
    /// Time-ordered (uuid v7).
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub kind: RunKind,
    /// The name of the generation that runs it.
    pub generation: String,
    pub turn_of: TurnOf,
    /// What was asked, as JSON text, opaque to the store.
    pub request: String,
    /// Shown with the team's activity and in lists.
    pub target: String,
    pub max_credits: i64,
    /// How long it may take from its first claim on.
    pub run_for: Duration,
    /// How long it may wait for its first claim.
    pub wait_for: Duration,
    /// How long it and all of its is kept after it ended.
    pub retain_for: Duration,
    /// Credits set aside, at least `max_credits`; charged and closed when it ends. Without one (an unlimited plan) what it
    /// used counts in the period in which it ends.
    pub reservation: Option<Uuid>,
    pub audit: Option<String>,
    pub events: Vec<NewEvent>,
    pub deliveries: Vec<NewDelivery>,
    pub admission: Admission,
}

/// The conversation a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnOf {
    Nothing,
    NewThread(Uuid),
    Thread(Uuid),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedRun {
    /// Accepted, as this turn of its thread (from 1; 0 without one).
    Accepted {
        turn: u32,
    },
    /// The thread has a run that goes on.
    ThreadBusy {
        run: Uuid,
    },
    /// There is no such thread, or it is another team's.
    ThreadNotFound,
    Refused(NotAdmitted),
}

/// Something that was told. When it was written, its number and its place among all that its actor told are the store's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub id: Uuid,
    pub actor: Uuid,
    /// JSON text of an object, opaque to the store.
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: Uuid,
    /// From 1, over all of the run.
    pub number: u64,
    /// From 1, over all that its actor told.
    pub sequence: u64,
    pub written_at: Millis,
    pub body: String,
}

/// An artifact as it stood, compressed by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSnapshot {
    pub id: Uuid,
    pub body: Vec<u8>,
}

/// A run as it stands.
#[derive(Clone, PartialEq, Eq)]
pub struct Run {
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub kind: RunKind,
    pub generation: String,
    pub state: RunState,
    pub thread: Option<Uuid>,
    /// From 1 within the thread.
    pub turn: u32,
    pub request: String,
    pub target: String,
    pub max_credits: i64,
    /// Spent so far; see [`Run::charged`].
    pub credits: i64,
    /// How often its workers were lost.
    pub lost_leases: u32,
    pub cancel_requested: bool,
    /// Why it did not succeed.
    pub error: Option<String>,
    pub events: u64,
    pub event_bytes: u64,
    pub snapshot_bytes: u64,
    /// Strictly later than that of the team's run before it.
    pub created_at: Millis,
    pub deadline_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    pub expires_at: Option<Millis>,
    /// The store's clock when this was read.
    pub now: Millis,
}

impl Run {
    /// What the team pays: nothing unless it succeeded.
    pub fn charged(&self) -> i64 {
        if self.state == RunState::Succeeded { self.credits.min(self.max_credits) } else { 0 }
    }
}

/// What a run carries along, compressed by its owner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunPayload {
    /// The artifact as it was last told: where a lost run goes on.
    pub artifact: Option<Vec<u8>>,
    /// What it came to.
    pub result: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
pub struct RunClaim {
    pub owner: Uuid,
    pub limit: u32,
    pub lease_for: Duration,
    /// Runs whose workers were lost more often are not handed out again.
    pub max_lost_leases: u32,
    /// The most runs a team of a plan may have running at once over all processes.
    pub plans: Vec<PlanSlots>,
    pub other_plans: Option<u32>,
}

/// Proof that a worker holds a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunLease {
    pub run: Uuid,
    pub owner: Uuid,
    /// Counts every claim of the run and never goes back: the fence.
    pub number: u64,
}

#[derive(Debug, Clone)]
pub struct ClaimedRun {
    pub lease: RunLease,
    pub run: Run,
}

/// What happened since the last step.
#[derive(Debug, Clone, Default)]
pub struct RunStep {
    /// Known ones are left out, so that a step whose write was in doubt can be written again.
    pub events: Vec<NewEvent>,
    pub snapshots: Vec<RunSnapshot>,
    /// Replaces the artifact when given.
    pub artifact: Option<Vec<u8>>,
    /// All that was spent by now; never goes back.
    pub credits: i64,
    pub deliveries: Vec<NewDelivery>,
}

#[derive(Debug, Clone)]
pub struct RunEnd {
    /// A terminal one.
    pub state: RunState,
    pub error: Option<String>,
    pub result: Option<Vec<u8>>,
    /// With what was told last.
    pub step: RunStep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCancel {
    /// It waits for a worker: nobody is in the way of ending it.
    Waiting,
    /// Its worker will hear of it.
    Requested,
    AlreadyRequested,
    AlreadyFinished,
    NotFound,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub id: Uuid,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[async_trait::async_trait]
pub trait RunStore: Send + Sync + 'static {
    /// Accepts a run, in one transaction with its first events and webhooks.
    async fn start_run(&self, run: NewRun) -> StoreResult<StartedRun>;

    /// Hands out queued runs: the team with the fewest running first, its oldest first, never more than a plan's slots over
    /// all processes.
    async fn claim_runs(&self, request: &RunClaim) -> StoreResult<Vec<ClaimedRun>>;

    /// Extends leases from now; answers in the order asked.
    async fn keep_runs(&self, leases: &[RunLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>>;

    /// Writes a step; whether the lease was held.
    async fn step_run(&self, lease: &RunLease, step: RunStep) -> StoreResult<bool>;

    /// Ends a run that is held, or one that waits when there is no lease; whether it was so.
    async fn end_run(&self, run: Uuid, lease: Option<&RunLease>, end: RunEnd) -> StoreResult<bool>;

    /// Back to the queue: the worker is shutting down.
    async fn hand_back_run(&self, lease: &RunLease) -> StoreResult<bool>;

    /// Notes the wish to cancel, with the event that tells of it.
    async fn cancel_run(&self, team: Uuid, run: Uuid, wish: NewEvent) -> StoreResult<RunCancel>;

    /// `None` for unknown ids and for those of other teams alike.
    async fn run(&self, team: Uuid, run: Uuid) -> StoreResult<Option<Run>>;

    async fn run_payload(&self, run: Uuid) -> StoreResult<Option<RunPayload>>;

    /// The team's runs, newest first, created strictly before `before` when given.
    async fn runs(
        &self,
        team: Uuid,
        kind: RunKind,
        before: Option<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Run>>;

    /// Events with `number > after`, in order, until `limit` or `max_bytes` would be exceeded; one at least when there is
    /// one.
    async fn run_events(&self, run: Uuid, after: u64, limit: u32, max_bytes: u64) -> StoreResult<Vec<Event>>;

    /// The number of an event of a run.
    async fn event_number(&self, run: Uuid, event: Uuid) -> StoreResult<Option<u64>>;

    async fn run_snapshot(&self, run: Uuid, snapshot: Uuid) -> StoreResult<Option<Vec<u8>>>;

    async fn thread(&self, team: Uuid, thread: Uuid) -> StoreResult<Option<Thread>>;

    /// The last runs of a thread, oldest turn first.
    async fn thread_runs(&self, thread: Uuid, limit: u32) -> StoreResult<Vec<Run>>;

    /// Takes back runs of lost workers; how many.
    async fn sweep_runs(&self) -> StoreResult<u64>;

    /// Runs that wait and must be ended instead: cancelled, past their time, or lost more often than `max_lost_leases`.
    async fn stranded_runs(&self, max_lost_leases: u32, limit: u32) -> StoreResult<Vec<Run>>;

    /// Deletes up to `limit` rows of runs past their keeping, and threads that have none left. Fewer than `limit` means that
    /// nothing is left.
    async fn purge_runs(&self, limit: u32) -> StoreResult<u64>;
}
