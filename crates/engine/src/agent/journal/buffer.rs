//! The part of a run's journal that is in memory: what waits to be written, which agents and tool calls are
//! open, and how much room is left.

use super::super::trace_event;
use agent::{Actor, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, Citation};
use serde_json::Value;
use std::collections::HashSet;
use std::time::Instant;
use store::agents::{NewEvent, Run, RunSnapshot, RunStep};
use store::webhooks::NewDelivery;
use uuid::Uuid;

/// What a run may store: events and their bytes, and bytes of snapshots. The ends of agents are always
/// stored.
pub(super) const MAX_EVENTS: u64 = 20_000;
const MAX_EVENT_BYTES: u64 = 24 << 20;
const MAX_SNAPSHOT_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct JournalBuffer {
    events: Vec<NewEvent>,
    snapshots: Vec<RunSnapshot>,
    /// The artifact to go on from when the process is lost, and how many checkpoints there were.
    checkpoint: Option<Vec<u8>>,
    checkpoints: u64,
    pub deliveries: Vec<NewDelivery>,
    /// The artifact as it was last reported.
    pub artifact: Option<Value>,
    /// Where the values of the result were found.
    pub citations: Vec<Citation>,
    max: u64,
    spent: u64,
    spent_written: u64,
    /// Agents that began and have not ended, in the order in which they began.
    pub open: Vec<(Actor, Instant)>,
    ended: HashSet<Uuid>,
    /// Tools that are being used.
    pub calls: Vec<(Uuid, Actor, String)>,
    /// Browser sessions that began and have not ended.
    pub browsers: Vec<(Uuid, Actor, Instant)>,
    count: u64,
    bytes: u64,
    snapshot_bytes: u64,
    full: bool,
    /// The run has ended: nothing more is added.
    pub closed: bool,
}

/// How much of the buffer a step holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenCounts {
    events: usize,
    snapshots: usize,
    deliveries: usize,
    checkpoints: u64,
    spent: u64,
}

impl JournalBuffer {
    pub fn from_run(run: &Run) -> Self {
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
            browsers: Vec::new(),
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

    /// Updates which agents and calls are open; whether there is room for the event. An agent that reports
    /// something before it reported its start counts as started.
    pub fn admit_event(&mut self, actor: &Actor, told: &AgentEvent, system: &Actor) -> bool {
        let full = self.count >= MAX_EVENTS || self.bytes >= MAX_EVENT_BYTES;
        let is_open = self.open.iter().any(|(open, _)| open.id == actor.id);
        if full {
            // Agents and sessions whose start is in the trace have their end in it too.
            let ends = match told {
                AgentEvent::AgentFinished { .. } => is_open,
                AgentEvent::BrowserFinished { session, .. } => {
                    self.browsers.iter().any(|(open, ..)| open == session)
                }
                _ => false,
            };
            if !ends {
                self.note_full(system);
                return false;
            }
        }
        match told {
            AgentEvent::AgentStarted if is_open || self.ended.contains(&actor.id) => return false,
            AgentEvent::AgentStarted => self.open.push((actor.clone(), Instant::now())),
            AgentEvent::AgentFinished { .. } if !is_open => return false,
            AgentEvent::AgentFinished { .. } => {
                self.open.retain(|(open, _)| open.id != actor.id);
                self.ended.insert(actor.id);
            }
            _ if !is_open && !self.ended.contains(&actor.id) => {
                self.open.push((actor.clone(), Instant::now()));
                self.push(trace_event::new_event(
                    actor,
                    trace_event::to_fact(&AgentEvent::AgentStarted, Uuid::nil()),
                ));
            }
            _ => {}
        }
        match told {
            AgentEvent::ToolStarted { call, tool, .. } => {
                self.calls.push((*call, actor.clone(), tool.clone()));
            }
            AgentEvent::BrowserStarted { session } => {
                self.browsers.push((*session, actor.clone(), Instant::now()));
            }
            AgentEvent::BrowserFinished { session, .. } => {
                self.browsers.retain(|(open, ..)| open != session);
            }
            AgentEvent::ToolFinished { call, .. } => {
                self.calls.retain(|(open, ..)| open != call);
            }
            _ => {}
        }
        true
    }

    /// Adds, once, an event that says that the trace is full.
    pub fn note_full(&mut self, system: &Actor) {
        if self.full {
            return;
        }
        self.full = true;
        let fault = AgentError {
            code: AgentErrorCode::Internal,
            source: AgentErrorSource::System,
            retryable: false,
            message: "The trace is full: what follows is done, but not written down.".to_owned(),
        };
        self.push(trace_event::new_event(
            system,
            trace_event::to_fact(&AgentEvent::Error(fault), Uuid::nil()),
        ));
    }

    /// Where the run goes on when its process is lost.
    pub fn set_checkpoint(&mut self, packed: Vec<u8>) {
        self.checkpoint = Some(packed);
        self.checkpoints += 1;
    }

    /// Whether there is room for one more snapshot.
    pub fn admit_snapshot(&mut self, snapshot: RunSnapshot) -> bool {
        let bytes = self.snapshot_bytes + snapshot.body.len() as u64;
        if bytes > MAX_SNAPSHOT_BYTES {
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

    /// Everything in the buffer. It stays there until it is known to be written: writing it twice changes
    /// nothing.
    pub fn step(&self) -> RunStep {
        RunStep {
            events: self.events.clone(),
            snapshots: self.snapshots.clone(),
            artifact: self.checkpoint.clone(),
            credits: i64::try_from(self.spent).unwrap_or(i64::MAX),
            deliveries: self.deliveries.clone(),
        }
    }

    pub fn written(&self) -> WrittenCounts {
        WrittenCounts {
            events: self.events.len(),
            snapshots: self.snapshots.len(),
            deliveries: self.deliveries.len(),
            checkpoints: self.checkpoints,
            spent: self.spent,
        }
    }

    /// Removes what a step has written; what was added meanwhile waits for the next step.
    pub fn remove_written(&mut self, written: WrittenCounts) {
        self.events.drain(..written.events);
        self.snapshots.drain(..written.snapshots);
        self.deliveries.drain(..written.deliveries);
        self.spent_written = written.spent;
        if written.checkpoints == self.checkpoints {
            self.checkpoint = None;
        }
    }
}
