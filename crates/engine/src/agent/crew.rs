//! The crew: claims runs, works on them, keeps their leases, and hears when their callers want them to end.

use super::start::Wishes;
use super::tidy::MOST_LOST;
use super::web::{Ways, WebSearch};
use super::work::{self, AbortOnDrop, Desk, Ears};
use crate::models::{self, Models};
use crate::plans::Plans;
use crate::scrape::Scraper;
use crate::storage::Storage;
use agent::Brain;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use store::agents::{ClaimedRun, RunClaim, RunLease};
use store::jobs::{LeaseStatus, PlanSlots};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A wish to cancel from another process is heard of within this.
const BEAT: Duration = Duration::from_millis(500);
const LAST_WRITES: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy)]
pub struct AgentCrewOptions {
    /// Runs at once in this process.
    pub slots: usize,
    /// How long a silent worker keeps its runs.
    pub lease: Duration,
    /// How often to look for work when no signal comes.
    pub poll: Duration,
    /// How long runs may go on after the process was told to stop.
    pub grace: Duration,
}

/// One per process.
pub struct AgentCrew {
    desk: Desk,
    wishes: Arc<Wishes>,
    held: Arc<Mutex<HashMap<RunLease, Ears>>>,
    claim: RunClaim,
    options: AgentCrewOptions,
    storage: Option<Arc<Storage>>,
}

impl std::fmt::Debug for AgentCrew {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("AgentCrew").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What runs are worked on with.
pub struct AgentTools {
    pub scraper: Arc<Scraper>,
    pub search: Option<Arc<dyn WebSearch>>,
    pub brain: Arc<dyn Brain>,
}

impl std::fmt::Debug for AgentTools {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("AgentTools").finish_non_exhaustive()
    }
}

/// What thinks: a language model where there is one for runs, rules otherwise. `tokens_per_credit` is the price of the model.
pub fn brain(models: &Models, tokens_per_credit: u64) -> Arc<dyn Brain> {
    match models.chat(models::Task::Agent) {
        Some(chat) => Arc::new(agent::ModelDriven::new(chat, tokens_per_credit)),
        None => Arc::new(agent::BuiltIn),
    }
}

impl AgentCrew {
    /// `agents` is where this process accepts runs: what is cancelled there is heard of at once.
    pub fn new(agents: &super::Agents, tools: AgentTools, plans: &Plans, options: AgentCrewOptions) -> Self {
        let store: Arc<dyn Store> = agents.store.clone();
        let claim = RunClaim {
            owner: Uuid::now_v7(),
            limit: 0,
            lease_for: options.lease,
            most_lost: MOST_LOST,
            plans: plans
                .iter()
                .map(|(name, plan)| PlanSlots { plan: name.to_owned(), max_running: plan.concurrency })
                .collect(),
            other_plans: plans.get("").concurrency,
        };
        let AgentTools { scraper, search, brain } = tools;
        let ways = Ways { store: store.clone(), scraper, search };
        let desk = Desk { store, ways, brain, plans: plans.clone(), patience: options.lease };
        Self { desk, wishes: agents.wishes.clone(), held: Arc::default(), claim, options, storage: None }
    }

    /// The same, claiming nothing while there is no room to store it.
    #[must_use]
    pub fn with_storage(self, storage: Arc<Storage>) -> Self {
        Self { storage: Some(storage), ..self }
    }

    /// Runs until `stop`, then winds down within the grace time.
    pub async fn run(self, stop: CancellationToken) {
        let over = CancellationToken::new();
        let (store, held) = (self.desk.store.clone(), self.held.clone());
        let mut beat = tokio::spawn(keep_leases(store, held, self.options.lease, over.clone()));
        let _abort = AbortOnDrop(beat.abort_handle());
        let mut running = JoinSet::new();
        self.work_until(&stop, &mut running).await;
        self.wind_down(&mut running).await;
        over.cancel();
        // It only sleeps and writes, and ends on its token.
        let _ = (&mut beat).await;
    }

