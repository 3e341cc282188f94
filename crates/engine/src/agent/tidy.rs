//! Runs that nobody would end: those of lost workers, those that waited too long, those that were cancelled while they waited. Every
//! process looks after them; each round is bounded and safe beside others.

use super::ends::Verdict;
use super::events::RunEvents;
use super::order::Order;
use super::{look, told};
use agent::{Fault, FaultCode, FaultSource, Outcome, Told};
use store::agents::{NewEvent, Run, RunEnd, RunLease, RunStep};
use store::{Store, StoreResult};
use uuid::Uuid;
use wire::agent::TraceFact;

/// A run whose workers were lost more often is taken to be the reason.
pub const MOST_LOST: u32 = 5;
/// Runs that are ended in one round.
const ROUND: u32 = 32;

/// Takes back runs of lost workers, and ends what must not go on.
pub async fn tidy(store: &dyn Store) -> StoreResult<u64> {
    let taken_back = store.sweep_runs().await?;
    if taken_back > 0 {
        tracing::info!(runs = taken_back, "took back runs of lost workers");
    }
    let mut ended = 0;
    for run in store.stranded_runs(MOST_LOST, ROUND).await? {
        let verdict = if run.cancel_requested {
            Verdict::cancelled()
        } else if run.lost > MOST_LOST {
            Verdict::lost()
        } else if run.deadline_at.is_none() {
            Verdict::never_begun()
        } else {
            Verdict::overdue()
        };
        ended += u64::from(end_waiting(store, &run, verdict).await?);
    }
    Ok(ended)
}

/// Ends a run that waits for a worker; whether it still did.
pub async fn end_waiting(store: &dyn Store, run: &Run, verdict: Verdict) -> StoreResult<bool> {
    let verdict = match store.run_luggage(run.id).await?.and_then(|luggage| luggage.artifact) {
        Some(packed) => verdict.with(
            crate::scrape::cache::unpack(&packed).ok().and_then(|json| serde_json::from_slice(&json).ok()),
        ),
        None => verdict,
    };
    let order = Order::of(run).ok();
    let verdict = verdict.judged_by(order.as_ref().and_then(|order| order.task.schema.as_ref()));
    let deliveries = order
        .iter()
        .filter_map(|order| RunEvents::of(order, run.id, run.team_id, run.kind).ended(&verdict, &[], 0))
        .collect();
    // Read last, whatever `run` says: it may have been begun, and lost again, since it was read.
    let mut events = closing(store, run.id, &verdict).await?;
    events.push(finished(run.id, &verdict));
    let step = RunStep { events, credits: run.credits, deliveries, ..RunStep::default() };
    let end = RunEnd { state: verdict.state(), error: verdict.error(), result: verdict.result.pack(), step };
    store.end_run(run.id, None, end).await
}

/// A run of which nobody knows any more what was asked.
pub async fn end_unreadable(store: &dyn Store, lease: &RunLease, why: &str) {
    let verdict = Verdict::broken(why);
    let step = RunStep { events: vec![finished(lease.run, &verdict)], ..RunStep::default() };
    let end = RunEnd { state: verdict.state(), error: verdict.error(), result: None, step };
    if let Err(error) = store.end_run(lease.run, Some(lease), end).await {
        tracing::error!(run = %lease.run, %error, "a run that cannot be read could not be ended either");
    }
}

async fn closing(store: &dyn Store, run: Uuid, verdict: &Verdict) -> StoreResult<Vec<NewEvent>> {
    let fault = Fault {
        code: FaultCode::ParentFinished,
        source: FaultSource::System,
        retryable: false,
        message: "The run ended while its worker was away.".to_owned(),
    };
    let outcome = if verdict.outcome == Outcome::Cancelled { Outcome::Cancelled } else { Outcome::Failed };
    let open = look::open_actors(store, run).await?;
    Ok(open
        .iter()
        .rev()
        .map(|actor| {
            let error = Some(fault.clone());
            let told = Told::AgentFinished { outcome, duration_ms: 0, error };
            told::event(actor, told::fact(&told, Uuid::nil()))
        })
        .collect())
}

fn finished(run: Uuid, verdict: &Verdict) -> NewEvent {
    let fact = TraceFact::RunFinished {
        outcome: told::outcome_name(verdict.outcome).to_owned(),
        error: verdict.fault.as_ref().map(told::trace_error),
    };
    told::event(&told::system(run), fact)
}
