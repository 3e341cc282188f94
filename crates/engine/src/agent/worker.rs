//! The worker for agent runs: claims runs, lets brains work on them, and keeps their leases.

use super::attempt::{self, RunServices};
use super::start::CancelRequests;
use super::sweep::{self, MAX_LOST_WORKERS};
use super::web::{WebSearch, WebSources};
use crate::interact::Sessions;
use crate::models::{self, Models};
use crate::scrape::Scraper;
use crate::services::Services;
use crate::storage::Storage;
use access::Plans;
use agent::Brain;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::agents::{ClaimedRun, RunClaim, RunLease};
use store::work::LeaseStatus;
use store::{Store, StoreError, StoreResult};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use work::{LeaseTimes, LeaseWorker, LeasedQueue, Signals, SlotShare, WorkerOptions};

/// A request to cancel that another process took is heard of within this.
const RENEW_EVERY: Duration = Duration::from_millis(500);

/// One per process.
#[derive(Debug)]
pub struct AgentWorker {
    queue: RunQueue,
    slots: SlotShare,
    times: LeaseTimes,
}

struct RunQueue {
    services: RunServices,
    cancel_requests: Arc<CancelRequests>,
    storage: Option<Arc<Storage>>,
    claim: RunClaim,
}

impl std::fmt::Debug for RunQueue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("RunQueue").field("claim", &self.claim).finish_non_exhaustive()
    }
}

/// What runs are worked on with.
pub struct AgentTools {
    pub services: Services,
    pub scraper: Arc<Scraper>,
    pub search: Option<Arc<dyn WebSearch>>,
    /// Browser sessions, where runs may use them.
    pub sessions: Option<Arc<Sessions>>,
    pub brain: Arc<dyn Brain>,
}

impl std::fmt::Debug for AgentTools {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("AgentTools").finish_non_exhaustive()
    }
}

/// What thinks: a language model where there is one for runs, rules otherwise. `tokens_per_credit` is the
/// price of the model.
pub fn brain(models: &Models, tokens_per_credit: u64) -> Arc<dyn Brain> {
    match models.chat(models::Task::Agent) {
        Some(chat) => Arc::new(agent::ModelDriven::new(chat, tokens_per_credit)),
        None => Arc::new(agent::BuiltIn),
    }
}

impl AgentWorker {
    /// `agents` is where this process accepts runs: what is cancelled there is heard of at once.
    pub fn new(
        agents: &super::Agents,
        tools: AgentTools,
        plans: &Plans,
        slots: SlotShare,
        times: LeaseTimes,
    ) -> Self {
        let store: Arc<dyn Store> = agents.store.clone();
        let claim = RunClaim {
            owner: Uuid::now_v7(),
            limit: 0,
            lease_for: times.lease,
            max_lost_leases: MAX_LOST_WORKERS,
            plans: plans.plan_slots(),
            other_plans: plans.get("").concurrency,
        };
        let AgentTools { services, scraper, search, sessions, brain } = tools;
        let sources = WebSources { services, scraper, search, sessions };
        let services =
            RunServices { store, sources, brain, plans: plans.clone(), write_retry_limit: times.lease };
        let queue =
            RunQueue { services, cancel_requests: agents.cancel_requests.clone(), storage: None, claim };
        Self { queue, slots, times }
    }

    /// The same, claiming nothing while there is no room to store it.
    #[must_use]
    pub fn with_storage(mut self, storage: Arc<Storage>) -> Self {
        self.queue.storage = Some(storage);
        self
    }

    /// Runs until `stop`, then winds down within the grace time: what is not done then goes on elsewhere from
    /// its last checkpoint.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let LeaseTimes { lease, poll, grace } = self.times;
            let options = WorkerOptions {
                renew_every: Some((lease / 3).min(RENEW_EVERY)),
                min_poll: poll,
                max_poll: poll,
                ..WorkerOptions::with_lease(lease, grace)
            };
            LeaseWorker::new(Arc::new(self.queue), self.slots, options).run(stop).await;
        })
    }
}

#[async_trait::async_trait]
impl LeasedQueue for RunQueue {
    type Lease = RunLease;
    type Item = ClaimedRun;
    /// A run writes its end itself, with the last of its journal.
    type End = std::convert::Infallible;

    fn items(&self) -> &'static str {
        "agent runs"
    }

    fn lease(&self, claimed: &ClaimedRun) -> RunLease {
        claimed.lease
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.services.store.work_signal()
    }

    fn may_claim(&self) -> bool {
        self.storage.as_ref().is_none_or(|storage| storage.has_room())
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<ClaimedRun>> {
        self.services.store.claim_runs(&RunClaim { limit, ..self.claim.clone() }).await
    }

    async fn renew(&self, leases: &[RunLease]) -> StoreResult<Vec<LeaseStatus>> {
        self.services.store.keep_runs(leases, self.claim.lease_for).await
    }

    async fn attempt(&self, claimed: ClaimedRun, signals: Signals) -> Option<Self::End> {
        let _listening = self.cancel_requests.listen(claimed.lease.run, signals.cancel.clone());
        attempt::attempt_run(self.services.clone(), claimed, signals).await;
        None
    }

    /// Another attempt goes on from the last checkpoint when the lease has ended.
    fn after_panic(&self, _: RunLease) -> Option<Self::End> {
        None
    }

    async fn end(&self, _: Vec<(RunLease, Self::End)>) -> StoreResult<()> {
        Ok(())
    }

    async fn give_up(&self, _: Vec<(RunLease, Self::End)>, _: &StoreError) {}

    async fn hand_back(&self, leases: Vec<RunLease>) -> StoreResult<()> {
        let mut failed = None;
        for lease in &leases {
            // One that cannot be handed back must not keep the others.
            failed = self.services.store.hand_back_run(lease).await.err().or(failed);
        }
        failed.map_or(Ok(()), Err)
    }

    async fn sweep(&self) -> StoreResult<()> {
        sweep::sweep_runs(self.services.store.as_ref()).await.map(|_| ())
    }
}
