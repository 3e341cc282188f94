//! Runs that no worker ends: those of lost workers, those that waited too long, and those that were cancelled
//! while they waited. Every process looks after them; each round is bounded, and several processes may do it
//! at once.

use super::attempt::unpack_artifact;
use super::ending::RunEnding;
use super::events::RunEvents;
use super::order::Order;
use super::{open_agents, trace_event};
use agent::{AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, AgentOutcome};
use store::agents::{NewEvent, Run, RunEnd, RunLease, RunStep};
use store::{RunStore, StoreResult};
use uuid::Uuid;
use wire::agent::TraceFact;

/// A run whose workers were lost more often is taken to be the reason.
pub const MAX_LOST_WORKERS: u32 = 5;
/// Runs that are ended in one round.
const MAX_ENDED_TOGETHER: u32 = 32;

/// Takes back runs of lost workers, and ends what must not go on.
pub async fn sweep_runs(store: &dyn RunStore) -> StoreResult<u64> {
    let taken_back = store.sweep_runs().await?;
    if taken_back > 0 {
        tracing::info!(runs = taken_back, "took back runs of lost workers");
    }
    let mut ended = 0;
    for run in store.stranded_runs(MAX_LOST_WORKERS, MAX_ENDED_TOGETHER).await? {
        let ending = if run.cancel_requested {
            RunEnding::cancelled()
        } else if run.lost_leases > MAX_LOST_WORKERS {
            RunEnding::lost()
        } else if run.deadline_at.is_none() {
            RunEnding::never_begun()
        } else {
            RunEnding::overdue()
        };
        ended += u64::from(end_waiting(store, &run, ending).await?);
    }
    Ok(ended)
}

/// Ends a run that waits for a worker; whether it still did.
pub async fn end_waiting(store: &dyn RunStore, run: &Run, ending: RunEnding) -> StoreResult<bool> {
    let ending = match store.run_payload(run.id).await?.and_then(|payload| payload.artifact) {
        Some(packed) => ending.with_partial(unpack_artifact(&packed)),
        None => ending,
    };
    let order = Order::from_run(run).ok();
    let ending = ending.checked_against(order.as_ref().and_then(|order| order.task.schema.as_ref()));
    let deliveries = order
        .iter()
        .filter_map(|order| RunEvents::new(order, run.id, run.team_id, run.kind).ended(&ending, &[], 0))
        .collect();
    // Read last, whatever `run` says: it may have been begun, and lost again, since it was read.
    let mut events = closing(store, run.id, &ending).await?;
    events.push(finished(run.id, &ending));
    let step = RunStep { events, credits: run.credits, deliveries, ..RunStep::default() };
    let end = RunEnd { state: ending.state(), error: ending.error(), result: ending.result.pack(), step };
    store.end_run(run.id, None, end).await
}

/// Ends a run whose request cannot be read any more.
pub async fn end_unreadable(store: &dyn RunStore, lease: &RunLease, why: &str) {
    let ending = RunEnding::broken(why);
    let step = RunStep { events: vec![finished(lease.run, &ending)], ..RunStep::default() };
    let end = RunEnd { state: ending.state(), error: ending.error(), result: None, step };
    if let Err(error) = store.end_run(lease.run, Some(lease), end).await {
        tracing::error!(run = %lease.run, %error, "a run that cannot be read could not be ended either");
    }
}

async fn closing(store: &dyn RunStore, run: Uuid, ending: &RunEnding) -> StoreResult<Vec<NewEvent>> {
    let fault = AgentError {
        code: AgentErrorCode::ParentFinished,
        source: AgentErrorSource::System,
        retryable: false,
        message: "The run ended while its worker was away.".to_owned(),
    };
    let outcome = if ending.outcome == AgentOutcome::Cancelled {
        AgentOutcome::Cancelled
    } else {
        AgentOutcome::Failed
    };
    let open = open_agents::open_parts(store, run).await?;
    let agents = open.actors.iter().rev().map(|actor| {
        let error = Some(fault.clone());
        let told = AgentEvent::AgentFinished { outcome, duration_ms: 0, error };
        trace_event::new_event(actor, trace_event::to_fact(&told, Uuid::nil()))
    });
    Ok(open.session_ends().chain(agents).collect())
}

fn finished(run: Uuid, ending: &RunEnding) -> NewEvent {
    let fact = TraceFact::RunFinished {
        outcome: trace_event::outcome_name(ending.outcome).to_owned(),
        error: ending.fault.as_ref().map(trace_event::trace_error),
    };
    trace_event::new_event(&trace_event::system_actor(run), fact)
}