    async fn work_until(&self, stop: &CancellationToken, running: &mut JoinSet<()>) {
        let mut signal = self.desk.store.work_signal();
        loop {
            signal.mark_unchanged();
            for claimed in self.claim_some(running.len()).await {
                self.start(claimed, running);
            }
            let room = running.len() < self.options.slots;
            tokio::select! {
                () = stop.cancelled() => return,
                Some(_) = running.join_next() => {}
                changed = signal.changed(), if room => {
                    if changed.is_err() {
                        // The store is closing; we go on looking until we are told to stop.
                        tokio::time::sleep(self.options.poll).await;
                    }
                }
                () = tokio::time::sleep(self.options.poll), if room => {}
            }
            while running.try_join_next().is_some() {}
        }
    }

    async fn claim_some(&self, running: usize) -> Vec<ClaimedRun> {
        let room = self.options.slots.saturating_sub(running);
        if room == 0 || self.storage.as_ref().is_some_and(|storage| !storage.has_room()) {
            return Vec::new();
        }
        let request = RunClaim { limit: u32::try_from(room).unwrap_or(u32::MAX), ..self.claim.clone() };
        self.desk.store.claim_runs(&request).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not claim runs");
            Vec::new()
        })
    }

    fn start(&self, claimed: ClaimedRun, running: &mut JoinSet<()>) {
        let (lease, ears) = (claimed.lease, Ears::default());
        lock(&self.held).insert(lease, ears.clone());
        let listening = self.wishes.listen(lease.run, ears.cancel.clone());
        let (desk, held) = (self.desk.clone(), self.held.clone());
        running.spawn(async move {
            let _listening = listening;
            // In a task of its own: a panic of ours must not leave the lease behind in the list of those that are kept.
            let mut attempt = tokio::spawn(work::attempt(desk, claimed, ears));
            let _abort = AbortOnDrop(attempt.abort_handle());
            if let Err(error) = (&mut attempt).await {
                tracing::error!(run = %lease.run, %error, "work on a run broke off; it is taken up again");
            }
            lock(&held).remove(&lease);
        });
    }

    /// Lets runs go on for a while, then hands them back: they go on elsewhere from their last checkpoint.
    async fn wind_down(&self, running: &mut JoinSet<()>) {
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.options.grace, all).await.is_ok() {
            return;
        }
        let leases: Vec<RunLease> = {
            let held = lock(&self.held);
            held.values().for_each(|ears| ears.back.cancel());
            held.keys().copied().collect()
        };
        tracing::info!(runs = leases.len(), "handing unfinished runs back to the queue");
        let back = async {
            while running.join_next().await.is_some() {}
            for lease in &leases {
                if let Err(error) = self.desk.store.hand_back_run(lease).await {
                    tracing::warn!(%error, "could not hand a run back; it goes on when its lease ends");
                }
            }
        };
        if tokio::time::timeout(LAST_WRITES, back).await.is_err() {
            tracing::warn!("could not hand all runs back; they go on when their leases end");
        }
    }
}

async fn keep_leases(
    store: Arc<dyn Store>,
    held: Arc<Mutex<HashMap<RunLease, Ears>>>,
    lease: Duration,
    over: CancellationToken,
) {
    let pause = (lease / 3).min(BEAT);
    while over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        let leases: Vec<_> = lock(&held).keys().copied().collect();
        if leases.is_empty() {
            continue;
        }
        match store.keep_runs(&leases, lease).await {
            Ok(statuses) => {
                let held = lock(&held);
                for (lease, status) in leases.iter().zip(statuses) {
                    let Some(ears) = held.get(lease) else { continue };
                    match status {
                        LeaseStatus::Held => {}
                        LeaseStatus::CancelRequested => ears.cancel.cancel(),
                        LeaseStatus::Lost => ears.lost.cancel(),
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "could not renew leases of runs"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
