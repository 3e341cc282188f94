//! One attempt at a run: from its claim to its end, or to the moment somebody else has it.

use super::ends::{StoredResult, Verdict};
use super::journal::Book;
use super::look;
use super::order::Order;
use super::web::{RunWeb, Ways};
use crate::callers::Caller;
use crate::plans::Plans;
use agent::{Brain, Ended, Task, Turn};
use net::Deadline;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use store::agents::{ClaimedRun, Run, RunState};
use store::{Store, StoreResult};
use tokio_util::sync::CancellationToken;

/// Turns of a thread that a run is told of, and the largest of their results.
const MOST_TURNS: u32 = 10;
const LARGEST_TURN: usize = 64 << 10;

/// What an attempt needs of its process.
#[derive(Clone)]
pub struct Desk {
    pub store: Arc<dyn Store>,
    pub ways: Ways,
    pub brain: Arc<dyn Brain>,
    pub plans: Plans,
    /// How long a store that is away is waited for.
    pub patience: Duration,
}

/// What an attempt hears.
#[derive(Debug, Clone, Default)]
pub struct Ears {
    /// The caller wants it to end.
    pub cancel: CancellationToken,
    /// It goes back to the queue: the process stops.
    pub back: CancellationToken,
    /// Somebody else has it.
    pub lost: CancellationToken,
}

/// Works on a run until it has ended or is lost.
pub async fn attempt(desk: Desk, claimed: ClaimedRun, ears: Ears) {
    let ClaimedRun { lease, run } = claimed;
    let store = desk.store.clone();
    if run.request.is_empty() {
        return super::tidy::end_unreadable(store.as_ref(), &lease, crate::fault::REQUEST_LOST).await;
    }
    let order = match Order::of(&run) {
        Ok(order) => Arc::new(order),
        Err(error) => return super::tidy::end_unreadable(store.as_ref(), &lease, error.text()).await,
    };
    let lost = ears.lost.clone();
    let book = Book::open(store.clone(), (lease, &run), order.clone(), desk.patience, lost);
    let book = Arc::new(book);
    let over = CancellationToken::new();
    let mut behind = tokio::spawn(book.clone().write_behind(over.clone()));
    let _abort = AbortOnDrop(behind.abort_handle());
    let verdict = {
        let work = carry(&desk, &run, &order, &book);
        tokio::select! {
            biased;
            () = ears.lost.cancelled() => None,
            () = ears.back.cancelled() => None,
            () = ears.cancel.cancelled() => Some(Verdict::cancelled()),
            verdict = work => Some(verdict),
        }
    };
    if let Some(verdict) = verdict {
        let verdict = verdict.with(book.artifact()).judged_by(order.task.schema.as_ref());
        book.end(&verdict).await;
    } else {
        // What was told so far goes into the store, if it still may.
        book.write().await;
    }
    over.cancel();
    // It only writes, and ends on its token.
    let _ = (&mut behind).await;
}

async fn carry(desk: &Desk, run: &Run, order: &Arc<Order>, book: &Arc<Book>) -> Verdict {
    let left = run.deadline_at.map_or(0, |deadline| deadline.saturating_sub(run.now)).max(0);
    // Counted by the store's clock, which may not agree with ours.
    let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
    let prepared = match prepare(desk, run, order, book, Deadline::after(left)).await {
        Ok(prepared) => prepared,
        Err(why) => return Verdict::broken(&why),
    };
    if run.cancel_requested {
        return Verdict::cancelled().with(prepared.resume);
    }
    let kept = prepared.resume.clone();
    match tokio::time::timeout(left, think(desk.brain.clone(), prepared, book.clone())).await {
        Ok(Some(ended)) => Verdict::of(ended, order.task.max_credits),
        Ok(None) => Verdict::panicked().with(kept),
        Err(_) => Verdict::overdue().with(kept),
    }
}

/// What a brain starts with.
struct Prepared {
    task: Task,
    resume: Option<Value>,
    web: RunWeb,
}

async fn prepare(
    desk: &Desk,
    run: &Run,
    order: &Order,
    book: &Book,
    deadline: Deadline,
) -> Result<Prepared, String> {
    let store = desk.store.as_ref();
    let unreadable = |error: store::StoreError| {
        tracing::warn!(run = %run.id, %error, "a run could not be prepared");
        "The agent run could not be prepared.".to_owned()
    };
    // The first event is that of its start.
    if run.events > 1 {
        book.close_earlier(&look::open_actors(store, run.id).await.map_err(unreadable)?);
    }
    let resume = checkpoint(store, run).await.map_err(unreadable)?;
    let team = store.team(run.team_id).await.map_err(unreadable)?.ok_or("The team is gone.")?;
    let mut caller = Caller::new(team, None, &desk.plans);
    caller.key = run.key_id;
    let earlier = earlier(store, run).await.map_err(unreadable)?;
    let task = Task { earlier, ..order.task.clone() };
    let web = RunWeb::new(desk.ways.clone(), Arc::new(caller), order, deadline);
    Ok(Prepared { task, resume, web: web.map_err(|error| error.text().to_owned())? })
}

async fn checkpoint(store: &dyn Store, run: &Run) -> StoreResult<Option<Value>> {
    let luggage = store.run_luggage(run.id).await?.unwrap_or_default();
    let unpack = |packed: Vec<u8>| serde_json::from_slice(&crate::scrape::cache::unpack(&packed).ok()?).ok();
    Ok(luggage.artifact.and_then(unpack))
}

/// What earlier turns of the thread asked and answered.
async fn earlier(store: &dyn Store, run: &Run) -> StoreResult<Vec<Turn>> {
    let Some(thread) = run.thread.filter(|_| run.turn > 1) else { return Ok(Vec::new()) };
    let mut turns = Vec::new();
    for before in store.thread_runs(thread, MOST_TURNS + 1).await? {
        if before.turn >= run.turn || before.state != RunState::Succeeded {
            continue;
        }
        let Ok(order) = Order::of(&before) else { continue };
        let luggage = store.run_luggage(before.id).await?.unwrap_or_default();
        let result = luggage.result.and_then(|packed| StoredResult::unpack(&packed)).unwrap_or_default();
        let data = result.data.filter(|data| data.to_string().len() <= LARGEST_TURN);
        turns.push(Turn { prompt: order.task.prompt, data, message: result.message });
    }
    Ok(turns)
}

/// Thinks in a task of its own, so that a panic costs this run and nothing else, and dropping this stops it at its next step. `None`
/// when it panicked.
async fn think(brain: Arc<dyn Brain>, prepared: Prepared, book: Arc<Book>) -> Option<Ended> {
    let mut task = tokio::spawn(async move {
        let Prepared { task, resume, web } = prepared;
        brain.run(&task, resume, &web, book.as_ref()).await
    });
    let _abort = AbortOnDrop(task.abort_handle());
    (&mut task).await.inspect_err(|error| tracing::error!(%error, "a run panicked")).ok()
}

/// A task that does not outlive who started it.
pub struct AbortOnDrop(pub tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
