//! What of an attempt is known in memory: what waits to be written, what is open, and how much room is left.

use super::super::told;
use agent::{Actor, Citation, Fault, FaultCode, FaultSource, Told};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Instant;
use store::agents::{NewEvent, Run, RunSnapshot, RunStep};
use store::webhooks::NewDelivery;
use uuid::Uuid;

/// What a run may leave behind: events and their bytes, bytes of its snapshots. Ends always have room.
pub(super) const MOST_EVENTS: u64 = 20_000;
const MOST_EVENT_BYTES: u64 = 24 << 20;
const MOST_SNAPSHOT_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct Pages {
    events: Vec<NewEvent>,
    snapshots: Vec<RunSnapshot>,
    /// The artifact to go on from, and how many there were before it.
    checkpoint: Option<Vec<u8>>,
    checkpoints: u64,
    pub deliveries: Vec<NewDelivery>,
    /// The artifact as it was last told.
    pub artifact: Option<Value>,
    /// Where the values of the answer stand.
    pub citations: Vec<Citation>,
    max: u64,
    spent: u64,
    spent_written: u64,
    /// Agents that began and have not ended, in the order in which they began.
    pub open: Vec<(Actor, Instant)>,
    ended: HashSet<Uuid>,
    /// Tools that are being used.
    pub calls: Vec<(Uuid, Actor, String)>,
    count: u64,
    bytes: u64,
    snapshot_bytes: u64,
    full: bool,
    /// The run has ended: nothing more is said.
    pub closed: bool,
}

/// How much of what waits a step has taken along.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    events: usize,
    snapshots: usize,
    deliveries: usize,
    checkpoints: u64,
    spent: u64,
}

impl Pages {
    pub fn of(run: &Run) -> Self {
        let spent = u64::try_from(run.credits).unwrap_or(0);
        Self {
            events: Vec::new(),
            snapshots: Vec::new(),
            checkpoint: None,
            checkpoints: 0,
            deliveries: Vec::new(),
            artifact: None,
            citations: Vec::new(),
            max: u64::try_from(run.max_credits).unwrap_or(0),
            spent,
            spent_written: spent,
            open: Vec::new(),
            ended: HashSet::new(),
            calls: Vec::new(),
            count: run.events,
            bytes: run.event_bytes,
            snapshot_bytes: run.snapshot_bytes,
            full: false,
            closed: false,
        }
    }

    pub fn push(&mut self, event: NewEvent) {
        self.count += 1;
        self.bytes += event.body.len() as u64;
        self.events.push(event);
    }

    /// Keeps count of who and what is open; whether there is room to say it. An agent that says something before it said that it
    /// began is taken to have begun.
    pub fn admits(&mut self, actor: &Actor, told: &Told, system: &Actor) -> bool {
        let full = self.count >= MOST_EVENTS || self.bytes >= MOST_EVENT_BYTES;
        let is_open = self.open.iter().any(|(open, _)| open.id == actor.id);
        if full {
            // Of those that are in the trace, the end is told too.
            let ends = is_open && matches!(told, Told::AgentFinished { .. });
            if !ends {
                self.is_full(system);
                return false;
            }
        }
        match told {
            Told::AgentStarted if is_open || self.ended.contains(&actor.id) => return false,
            Told::AgentStarted => self.open.push((actor.clone(), Instant::now())),
            Told::AgentFinished { .. } if !is_open => return false,
            Told::AgentFinished { .. } => {
                self.open.retain(|(open, _)| open.id != actor.id);
                self.ended.insert(actor.id);
            }
            _ if !is_open && !self.ended.contains(&actor.id) => {
                self.open.push((actor.clone(), Instant::now()));
                self.push(told::event(actor, told::fact(&Told::AgentStarted, Uuid::nil())));
            }
            _ => {}
        }
        match told {
            Told::ToolStarted { call, tool, .. } => {
                self.calls.push((*call, actor.clone(), tool.clone()));
            }
            Told::ToolFinished { call, .. } => {
                self.calls.retain(|(open, ..)| open != call);
            }
            _ => {}
        }
        true
    }

    /// Says once that there is no more room.
    pub fn is_full(&mut self, system: &Actor) {
        if self.full {
            return;
        }
        self.full = true;
        let fault = Fault {
            code: FaultCode::Internal,
            source: FaultSource::System,
            retryable: false,
            message: "The trace is full: what follows is done, but not written down.".to_owned(),
        };
        self.push(told::event(system, told::fact(&Told::Error(fault), Uuid::nil())));
    }

    /// Where the run goes on when its process is lost.
    pub fn set_checkpoint(&mut self, packed: Vec<u8>) {
        self.checkpoint = Some(packed);
        self.checkpoints += 1;
    }

    /// Whether there is room for one more snapshot.
    pub fn admit_snapshot(&mut self, snapshot: RunSnapshot) -> bool {
        let bytes = self.snapshot_bytes + snapshot.body.len() as u64;
        if bytes > MOST_SNAPSHOT_BYTES {
            return false;
        }
        self.snapshot_bytes = bytes;
        self.snapshots.push(snapshot);
        true
    }

    /// Counts credits when the budget covers them.
    pub fn spend(&mut self, credits: u64) -> bool {
        let after = self.spent.saturating_add(credits);
        let covered = after <= self.max && !self.closed;
        if covered {
            self.spent = after;
        }
        covered
    }

    pub fn spent(&self) -> u64 {
        self.spent
    }

    pub fn left(&self) -> u64 {
        self.max.saturating_sub(self.spent)
    }

    pub fn is_written(&self) -> bool {
        self.events.is_empty()
            && self.snapshots.is_empty()
            && self.deliveries.is_empty()
            && self.checkpoint.is_none()
            && self.spent == self.spent_written
    }

    /// All that waits. It goes on waiting until it is known to be written: writing it twice changes nothing.
    pub fn step(&self) -> RunStep {
        RunStep {
            events: self.events.clone(),
            snapshots: self.snapshots.clone(),
            artifact: self.checkpoint.clone(),
            credits: i64::try_from(self.spent).unwrap_or(i64::MAX),
            deliveries: self.deliveries.clone(),
        }
    }

    pub fn written(&self) -> Written {
        Written {
            events: self.events.len(),
            snapshots: self.snapshots.len(),
            deliveries: self.deliveries.len(),
            checkpoints: self.checkpoints,
            spent: self.spent,
        }
    }

    /// A step is in the store. What was told meanwhile waits for the next.
    pub fn turn(&mut self, written: Written) {
        self.events.drain(..written.events);
        self.snapshots.drain(..written.snapshots);
        self.deliveries.drain(..written.deliveries);
        self.spent_written = written.spent;
        if written.checkpoints == self.checkpoints {
            self.checkpoint = None;
        }
    }
}
