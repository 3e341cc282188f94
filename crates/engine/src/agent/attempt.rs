//! One attempt at a run: from its claim until it has ended, was handed back, or its lease was lost.

use super::ending::{RunEnding, StoredResult};
use super::journal::RunJournal;
use super::open_agents;
use super::order::Order;
use super::web::{RunWeb, WebSources};
use crate::scrape::link_to_request;
use access::{Caller, Plans};
use agent::{Brain, BrainOutcome, Task, ThreadTurn};
use net::Deadline;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use store::agents::{ClaimedRun, Run, RunLease, RunState};
use store::{RunStore, Store, StoreError, StoreResult};
use stored_data::stored_json;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};
use work::{AbortOnDrop, Signals};

/// Earlier turns of a thread that a run gets to know, and the largest result among them.
const MAX_EARLIER_TURNS: u32 = 10;
const MAX_TURN_BYTES: usize = 64 << 10;

/// What every attempt of this process works with.
#[derive(Clone)]
pub struct RunServices {
    pub store: Arc<dyn Store>,
    pub sources: WebSources,
    pub brain: Arc<dyn Brain>,
    pub plans: Plans,
    /// How long a write is tried again while the store is not available.
    pub write_retry_limit: Duration,
}

/// Works on a run until it has ended or is lost.
pub async fn attempt_run(services: RunServices, claimed: ClaimedRun, signals: Signals) {
    let ClaimedRun { lease, run } = claimed;
    let store = services.store.clone();
    if run.request.is_empty() {
        return super::sweep::end_unreadable(store.as_ref(), &lease, crate::error::REQUEST_LOST).await;
    }
    let order = match Order::from_run(&run) {
        Ok(order) => Arc::new(order),
        Err(error) => return super::sweep::end_unreadable(store.as_ref(), &lease, &error.text()).await,
    };
    let span = run_span(&run, &order);
    work_until_end(services, (lease, run), order, signals).instrument(span).await;
}

/// What a collector of OpenTelemetry sees of a run: a trace of its own, which names the request that asked for it.
fn run_span(run: &Run, order: &Order) -> Span {
    let span = tracing::info_span!(
        target: otlp::SPANS,
        parent: None,
        "agent run",
        otel.root = true,
        gannet.job.id = %run.id,
    );
    link_to_request(&span, order.traceparent.as_deref());
    span
}

async fn work_until_end(
    services: RunServices,
    (lease, run): (RunLease, Run),
    order: Arc<Order>,
    signals: Signals,
) {
    let store = services.store.clone();
    let lost = signals.lost.clone();
    let journal =
        RunJournal::open(store.clone(), (lease, &run), order.clone(), services.write_retry_limit, lost);
    let journal = Arc::new(journal);
    let done = CancellationToken::new();
    let mut behind = tokio::spawn(journal.clone().write_behind(done.clone()));
    let _abort = AbortOnDrop(behind.abort_handle());
    // Before anything can end this attempt, or a run that is cancelled at once would leave them open.
    let ending = if let Err(why) = close_lost_agents(store.as_ref(), &run, &journal).await {
        Some(RunEnding::broken(&why))
    } else {
        let work = work_on_run(&services, &run, &order, &journal);
        tokio::select! {
            biased;
            () = signals.lost.cancelled() => None,
            () = signals.hand_back.cancelled() => None,
            () = signals.cancel.cancelled() => Some(RunEnding::cancelled()),
            ending = work => Some(ending),
        }
    };
    if let Some(ending) = ending {
        let ending = ending.with_partial(journal.artifact()).checked_against(order.task.schema.as_ref());
        journal.end(&ending).await;
    } else {
        // What the journal has so far is written, if the lease still allows it.
        journal.write().await;
    }
    done.cancel();
    // It only writes, and ends on its token.
    let _ = (&mut behind).await;
}

async fn work_on_run(
    services: &RunServices,
    run: &Run,
    order: &Arc<Order>,
    journal: &Arc<RunJournal>,
) -> RunEnding {
    let left = run.deadline_at.map_or(0, |deadline| deadline.saturating_sub(run.now)).max(0);
    // Counted by the store's clock, which may not agree with ours.
    let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
    let prepared = match prepare(services, run, order, Deadline::after(left)).await {
        Ok(prepared) => prepared,
        Err(why) => return RunEnding::broken(&why),
    };
    if run.cancel_requested {
        return RunEnding::cancelled().with_partial(prepared.resume);
    }
    let kept = prepared.resume.clone();
    match tokio::time::timeout(left, think(services.brain.clone(), prepared, journal.clone())).await {
        Ok(Some(ended)) => RunEnding::from_brain(ended, order.task.max_credits),
        Ok(None) => RunEnding::panicked().with_partial(kept),
        Err(_) => RunEnding::overdue().with_partial(kept),
    }
}

