//! Accepting runs and cancelling them: the request is on disk, with its credits set aside, before the caller
//! has an id.

use super::ending::RunEnding;
use super::events::RunEvents;
use super::order::Order;
use super::plan::{self, RunPlan};
use super::{sweep, trace_event};
use crate::allowed_urls::AllowedUrls;
use crate::watchers::WatcherLimits;
use crate::{Error, from_store};
use access::{Caller, CallerError, credits, idempotency};
use futures_util::future::BoxFuture;
use net::EgressAllow;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::agents::{NewRun, Run, RunCancel, RunKind, StartedRun, TurnOf};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::agent::{AgentRequest, AgentStarted, TraceFact};
use wire::{AGENT_GENERATION, Issue, Kind};

/// How long a run, its trace and its result are kept after it ended.
pub const RESULT_RETENTION: Duration = Duration::from_hours(24);
/// How long a run waits for a worker at most.
const MAX_QUEUE_WAIT: Duration = Duration::from_hours(24);
/// A reservation that no run holds by then was left behind by a crash. One that a live run holds stays.
const RESERVATION_HOLD: Duration = Duration::from_mins(1);

/// Accepts runs, and tells how they stand. One per process.
pub struct Agents {
    pub(super) store: Arc<dyn Store>,
    allow: EgressAllow,
    /// How long a run may take.
    run_for: Duration,
    pub(super) cancel_requests: Arc<CancelRequests>,
    pub(super) watchers: Arc<WatcherLimits>,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Agents").field("run_for", &self.run_for).finish_non_exhaustive()
    }
}

