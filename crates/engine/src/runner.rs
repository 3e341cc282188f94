//! The runner: claims jobs, runs them, keeps their leases alive and writes how they ended.
//!
//! What holds: a job is finished only under its lease; a job whose lease was lost is stopped and
//! writes nothing; when the process stops, what cannot finish in time goes back to the queue.

use crate::plans::Plans;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use store::jobs::{ClaimRequest, Claimed, Finish, Job, KindSlots, Lease, LeaseStatus, PlanSlots};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// One kind of job and how it is done.
#[async_trait::async_trait]
pub trait Work: Send + Sync + 'static {
    fn kind(&self) -> &'static str;

    /// The most that may run at once over all processes.
    fn max_running(&self) -> Option<u32> {
        None
    }

    /// Does the job. `stop` is cancelled when somebody asked for the job to stop; the answer then is
    /// usually [`Finish::Cancelled`].
    async fn run(&self, job: &Job, lease: &Lease, stop: CancellationToken) -> Finish;
}

/// Handing jobs back must not hold up a stop for longer than this.
const HAND_BACK_TIME: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy)]
pub struct RunnerOptions {
    /// Jobs at once in this process.
    pub slots: usize,
    /// How long a silent worker keeps its jobs.
    pub lease: Duration,
    /// How often to look for work when no signal comes.
    pub poll: Duration,
    /// How long running jobs may go on after the process was told to stop.
    pub grace: Duration,
}

