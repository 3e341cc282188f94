//! The crew: claims entries of ledgers, scrapes them, writes how that went, and settles what can be settled.
//!
//! Everything that matters is in the store before it counts, so any process may die at any moment: its entries go back to the queue
//! when their leases end, and what it fetched but did not settle is settled by whoever looks next.

use super::desk::Desks;
use super::manners::Manners;
use super::outcome::{Failure, Outcome};
use super::page::Ways;
use super::{lists, page, turn};
use crate::plans::Plans;
use crate::scrape::Scraper;
use crate::storage::Storage;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use store::crawls::{AttemptEnd, ClaimedEntry, EntryClaim, EntryLease};
use store::jobs::{LeaseStatus, PlanSlots};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long a freed slot waits for others, so that they are filled together.
const GATHER: Duration = Duration::from_millis(8);
/// How long an end waits for others to be written with, and what was fetched for more to be settled with.
const SHARE: Duration = Duration::from_millis(4);
/// How soon to look again when nothing was due; doubles up to `poll`.
const FIRST_LOOK: Duration = Duration::from_millis(25);
/// Ends that one transaction writes.
const ENDS: usize = 64;
/// Crawls that others left unsettled, looked after in one round.
const LEFT: u32 = 32;
const LAST_WRITES: Duration = Duration::from_secs(3);
/// How long what was fetched waits to be written, at least.
const WRITE_PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy)]
pub struct CrewOptions {
    /// Pages at once in this process.
    pub slots: usize,
    /// How long a silent worker keeps its entries.
    pub lease: Duration,
    /// How often to look for work when no signal comes.
    pub poll: Duration,
    /// How long running pages may go on after the process was told to stop.
    pub grace: Duration,
}

impl Default for CrewOptions {
    fn default() -> Self {
        Self {
            slots: 32,
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(10),
        }
    }
}

/// One per process.
pub struct Crew {
    shared: Arc<Shared>,
    claim: EntryClaim,
    options: CrewOptions,
    storage: Option<Arc<Storage>>,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Crew").field("options", &self.options).finish_non_exhaustive()
    }
}

struct Shared {
    store: Arc<dyn Store>,
    scraper: Arc<Scraper>,
    manners: Manners,
    desks: Desks,
    /// Entries this process works on; the token stops the work on one whose lease is lost.
    held: Mutex<HashMap<EntryLease, CancellationToken>>,
    /// Crawls with something new to settle.
    unsettled: Mutex<HashSet<Uuid>>,
    wake: Notify,
    /// What was fetched cannot be written just now, so nothing more is to be fetched.
    is_stalled: AtomicBool,
}

type Ended = (EntryLease, AttemptEnd, oneshot::Sender<()>);