/// A run to accept, from whichever endpoint.
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
        Self { store, allow, run_for, cancel_requests: Arc::default(), watchers: Arc::default() }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub fn allow(&self) -> &EgressAllow {
        &self.allow
    }

    /// Accepts a run: durable when this returns.
    pub fn start<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a AgentRequest,
        idempotency_key: Option<String>,
    ) -> BoxFuture<'a, Result<AgentStarted, Error>> {
        Box::pin(async move {
            if caller.zero_data_retention {
                return Err(Kind::AgentZeroRetention.into());
            }
            if asked.thread_id.is_some() {
                // Before the thread is checked: it may be busy with the run that the first request with this key
                // started.
                let (scope, key) = (purpose(RunKind::Agent), idempotency_key.as_deref());
                idempotency::refuse_used(self.store.as_ref(), caller, scope, key).await?;
            }
            let (turn_of, last) = match &asked.thread_id {
                None => (TurnOf::NewThread(Uuid::now_v7()), None),
                Some(written) => {
                    let thread = Uuid::try_parse(written).map_err(|_| {
                        Error::invalid(&[Issue::at("threadId", "must be a UUID", "invalid_value")])
                    })?;
                    (TurnOf::Thread(thread), Some(self.last_turn(caller, thread).await?))
                }
            };
            let plan = plan::resolve(asked, last.as_ref(), &self.allow)?;
            let RunPlan { order, credits_asked, audit } = plan;
            let kind = RunKind::Agent;
            let acceptance = Acceptance { kind, turn_of, order, credits_asked, audit, idempotency_key };
            self.accept(caller, acceptance).await
        })
    }

    /// Accepts what is known to make sense.
    pub async fn accept(&self, caller: &Caller, asked: Acceptance) -> Result<AgentStarted, Error> {
        let Acceptance { kind, turn_of, mut order, credits_asked, audit, idempotency_key } = asked;
        AllowedUrls::check_webhook(caller, order.webhook.as_ref()).map_err(Error::RefusedUrl)?;
        let key = idempotency_key.as_deref();
        idempotency::refuse_used(self.store.as_ref(), caller, purpose(kind), key).await?;
        let (reservation, max_credits) =
            self.reserve(caller, kind, order.task.max_credits, credits_asked).await?;
        order.task.max_credits = max_credits;
        order.results_when_paid = caller.plan.credits.is_some();
        order.traceparent = otlp::current_traceparent();
        let id = Uuid::now_v7();
        let started = RunEvents::new(&order, id, caller.team, kind).started();
        let run = NewRun {
            id,
            team_id: caller.team,
            key_id: caller.key,
            kind,
            generation: AGENT_GENERATION.to_owned(),
            turn_of,
            request: order.to_json()?,
            target: order.target(),
            max_credits: i64::try_from(max_credits).unwrap_or(i64::MAX),
            run_for: self.run_for,
            wait_for: MAX_QUEUE_WAIT,
            retain_for: RESULT_RETENTION,
            reservation,
            audit,
            events: vec![trace_event::new_event(&trace_event::system_actor(id), TraceFact::RunStarted {})],
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
                Err(self.give_back(reservation, Error::ThreadBusy(run)).await)
            }
            Ok(StartedRun::ThreadNotFound) => {
                Err(self.give_back(reservation, Kind::ThreadNotFound.into()).await)
            }
            Ok(StartedRun::Refused(refused)) => {
                Err(self.give_back(reservation, idempotency::not_admitted(caller, refused).into()).await)
            }
            Err(error) => Err(self.rejected(reservation, error).await),
        }
    }

    async fn last_turn(&self, caller: &Caller, thread: Uuid) -> Result<Order, Error> {
        let known = self.store.thread(caller.team, thread).await.map_err(from_store)?;
        known.ok_or(Kind::ThreadNotFound)?;
        let last = self.store.thread_runs(thread, 1).await.map_err(from_store)?;
        let last = last.last().ok_or(Kind::ThreadNotFound)?;
        // Checked before credits are reserved; the store checks again for requests that come in between.
        if last.state.is_terminal() { Order::from_run(last) } else { Err(Error::ThreadBusy(last.id)) }
    }

    /// When the database went away in the middle, the run may stand; then it needs the reservation, and if it
    /// does not, the sweeper gives it back.
    async fn rejected(&self, reservation: Option<Uuid>, error: StoreError) -> Error {
        if error.is_retryable() {
            return from_store(error);
        }
        tracing::error!(%error, "a run could not be accepted");
        self.give_back(reservation, Kind::AgentRejected.into()).await
    }

    async fn give_back(&self, reservation: Option<Uuid>, error: Error) -> Error {
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
    ) -> Result<(Option<Uuid>, u64), Error> {
        let Some(allowance) = caller.plan.credits else { return Ok((None, most)) };
        let reserve = async |credits: u64| {
            let amount = i64::try_from(credits).unwrap_or(i64::MAX);
            credits::reserve(self.store.as_ref(), caller, amount, purpose(kind), RESERVATION_HOLD).await
        };
        match reserve(most).await {
            Err(CallerError::InsufficientCredits) if !asked => {
                let balance = self.store.balance(caller.team).await.map_err(from_store)?;
                let left = u64::try_from(allowance - balance.used - balance.reserved).unwrap_or(0).min(most);
                if left == 0 {
                    Err(CallerError::InsufficientCredits.into())
                } else {
                    Ok((Some(reserve(left).await?), left))
                }
            }
            reserved => Ok((Some(reserved?), most)),
        }
    }

    /// A run of the caller's team.
    pub fn find<'a>(
        &'a self,
        caller: &'a Caller,
        kind: RunKind,
        id: Uuid,
    ) -> BoxFuture<'a, Result<Run, Error>> {
        Box::pin(async move {
            let run = self.store.run(caller.team, id).await.map_err(from_store)?;
            run.filter(|run| run.kind == kind).ok_or_else(|| Kind::AgentNotFound.into())
        })
    }

    /// Asks a run to end. One that waits has ended when this returns; one that is worked on does in a moment.
    pub fn cancel<'a>(
        &'a self,
        caller: &'a Caller,
        kind: RunKind,
        id: Uuid,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let run = self.find(caller, kind, id).await?;
            let wish = trace_event::new_event(
                &trace_event::system_actor(id),
                TraceFact::RunCancelRequested { reason: "user".to_owned() },
            );
            match self.store.cancel_run(caller.team, id, wish).await.map_err(from_store)? {
                RunCancel::NotFound => Err(Kind::AgentNotFound.into()),
                RunCancel::AlreadyFinished => Err(Kind::AgentFinished.into()),
                RunCancel::AlreadyRequested => Err(Kind::AgentCancelling.into()),
                RunCancel::Requested => {
                    self.cancel_requests.request(id);
                    Ok(())
                }
                RunCancel::Waiting => {
                    // Somebody may have claimed it since, and then hears of the wish.
                    let ended = sweep::end_waiting(self.store.as_ref(), &run, RunEnding::cancelled()).await;
                    if !ended.map_err(from_store)? {
                        self.cancel_requests.request(id);
                    }
                    Ok(())
                }
            }
        })
    }
}

/// What credits and idempotency keys of a kind of run are counted under.
fn purpose(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Agent => "agent",
        RunKind::Extract => "extract",
    }
}

/// Requests to cancel runs, which reach the worker of this process at once.
#[derive(Debug, Default)]
pub struct CancelRequests(Mutex<HashMap<Uuid, CancellationToken>>);

/// Keeps a run's cancel token registered until it is dropped.
#[derive(Debug)]
pub struct CancelListener {
    cancel_requests: Arc<CancelRequests>,
    run: Uuid,
}

impl CancelRequests {
    pub fn listen(self: &Arc<Self>, run: Uuid, cancel: CancellationToken) -> CancelListener {
        self.0.lock().insert(run, cancel);
        CancelListener { cancel_requests: self.clone(), run }
    }

    fn request(&self, run: Uuid) {
        if let Some(cancel) = self.0.lock().get(&run) {
            cancel.cancel();
        }
    }
}

impl Drop for CancelListener {
    fn drop(&mut self) {
        self.cancel_requests.0.lock().remove(&self.run);
    }
}
