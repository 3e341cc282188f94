//! The worker: claims items of a queue under leases, works on them, keeps the leases alive, writes how the
//! items ended, takes back what lost workers held, and winds down when the process stops.

use crate::held::{HeldLeases, Signals};
use crate::retry;
use crate::slots::{Slot, SlotShare};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::StoreResult;
use store::work::LeaseStatus;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Ends that are written together at most.
const MAX_ENDS_TOGETHER: usize = 64;
/// How long a stopping worker waits for work that was told to stop, for leases to be handed back, and for the
/// last ends to be written.
const LAST_WRITES: Duration = Duration::from_secs(3);
/// How often lost leases are looked for, at least.
const MAX_SWEEP_PAUSE: Duration = Duration::from_secs(5);

/// A queue whose items are worked on under leases.
///
/// What must hold of the store behind it: an item that was claimed is not handed out again before its lease
/// ended, and a write with a lost lease changes nothing.
#[async_trait::async_trait]
pub trait LeasedQueue: Send + Sync + 'static {
    /// Proof that a worker holds an item.
    type Lease: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// What was claimed, and all that is needed to work on it.
    type Item: Send + 'static;
    /// How an attempt at an item ended.
    type End: Clone + Send + Sync + 'static;

    /// What its items are called in log lines: "pages", "agent runs", "webhooks".
    fn items(&self) -> &'static str;

    fn lease(&self, item: &Self::Item) -> Self::Lease;

    /// Changes when there may be something to claim.
    fn work_signal(&self) -> watch::Receiver<u64>;

    /// Whether anything may be claimed now.
    fn may_claim(&self) -> bool {
        true
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<Self::Item>>;

    /// Renews leases and says how each stands, in the order asked. Only called where
    /// [`WorkerOptions::renew_every`] is given.
    async fn renew(&self, leases: &[Self::Lease]) -> StoreResult<Vec<LeaseStatus>>;

    /// Works on an item. Must return soon after `signals.hand_back` was given. `None` when there is nothing
    /// to write: it was handed back, or has written its end itself.
    async fn attempt(&self, item: Self::Item, signals: Signals) -> Option<Self::End>;

    /// How an attempt ends that panicked; `None` leaves the item to whoever takes it when its lease has
    /// ended.
    fn after_panic(&self, lease: Self::Lease) -> Option<Self::End>;

    /// Writes how attempts ended. Ends whose lease was lost change nothing, so it may be called again.
    async fn end(&self, ends: Vec<(Self::Lease, Self::End)>) -> StoreResult<()>;

    /// Called when ends could not be written for as long as it was tried.
    async fn give_up(&self, ends: Vec<(Self::Lease, Self::End)>, error: &store::StoreError);

    /// Puts unfinished items back into the queue.
    async fn hand_back(&self, leases: Vec<Self::Lease>) -> StoreResult<()>;

    /// Takes back what lost workers held. Bounded work per call.
    async fn sweep(&self) -> StoreResult<()>;
}

#[derive(Debug, Clone, Copy)]
pub struct WorkerOptions {
    /// How often leases are renewed; `None` where a lease lasts longer than any attempt.
    pub renew_every: Option<Duration>,
    /// How often to look for work when no signal comes: so soon at first, doubling while nothing is found up
    /// to `max_poll`.
    pub min_poll: Duration,
    pub max_poll: Duration,
    /// How long a signal is not heard after nothing was found. It is the signal of all work: a busy crawl
    /// gives it for every page.
    pub quiet: Duration,
    /// How long a slot that became free waits for others, so that one claim fills them together.
    pub gather_slots: Duration,
    /// How long an end waits for others to be written with.
    pub gather_ends: Duration,
    /// How long it is tried to write an end.
    pub write_retry_limit: Duration,
    /// How often lost leases are looked for.
    pub sweep_every: Duration,
    /// How long work may go on after the process was told to stop.
    pub grace: Duration,
}

impl WorkerOptions {
    /// For work under leases of this length that are renewed.
    pub fn with_lease(lease: Duration, grace: Duration) -> Self {
        Self {
            renew_every: Some((lease / 3).min(Duration::from_secs(1))),
            min_poll: Duration::from_secs(1),
            max_poll: Duration::from_secs(1),
            quiet: Duration::ZERO,
            gather_slots: Duration::ZERO,
            gather_ends: Duration::ZERO,
            write_retry_limit: lease,
            sweep_every: (lease / 3).min(MAX_SWEEP_PAUSE),
            grace,
        }
    }
}