impl Crew {
    pub fn new(store: Arc<dyn Store>, scraper: Arc<Scraper>, plans: &Plans, options: CrewOptions) -> Self {
        let claim = EntryClaim {
            owner: Uuid::now_v7(),
            limit: 0,
            lease_for: options.lease,
            plans: plans
                .iter()
                .map(|(name, plan)| PlanSlots { plan: name.to_owned(), max_running: plan.concurrency })
                .collect(),
            other_plans: plans.get("").concurrency,
        };
        let shared = Shared {
            manners: Manners::new(store.clone(), scraper.ladder().fetcher.clone()),
            desks: Desks::new(store.clone(), plans.clone()),
            store,
            scraper,
            held: Mutex::default(),
            unsettled: Mutex::default(),
            wake: Notify::new(),
            is_stalled: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared), claim, options, storage: None }
    }

    /// The same, claiming nothing while there is no room to store it.
    #[must_use]
    pub fn with_storage(self, storage: Arc<Storage>) -> Self {
        Self { storage: Some(storage), ..self }
    }

    /// Runs until `stop`, then winds down within the grace time.
    pub async fn run(self, stop: CancellationToken) {
        let (ends, to_write) = mpsc::channel(self.options.slots.max(1));
        let over = CancellationToken::new();
        let writer = tokio::spawn(write_ends(self.shared.clone(), to_write, self.options.lease));
        let beat = tokio::spawn(keep_leases(self.shared.clone(), self.options.lease, over.clone()));
        let settler = tokio::spawn(settle(self.shared.clone(), self.options.poll, over.clone()));
        let mut running = JoinSet::new();
        self.work_until(&stop, &ends, &mut running).await;
        self.wind_down(&mut running).await;
        drop(ends);
        // The writer ends when its last sender is gone, the others on their token.
        let _ = tokio::time::timeout(LAST_WRITES, writer).await;
        over.cancel();
        let _ = tokio::join!(beat, settler);
    }

    async fn work_until(
        &self,
        stop: &CancellationToken,
        ends: &mpsc::Sender<Ended>,
        running: &mut JoinSet<()>,
    ) {
        let mut signal = self.shared.store.work_signal();
        let mut look = FIRST_LOOK;
        loop {
            signal.mark_unchanged();
            let room = self.options.slots.saturating_sub(running.len());
            let claimed = self.claim_some(room).await;
            let found = !claimed.is_empty();
            for entry in claimed {
                self.start(entry, ends.clone(), running);
            }
            look = if found { FIRST_LOOK } else { (look * 2).min(self.options.poll) };
            let room = running.len() < self.options.slots;
            tokio::select! {
                () = stop.cancelled() => return,
                Some(_) = running.join_next() => tokio::time::sleep(GATHER).await,
                changed = signal.changed(), if room => {
                    if changed.is_err() {
                        // The store is closing; we go on looking until we are told to stop.
                        tokio::time::sleep(self.options.poll).await;
                    }
                }
                () = tokio::time::sleep(look), if room => {}
            }
            while running.try_join_next().is_some() {}
        }
    }

    async fn claim_some(&self, room: usize) -> Vec<ClaimedEntry> {
        let has_space = self.storage.as_ref().is_none_or(|storage| storage.has_room_for_pages());
        if room == 0 || !has_space || self.shared.is_stalled.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let request = EntryClaim { limit: u32::try_from(room).unwrap_or(u32::MAX), ..self.claim.clone() };
        self.shared.store.claim_entries(&request).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not claim pages");
            Vec::new()
        })
    }

    fn start(&self, entry: ClaimedEntry, ends: mpsc::Sender<Ended>, running: &mut JoinSet<()>) {
        let (shared, lease, lost) = (self.shared.clone(), entry.lease, CancellationToken::new());
        lock(&shared.held).insert(lease, lost.clone());
        running.spawn(async move {
            if let Some(end) = lost.run_until_cancelled(attempt(shared.clone(), entry)).await {
                let (written, done) = oneshot::channel();
                // The writer outlives every worker, and answers when the end is in the store.
                if ends.send((lease, end, written)).await.is_ok() {
                    let _ = done.await;
                }
            }
            lock(&shared.held).remove(&lease);
        });
    }

    async fn wind_down(&self, running: &mut JoinSet<()>) {
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(self.options.grace, all).await.is_ok() {
            return;
        }
        running.shutdown().await;
        let leases: Vec<_> = lock(&self.shared.held).drain().map(|(lease, _)| lease).collect();
        tracing::info!(pages = leases.len(), "handing unfinished pages back to the queue");
        let ends = leases.into_iter().map(|lease| (lease, AttemptEnd::HandBack)).collect();
        let back = tokio::time::timeout(LAST_WRITES, self.shared.store.end_attempts(ends)).await;
        if !matches!(back, Ok(Ok(_))) {
            tracing::warn!("could not hand pages back; they start again when their leases end");
        }
    }
}

/// One attempt, in a task of its own, so that a panic costs this page and nothing else.
async fn attempt(shared: Arc<Shared>, entry: ClaimedEntry) -> AttemptEnd {
    let crawl = entry.lease.crawl;
    let mut task = tokio::spawn(async move {
        let desk = match shared.desks.desk(crawl).await {
            Ok(Some(desk)) => desk,
            Ok(None) => return AttemptEnd::HandBack,
            Err(error) => {
                return page::postponed(&entry, &error).unwrap_or_else(|| failed(Failure::of(&error)));
            }
        };
        let ways = Ways { scraper: &shared.scraper, manners: &shared.manners };
        if entry.is_lists {
            return lists::read(ways, &desk, &entry.url).await;
        }
        page::visit(ways, &desk, &entry).await
    });
    let _abort = AbortOnDrop(task.abort_handle());
    match (&mut task).await {
        Ok(end) => end,
        Err(panic) => {
            tracing::error!(%crawl, error = %panic, "a page's worker panicked");
            let error = "the worker failed unexpectedly".to_owned();
            failed(Failure { code: "SCRAPE_ALL_ENGINES_FAILED".to_owned(), error })
        }
    }
}

