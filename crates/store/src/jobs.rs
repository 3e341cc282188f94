//! The job queue: what was accepted, who works on it, how it ended.
//!
//! Rules that hold on both stores:
//! - A job accepted by [`Jobs::enqueue`] or [`Jobs::enqueue_group`] is on disk before the call returns.
//! - A worker holds a job by a [`Lease`]: owner and attempt together are the fencing token. Every write
//!   about a running job carries it, and a write with a lost lease changes nothing.
//! - A job ends exactly once: its state, its rows for the parent, the jobs it spawns, the credits it
//!   charges and the parent's counters change in one transaction.
//! - A parent ends by itself when its last child has ended, so totals reconcile by construction.

use crate::{Millis, StoreError, StoreResult};
use std::time::Duration;
use tokio::sync::watch;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Waits for a worker (perhaps until `run_at`).
    Queued,
    /// A worker holds it.
    Running,
    /// A parent whose children are not all done.
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

impl JobState {
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

#[derive(Debug, Clone)]
pub struct NewJob {
    /// Time-ordered (uuid v7): the tie-breaker among jobs of equal priority and `run_at`.
    pub id: Uuid,
    pub team_id: Uuid,
    pub kind: String,
    /// JSON text, opaque to the store.
    pub payload: String,
    /// Higher runs first.
    pub priority: i32,
    /// Not before this long from now.
    pub delay: Duration,
    pub max_attempts: u32,
    /// Ends as failed when not terminal this long from now.
    pub deadline: Duration,
    /// A second job with the same key is not created; see [`Enqueued`]. Scope: the parent's children,
    /// or the team's top-level jobs of this kind. Lasts until the first one is purged.
    pub dedup_key: Option<String>,
    /// How long the job, its children and its rows are kept after it ended.
    pub retain_for: Duration,
    /// Credits set aside for this job and its children; closed (rest released) when the job ends.
    pub reservation: Option<Uuid>,
}

/// What became of one submitted job: its id, or the id of the job that already holds its dedup key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    pub id: Uuid,
    pub created: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: Uuid,
    pub team_id: Uuid,
    pub parent_id: Option<Uuid>,
    pub kind: String,
    pub payload: String,
    pub state: JobState,
    pub priority: i32,
    pub attempts: u32,
    pub max_attempts: u32,
    pub cancel_requested: bool,
    pub reservation: Option<Uuid>,
    /// JSON text, when completed with one.
    pub result: Option<String>,
    /// Why it failed, or why the last attempt did.
    pub error: Option<String>,
    pub children: ChildCounts,
    pub created_at: Millis,
    pub run_at: Millis,
    pub deadline_at: Millis,
    pub started_at: Option<Millis>,
    pub finished_at: Option<Millis>,
    /// When it may be purged; set when it ends.
    pub expires_at: Option<Millis>,
}

/// Children of a parent by how they stand; `open` are queued or running.
/// `total == open + completed + failed + cancelled` at every moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChildCounts {
    pub total: u64,
    pub open: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
}

/// Proof that a worker holds a job; see the module rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    pub job: Uuid,
    pub owner: Uuid,
    pub attempt: u32,
}

#[derive(Debug, Clone)]
pub struct ClaimRequest {
    pub owner: Uuid,
    /// The kinds this worker runs, each with the most that may run at once over all processes.
    pub kinds: Vec<KindSlots>,
    /// The most jobs a team of a plan may have running at once over all processes.
    pub plans: Vec<PlanSlots>,
    /// The same for teams whose plan is not listed.
    pub other_plans: Option<u32>,
    /// At most this many jobs are handed out.
    pub limit: u32,
    pub lease_for: Duration,
}

