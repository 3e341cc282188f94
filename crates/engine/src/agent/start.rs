//! Accepting runs and cancelling them: what was asked is on disk, with its credits set aside, before the caller has an id.

use super::ends::Verdict;
use super::events::RunEvents;
use super::order::Order;
use super::plan::{self, RunPlan};
use super::{tidy, told};
use crate::callers::Caller;
use crate::crawl::watch::Seats;
use crate::{credits, from_store, idempotency};
use net::EgressAllow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::agents::{NewRun, Run, RunCancel, RunKind, StartedRun, TurnOf};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::agent::{AgentRequest, AgentStarted, TraceFact};
use wire::{AGENT_GENERATION, Issue, Kind, WireError};

/// How long a run and all of its is kept after it ended.
pub const KEPT: Duration = Duration::from_hours(24);
/// How long a run waits for a worker at most.
const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// A reservation that no run holds by then was left behind by a crash. One that a live run holds stays.
const UNTIL_STARTED: Duration = Duration::from_mins(1);

/// Accepts runs, and tells how they stand. One per process.
pub struct Agents {
    pub(super) store: Arc<dyn Store>,
    allow: EgressAllow,
    /// How long a run may take.
    run_for: Duration,
    pub(super) wishes: Arc<Wishes>,
    pub(super) seats: Arc<Seats>,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Agents").field("run_for", &self.run_for).finish_non_exhaustive()
    }
}

/// A run to accept, whatever it was asked by.
#[derive(Debug)]
pub struct Acceptance {
    pub kind: RunKind,
    pub turn_of: TurnOf,
    pub order: Order,
    /// The caller named the most it may cost; otherwise as much as the plan still covers will do.
    pub credits_asked: bool,
    pub audit: Option<String>,
    /// A second run with the same key is refused.
    pub idempotency_key: Option<String>,
}

