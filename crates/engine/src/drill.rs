//! Drills: a rehearsal that takes the way of real work without touching the web. See `wire::drill`.

use crate::callers::Caller;
use crate::limits::Gate;
use crate::runner::Work;
use crate::{credits, from_store, idempotency};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::activity::NewActivity;
use store::claims::UsedKey;
use store::jobs::{CancelOutcome, Finish, Job, JobState, Lease, NewJob};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::drill::{DrillRequest, DrillStatus, Fault, StepView};
use wire::{Issues, Kind, WireError};

pub const DRILL: &str = "drill";
pub const STEP: &str = "drill.step";

const KEPT: Duration = Duration::from_hours(24);
const DEADLINE: Duration = Duration::from_hours(1);
/// A reservation that no job holds by then was left behind by a crash. One that a live job holds stays.
const UNTIL_ENQUEUED: Duration = Duration::from_mins(1);
/// A step may be hit by many crashes in a rehearsal of crashes; it still must not loop for ever.
const ATTEMPTS: u32 = 100;

/// What a request means, every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrillPlan {
    pub steps: u32,
    pub step_millis: u32,
    pub credits_per_step: u32,
    pub fail_every: Option<u32>,
    pub browser: bool,
    /// How long the answer may wait for the end; `None` answers at once.
    pub wait: Option<Duration>,
    pub fault: Option<Fault>,
}

