//! The worker for pages of crawls and batches: claims entries of ledgers, scrapes them, writes how that went,
//! and settles what can be settled.
//!
//! Everything that matters is in the store before it counts, so any process may die at any moment: its
//! entries go back to the queue when their leases end, and what it fetched but did not settle is settled by
//! the next process that looks.

use super::context::{CrawlContext, CrawlContexts};
use super::outcome::{EntryError, Outcome};
use super::page::PageServices;
use super::politeness::Politeness;
use super::start::endpoint;
use super::{lists, page, settle};
use crate::Error;
use crate::scrape::{Scraper, link_to_request};
use crate::services::Services;
use crate::storage::Storage;
use access::Plans;
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::{AttemptEnd, ClaimedEntry, EntryClaim, EntryLease};
use store::work::LeaseStatus;
use store::{CrawlStore, Store, StoreError, StoreResult};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};
use uuid::Uuid;
use wire::Kind;
use work::{LeaseTimes, LeaseWorker, LeasedQueue, Signals, SlotShare, WorkerOptions};

/// How long a freed slot waits for others, so that they are filled together.
const GATHER_SLOTS: Duration = Duration::from_millis(8);
/// How long an end waits for others to be written with, and what was fetched for more to be settled with.
const GATHER_ENDS: Duration = Duration::from_millis(4);
/// How soon to look again when nothing was due; doubles up to the poll time.
const MIN_POLL: Duration = Duration::from_millis(25);
/// Crawls that others left unsettled, looked after in one round.
const MAX_LEFT_UNSETTLED: u32 = 32;
/// How long what was fetched waits to be written, at least.
const MIN_WRITE_RETRY_LIMIT: Duration = Duration::from_mins(1);
/// When pages whose ends could not be written are tried again.
const POSTPONED_AFTER_FAILED_WRITE: Duration = Duration::from_secs(5);
/// A page whose workers were lost so often is taken to be the reason. Many, because a server that is killed
/// again and again must not lose pages by it.
const MAX_LOST_WORKERS: u32 = 25;

/// One per process.
#[derive(Debug)]
pub struct CrawlWorker {
    queue: CrawlQueue,
    slots: SlotShare,
    times: LeaseTimes,
}

struct CrawlQueue {
    store: Arc<dyn Store>,
    services: Services,
    scraper: Arc<Scraper>,
    storage: Option<Arc<Storage>>,
    politeness: Politeness,
    contexts: CrawlContexts,
    claim: EntryClaim,
    max_lost_workers: u32,
    /// Crawls with something new to settle.
    unsettled: Mutex<HashSet<Uuid>>,
    wake: Notify,
}

impl std::fmt::Debug for CrawlQueue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CrawlQueue").field("claim", &self.claim).finish_non_exhaustive()
    }
}

impl CrawlWorker {
    pub fn new(
        services: &Services,
        scraper: Arc<Scraper>,
        plans: &Plans,
        slots: SlotShare,
        times: LeaseTimes,
    ) -> Self {
        let claim = EntryClaim {
            owner: Uuid::now_v7(),
            limit: 0,
            lease_for: times.lease,
            plans: plans.plan_slots(),
            other_plans: plans.get("").concurrency,
        };
        let store = services.store.clone();
        let queue = CrawlQueue {
            politeness: Politeness::new(store.clone(), services.fetcher.clone()),
            contexts: CrawlContexts::new(store.clone(), plans.clone()),
            store,
            services: services.clone(),
            scraper,
            storage: None,
            claim,
            max_lost_workers: MAX_LOST_WORKERS,
            unsettled: Mutex::default(),
            wake: Notify::new(),
        };
        Self { queue, slots, times }
    }

    /// The same, claiming nothing while there is no room to store it.
    #[must_use]
    pub fn with_storage(mut self, storage: Arc<Storage>) -> Self {
        self.queue.storage = Some(storage);
        self
    }

    /// The same, giving up pages whose workers were lost more often than this.
    #[must_use]
    pub fn with_max_lost_workers(mut self, max: u32) -> Self {
        self.queue.max_lost_workers = max;
        self
    }

    /// Runs until `stop`, then winds down within the grace time.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let queue = Arc::new(self.queue);
            let options = WorkerOptions {
                min_poll: MIN_POLL.min(self.times.poll),
                max_poll: self.times.poll,
                gather_slots: GATHER_SLOTS,
                gather_ends: GATHER_ENDS,
                write_retry_limit: self.times.lease.max(MIN_WRITE_RETRY_LIMIT),
                ..WorkerOptions::with_lease(self.times.lease, self.times.grace)
            };
            let over = CancellationToken::new();
            let mut settler = JoinSet::new();
            settler.spawn(settle_until(queue.clone(), self.times.poll, over.clone()));
            LeaseWorker::new(queue, self.slots, options).run(stop).await;
            // What was written last is settled before it ends.
            over.cancel();
            while settler.join_next().await.is_some() {}
        })
    }
}

#[async_trait::async_trait]
impl LeasedQueue for CrawlQueue {
    type Lease = EntryLease;
    type Item = ClaimedEntry;
    type End = AttemptEnd;