impl Agents {
    /// `allow` is what the operator opened in private address space, `run_for` how long a run may take.
    pub fn new(store: Arc<dyn Store>, allow: EgressAllow, run_for: Duration) -> Self {
        Self { store, allow, run_for, wishes: Arc::default(), seats: Arc::default() }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub fn allow(&self) -> &EgressAllow {
        &self.allow
    }

    /// Accepts a run: durable when this returns.
    pub async fn start(
        &self,
        caller: &Caller,
        asked: &AgentRequest,
        idempotency_key: Option<String>,
    ) -> Result<AgentStarted, WireError> {
        if caller.zero_data_retention {
            return Err(Kind::AgentZeroRetention.into());
        }
        if asked.thread_id.is_some() {
            // Before the thread is looked at: it may be busy with the very run that the first request started.
            let (scope, key) = (purpose(RunKind::Agent), idempotency_key.as_deref());
            idempotency::refuse_used(self.store.as_ref(), caller, scope, key).await?;
        }
        let (turn_of, last) = match &asked.thread_id {
            None => (TurnOf::NewThread(Uuid::now_v7()), None),
            Some(written) => {
                let thread = Uuid::try_parse(written).map_err(|_| {
                    WireError::invalid(&[Issue::at("threadId", "must be a UUID", "invalid_value")])
                })?;
                (TurnOf::Thread(thread), Some(self.last_turn(caller, thread).await?))
            }
        };
        let plan = plan::resolve(asked, last.as_ref(), &self.allow)?;
        let RunPlan { order, credits_asked, audit } = plan;
        let kind = RunKind::Agent;
        let acceptance = Acceptance { kind, turn_of, order, credits_asked, audit, idempotency_key };
        self.accept(caller, acceptance).await
    }

    /// Accepts what is known to make sense.
    pub async fn accept(&self, caller: &Caller, asked: Acceptance) -> Result<AgentStarted, WireError> {
        let Acceptance { kind, turn_of, mut order, credits_asked, audit, idempotency_key } = asked;
        let key = idempotency_key.as_deref();
        idempotency::refuse_used(self.store.as_ref(), caller, purpose(kind), key).await?;
        let (reservation, max_credits) =
            self.reserve(caller, kind, order.task.max_credits, credits_asked).await?;
        order.task.max_credits = max_credits;
        order.results_when_paid = caller.plan.credits.is_some();
        let id = Uuid::now_v7();
        let started = RunEvents::of(&order, id, caller.team, kind).started();
        let run = NewRun {
            id,
            team_id: caller.team,
            key_id: caller.key,
            kind,
            generation: AGENT_GENERATION.to_owned(),
            turn_of,
            request: order.write(),
            target: order.target(),
            max_credits: i64::try_from(max_credits).unwrap_or(i64::MAX),
            run_for: self.run_for,
            wait_for: LONGEST_WAIT,
            retain_for: KEPT,
            reservation,
            audit,
            events: vec![told::event(&told::system(id), TraceFact::RunStarted {})],
            deliveries: started.into_iter().collect(),
            admission: idempotency::admission(caller, purpose(kind), key, id),
        };
        match self.store.start_run(run).await {
            Ok(StartedRun::Accepted { turn }) => {
                let thread_id = match turn_of {
                    TurnOf::Nothing => None,
                    TurnOf::NewThread(thread) | TurnOf::Thread(thread) => Some(thread),
                };
                Ok(AgentStarted { success: true, id, thread_id, thread_turn: thread_id.map(|_| turn) })
            }
            Ok(StartedRun::ThreadBusy { run }) => {
                Err(self.give_back(reservation, WireError::thread_busy(run)).await)
            }
            Ok(StartedRun::ThreadNotFound) => {
                Err(self.give_back(reservation, Kind::ThreadNotFound.into()).await)
            }
            Ok(StartedRun::Refused(refused)) => {
                Err(self.give_back(reservation, idempotency::not_admitted(caller, refused)).await)
            }
            Err(error) => Err(self.rejected(reservation, error).await),
        }
    }

    async fn last_turn(&self, caller: &Caller, thread: Uuid) -> Result<Order, WireError> {
        let known = self.store.thread(caller.team, thread).await.map_err(from_store)?;
        known.ok_or(Kind::ThreadNotFound)?;
        let last = self.store.thread_runs(thread, 1).await.map_err(from_store)?;
        let last = last.last().ok_or(Kind::ThreadNotFound)?;
        // Looked at before credits are set aside; who comes in between is found out by the store.
        if last.state.is_terminal() { Order::of(last) } else { Err(WireError::thread_busy(last.id)) }
    }

    /// When the database went away in the middle, the run may stand; then it needs the reservation, and if it does not, the sweeper
    /// gives it back.
    async fn rejected(&self, reservation: Option<Uuid>, error: StoreError) -> WireError {
        if error.is_retryable() {
            return from_store(error);
        }
        tracing::error!(%error, "a run could not be accepted");
        self.give_back(reservation, Kind::AgentRejected.into()).await
    }

    async fn give_back(&self, reservation: Option<Uuid>, error: WireError) -> WireError {
        if let Some(reservation) = reservation {
            credits::give_back(self.store.as_ref(), reservation).await;
        }
        error
    }

    /// Sets aside what the run may cost, where the plan has a limit.
    async fn reserve(
        &self,
        caller: &Caller,
        kind: RunKind,
        most: u64,
        asked: bool,
    ) -> Result<(Option<Uuid>, u64), WireError> {
        let Some(allowance) = caller.plan.credits else { return Ok((None, most)) };
        let reserve = async |credits: u64| {
            let amount = i64::try_from(credits).unwrap_or(i64::MAX);
            credits::reserve(self.store.as_ref(), caller, amount, purpose(kind), UNTIL_STARTED).await
        };
        match reserve(most).await {
            Err(error) if error.kind == Kind::InsufficientCredits && !asked => {
                let balance = self.store.balance(caller.team).await.map_err(from_store)?;
                let left = u64::try_from(allowance - balance.used - balance.reserved).unwrap_or(0).min(most);
                if left == 0 { Err(error) } else { Ok((Some(reserve(left).await?), left)) }
            }
            reserved => Ok((Some(reserved?), most)),
        }
    }

    /// A run of the caller's team.
    pub async fn find(&self, caller: &Caller, kind: RunKind, id: Uuid) -> Result<Run, WireError> {
        let run = self.store.run(caller.team, id).await.map_err(from_store)?;
        run.filter(|run| run.kind == kind).ok_or_else(|| Kind::AgentNotFound.into())
    }

    /// Asks a run to end. One that waits has ended when this returns; one that is worked on does in a moment.
    pub async fn cancel(&self, caller: &Caller, kind: RunKind, id: Uuid) -> Result<(), WireError> {
        let run = self.find(caller, kind, id).await?;
        let wish =
            told::event(&told::system(id), TraceFact::RunCancelRequested { reason: "user".to_owned() });
        match self.store.cancel_run(caller.team, id, wish).await.map_err(from_store)? {
            RunCancel::NotFound => Err(Kind::AgentNotFound.into()),
            RunCancel::AlreadyFinished => Err(Kind::AgentFinished.into()),
            RunCancel::AlreadyRequested => Err(Kind::AgentCancelling.into()),
            RunCancel::Requested => {
                self.wishes.tell(id);
                Ok(())
            }
            RunCancel::Waiting => {
                // Somebody may have claimed it since, and then hears of the wish.
                let ended = tidy::end_waiting(self.store.as_ref(), &run, Verdict::cancelled()).await;
                if !ended.map_err(from_store)? {
                    self.wishes.tell(id);
                }
                Ok(())
            }
        }
    }
}

/// What credits and idempotency keys of a kind of run are counted under.
fn purpose(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Agent => "agent",
        RunKind::Extract => "extract",
    }
}

/// Wishes to cancel, told at once to who works on the run in this process.
#[derive(Debug, Default)]
pub struct Wishes(Mutex<HashMap<Uuid, CancellationToken>>);

/// Somebody who hears of wishes; until it is dropped.
#[derive(Debug)]
pub struct Listening {
    wishes: Arc<Wishes>,
    run: Uuid,
}

impl Wishes {
    pub fn listen(self: &Arc<Self>, run: Uuid, cancel: CancellationToken) -> Listening {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run, cancel);
        Listening { wishes: self.clone(), run }
    }

    fn tell(&self, run: Uuid) {
        if let Some(cancel) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&run) {
            cancel.cancel();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.wishes.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}