/// Ends the agents that an earlier attempt left open when its worker was lost.
async fn close_lost_agents(store: &dyn RunStore, run: &Run, journal: &RunJournal) -> Result<(), String> {
    // The first event is that of its start.
    if run.events > 1 {
        let open = open_agents::open_parts(store, run.id).await;
        journal.close_lost_agents(&open.map_err(|error| unreadable(run, &error))?);
    }
    Ok(())
}

fn unreadable(run: &Run, error: &StoreError) -> String {
    tracing::warn!(run = %run.id, %error, "a run could not be prepared");
    "The agent run could not be prepared.".to_owned()
}

/// What a brain starts with.
struct PreparedRun {
    task: Task,
    resume: Option<Value>,
    web: RunWeb,
}

async fn prepare(
    services: &RunServices,
    run: &Run,
    order: &Order,
    deadline: Deadline,
) -> Result<PreparedRun, String> {
    let store = services.store.as_ref();
    let unreadable = |error| unreadable(run, &error);
    let resume = checkpoint(store, run).await.map_err(unreadable)?;
    let team = store.team(run.team_id).await.map_err(unreadable)?.ok_or("The team is gone.")?;
    let caller = Caller::of_work(store, team, run.key_id, &services.plans).await.map_err(unreadable)?;
    let earlier = earlier_turns(store, run).await.map_err(unreadable)?;
    let task = Task { earlier, ..order.task.clone() };
    let web = RunWeb::new(services.sources.clone(), Arc::new(caller), order, deadline);
    Ok(PreparedRun { task, resume, web: web.map_err(|error| error.text())? })
}

async fn checkpoint(store: &dyn RunStore, run: &Run) -> StoreResult<Option<Value>> {
    let payload = store.run_payload(run.id).await?.unwrap_or_default();
    Ok(payload.artifact.and_then(|packed| unpack_artifact(&packed)))
}

/// The artifact that a run had so far; none, with a line in the log, where it cannot be read: the run begins anew, or ends
/// without it.
pub fn unpack_artifact(packed: &[u8]) -> Option<Value> {
    stored_json::or_log(stored_json::unpack("the artifact of an agent run", packed))
}

/// What earlier turns of the thread asked and answered.
async fn earlier_turns(store: &dyn RunStore, run: &Run) -> StoreResult<Vec<ThreadTurn>> {
    let Some(thread) = run.thread.filter(|_| run.turn > 1) else { return Ok(Vec::new()) };
    let mut turns = Vec::new();
    for before in store.thread_runs(thread, MAX_EARLIER_TURNS + 1).await? {
        if before.turn >= run.turn || before.state != RunState::Succeeded {
            continue;
        }
        let Ok(order) = Order::from_run(&before) else { continue };
        let payload = store.run_payload(before.id).await?.unwrap_or_default();
        let unpack = |packed: Vec<u8>| stored_json::or_log(StoredResult::unpack(&packed));
        let result = payload.result.and_then(unpack).unwrap_or_default();
        let data = result.data.filter(|data| data.to_string().len() <= MAX_TURN_BYTES);
        turns.push(ThreadTurn { prompt: order.task.prompt, data, message: result.message });
    }
    Ok(turns)
}

/// Thinks in a task of its own, so that a panic costs this run and nothing else, and dropping this stops it
/// at its next step. `None` when it panicked.
async fn think(
    brain: Arc<dyn Brain>,
    prepared: PreparedRun,
    journal: Arc<RunJournal>,
) -> Option<BrainOutcome> {
    let thinking = async move {
        let PreparedRun { task, resume, web } = prepared;
        brain.run(&task, resume, &web, journal.as_ref()).await
    };
    let mut task = tokio::spawn(thinking.in_current_span());
    let _abort = AbortOnDrop(task.abort_handle());
    (&mut task).await.inspect_err(|error| tracing::error!(%error, "a run panicked")).ok()
}
