//! Rows of runs as the contract's types, numbers as both schemas keep them, and what both stores refuse.

use super::choose::Candidate;
use super::{Event, Run, RunEnd, RunKind, RunLease, RunPayload, RunState, RunStep, Thread};
use crate::batch::Spender;
use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult, clock};
use uuid::Uuid;

pub(crate) fn kind_number(kind: RunKind) -> i64 {
    match kind {
        RunKind::Agent => 0,
        RunKind::Extract => 1,
    }
}

/// What its credits are counted under, and its activity.
pub(crate) fn purpose(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Agent => "agent",
        RunKind::Extract => "extract",
    }
}

fn kind(number: i64) -> StoreResult<RunKind> {
    match number {
        0 => Ok(RunKind::Agent),
        1 => Ok(RunKind::Extract),
        other => Err(StoreError::Database(format!("there is no kind of run {other}"))),
    }
}

pub(crate) fn state_number(state: RunState) -> i64 {
    match state {
        RunState::Queued => 0,
        RunState::Running => 1,
        RunState::Succeeded => 2,
        RunState::Failed => 3,
        RunState::Cancelled => 4,
        RunState::Refused => 5,
        RunState::CreditLimitReached => 6,
    }
}

fn state(number: i64) -> StoreResult<RunState> {
    Ok(match number {
        0 => RunState::Queued,
        1 => RunState::Running,
        2 => RunState::Succeeded,
        3 => RunState::Failed,
        4 => RunState::Cancelled,
        5 => RunState::Refused,
        6 => RunState::CreditLimitReached,
        other => return Err(StoreError::Database(format!("there is no state of a run {other}"))),
    })
}

pub(crate) fn run(row: &impl Columns) -> StoreResult<Run> {
    Ok(Run {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        key_id: row.id_or_none("key_id")?,
        kind: kind(row.int("kind")?)?,
        generation: row.text("generation")?,
        state: state(row.int("state")?)?,
        thread: row.id_or_none("thread_id")?,
        turn: row.small("turn")?,
        request: row.text("request")?,
        target: row.text("target")?,
        max_credits: row.int("max_credits")?,
        credits: row.int("credits")?,
        lost_leases: row.small("lost_leases")?,
        cancel_requested: row.int_or_none("cancel_requested_at")?.is_some(),
        error: row.text_or_none("error")?,
        events: row.count("events")?,
        event_bytes: row.count("event_bytes")?,
        snapshot_bytes: row.count("snapshot_bytes")?,
        created_at: row.int("created_at")?,
        deadline_at: row.int_or_none("deadline_at")?,
        finished_at: row.int_or_none("finished_at")?,
        expires_at: row.int_or_none("expires_at")?,
        now: row.int("now")?,
    })
}

pub(crate) fn lease(row: &impl Columns, owner: Uuid) -> StoreResult<RunLease> {
    Ok(RunLease { run: row.id("id")?, owner, number: row.count("lease_number")? })
}

pub(crate) fn event(row: &impl Columns) -> StoreResult<Event> {
    Ok(Event {
        id: row.id("id")?,
        number: row.count("number")?,
        sequence: row.count("sequence")?,
        written_at: row.int("written_at")?,
        body: row.text("body")?,
    })
}

pub(crate) fn payload(row: &impl Columns) -> StoreResult<RunPayload> {
    Ok(RunPayload { artifact: row.bytes_or_none("artifact")?, result: row.bytes_or_none("result")? })
}

pub(crate) fn thread(row: &impl Columns) -> StoreResult<Thread> {
    Ok(Thread { id: row.id("id")?, created_at: row.int("created_at")?, updated_at: row.int("updated_at")? })
}

pub(crate) fn candidate(row: &impl Columns) -> StoreResult<Candidate> {
    Ok(Candidate { id: row.id("id")?, team: row.id("team_id")?, plan: row.text("plan")? })
}

/// A number as the databases keep it.
pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What a step adds to the counters of its run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Added {
    pub events: i64,
    pub event_bytes: i64,
    pub snapshot_bytes: i64,
}

impl Added {
    pub fn event(&mut self, body: &str) {
        self.events += 1;
        self.event_bytes += number(body.len() as u64);
    }

    pub fn snapshot(&mut self, body: &[u8]) {
        self.snapshot_bytes += number(body.len() as u64);
    }
}

pub(crate) fn check_step(step: &RunStep) -> StoreResult<()> {
    if step.credits < 0 {
        return Err(StoreError::Misuse("credits cannot be negative".into()));
    }
    Ok(())
}

pub(crate) fn check_end(end: &RunEnd) -> StoreResult<()> {
    if !end.state.is_terminal() {
        return Err(StoreError::Misuse("a run ends in a terminal state".into()));
    }
    check_step(&end.step)
}

/// A run that ends: what is known of it under its lock.
#[derive(Debug)]
pub(crate) struct Ending {
    pub team: Uuid,
    pub key: Option<Uuid>,
    pub kind: RunKind,
    pub thread: Option<Uuid>,
    pub reservation: Option<Uuid>,
    pub credits: i64,
    pub max_credits: i64,
}

impl Ending {
    pub fn from_row(row: &impl Columns) -> StoreResult<Self> {
        Ok(Self {
            team: row.id("team_id")?,
            key: row.id_or_none("key_id")?,
            kind: kind(row.int("kind")?)?,
            thread: row.id_or_none("thread_id")?,
            reservation: row.id_or_none("reservation")?,
            credits: row.int("credits")?,
            max_credits: row.int("max_credits")?,
        })
    }

    /// What is charged when it ends so.
    pub fn charge(&self, end: &RunEnd) -> i64 {
        let spent = self.credits.max(end.step.credits);
        if end.state == RunState::Succeeded { spent.min(self.max_credits) } else { 0 }
    }

    /// Who pays where nothing was set aside.
    pub fn spender(&self, now: Millis) -> Spender {
        Spender {
            team: self.team,
            period: clock::period(now).0,
            key: self.key,
            purpose: purpose(self.kind).to_owned(),
        }
    }
}