impl Default for RunnerOptions {
    fn default() -> Self {
        Self {
            slots: 32,
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

pub struct Runner {
    store: Arc<dyn Store>,
    works: HashMap<&'static str, Arc<dyn Work>>,
    claim: ClaimRequest,
    options: RunnerOptions,
    held: Arc<Held>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Runner").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The jobs this process works on, with the two ways to stop each.
type Held = Mutex<HashMap<Lease, Signals>>;

#[derive(Debug, Clone, Default)]
struct Signals {
    /// Somebody wants the job cancelled.
    cancel: CancellationToken,
    /// The lease is lost: drop everything.
    lost: CancellationToken,
}

impl Runner {
    pub fn new(
        store: Arc<dyn Store>,
        works: Vec<Arc<dyn Work>>,
        plans: &Plans,
        options: RunnerOptions,
    ) -> Self {
        let kinds = works
            .iter()
            .map(|work| KindSlots { kind: work.kind().to_owned(), max_running: work.max_running() })
            .collect();
        let other_plans = plans.get("").concurrency;
        let plans = plans
            .iter()
            .map(|(name, plan)| PlanSlots { plan: name.to_owned(), max_running: plan.concurrency })
            .collect();
        let claim = ClaimRequest {
            owner: Uuid::now_v7(),
            kinds,
            plans,
            other_plans,
            limit: 0,
            lease_for: options.lease,
        };
        let works = works.into_iter().map(|work| (work.kind(), work)).collect();
        Self { store, works, claim, options, held: Arc::default() }
    }

    /// Runs until `stop`, then winds down within the grace time.
    pub async fn run(self, stop: CancellationToken) {
        let beat_stop = CancellationToken::new();
        let beat = tokio::spawn(keep_leases(
            self.store.clone(),
            self.held.clone(),
            self.options.lease,
            beat_stop.clone(),
        ));
        let mut running = JoinSet::new();
        self.work_until(&stop, &mut running).await;
        self.wind_down(&mut running).await;
        beat_stop.cancel();
        // The heartbeat only sleeps and writes; it ends on its own token.
        let _ = beat.await;
    }

    async fn work_until(&self, stop: &CancellationToken, running: &mut JoinSet<()>) {
        let mut signal = self.store.work_signal();
        loop {
            signal.mark_unchanged();
            let claimed = self.claim_some(running.len()).await;
            let busy = !claimed.is_empty();
            for job in claimed {
                self.start(job, running);
            }
            // A full hand means there may be more: ask again as soon as there is room.
            let room = running.len() < self.options.slots;
            if busy && room {
                while running.try_join_next().is_some() {}
                if stop.is_cancelled() {
                    return;
                }
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                Some(_) = running.join_next() => {}
                changed = signal.changed(), if room => {
                    if changed.is_err() {
                        // The store is closing; the poll below goes on until we are told to stop.
                        tokio::time::sleep(self.options.poll).await;
                    }
                }
                () = tokio::time::sleep(self.options.poll), if room => {}
            }
            while running.try_join_next().is_some() {}
        }
    }

    async fn claim_some(&self, running: usize) -> Vec<Claimed> {
        let room = self.options.slots.saturating_sub(running);
        if room == 0 {
            return Vec::new();
        }
        let request = ClaimRequest { limit: u32::try_from(room).unwrap_or(u32::MAX), ..self.claim.clone() };
        self.store.claim(&request).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not claim jobs");
            Vec::new()
        })
    }

    fn start(&self, claimed: Claimed, running: &mut JoinSet<()>) {
        let lease = claimed.lease;
        let signals = Signals::default();
        lock(&self.held).insert(lease, signals.clone());
        let (store, held) = (self.store.clone(), self.held.clone());
        let work = self.works.get(claimed.job.kind.as_str()).cloned();
        let patience = self.options.lease;
        running.spawn(async move {
            if let Some(work) = work {
                let finish = attempt(work, claimed, &signals).await;
                if let Some(finish) = finish {
                    write_finish(store.as_ref(), &lease, finish, patience).await;
                }
            }
            lock(&held).remove(&lease);
        });
    }

    async fn wind_down(&self, running: &mut JoinSet<()>) {
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.options.grace, all).await.is_ok() {
            return;
        }
        running.shutdown().await;
        let leases: Vec<_> = lock(&self.held).drain().map(|(lease, _)| lease).collect();
        tracing::info!(jobs = leases.len(), "handing unfinished jobs back to the queue");
        let hand_back = leases.iter().map(|lease| self.store.finish(lease, Finish::HandBack));
        let all = tokio::time::timeout(HAND_BACK_TIME, futures_util::future::join_all(hand_back)).await;
        let kept = all.map_or(leases.len(), |done| done.iter().filter(|outcome| outcome.is_err()).count());
        if kept > 0 {
            tracing::warn!(jobs = kept, "could not hand jobs back; they start again when their leases end");
        }
    }
}

/// Runs one attempt in a task of its own, so that a panic costs this attempt and nothing else.
/// `None` when the lease was lost.
async fn attempt(work: Arc<dyn Work>, claimed: Claimed, signals: &Signals) -> Option<Finish> {
    let Claimed { job, lease, now } = claimed;
    // Counted by the store's clock, which may not agree with ours.
    let left = job.deadline_at.saturating_sub(now).max(0);
    let deadline = Duration::from_millis(u64::try_from(left).unwrap_or_default());
    let stop = signals.cancel.clone();
    let mut task = tokio::spawn(async move { work.run(&job, &lease, stop).await });
    let abort = AbortOnDrop(task.abort_handle());
    let outcome = tokio::select! {
        () = signals.lost.cancelled() => return None,
        outcome = tokio::time::timeout(deadline, &mut task) => outcome,
    };
    drop(abort);
    Some(match outcome {
        Ok(Ok(finish)) => finish,
        Ok(Err(panic)) => {
            tracing::error!(job = %lease.job, error = %panic, "a job panicked");
            Finish::Retry {
                error: "the worker failed unexpectedly".to_owned(),
                delay: backoff(lease.attempt),
            }
        }
        Err(_) => Finish::Failed { error: "the deadline passed".to_owned(), credits: 0 },
    })
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Doubling from one second to a minute.
pub fn backoff(attempt: u32) -> Duration {
    Duration::from_secs(1 << attempt.saturating_sub(1).min(6)).min(Duration::from_mins(1))
}

/// Writes how a job ended; tries again while the store is away, for as long as the lease may hold.
async fn write_finish(store: &dyn Store, lease: &Lease, finish: Finish, patience: Duration) {
    let give_up = tokio::time::Instant::now() + patience;
    let mut pause = Duration::from_millis(50);
    loop {
        match store.finish(lease, finish.clone()).await {
            Ok(_) => return,
            Err(error) if error.is_retryable() && tokio::time::Instant::now() + pause < give_up => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(job = %lease.job, %error, "could not write how a job ended");
                if !error.is_retryable() {
                    give_up_on(store, lease, &error).await;
                }
                return;
            }
        }
    }
}

/// An end that the store will never take would only be tried again; say so once and be done.
async fn give_up_on(store: &dyn Store, lease: &Lease, error: &store::StoreError) {
    let failed = Finish::Failed { error: format!("its result could not be stored: {error}"), credits: 0 };
    if let Err(error) = store.finish(lease, failed).await {
        tracing::error!(job = %lease.job, %error, "could not fail a job either; it will run again");
    }
}

async fn keep_leases(store: Arc<dyn Store>, held: Arc<Held>, lease: Duration, stop: CancellationToken) {
    // At least once a second, because a wish to cancel travels back with the heartbeat.
    let pause = (lease / 3).min(Duration::from_secs(1));
    while stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        let leases: Vec<_> = lock(&held).keys().copied().collect();
        if leases.is_empty() {
            continue;
        }
        match store.heartbeat(&leases, lease).await {
            Ok(statuses) => {
                let held = lock(&held);
                for (lease, status) in leases.iter().zip(statuses) {
                    let Some(signals) = held.get(lease) else { continue };
                    match status {
                        LeaseStatus::Held => {}
                        LeaseStatus::CancelRequested => signals.cancel.cancel(),
                        LeaseStatus::Lost => signals.lost.cancel(),
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "could not renew job leases"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