/// Works on the items of one queue. One per process and queue.
pub struct LeaseWorker<Q: LeasedQueue> {
    queue: Arc<Q>,
    slots: SlotShare,
    options: WorkerOptions,
    held: Arc<HeldLeases<Q::Lease>>,
    /// What was done cannot be written just now, so nothing more is to be claimed.
    is_stalled: Arc<AtomicBool>,
}

impl<Q: LeasedQueue> Debug for LeaseWorker<Q> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("LeaseWorker")
            .field("items", &self.queue.items())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// An end on its way to the writer, which answers when it is in the store.
struct EndToWrite<Q: LeasedQueue> {
    lease: Q::Lease,
    end: Q::End,
    written: oneshot::Sender<()>,
}

impl<Q: LeasedQueue> LeaseWorker<Q> {
    pub fn new(queue: Arc<Q>, slots: SlotShare, options: WorkerOptions) -> Self {
        Self { queue, slots, options, held: HeldLeases::new(), is_stalled: Arc::default() }
    }

    /// Runs until `stop`, then winds down within the grace time. Dropping it drops everything it works on.
    pub async fn run(self, stop: CancellationToken) {
        let (ends, to_write) = mpsc::channel(self.slots.max());
        let over = CancellationToken::new();
        let mut background = JoinSet::new();
        background.spawn(renew_leases(self.queue.clone(), self.held.clone(), self.options, over.clone()));
        background.spawn(sweep(self.queue.clone(), self.options.sweep_every, over.clone()));
        let mut writer = JoinSet::new();
        writer.spawn(write_ends(self.queue.clone(), to_write, self.is_stalled.clone(), self.options));
        let mut running = JoinSet::new();
        self.work_until(&stop, &ends, &mut running).await;
        self.wind_down(&mut running).await;
        drop(ends);
        // The writer ends when its last sender is gone, the others on their token.
        let _ = tokio::time::timeout(LAST_WRITES, writer.join_next()).await;
        over.cancel();
        while background.join_next().await.is_some() {}
    }

    async fn work_until(
        &self,
        stop: &CancellationToken,
        ends: &mpsc::Sender<EndToWrite<Q>>,
        running: &mut JoinSet<()>,
    ) {
        let mut signal = self.queue.work_signal();
        let mut poll = self.options.min_poll;
        loop {
            let Some(Some(slots)) = stop.run_until_cancelled(self.free_slots()).await else { return };
            signal.mark_unchanged();
            let (asked, claimed) = (slots.len(), self.claim(slots.len()).await);
            let found = claimed.len();
            for (item, slot) in claimed.into_iter().zip(slots) {
                self.start(item, slot, stop, ends.clone(), running);
            }
            while running.try_join_next().is_some() {}
            if found == asked {
                poll = self.options.min_poll;
                if stop.is_cancelled() {
                    return;
                }
                // There may be more: as soon as a slot is free.
                continue;
            }
            poll = if found > 0 { self.options.min_poll } else { (poll * 2).min(self.options.max_poll) };
            let quiet = if found > 0 { Duration::ZERO } else { self.options.quiet };
            let signalled = async {
                tokio::time::sleep(quiet).await;
                if signal.changed().await.is_err() {
                    // The store is closing; we go on looking until we are told to stop.
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                Some(_) = running.join_next() => tokio::time::sleep(self.options.gather_slots).await,
                () = signalled => {}
                () = tokio::time::sleep(poll) => {}
            }
        }
    }

    /// Waits for a free slot and takes all that are.
    async fn free_slots(&self) -> Option<Vec<Slot>> {
        let first = if let Some(slot) = self.slots.try_acquire() {
            slot
        } else {
            let slot = self.slots.acquire().await?;
            tokio::time::sleep(self.options.gather_slots).await;
            slot
        };
        let mut slots = vec![first];
        slots.extend(std::iter::from_fn(|| self.slots.try_acquire()));
        Some(slots)
    }

    async fn claim(&self, limit: usize) -> Vec<Q::Item> {
        if !self.queue.may_claim() || self.is_stalled.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.queue.claim(u32::try_from(limit).unwrap_or(u32::MAX)).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not claim {}", self.queue.items());
            Vec::new()
        })
    }

    fn start(
        &self,
        item: Q::Item,
        slot: Slot,
        stop: &CancellationToken,
        ends: mpsc::Sender<EndToWrite<Q>>,
        running: &mut JoinSet<()>,
    ) {
        let (queue, lease) = (self.queue.clone(), self.queue.lease(&item));
        let signals = Signals::new(stop.clone());
        let held = self.held.hold(lease, signals.clone());
        running.spawn(async move {
            let _held = (slot, held);
            let Some(end) = attempt(queue, item, lease, signals).await else { return };
            let (written, done) = oneshot::channel();
            // The writer outlives every attempt, and answers when the end is in the store.
            if ends.send(EndToWrite { lease, end, written }).await.is_ok() {
                let _ = done.await;
            }
        });
    }

    /// Lets work go on for the grace time, then hands the rest back.
    async fn wind_down(&self, running: &mut JoinSet<()>) {
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.options.grace, all).await.is_ok() {
            return;
        }
        let leases = self.held.hand_back_all();
        let count = leases.len();
        tracing::info!(count, "handing unfinished {} back to the queue", self.queue.items());
        let stopped = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_WRITES, stopped).await.is_err() {
            running.shutdown().await;
        }
        let handed_back = tokio::time::timeout(LAST_WRITES, self.queue.hand_back(leases)).await;
        if !matches!(handed_back, Ok(Ok(()))) {
            tracing::warn!(
                "could not hand {} back; they start again when their leases end",
                self.queue.items()
            );
        }
    }
}

