//! The ledger of crawls and batches: every address that was found, and what became of it.
//!
//! Rules that hold on both stores:
//! - A crawl accepted by [`CrawlStore::start_crawl`] is on disk, with its first entries, before the call returns.
//! - `discovered == queued + running + fetched + completed + failed + skipped` at every moment of a live
//!   crawl, and without the first three of an ended one. Every address has one entry, found by its key.
//! - Entries are handed out in the order of their numbers, each under an [`EntryLease`]; a write with a
//!   lost lease changes nothing.
//! - A worker ends its attempt with what it fetched; what that *means* (a document, a duplicate, one too
//!   many, new addresses) is settled in the order of the numbers, one [`Settlement`] at a time, so a crawl
//!   comes to the same end however many workers it has.
//! - A settlement is one transaction: the decisions of entries, the entries they lead to, the credits, the events
//!   that are told, and the end of the crawl when nothing is left.
//! - Ending a crawl costs the same whatever is still open in it: the rest of its entries is cancelled, failed or
//!   skipped in its counters, and reads as such.

use crate::admission::{Admission, NotAdmitted};
use crate::pages::NewPage;
use crate::search::NewSearchPage;
use crate::webhooks::NewDelivery;
use crate::work::{LeaseStatus, PlanSlots};
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// What makes two addresses one page: a hash of the address's key.
pub type EntryKey = [u8; 16];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CrawlKind {
    /// Follows what it finds; settled in order.
    Crawl,
    /// A list; settled as it comes.
    Batch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CrawlState {
    Active,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Clone)]