impl DrillPlan {
    pub fn resolve(asked: &DrillRequest, faults_allowed: bool) -> Result<Self, WireError> {
        let mut issues = Issues::default();
        issues.range("steps", asked.steps, &(1..=10_000));
        let step_millis = asked.step_millis.unwrap_or(0);
        issues.range("stepMillis", step_millis, &(0..=60_000));
        let credits_per_step = asked.credits_per_step.unwrap_or(0);
        issues.range("creditsPerStep", credits_per_step, &(0..=1_000));
        if let Some(every) = asked.fail_every {
            issues.range("failEvery", every, &(1..=u32::MAX));
        }
        let timeout = asked.timeout.unwrap_or(60_000);
        issues.range("timeout", timeout, &(1..=300_000));
        if asked.timeout.is_some() && asked.wait != Some(true) {
            issues.add("timeout", "has no meaning without `wait: true`", "custom");
        }
        if asked.fault.is_some() && !faults_allowed {
            issues.add(
                "fault",
                "faults are switched off; the setting drill_faults = on allows them",
                "custom",
            );
        }
        issues.finish()?;
        Ok(Self {
            steps: asked.steps,
            step_millis,
            credits_per_step,
            fail_every: asked.fail_every,
            browser: asked.browser.unwrap_or(false),
            wait: (asked.wait == Some(true)).then(|| Duration::from_millis(u64::from(timeout))),
            fault: asked.fault,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ParentPayload {
    credits_per_step: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StepPayload {
    step: u32,
    millis: u32,
    fail: bool,
    credits: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StepRecord {
    step: u32,
    attempt: u32,
    worker: Uuid,
}

/// Accepts a drill: durable when this returns. Waits for its end when the plan says so.
pub async fn start(
    store: &Arc<dyn Store>,
    gate: &Arc<Gate>,
    caller: &Caller,
    plan: &DrillPlan,
    idempotency_key: Option<String>,
    stop: &Stop,
) -> Result<DrillStatus, WireError> {
    assert_ne!(plan.fault, Some(Fault::Panic), "a drill asked for a panic");
    let slot = if plan.browser { Some(gate.browser_slot(caller).await?) } else { None };
    let amount = i64::from(plan.steps) * i64::from(plan.credits_per_step);
    let reservation = credits::reserve(store.as_ref(), caller, amount, DRILL, UNTIL_ENQUEUED).await?;
    let parent = parent_job(caller, plan, reservation, idempotency_key);
    let children = (1..=plan.steps).map(|step| step_job(caller, plan, step)).collect();
    let cap = caller.plan.queue.unwrap_or(u64::MAX);
    let accepted = match store.enqueue_group_within(parent, children, cap).await {
        Ok(Some(accepted)) if accepted.created => accepted,
        Ok(refused) => {
            credits::give_back(store.as_ref(), reservation).await;
            return Err(match refused {
                Some(held) => idempotency::key_used(UsedKey { resource: Some(held.id), done: true }),
                None => WireError::queue_full(cap),
            });
        }
        Err(error) => {
            // When the database went away in the middle, the group may stand; then it needs the
            // reservation, and if it does not, the sweeper gives it back.
            if !error.is_retryable() {
                credits::give_back(store.as_ref(), reservation).await;
            }
            return Err(from_store(error));
        }
    };
    let activity = NewActivity {
        id: accepted.id,
        team_id: caller.team,
        key_id: caller.key,
        endpoint: DRILL.to_owned(),
        target: format!("{} steps", plan.steps),
    };
    // The drill is accepted whatever becomes of this line about it.
    if let Err(error) = store.record_activity(activity).await {
        tracing::warn!(%error, "could not note an activity");
    }
    let status = match plan.wait {
        Some(patience) => wait_for_end(store.as_ref(), caller, accepted.id, patience, stop).await?,
        None => status(store.as_ref(), caller, accepted.id).await?,
    };
    drop(slot);
    Ok(status)
}

fn parent_job(caller: &Caller, plan: &DrillPlan, reservation: Uuid, dedup_key: Option<String>) -> NewJob {
    let payload = ParentPayload { credits_per_step: plan.credits_per_step };
    NewJob {
        id: Uuid::now_v7(),
        team_id: caller.team,
        kind: DRILL.to_owned(),
        payload: json(&payload),
        priority: 0,
        delay: Duration::ZERO,
        max_attempts: 1,
        deadline: DEADLINE,
        dedup_key,
        retain_for: KEPT,
        reservation: Some(reservation),
    }
}

fn step_job(caller: &Caller, plan: &DrillPlan, step: u32) -> NewJob {
    let payload = StepPayload {
        step,
        millis: plan.step_millis,
        fail: plan.fail_every.is_some_and(|every| step.is_multiple_of(every)),
        credits: plan.credits_per_step,
    };
    NewJob {
        id: Uuid::now_v7(),
        team_id: caller.team,
        kind: STEP.to_owned(),
        payload: json(&payload),
        priority: 0,
        delay: Duration::ZERO,
        max_attempts: ATTEMPTS,
        deadline: DEADLINE,
        dedup_key: None,
        retain_for: KEPT,
        reservation: None,
    }
}

/// When the server is told to stop, and how long a waiting answer may then still take.
#[derive(Debug, Clone)]
pub struct Stop {
    pub token: CancellationToken,
    pub patience: Duration,
}

async fn wait_for_end(
    store: &dyn Store,
    caller: &Caller,
    id: Uuid,
    patience: Duration,
    stop: &Stop,
) -> Result<DrillStatus, WireError> {
    let mut end = tokio::time::Instant::now() + patience;
    let mut stopping = false;
    let mut pause = Duration::from_millis(5);
    loop {
        let now = status(store, caller, id).await?;
        if now.status != "running" {
            return Ok(now);
        }
        if !stopping && stop.token.is_cancelled() {
            stopping = true;
            end = end.min(tokio::time::Instant::now() + stop.patience);
        }
        if tokio::time::Instant::now() + pause > end {
            return Err(WireError::timed_out(&id.to_string()));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

pub async fn status(store: &dyn Store, caller: &Caller, id: Uuid) -> Result<DrillStatus, WireError> {
    let job = find(store, caller, id).await?;
    let payload: ParentPayload = parse(&job.payload)?;
    let credits = u64::from(payload.credits_per_step) * job.children.completed;
    Ok(DrillStatus {
        success: true,
        id: job.id,
        status: match job.state {
            JobState::Queued | JobState::Running | JobState::Waiting => "running",
            JobState::Completed => "completed",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
        },
        total: job.children.total,
        completed: job.children.completed,
        failed: job.children.failed,
        cancelled: job.children.cancelled,
        open: job.children.open,
        credits_used: i64::try_from(credits).unwrap_or(i64::MAX),
        created_at: crate::time::iso(job.created_at),
        finished_at: job.finished_at.map(crate::time::iso),
        expires_at: job.expires_at.map(crate::time::iso),
        error: job.error,
    })
}

pub async fn steps(
    store: &dyn Store,
    caller: &Caller,
    id: Uuid,
    after: u64,
    limit: u32,
) -> Result<Vec<StepView>, WireError> {
    find(store, caller, id).await?;
    let rows = store.rows(caller.team, id, after, limit).await.map_err(from_store)?;
    rows.into_iter()
        .map(|row| {
            let record: StepRecord = parse(&row.body)?;
            Ok(StepView { seq: row.seq, step: record.step, attempt: record.attempt, worker: record.worker })
        })
        .collect()
}

pub async fn cancel(store: &dyn Store, caller: &Caller, id: Uuid) -> Result<(), WireError> {
    find(store, caller, id).await?;
    match store.cancel(caller.team, id).await.map_err(from_store)? {
        CancelOutcome::Cancelled | CancelOutcome::Requested => Ok(()),
        CancelOutcome::AlreadyRequested => Err(WireError::conflict("the drill is already being cancelled")),
        CancelOutcome::AlreadyFinished(_) => Err(WireError::conflict("the drill has already ended")),
        CancelOutcome::NotFound => Err(Kind::NotFound.into()),
    }
}

async fn find(store: &dyn Store, caller: &Caller, id: Uuid) -> Result<Job, WireError> {
    let job = store.job(caller.team, id).await.map_err(from_store)?;
    job.filter(|job| job.kind == DRILL).ok_or_else(|| Kind::NotFound.into())
}

/// One step: pretends to work, then leaves its record together with its end.
#[derive(Debug)]
pub struct DrillStep;

#[async_trait::async_trait]
impl Work for DrillStep {
    fn kind(&self) -> &'static str {
        STEP
    }

    async fn run(&self, job: &Job, lease: &Lease, stop: CancellationToken) -> Finish {
        let asked: StepPayload = match serde_json::from_str(&job.payload) {
            Ok(asked) => asked,
            Err(error) => {
                return Finish::Failed { error: format!("unreadable payload: {error}"), credits: 0 };
            }
        };
        let work = tokio::time::sleep(Duration::from_millis(u64::from(asked.millis)));
        if stop.run_until_cancelled(work).await.is_none() {
            return Finish::Cancelled;
        }
        if asked.fail {
            return Finish::Failed { error: "this step was asked to fail".to_owned(), credits: 0 };
        }
        let record = StepRecord { step: asked.step, attempt: lease.attempt, worker: lease.owner };
        Finish::Completed {
            result: None,
            rows: vec![json(&record)],
            spawn: Vec::new(),
            credits: i64::from(asked.credits),
        }
    }
}

fn json<T: Serialize>(value: &T) -> String {
    // Our own plain structs always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(|error| {
        tracing::error!(%error, "a stored drill cannot be read");
        WireError::from(Kind::Internal)
    })
}
