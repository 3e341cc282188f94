//! The journal of a run: what a brain reports becomes events, snapshots and credits in the store. Reports
//! that come together are written in one transaction.
//!
//! Writes that must be durable (an artifact, credits before they are spent) are waited for; the others happen
//! in the background. Agents that a brain left open are ended here, so that every agent has ended before its
//! run has.

mod buffer;

use super::ending::{RunEnding, StoredResult};
use super::events::RunEvents;
use super::open_agents::OpenParts;
use super::order::Order;
use super::{trace_event, unpaid};
use agent::{
    Actor, ActorRole, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, AgentOutcome, Citation,
    Journal, ToolCallResult,
};
use buffer::JournalBuffer;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::RunStore;
use store::agents::{Run, RunEnd, RunLease, RunSnapshot};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::agent::TraceFact;
use work::retry;

/// Citations that are stored with a result.
const MAX_CITATIONS: usize = 10_000;

/// The journal of one attempt at a run.
pub struct RunJournal {
    store: Arc<dyn RunStore>,
    lease: RunLease,
    team: Uuid,
    kind: store::agents::RunKind,
    order: Arc<Order>,
    buffer: Mutex<JournalBuffer>,
    /// Held while a step is written, so that steps keep their order.
    writing: tokio::sync::Mutex<()>,
    behind: Notify,
    /// How long a write is tried again while the store is not available.
    write_retry_limit: Duration,
    /// Cancelled when the lease is lost, or nothing can be written any more.
    lost: CancellationToken,
}

impl std::fmt::Debug for RunJournal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunJournal").field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl RunJournal {
    pub fn open(
        store: Arc<dyn RunStore>,
        (lease, run): (RunLease, &Run),
        order: Arc<Order>,
        write_retry_limit: Duration,
        lost: CancellationToken,
    ) -> Self {
        Self {
            store,
            lease,
            team: run.team_id,
            kind: run.kind,
            buffer: Mutex::new(JournalBuffer::from_run(run)),
            order,
            writing: tokio::sync::Mutex::default(),
            behind: Notify::new(),
            write_retry_limit,
            lost,
        }
    }

    /// Writes in the background what nobody waits for, until the attempt is over.
    pub async fn write_behind(self: Arc<Self>, over: CancellationToken) {
        while over.run_until_cancelled(self.behind.notified()).await.is_some() {
            self.write().await;
        }
    }

    /// Ends the browser sessions and the agents that a lost attempt left open.
    pub fn close_lost_agents(&self, open: &OpenParts) {
        let fault = AgentError {
            code: AgentErrorCode::Internal,
            source: AgentErrorSource::System,
            retryable: true,
            message: "Its process was lost; the run goes on from its last checkpoint.".to_owned(),
        };
        let mut buffer = self.buffer();
        for event in open.session_ends() {
            buffer.push(event);
        }
        for actor in open.actors.iter().rev() {
            let finished = AgentEvent::AgentFinished {
                outcome: AgentOutcome::Failed,
                duration_ms: 0,
                error: Some(fault.clone()),
            };
            buffer.push(trace_event::new_event(actor, trace_event::to_fact(&finished, Uuid::nil())));
        }
        drop(buffer);
        self.behind.notify_one();
    }

    /// The artifact as it was last reported.
    pub fn artifact(&self) -> Option<Value> {
        self.buffer().artifact.clone()
    }

    /// Ends the run with everything that was not yet written; whether the lease was still held.
    pub async fn end(&self, ending: &RunEnding) -> bool {
        let end = {
            let mut buffer = self.buffer();
            close_open(&mut buffer, ending);
            let finished = TraceFact::RunFinished {
                outcome: trace_event::outcome_name(ending.outcome).to_owned(),
                error: ending.fault.as_ref().map(trace_event::trace_error),
            };
            buffer.push(trace_event::new_event(&trace_event::system_actor(self.lease.run), finished));
            // Nothing is added after this.
            buffer.closed = true;
            let charged = if ending.outcome == AgentOutcome::Succeeded { buffer.spent() } else { 0 };
            let citations = std::mem::take(&mut buffer.citations);
            let charged = i64::try_from(charged).unwrap_or(i64::MAX);
            buffer.deliveries.extend(self.webhooks().ended(ending, &citations, charged));
            let result = StoredResult { citations, ..ending.result.clone() };
            RunEnd {
                state: ending.state(),
                error: ending.error(),
                result: result.pack(),
                step: buffer.step(),
            }
        };
        let _turn = self.writing.lock().await;
        let run = self.lease.run;
        let write = || self.store.end_run(run, Some(&self.lease), end.clone());
        retry::while_unavailable(self.write_retry_limit, write, |_| {}).await.unwrap_or_else(|error| {
            tracing::error!(%run, %error, "could not write how a run ended; it is taken up again");
            false
        })
    }

    /// Writes what is in the buffer; whether the lease is still held.
    pub async fn write(&self) -> bool {
        let _turn = self.writing.lock().await;
        let (step, written) = {
            let buffer = self.buffer();
            if buffer.closed || self.lost.is_cancelled() {
                return false;
            }
            if buffer.is_written() {
                return true;
            }
            (buffer.step(), buffer.written())
        };
        let write = || self.store.step_run(&self.lease, step.clone());
        match retry::while_unavailable(self.write_retry_limit, write, |_| {}).await {
            Ok(true) => {
                self.buffer().remove_written(written);
                true
            }
            Ok(false) => {
                self.lost.cancel();
                false
            }
            Err(error) => {
                tracing::error!(run = %self.lease.run, %error, "a step of a run cannot be written; it is taken up again");
                self.lost.cancel();
                false
            }
        }
    }

    fn webhooks(&self) -> RunEvents<'_> {
        RunEvents::new(&self.order, self.lease.run, self.team, self.kind)
    }

    fn buffer(&self) -> MutexGuard<'_, JournalBuffer> {
        // Never held over an await.
        self.buffer.lock()
    }
}

