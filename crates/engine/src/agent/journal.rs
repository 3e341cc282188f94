//! Where a run is written down: what a brain tells becomes events, snapshots and credits of the store, in steps that several may share.
//!
//! What must be durable (an artifact, credits before they are spent) is waited for; the rest goes out behind. Whatever a brain forgets
//! to say at its end is said here: every agent that began has ended before the run has.

mod pages;

use super::ends::{StoredResult, Verdict};
use super::events::RunEvents;
use super::order::Order;
use super::{told, unpaid};
use agent::{Actor, Citation, Fault, FaultCode, FaultSource, Journal, Outcome, Role, Told};
use pages::Pages;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::agents::{Run, RunEnd, RunLease, RunSnapshot};
use store::{Store, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::agent::TraceFact;

/// Values whose places are kept.
const MOST_CITATIONS: usize = 10_000;

/// The journal of one attempt at a run.
pub struct Book {
    store: Arc<dyn Store>,
    lease: RunLease,
    team: Uuid,
    kind: store::agents::RunKind,
    order: Arc<Order>,
    pages: Mutex<Pages>,
    /// Held while a step is written, so that steps keep their order.
    writing: tokio::sync::Mutex<()>,
    behind: Notify,
    /// How long a store that is away is waited for.
    patience: Duration,
    /// Cancelled when the lease is lost, or nothing can be written any more.
    lost: CancellationToken,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Book").field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl Book {
    pub fn open(
        store: Arc<dyn Store>,
        (lease, run): (RunLease, &Run),
        order: Arc<Order>,
        patience: Duration,
        lost: CancellationToken,
    ) -> Self {
        Self {
            store,
            lease,
            team: run.team_id,
            kind: run.kind,
            pages: Mutex::new(Pages::of(run)),
            order,
            writing: tokio::sync::Mutex::default(),
            behind: Notify::new(),
            patience,
            lost,
        }
    }

    /// Writes what nobody waits for, until the attempt is over.
    pub async fn write_behind(self: Arc<Self>, over: CancellationToken) {
        while over.run_until_cancelled(self.behind.notified()).await.is_some() {
            self.write().await;
        }
    }

    /// Agents that an attempt before this one left open are said to have ended with it.
    pub fn close_earlier(&self, open: &[Actor]) {
        let fault = Fault {
            code: FaultCode::Internal,
            source: FaultSource::System,
            retryable: true,
            message: "Its process was lost; the run goes on from its last checkpoint.".to_owned(),
        };
        let mut pages = self.pages();
        for actor in open.iter().rev() {
            let finished =
                Told::AgentFinished { outcome: Outcome::Failed, duration_ms: 0, error: Some(fault.clone()) };
            pages.push(told::event(actor, told::fact(&finished, Uuid::nil())));
        }
        drop(pages);
        self.behind.notify_one();
    }

    /// The artifact as it was last told.
    pub fn artifact(&self) -> Option<Value> {
        self.pages().artifact.clone()
    }

    /// Ends the run with everything that was not yet written; whether the lease was still held.
    pub async fn end(&self, verdict: &Verdict) -> bool {
        let end = {
            let mut pages = self.pages();
            close_open(&mut pages, verdict);
            let finished = TraceFact::RunFinished {
                outcome: told::outcome_name(verdict.outcome).to_owned(),
                error: verdict.fault.as_ref().map(told::trace_error),
            };
            pages.push(told::event(&told::system(self.lease.run), finished));
            // From here on nothing more is said.
            pages.closed = true;
            let charged = if verdict.outcome == Outcome::Succeeded { pages.spent() } else { 0 };
            let citations = std::mem::take(&mut pages.citations);
            let charged = i64::try_from(charged).unwrap_or(i64::MAX);
            pages.deliveries.extend(self.webhooks().ended(verdict, &citations, charged));
            let result = StoredResult { citations, ..verdict.result.clone() };
            RunEnd {
                state: verdict.state(),
                error: verdict.error(),
                result: result.pack(),
                step: pages.step(),
            }
        };
        let _turn = self.writing.lock().await;
        let run = self.lease.run;
        patiently(self.patience, || self.store.end_run(run, Some(&self.lease), end.clone()))
            .await
            .unwrap_or_else(|error| {
                tracing::error!(%run, %error, "could not write how a run ended; it is taken up again");
                false
            })
    }

    /// Writes what has gathered; whether the lease is still held.
    pub async fn write(&self) -> bool {
        let _turn = self.writing.lock().await;
        let (step, written) = {
            let pages = self.pages();
            if pages.closed || self.lost.is_cancelled() {
                return false;
            }
            if pages.is_written() {
                return true;
            }
            (pages.step(), pages.written())
        };
        match patiently(self.patience, || self.store.step_run(&self.lease, step.clone())).await {
            Ok(true) => {
                self.pages().turn(written);
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
        RunEvents::of(&self.order, self.lease.run, self.team, self.kind)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // Never held over an await.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait::async_trait]
impl Journal for Book {
    async fn tell(&self, actor: &Actor, told: Told) {
        let durable = matches!(told, Told::Artifact { .. });
        {
            let mut pages = self.pages();
            if pages.closed {
                return;
            }
            if !pages.admits(actor, &told, &told::system(self.lease.run)) {
                return;
            }
            let snapshot = match &told {
                Told::Artifact { content, .. } => match keep(&mut pages, content) {
                    Some(snapshot) => snapshot,
                    // Kept as the checkpoint; there is no room for its history.
                    None => return pages.is_full(&told::system(self.lease.run)),
                },
                _ => Uuid::nil(),
            };
            if let Told::ToolStarted { tool, parameters, .. } = &told {
                let (spent, mut input) = (pages.spent(), told::bounded(parameters));
                if self.order.results_when_paid {
                    input = unpaid::shown_input(tool, input);
                }
                let action = self.webhooks().action(tool, &input, spent);
                pages.deliveries.extend(action);
            }
            pages.push(told::event(actor, told::fact(&told, snapshot)));
        }
        if durable {
            self.write().await;
        } else {
            self.behind.notify_one();
        }
    }

    async fn spend(&self, credits: u64) -> bool {
        if !self.pages().spend(credits) {
            return false;
        }
        // Counted where it survives before it is spent.
        credits == 0 || self.write().await
    }

    fn left(&self) -> u64 {
        self.pages().left()
    }

    async fn cite(&self, mut citations: Vec<Citation>) {
        citations.truncate(MOST_CITATIONS);
        self.pages().citations = citations;
    }
}

/// An artifact as it now is: its snapshot, and the checkpoint to go on from.
fn keep(pages: &mut Pages, content: &Value) -> Option<Uuid> {
    pages.artifact = Some(content.clone());
    let json = content.to_string();
    let packed = crate::scrape::cache::pack(json.as_bytes()).ok()?;
    pages.set_checkpoint(packed.clone());
    let id = Uuid::now_v7();
    pages.admit_snapshot(RunSnapshot { id, body: packed }).then_some(id)
}

/// What is open when the run ends, ends with it: calls, then sub-agents, the youngest first, then who started them.
fn close_open(pages: &mut Pages, verdict: &Verdict) {
    for (call, actor, tool) in std::mem::take(&mut pages.calls) {
        let result = json!({ "error": "the run ended first" });
        let finished = Told::ToolFinished { call, tool, result };
        pages.push(told::event(&actor, told::fact(&finished, Uuid::nil())));
    }
    let cancelled = verdict.outcome == Outcome::Cancelled;
    for (actor, begun) in std::mem::take(&mut pages.open).into_iter().rev() {
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (outcome, error) = if actor.role == Role::Subagent {
            let outcome = if cancelled { Outcome::Cancelled } else { Outcome::Failed };
            let fault = Fault {
                code: FaultCode::ParentFinished,
                source: FaultSource::System,
                retryable: false,
                message: "The agent that started this one finished first.".to_owned(),
            };
            (outcome, Some(fault))
        } else {
            (verdict.outcome, verdict.fault.clone())
        };
        let finished = Told::AgentFinished { outcome, duration_ms, error };
        pages.push(told::event(&actor, told::fact(&finished, Uuid::nil())));
    }
}

/// Tries again while the store is away, for as long as a lease may hold.
async fn patiently<F>(patience: Duration, write: impl Fn() -> F) -> Result<bool, StoreError>
where
    F: Future<Output = Result<bool, StoreError>>,
{
    let give_up = tokio::time::Instant::now() + patience;
    let mut pause = Duration::from_millis(50);
    loop {
        match write().await {
            Err(error) if error.is_retryable() && tokio::time::Instant::now() + pause < give_up => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            done => return done,
        }
    }
}