/// One attempt in a task of its own, so that a panic costs this item and nothing else. `None` when there is
/// nothing to write, or nothing may be written because the lease was lost.
async fn attempt<Q: LeasedQueue>(
    queue: Arc<Q>,
    item: Q::Item,
    lease: Q::Lease,
    signals: Signals,
) -> Option<Q::End> {
    let (worked, lost) = (queue.clone(), signals.lost.clone());
    let mut task = tokio::spawn(async move { worked.attempt(item, signals).await });
    let _abort = AbortOnDrop(task.abort_handle());
    match lost.run_until_cancelled(&mut task).await? {
        Ok(end) => end,
        Err(error) => {
            tracing::error!(?lease, %error, "work on one of the {} panicked", queue.items());
            queue.after_panic(lease)
        }
    }
}

/// Aborts a task when dropped, so that it does not outlive what started it.
#[derive(Debug)]
pub struct AbortOnDrop(pub tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Writes how attempts ended; those that end together in one call.
async fn write_ends<Q: LeasedQueue>(
    queue: Arc<Q>,
    mut to_write: mpsc::Receiver<EndToWrite<Q>>,
    is_stalled: Arc<AtomicBool>,
    options: WorkerOptions,
) {
    let mut batch = Vec::with_capacity(MAX_ENDS_TOGETHER);
    while to_write.recv_many(&mut batch, MAX_ENDS_TOGETHER).await > 0 {
        if !options.gather_ends.is_zero() {
            tokio::time::sleep(options.gather_ends).await;
            while batch.len() < MAX_ENDS_TOGETHER
                && let Ok(more) = to_write.try_recv()
            {
                batch.push(more);
            }
        }
        let mut ends = Vec::with_capacity(batch.len());
        let mut waiting = Vec::with_capacity(batch.len());
        for EndToWrite { lease, end, written } in batch.drain(..) {
            ends.push((lease, end));
            waiting.push(written);
        }
        // Nothing more is claimed while this fails: small writes may pass where large ones do not fit.
        let on_retry = |error: &store::StoreError| {
            if !is_stalled.swap(true, Ordering::Relaxed) {
                tracing::warn!(%error, "could not write how {} ended; it is tried again", queue.items());
            }
        };
        let write = || queue.end(ends.clone());
        if let Err(error) = retry::while_unavailable(options.write_retry_limit, write, on_retry).await {
            queue.give_up(ends, &error).await;
        }
        is_stalled.store(false, Ordering::Relaxed);
        for written in waiting {
            // The attempt may have been stopped meanwhile.
            let _ = written.send(());
        }
    }
}

async fn renew_leases<Q: LeasedQueue>(
    queue: Arc<Q>,
    held: Arc<HeldLeases<Q::Lease>>,
    options: WorkerOptions,
    over: CancellationToken,
) {
    let Some(pause) = options.renew_every else { return };
    while over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        let leases = held.leases();
        if leases.is_empty() {
            continue;
        }
        match queue.renew(&leases).await {
            Ok(statuses) => held.signal(&leases, statuses),
            Err(error) => tracing::warn!(%error, "could not renew leases of {}", queue.items()),
        }
    }
}

async fn sweep<Q: LeasedQueue>(queue: Arc<Q>, pause: Duration, over: CancellationToken) {
    while over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        if let Err(error) = queue.sweep().await {
            tracing::warn!(%error, "could not take back {} of lost workers", queue.items());
        }
    }
}