fn failed(failure: Failure) -> AttemptEnd {
    AttemptEnd::Fetched { outcome: Outcome::Failed(failure).pack(), document: None, page: None, search: None }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Writes how attempts ended, those that end together in one transaction.
async fn write_ends(shared: Arc<Shared>, mut ended: mpsc::Receiver<Ended>, patience: Duration) {
    let mut batch = Vec::with_capacity(ENDS);
    while ended.recv_many(&mut batch, ENDS).await > 0 {
        tokio::time::sleep(SHARE).await;
        while batch.len() < ENDS
            && let Ok(more) = ended.try_recv()
        {
            batch.push(more);
        }
        let mut waiting = Vec::with_capacity(batch.len());
        let mut ends = Vec::with_capacity(batch.len());
        let mut crawls = HashSet::new();
        for (lease, end, written) in batch.drain(..) {
            if matches!(end, AttemptEnd::Fetched { .. }) {
                crawls.insert(lease.crawl);
            }
            ends.push((lease, end));
            waiting.push(written);
        }
        write_patiently(&shared, ends, patience).await;
        if !crawls.is_empty() {
            lock(&shared.unsettled).extend(crawls);
            shared.wake.notify_one();
        }
        for written in waiting {
            // Whoever waited may have been stopped.
            let _ = written.send(());
        }
    }
}

/// Tries again while the store is away or full. Nothing more is claimed meanwhile: small writes may pass where documents do not fit.
async fn write_patiently(shared: &Shared, ends: Vec<(EntryLease, AttemptEnd)>, patience: Duration) {
    let give_up = tokio::time::Instant::now() + patience.max(WRITE_PATIENCE);
    let mut pause = Duration::from_millis(50);
    loop {
        match shared.store.end_attempts(ends.clone()).await {
            Ok(_) => break,
            Err(error) if error.is_retryable() && tokio::time::Instant::now() + pause < give_up => {
                if !shared.is_stalled.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "could not write how pages ended; it is tried again");
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(%error, "could not write how pages ended; they start again");
                if error.is_retryable() {
                    hand_back(shared, &ends).await;
                }
                break;
            }
        }
    }
    shared.is_stalled.store(false, Ordering::Relaxed);
}

/// What did not fit may be tried again without counting as an attempt. Where even this cannot be written, leases run out.
async fn hand_back(shared: &Shared, ends: &[(EntryLease, AttemptEnd)]) {
    let later =
        |(lease, _): &(EntryLease, _)| (*lease, AttemptEnd::Postponed { delay: Duration::from_secs(5) });
    if let Err(error) = shared.store.end_attempts(ends.iter().map(later).collect()).await {
        tracing::warn!(%error, "could not hand pages back; they start again when their leases end");
    }
}

/// Settles crawls as their pages come in, and from time to time what others left.
async fn settle(shared: Arc<Shared>, every: Duration, over: CancellationToken) {
    loop {
        let woken = tokio::select! {
            () = over.cancelled() => return settle_noted(&shared).await,
            () = shared.wake.notified() => true,
            () = tokio::time::sleep(every) => false,
        };
        if woken {
            tokio::time::sleep(SHARE).await;
        } else {
            match shared.store.unsettled_crawls(LEFT).await {
                Ok(left) => lock(&shared.unsettled).extend(left),
                Err(error) => tracing::warn!(%error, "could not look for unsettled crawls"),
            }
        }
        settle_noted(&shared).await;
    }
}

async fn settle_noted(shared: &Shared) {
    let noted: Vec<Uuid> = lock(&shared.unsettled).drain().collect();
    for crawl in noted {
        if let Err(error) = turn::settle(shared.store.as_ref(), &shared.desks, crawl).await {
            tracing::warn!(%crawl, error = error.text(), "could not settle a crawl; it is tried again");
        }
    }
}

async fn keep_leases(shared: Arc<Shared>, lease: Duration, over: CancellationToken) {
    let pause = (lease / 3).min(Duration::from_secs(1));
    while over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        let leases: Vec<_> = lock(&shared.held).keys().copied().collect();
        if leases.is_empty() {
            continue;
        }
        match shared.store.keep_entries(&leases, lease).await {
            Ok(statuses) => {
                let held = lock(&shared.held);
                for (lease, status) in leases.iter().zip(statuses) {
                    if status != LeaseStatus::Held
                        && let Some(lost) = held.get(lease)
                    {
                        lost.cancel();
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "could not renew leases of pages"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