    fn items(&self) -> &'static str {
        "pages"
    }

    fn lease(&self, entry: &ClaimedEntry) -> EntryLease {
        entry.lease
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.store.work_signal()
    }

    fn may_claim(&self) -> bool {
        self.storage.as_ref().is_none_or(|storage| storage.has_room_for_pages())
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<ClaimedEntry>> {
        self.store.claim_entries(&EntryClaim { limit, ..self.claim.clone() }).await
    }

    async fn renew(&self, leases: &[EntryLease]) -> StoreResult<Vec<LeaseStatus>> {
        self.store.keep_entries(leases, self.claim.lease_for).await
    }

    async fn attempt(&self, entry: ClaimedEntry, signals: Signals) -> Option<AttemptEnd> {
        Box::pin(signals.hand_back.run_until_cancelled(self.work_on(entry))).await
    }

    fn after_panic(&self, _: EntryLease) -> Option<AttemptEnd> {
        let error = Error::with_text(Kind::ScrapeAllFailed, "the worker failed unexpectedly");
        Some(failed(EntryError::from_error(&error)))
    }

    async fn end(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<()> {
        let fetched = ends.iter().filter(|(_, end)| matches!(end, AttemptEnd::Fetched { .. }));
        let crawls: HashSet<Uuid> = fetched.map(|(lease, _)| lease.crawl).collect();
        self.store.end_attempts(ends).await?;
        if !crawls.is_empty() {
            self.unsettled().extend(crawls);
            self.wake.notify_one();
        }
        Ok(())
    }

    /// What did not fit may be tried again without counting as an attempt. Where even this cannot be written,
    /// leases run out.
    async fn give_up(&self, ends: Vec<(EntryLease, AttemptEnd)>, error: &StoreError) {
        tracing::error!(%error, "could not write how pages ended; they start again");
        if !error.is_retryable() {
            return;
        }
        let later = AttemptEnd::Postponed { delay: POSTPONED_AFTER_FAILED_WRITE };
        let ends = ends.into_iter().map(|(lease, _)| (lease, later.clone())).collect();
        if let Err(error) = self.store.end_attempts(ends).await {
            tracing::warn!(%error, "could not hand pages back; they start again when their leases end");
        }
    }

    async fn hand_back(&self, leases: Vec<EntryLease>) -> StoreResult<()> {
        let ends = leases.into_iter().map(|lease| (lease, AttemptEnd::HandBack)).collect();
        self.store.end_attempts(ends).await.map(|_| ())
    }

    async fn sweep(&self) -> StoreResult<()> {
        take_back(self.store.as_ref(), self.max_lost_workers).await
    }
}

/// Takes back pages of lost workers, for processes that have no worker of their own.
pub async fn take_back_pages(store: &dyn CrawlStore) -> StoreResult<()> {
    take_back(store, MAX_LOST_WORKERS).await
}

async fn take_back(store: &dyn CrawlStore, max_lost_workers: u32) -> StoreResult<()> {
    let report = store.sweep_entries(max_lost_workers).await?;
    if report.requeued + report.abandoned > 0 {
        tracing::info!(?report, "took back pages of lost workers");
    }
    Ok(())
}

impl CrawlQueue {
    async fn work_on(&self, entry: ClaimedEntry) -> AttemptEnd {
        let context = match self.contexts.get(entry.lease.crawl).await {
            Ok(Some(context)) => context,
            Ok(None) => return AttemptEnd::HandBack,
            Err(error) => {
                return page::postponed(&entry, &error)
                    .unwrap_or_else(|| failed(EntryError::from_error(&error)));
            }
        };
        let (services, scraper) = (&self.services, self.scraper.as_ref());
        let services = PageServices { services, scraper, politeness: &self.politeness };
        let span = entry_span(&context, &entry);
        let work = async {
            if entry.is_lists {
                return lists::read_lists(services, &context, &entry.url).await;
            }
            page::scrape_page(services, &context, &entry).await
        };
        work.instrument(span).await
    }

    async fn settle_noted(&self) {
        let noted: Vec<Uuid> = self.unsettled().drain().collect();
        for crawl in noted {
            if let Err(error) = settle::settle_crawl(self.store.as_ref(), &self.contexts, crawl).await {
                tracing::warn!(%crawl, error = error.text(), "could not settle a crawl; it is tried again");
            }
        }
    }

    fn unsettled(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        self.unsettled.lock()
    }
}

/// What a collector of OpenTelemetry sees of an attempt at an entry: a trace of its own, which names the request that
/// asked for the crawl.
fn entry_span(context: &CrawlContext, entry: &ClaimedEntry) -> Span {
    let span = tracing::info_span!(
        target: otlp::SPANS,
        parent: None,
        "crawl page",
        otel.root = true,
        otel.name = if entry.is_lists { "crawl lists" } else { "crawl page" },
        otel.private = context.order.private,
        gannet.job.id = %context.id,
        gannet.capability = endpoint(context.kind),
        gannet.crawl.entry = entry.lease.seq,
        gannet.attempt = entry.attempt,
    );
    link_to_request(&span, context.order.traceparent.as_deref());
    span
}

fn failed(failure: EntryError) -> AttemptEnd {
    AttemptEnd::Fetched { outcome: Outcome::Failed(failure).pack(), document: None, page: None, search: None }
}

/// Settles crawls as their pages come in, and from time to time what other processes left.
async fn settle_until(queue: Arc<CrawlQueue>, every: Duration, over: CancellationToken) {
    loop {
        let woken = tokio::select! {
            () = over.cancelled() => return queue.settle_noted().await,
            () = queue.wake.notified() => true,
            () = tokio::time::sleep(every) => false,
        };
        if woken {
            tokio::time::sleep(GATHER_ENDS).await;
        } else {
            match queue.store.unsettled_crawls(MAX_LEFT_UNSETTLED).await {
                Ok(left) => queue.unsettled().extend(left),
                Err(error) => tracing::warn!(%error, "could not look for unsettled crawls"),
            }
        }
        queue.settle_noted().await;
    }
}