#[derive(Debug, Clone)]
pub struct KindSlots {
    pub kind: String,
    pub max_running: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct PlanSlots {
    pub plan: String,
    /// `None` = no limit.
    pub max_running: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct Claimed {
    pub job: Job,
    pub lease: Lease,
    /// The store's clock at the claim, to count deadlines by.
    pub now: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStatus {
    Held,
    /// Still held, and somebody wants the job to stop.
    CancelRequested,
    /// Another worker may have it; stop, and write nothing.
    Lost,
}

/// How a worker ends its attempt.
#[derive(Debug, Clone)]
pub enum Finish {
    Completed {
        /// JSON text kept with the job.
        result: Option<String>,
        /// Rows appended to the parent's results (to the job's own when it has no parent).
        rows: Vec<String>,
        /// New siblings (children of the same parent); without a parent, new children of this job,
        /// which then waits for them. Those whose dedup key is taken are left out.
        spawn: Vec<NewJob>,
        /// Credits taken from the reservation of the parent, or of the job itself.
        credits: i64,
    },
    /// Ends as failed; not tried again.
    Failed { error: String, credits: i64 },
    /// Back to the queue after `delay`, or failed when the attempts are used up.
    Retry { error: String, delay: Duration },
    /// Back to the queue at once and uncounted: the worker is shutting down.
    HandBack,
    /// Stopped because somebody asked for it.
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Written; the job now stands so.
    Now(JobState),
    /// The lease was lost; nothing was written.
    LeaseLost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Was not running: it and its queued children are cancelled now.
    Cancelled,
    /// It or some of its children run; they are asked to stop, what was queued is cancelled now.
    Requested,
    /// Asked before, and still stopping.
    AlreadyRequested,
    AlreadyFinished(JobState),
    NotFound,
}

/// A row of a parent's results, in the order in which they were written (`seq` from 1, no gaps).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultRow {
    pub seq: u64,
    pub job: Uuid,
    pub body: String,
    pub created_at: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStatus {
    pub waiting: u64,
    pub active: u64,
    pub most_recent_success: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Leases that ran out and whose job went back to the queue.
    pub requeued: u64,
    /// Jobs failed because their attempts were used up by lost workers.
    pub abandoned: u64,
    /// Jobs failed because their deadline passed.
    pub overdue: u64,
    /// Jobs that were to stop and whose worker was lost before it said that they did.
    pub cancelled: u64,
    /// Jobs that could not be ended and were passed over; the log says why.
    pub stuck: u64,
}

/// A sweep gives up at an error that may pass when it has met so many errors before: most likely the
/// database is away, and every further job would wait for it in turn.
const ERRORS_TO_GIVE_UP: u64 = 3;

impl SweepReport {
    /// One job that cannot be ended must not keep the others from it.
    pub(crate) fn pass_over(&mut self, job: Uuid, error: StoreError) -> StoreResult<()> {
        if error.is_retryable() && self.stuck >= ERRORS_TO_GIVE_UP {
            return Err(error);
        }
        tracing::warn!(%job, %error, "a job could not be ended");
        self.stuck += 1;
        Ok(())
    }
}

#[async_trait::async_trait]
pub trait Jobs {
    /// Accepts top-level jobs, all in one transaction, each durable when this returns.
    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>>;

    /// Accepts a parent that waits for its children, all in one transaction. Children with a taken
    /// dedup key inside the group are left out. When the parent's own dedup key is taken nothing is
    /// created. A parent without children is completed at once.
    async fn enqueue_group(&self, parent: NewJob, children: Vec<NewJob>) -> StoreResult<Enqueued>;

    /// The same, unless the team would have more than `most_waiting` jobs queued then: `None`, and
    /// nothing is created. Holds however many ask at once.
    async fn enqueue_group_within(
        &self,
        parent: NewJob,
        children: Vec<NewJob>,
        most_waiting: u64,
    ) -> StoreResult<Option<Enqueued>>;

    /// Hands out due jobs: highest priority first; among equals the team with the fewest running jobs,
    /// so that one team's long queue never delays another's first job; then oldest `run_at`, then id.
    /// Never exceeds a kind's or a plan's slots, however many processes claim at once.
    async fn claim(&self, request: &ClaimRequest) -> StoreResult<Vec<Claimed>>;

    /// Extends leases from now; answers in the order asked.
    async fn heartbeat(&self, leases: &[Lease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>>;

    async fn finish(&self, lease: &Lease, finish: Finish) -> StoreResult<Finished>;

    /// Cancels a job and its children. Children cannot be cancelled alone: they are not found here.
    async fn cancel(&self, team: Uuid, job: Uuid) -> StoreResult<CancelOutcome>;

    /// `None` for unknown ids and for jobs of other teams alike.
    async fn job(&self, team: Uuid, job: Uuid) -> StoreResult<Option<Job>>;

    /// The newest top-level jobs of a kind, created strictly before `before` when given.
    async fn recent(
        &self,
        team: Uuid,
        kind: &str,
        before: Option<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Job>>;

    /// Rows with `seq > after`, in order.
    async fn rows(&self, team: Uuid, job: Uuid, after: u64, limit: u32) -> StoreResult<Vec<ResultRow>>;

    /// A page of a parent's children in a state, oldest first, after a job id when given.
    async fn children(
        &self,
        team: Uuid,
        parent: Uuid,
        state: JobState,
        after: Option<Uuid>,
        limit: u32,
    ) -> StoreResult<Vec<Job>>;

    /// Top-level jobs only count by what they are; a parent's children count instead of the parent.
    async fn queue_status(&self, team: Uuid) -> StoreResult<QueueStatus>;

    /// Takes back what lost workers held and fails what is overdue. Bounded work per call.
    async fn sweep(&self) -> StoreResult<SweepReport>;

    /// Deletes up to `limit` rows of what has expired, in one short transaction: the rows of a job, then
    /// its children, then the job. How many rows; fewer than `limit` means that nothing is left.
    async fn purge(&self, limit: u32) -> StoreResult<u64>;

    /// Changes whenever work may have arrived, from this process or another. May fire without need;
    /// callers poll as well.
    fn work_signal(&self) -> watch::Receiver<u64>;
}
