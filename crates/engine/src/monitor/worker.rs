//! The worker for monitors: turns firings that are due into checks, and works on checks under leases.

use super::attempt::attempt_check;
use super::plan::MonitorPlan;
use crate::crawl::Crawler;
use crate::models::Task;
use crate::scrape::Scraper;
use crate::search::Searcher;
use crate::services::Services;
use crate::storage::Storage;
use access::Plans;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use notifications::links::NotificationLinks;
use std::sync::Arc;
use store::monitors::{CheckLease, ClaimedCheck, Firing, Monitor, NewCheck};
use store::work::LeaseStatus;
use store::{Store, StoreError, StoreResult};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;
use work::{LeaseTimes, LeaseWorker, LeasedQueue, Signals, SlotShare, WorkerOptions};

/// Firings that are turned into checks at once.
const MAX_FIRINGS: u32 = 200;

/// What checks are worked on with.
pub struct MonitorTools {
    pub services: Services,
    pub scraper: Arc<Scraper>,
    pub searcher: Arc<Searcher>,
    pub crawler: Arc<Crawler>,
    /// How callers reach this server, for addresses of files.
    pub base_url: String,
    pub links: NotificationLinks,
    /// Whether mail can be sent.
    pub has_mail: bool,
}

impl std::fmt::Debug for MonitorTools {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MonitorTools").finish_non_exhaustive()
    }
}

/// One per process.
#[derive(Debug)]
pub struct MonitorWorker {
    queue: CheckQueue,
    slots: SlotShare,
    times: LeaseTimes,
}

#[derive(Debug)]
struct CheckQueue {
    tools: Arc<MonitorTools>,
    plans: Plans,
    storage: Arc<Storage>,
    owner: Uuid,
    times: LeaseTimes,
}

impl MonitorWorker {
    pub fn new(
        tools: MonitorTools,
        plans: &Plans,
        storage: Arc<Storage>,
        slots: SlotShare,
        times: LeaseTimes,
    ) -> Self {
        let (tools, plans, owner) = (Arc::new(tools), plans.clone(), Uuid::now_v7());
        Self { queue: CheckQueue { tools, plans, storage, owner, times }, slots, times }
    }

    /// Runs until `stop`, then winds down within the grace time: checks that are not done then go on elsewhere.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let queue = Arc::new(self.queue);
            let firing = {
                let (queue, stop) = (queue.clone(), stop.clone());
                tokio::spawn(async move { stop.run_until_cancelled(queue.fire_forever()).await })
            };
            let LeaseTimes { lease, poll, grace } = self.times;
            let options = WorkerOptions {
                renew_every: Some(lease / 3),
                min_poll: poll,
                max_poll: poll,
                ..WorkerOptions::with_lease(lease, grace)
            };
            LeaseWorker::new(queue, self.slots, options).run(stop).await;
            // It ends with the token.
            let _ = firing.await;
        })
    }
}

impl CheckQueue {
    fn store(&self) -> &Arc<dyn Store> {
        &self.tools.services.store
    }

    async fn fire_forever(&self) {
        loop {
            match self.fire_due().await {
                Ok(fired) if fired >= MAX_FIRINGS as usize => {}
                Ok(_) => tokio::time::sleep(self.times.poll).await,
                Err(error) => {
                    tracing::warn!(%error, "could not look for monitors that are due");
                    tokio::time::sleep(self.times.poll).await;
                }
            }
        }
    }

    /// Turns firings that are due into checks; how many were due. However many firings were missed while no
    /// server ran, a monitor fires once, and then as its schedule says.
    async fn fire_due(&self) -> StoreResult<usize> {
        let due = self.store().due_monitors(MAX_FIRINGS).await?;
        let has_model = self.tools.services.models.chat(Task::Extract).is_some();
        for monitor in &due {
            if let Some(firing) = firing_of(monitor, has_model) {
                self.store().fire_monitor(firing).await?;
            }
        }
        Ok(due.len())
    }
}

fn firing_of(monitor: &Monitor, has_model: bool) -> Option<Firing> {
    let due_at = monitor.next_run_at?;
    let now = Timestamp::from_millisecond(monitor.now).ok()?;
    let plan = MonitorPlan::from_json(&monitor.request).ok();
    let schedule = plan.as_ref().and_then(|plan| plan.schedule(monitor.id, now).ok());
    // A monitor that cannot be read fires once more, and its check says why it failed.
    let next = schedule.and_then(|schedule| schedule.next_after(now));
    let estimated_credits = plan.map_or(0, |plan| plan.max_credits(has_model));
    Some(Firing {
        monitor: monitor.id,
        due_at,
        next_run_at: next.map(Timestamp::as_millisecond),
        check: NewCheck { id: Uuid::now_v7(), estimated_credits },
    })
}

#[async_trait::async_trait]
impl LeasedQueue for CheckQueue {
    type Lease = CheckLease;
    type Item = ClaimedCheck;
    /// A check writes its end itself, with its webhooks.
    type End = std::convert::Infallible;

    fn items(&self) -> &'static str {
        "checks of monitors"
    }

    fn lease(&self, claimed: &ClaimedCheck) -> CheckLease {
        claimed.lease
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.store().work_signal()
    }

    fn may_claim(&self) -> bool {
        self.storage.has_room()
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<ClaimedCheck>> {
        self.store().claim_checks(self.owner, limit, self.times.lease).await
    }

    async fn renew(&self, leases: &[CheckLease]) -> StoreResult<Vec<LeaseStatus>> {
        self.store().keep_checks(leases, self.times.lease).await
    }

    async fn attempt(&self, claimed: ClaimedCheck, signals: Signals) -> Option<Self::End> {
        let check = claimed.lease.check;
        let span = tracing::info_span!(
            target: otlp::SPANS,
            parent: None,
            "monitor check",
            otel.root = true,
            gannet.job.id = %check,
            gannet.monitor.id = %claimed.monitor.id,
        );
        let work = attempt_check(self.store().clone(), self.tools.clone(), &self.plans, claimed);
        let work = work.instrument(span);
        tokio::select! {
            biased;
            () = signals.lost.cancelled() => {}
            () = signals.hand_back.cancelled() => {}
            ended = work => {
                if let Err(error) = ended {
                    tracing::warn!(%check, %error, "a check was left to be taken up again");
                }
            }
        }
        None
    }

    /// Another attempt goes on when the lease has ended.
    fn after_panic(&self, _: CheckLease) -> Option<Self::End> {
        None
    }

    async fn end(&self, _: Vec<(CheckLease, Self::End)>) -> StoreResult<()> {
        Ok(())
    }

    async fn give_up(&self, _: Vec<(CheckLease, Self::End)>, _: &StoreError) {}

    async fn hand_back(&self, leases: Vec<CheckLease>) -> StoreResult<()> {
        let mut failed = None;
        for lease in &leases {
            // One that cannot be handed back must not keep the others.
            failed = self.store().hand_back_check(lease).await.err().or(failed);
        }
        failed.map_or(Ok(()), Err)
    }

    async fn sweep(&self) -> StoreResult<()> {
        self.store().sweep_checks().await.map(|_| ())
    }
}