#[async_trait::async_trait]
impl Journal for RunJournal {
    async fn record_event(&self, actor: &Actor, told: AgentEvent) {
        let durable = matches!(told, AgentEvent::Artifact { .. });
        {
            let mut buffer = self.buffer();
            if buffer.closed {
                return;
            }
            if !buffer.admit_event(actor, &told, &trace_event::system_actor(self.lease.run)) {
                return;
            }
            let snapshot = match &told {
                AgentEvent::Artifact { content, .. } => match keep_artifact(&mut buffer, content) {
                    Some(snapshot) => snapshot,
                    // It is the checkpoint; there is no room for a snapshot of it.
                    None => return buffer.note_full(&trace_event::system_actor(self.lease.run)),
                },
                _ => Uuid::nil(),
            };
            if let AgentEvent::ToolStarted { tool, parameters, .. } = &told {
                let (spent, mut input) = (buffer.spent(), trace_event::bounded(parameters));
                if self.order.results_when_paid {
                    input = unpaid::shown_input(tool, input);
                }
                let action = self.webhooks().action(tool, &input, spent);
                buffer.deliveries.extend(action);
            }
            buffer.push(trace_event::new_event(actor, trace_event::to_fact(&told, snapshot)));
        }
        if durable {
            self.write().await;
        } else {
            self.behind.notify_one();
        }
    }

    async fn spend_credits(&self, credits: u64) -> bool {
        if !self.buffer().spend(credits) {
            return false;
        }
        // In the store before it is spent, so that it survives this process.
        credits == 0 || self.write().await
    }

    fn credits_left(&self) -> u64 {
        self.buffer().left()
    }

    async fn record_citations(&self, mut citations: Vec<Citation>) {
        citations.truncate(MAX_CITATIONS);
        self.buffer().citations = citations;
    }
}

/// Keeps a new artifact as the checkpoint, and as a snapshot where there is room for one.
fn keep_artifact(buffer: &mut JournalBuffer, content: &Value) -> Option<Uuid> {
    buffer.artifact = Some(content.clone());
    let json = content.to_string();
    let packed = stored_data::compression::pack(json.as_bytes())
        .inspect_err(|error| tracing::error!(%error, "the artifact of an agent run could not be compressed"))
        .ok()?;
    buffer.set_checkpoint(packed.clone());
    let id = Uuid::now_v7();
    buffer.admit_snapshot(RunSnapshot { id, body: packed }).then_some(id)
}

/// Ends what is still open when the run ends: tool calls, browser sessions, then agents, the youngest first.
fn close_open(buffer: &mut JournalBuffer, ending: &RunEnding) {
    for (call, actor, tool) in std::mem::take(&mut buffer.calls) {
        let result = ToolCallResult::Error("the run ended first".to_owned());
        let finished = AgentEvent::ToolFinished { call, tool, result };
        buffer.push(trace_event::new_event(&actor, trace_event::to_fact(&finished, Uuid::nil())));
    }
    for (session, actor, begun) in std::mem::take(&mut buffer.browsers) {
        // The session itself ends with what held it.
        let finished = AgentEvent::BrowserFinished { session, duration_ms: elapsed_ms(begun) };
        buffer.push(trace_event::new_event(&actor, trace_event::to_fact(&finished, Uuid::nil())));
    }
    let cancelled = ending.outcome == AgentOutcome::Cancelled;
    for (actor, begun) in std::mem::take(&mut buffer.open).into_iter().rev() {
        let duration_ms = elapsed_ms(begun);
        let (outcome, error) = if actor.role == ActorRole::Subagent {
            let outcome = if cancelled { AgentOutcome::Cancelled } else { AgentOutcome::Failed };
            let fault = AgentError {
                code: AgentErrorCode::ParentFinished,
                source: AgentErrorSource::System,
                retryable: false,
                message: "The agent that started this one finished first.".to_owned(),
            };
            (outcome, Some(fault))
        } else {
            (ending.outcome, ending.fault.clone())
        };
        let finished = AgentEvent::AgentFinished { outcome, duration_ms, error };
        buffer.push(trace_event::new_event(&actor, trace_event::to_fact(&finished, Uuid::nil())));
    }
}

fn elapsed_ms(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