pub struct NewCrawl {
    /// Time-ordered (uuid v7).
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub kind: CrawlKind,
    /// What was asked, as JSON text, opaque to the store.
    pub request: String,
    /// Shown with the team's activity; the endpoint there is `crawl` or `batch_scrape`.
    pub target: String,
    /// The most documents.
    pub limit: Option<u64>,
    /// The most entries at once.
    pub max_running: Option<u32>,
    /// The least time between the starts of two entries; when set, one runs at a time.
    pub gap: Option<Duration>,
    /// Ends as overdue when not done this long from now.
    pub deadline: Duration,
    /// How long it and all of its is kept after it ended.
    pub retain_for: Duration,
    /// Credits set aside; charged by settlements, closed when the crawl ends. Without one (an unlimited plan)
    /// credits count as used in the current period.
    pub reservation: Option<Uuid>,
    /// Zero data retention: no activity is written.
    pub private: bool,
    pub audit: Option<String>,
    /// Told with its start.
    pub deliveries: Vec<NewDelivery>,
    pub admission: Admission,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedCrawl {
    Accepted,
    Refused(NotAdmitted),
}

/// An address, when it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Of several with one key the first counts; a key that is known already is left out.
    pub key: EntryKey,
    pub url: String,
    /// Whose pace counts for it.
    pub host: String,
    pub depth: u32,
    pub kind: NewEntryKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewEntryKind {
    /// To be scraped.
    Page,
    /// The site's own lists (robots, sitemaps, feeds), read beside the pages: is handed out, fetched and
    /// settled like a page, but no counter counts it but `reading_lists`.
    Lists,
    /// Written down, with one word why.
    Skipped(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryState {
    Queued,
    Running,
    /// Fetched, and waits for its turn to be settled.
    Fetched,
    Completed,
    Failed,
    Skipped,
    /// Open when its crawl was cancelled.
    Cancelled,
}

/// A crawl as it stands. Everything but `request` is cheap to read.
#[derive(Clone, PartialEq, Eq)]
pub struct Crawl {
    pub id: Uuid,
    pub team_id: Uuid,
    pub key_id: Option<Uuid>,
    pub kind: CrawlKind,
    pub state: CrawlState,
    pub request: String,
    pub limit: Option<u64>,
    pub counts: EntryCounts,
    /// Documents' bytes as stored, and credits, so far.
    pub bytes: u64,
    pub credits: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Changes with every settlement, and with the end.
    pub version: u64,
    pub private: bool,
    pub created_at: Millis,
    pub finished_at: Option<Millis>,
    pub expires_at: Option<Millis>,
    pub deadline_at: Millis,
    /// The store's clock when this was read.
    pub now: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryCounts {
    pub discovered: u64,
    pub queued: u64,
    pub running: u64,
    pub fetched: u64,
    pub completed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub cancelled: u64,
    /// Lists that are not settled yet.
    pub reading_lists: u64,
}

#[derive(Debug, Clone)]
pub struct EntryClaim {
    pub owner: Uuid,
    /// At most this many entries are handed out.
    pub limit: u32,
    pub lease_for: Duration,
    /// The most entries a team of a plan may have running at once over all processes.
    pub plans: Vec<PlanSlots>,
    pub other_plans: Option<u32>,
}

/// Proof that a worker holds an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryLease {
    pub crawl: Uuid,
    pub seq: u64,
    pub owner: Uuid,
    /// Counts every claim of the entry and never goes back: the fence.
    pub number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedEntry {
    pub lease: EntryLease,
    pub team_id: Uuid,
    pub url: String,
    pub host: String,
    pub depth: u32,
    pub is_lists: bool,
    /// From 1; attempts that were handed back do not count.
    pub attempt: u32,
}

/// How a worker ends its attempt.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all are the large one")]
pub enum AttemptEnd {
    /// Came to something, good or bad.
    Fetched {
        /// What settling needs to know; opaque to the store, compressed by the caller.
        outcome: Vec<u8>,
        /// The document as it will be kept, when there is one; compressed by the caller.
        document: Option<Vec<u8>>,
        /// Kept in the cache for the team, as [`crate::scrapes::NewScrape::page`] is, in the same transaction.
        page: Option<NewPage>,
        /// Kept for the team to be found by search, in the same transaction.
        search: Option<NewSearchPage>,
    },
    /// Back to the queue after `delay`.
    Retry { error: String, delay: Duration },
    /// Back to the queue at once and uncounted: the worker is shutting down.
    HandBack,
    /// Back to the queue after `delay` and uncounted: storage of our own was not available, which says nothing about the page.
    Postponed { delay: Duration },
}

/// What came of a request to cancel a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It was active, and is cancelled now with everything that was open in it.
    Cancelled,
    /// It had ended before, in this state.
    AlreadyFinished(CrawlState),
    NotFound,
}

/// What can be settled now: fetched entries in the order of their numbers.
#[derive(Debug, Clone)]
pub struct UnsettledCrawl {
    pub crawl: Crawl,
    /// What settlements remember between them; opaque to the store.
    pub memory: Option<Vec<u8>>,
    pub fetched: Vec<FetchedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedEntry {
    pub seq: u64,
    pub key: EntryKey,
    pub url: String,
    pub depth: u32,
    pub is_lists: bool,
    /// `None`: its workers were lost too often.
    pub outcome: Option<Vec<u8>>,
    pub has_document: bool,
}

/// An entry that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    pub seq: u64,
    /// The word of a skipped one.
    pub skipped: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Settlement {
    pub decisions: Vec<(u64, EntryDecision)>,
    /// In the order in which they were found: they get the next numbers.
    pub found: Vec<NewEntry>,
    /// Entries that were skipped and are pages after all (a second link to them may be followed): queued under
    /// their old numbers. Those that are not skipped stay as they are.
    pub revived: Vec<u64>,
    /// Replaces the memory when given.
    pub memory: Option<Vec<u8>>,
    pub credits: i64,
    /// Told with these decisions, in this order.
    pub deliveries: Vec<NewDelivery>,
    /// Told too when the crawl ends by this settlement.
    pub at_end: Vec<NewDelivery>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryDecision {
    /// Its document counts. The documents of a crawl are numbered from 1 in this order, no gaps.
    Completed,
    /// With a JSON text why. A document that was fetched is dropped.
    Failed(String),
    /// With one word why. A document that was fetched is dropped.
    Skipped(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Written; the crawl now stands so.
    Now(CrawlState),
    /// Somebody else settled first, or the crawl has ended: look again.
    Overtaken,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// How many entries are new. A completed batch is open again.
    Added(u64),
    /// It failed or was cancelled.
    Ended(CrawlState),
    NotFound,
    Refused(NotAdmitted),
}

/// A document as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlDocument {
    /// From 1.
    pub number: u64,
    pub seq: u64,
    pub url: String,
    pub body: Vec<u8>,
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub seq: u64,
    pub url: String,
    pub depth: u32,
    pub state: EntryState,
    /// The error of a failed one, the word of a skipped one. What was open when the limit was reached is skipped
    /// as `limit`.
    pub reason: Option<String>,
    pub attempts: u32,
    pub ended_at: Option<Millis>,
}

/// How a host wants to be asked, over all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pace {
    /// The least time between the starts of two entries of the host.
    pub gap: Duration,
    /// Nothing is started before this long from now.
    pub pause: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CrawlSweep {
    /// Leases that ran out and whose entry went back to the queue.
    pub requeued: u64,
    /// Entries whose workers were lost too often.
    pub abandoned: u64,
}

#[async_trait::async_trait]
pub trait CrawlStore: Send + Sync + 'static {
    /// Accepts a crawl with its first entries, in one transaction.
    async fn start_crawl(&self, crawl: NewCrawl, entries: Vec<NewEntry>) -> StoreResult<StartedCrawl>;

    /// Adds to a batch, and its reservation (when the batch has one and more is needed, the caller reserves under
    /// a new one, which replaces what is left of the old).
    async fn append_entries(
        &self,
        team: Uuid,
        batch: Uuid,
        entries: Vec<NewEntry>,
        reservation: Option<Uuid>,
        admission: Admission,
    ) -> StoreResult<Appended>;

    /// Hands out entries whose time has come: the team with the fewest running entries first, then the crawl with
    /// the fewest, then the oldest; within a crawl in the order of numbers. Never exceeds a plan's slots, a
    /// crawl's `max_running` or `gap`, or a host's pace, over all processes; never starts a page that could be one
    /// past the crawl's limit (`completed + running + fetched < limit`, lists aside).
    async fn claim_entries(&self, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>>;

    /// Extends leases from now; answers in the order asked. Entries of an ended crawl are lost.
    async fn keep_entries(&self, leases: &[EntryLease], lease_for: Duration)
    -> StoreResult<Vec<LeaseStatus>>;

    /// Ends attempts, all in one transaction, in the order asked: whether each still held its lease.
    async fn end_attempts(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>>;

    /// What can be settled of a live crawl, at most `limit` entries; `None` when it is unknown or has ended. In a
    /// crawl an entry waits while one with a lower number runs in its first attempt, `patience` long at most.
    async fn unsettled_crawl(
        &self,
        crawl: Uuid,
        limit: u32,
        patience: Duration,
    ) -> StoreResult<Option<UnsettledCrawl>>;

    /// Live crawls that have something fetched, for whoever looks after what others left.
    async fn unsettled_crawls(&self, limit: u32) -> StoreResult<Vec<Uuid>>;

    /// The entries that have these keys, in the order asked.
    async fn entries_by_key(&self, crawl: Uuid, keys: &[EntryKey]) -> StoreResult<Vec<Option<KnownEntry>>>;

    /// Settles, when the crawl is live and still has this version. Ends the crawl as completed when nothing is
    /// open then, or the limit is reached and nothing runs or waits to be settled: what is queued is skipped.
    async fn settle_entries(&self, crawl: Uuid, version: u64, settlement: Settlement)
    -> StoreResult<Settled>;

    /// Sets more aside for a crawl, for a page that costs more than others; `false` when the allowance does not
    /// cover it. A crawl for which nothing was set aside needs no more.
    async fn extend_reservation(&self, crawl: Uuid, amount: i64, allowance: i64) -> StoreResult<bool>;

    /// Ends a live crawl as failed, whatever is open in it; `false` when it had ended.
    async fn fail_crawl(&self, crawl: Uuid, error: String, deliveries: Vec<NewDelivery>)
    -> StoreResult<bool>;

    /// Ends a live crawl as cancelled, at once.
    async fn cancel_crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome>;

    /// `None` for unknown ids and for those of other teams alike.
    async fn crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<Option<Crawl>>;

    /// The same for a worker, which knows no team.
    async fn crawl_for_work(&self, crawl: Uuid) -> StoreResult<Option<Crawl>>;

    /// Live crawls of a team, newest first.
    async fn active_crawls(&self, team: Uuid, kind: CrawlKind, limit: u32) -> StoreResult<Vec<Crawl>>;

    /// Documents with `number > after`, in order, until `limit` or `max_bytes` (as stored) would be exceeded; one at
    /// least when there is one.
    async fn crawl_documents(
        &self,
        crawl: Uuid,
        after: u64,
        limit: u32,
        max_bytes: u64,
    ) -> StoreResult<Vec<CrawlDocument>>;

    /// Lines of the ledger in a state, with `seq > after`, in order; all states without one.
    async fn crawl_entries(
        &self,
        crawl: Uuid,
        state: Option<EntryState>,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<Entry>>;

    /// Sets how a host wants to be asked. A pause only ever grows; the gap is replaced.
    async fn set_pace(&self, host: &str, pace: Pace) -> StoreResult<()>;

    /// The gap that a host wants; zero where nothing is known.
    async fn host_gap(&self, host: &str) -> StoreResult<Duration>;

    /// Takes back what lost workers held. Bounded work per call.
    async fn sweep_entries(&self, max_attempts: u32) -> StoreResult<CrawlSweep>;

    /// Live crawls past their deadline.
    async fn overdue_crawls(&self, limit: u32) -> StoreResult<Vec<Crawl>>;

    /// Deletes up to `limit` rows of ended crawls past their time, and paces nobody needs. Fewer than `limit` means
    /// that nothing is left.
    async fn purge_crawls(&self, limit: u32) -> StoreResult<u64>;
}
