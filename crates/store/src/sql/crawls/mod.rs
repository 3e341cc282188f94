//! The ledger of crawls; each concern has its file, this one only ties them to the trait. Handing out
//! entries, the ends of attempts and writing many rows at once differ between the databases:
//! [`CrawlBackend`].
//!
//! On PostgreSQL a transaction that changes entries locks their crawls first, in the order of ids; claims
//! wait for a lock of their own before that. What is decided is decided by [`crate::ledger`].

mod end;
pub(crate) mod progress;
mod read;
mod settle;
mod start;
mod sweep;

use super::Backend;
use crate::StoreResult;
use crate::admission::Admission;
use crate::crawls::{
    Appended, AttemptEnd, CancelOutcome, ClaimedEntry, Crawl, CrawlDocument, CrawlKind, CrawlStore,
    CrawlSweep, Entry, EntryClaim, EntryKey, EntryLease, EntryState, KnownEntry, NewCrawl, NewEntry, Pace,
    Settled, Settlement, StartedCrawl, UnsettledCrawl,
};
use crate::ledger::decisions::Judged;
use crate::ledger::new_entries::NewLine;
use crate::webhooks::NewDelivery;
use crate::work::LeaseStatus;
use std::time::Duration;
use uuid::Uuid;

/// What the two databases do in ways of their own with crawls.
pub(crate) trait CrawlBackend: Backend {
    /// Starts a write transaction on the ledger.
    fn begin_ledger(&self) -> impl Future<Output = StoreResult<Self::Tx>> + Send;

    /// Starts a transaction that only reads: all that is read in it is of the same moment.
    fn view_ledger(&self) -> impl Future<Output = StoreResult<Self::Tx>> + Send;

    fn claim(&self, request: &EntryClaim) -> impl Future<Output = StoreResult<Vec<ClaimedEntry>>> + Send;

    fn keep(
        &self,
        leases: &[EntryLease],
        lease_for: Duration,
    ) -> impl Future<Output = StoreResult<Vec<LeaseStatus>>> + Send;

    fn end(&self, ends: Vec<(EntryLease, AttemptEnd)>)
    -> impl Future<Output = StoreResult<Vec<bool>>> + Send;

    fn pace(&self, host: &str, pace: Pace) -> impl Future<Output = StoreResult<()>> + Send;

    /// Writes new entries, in one statement.
    fn insert_entries(
        &self,
        tx: &mut Self::Tx,
        crawl: Uuid,
        lines: &[NewLine<'_>],
    ) -> impl Future<Output = StoreResult<()>> + Send;

    /// Writes what becomes of fetched entries, and deletes what is not needed any more.
    fn write_decisions(
        &self,
        tx: &mut Self::Tx,
        crawl: Uuid,
        judged: Judged<'_>,
    ) -> impl Future<Output = StoreResult<()>> + Send;

    /// After a purge: whether private crawls were among those that went, and whether nothing is left to
    /// delete.
    fn crawls_were_purged(
        &self,
        private: bool,
        nothing_left: bool,
    ) -> impl Future<Output = StoreResult<()>> + Send;
}

#[async_trait::async_trait]
impl<B: CrawlBackend> CrawlStore for B {
    async fn start_crawl(&self, mut crawl: NewCrawl, entries: Vec<NewEntry>) -> StoreResult<StartedCrawl> {
        self.sealer().seal_crawl(&mut crawl)?;
        start::start(self, &crawl, &entries).await
    }

    async fn append_entries(
        &self,
        team: Uuid,
        batch: Uuid,
        entries: Vec<NewEntry>,
        reservation: Option<Uuid>,
        admission: Admission,
    ) -> StoreResult<Appended> {
        start::append(self, (team, batch), &entries, reservation, &admission).await
    }

    async fn claim_entries(&self, request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
        CrawlBackend::claim(self, request).await
    }

    async fn keep_entries(
        &self,
        leases: &[EntryLease],
        lease_for: Duration,
    ) -> StoreResult<Vec<LeaseStatus>> {
        self.keep(leases, lease_for).await
    }

    async fn end_attempts(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
        self.end(ends).await
    }

    async fn unsettled_crawl(
        &self,
        crawl: Uuid,
        limit: u32,
        patience: Duration,
    ) -> StoreResult<Option<UnsettledCrawl>> {
        let mut found = read::unsettled_crawl(self, crawl, limit, patience).await?;
        self.sealer().open_crawls(found.iter_mut().map(|unsettled| &mut unsettled.crawl))?;
        Ok(found)
    }

    async fn unsettled_crawls(&self, limit: u32) -> StoreResult<Vec<Uuid>> {
        read::unsettled(self, limit).await
    }

    async fn entries_by_key(&self, crawl: Uuid, keys: &[EntryKey]) -> StoreResult<Vec<Option<KnownEntry>>> {
        read::by_key(self, crawl, keys).await
    }

    async fn settle_entries(
        &self,
        crawl: Uuid,
        version: u64,
        mut settlement: Settlement,
    ) -> StoreResult<Settled> {
        self.sealer().seal_settlement(&mut settlement)?;
        settle::settle_entries(self, crawl, version, &settlement).await
    }

    async fn extend_reservation(&self, crawl: Uuid, amount: i64, allowance: i64) -> StoreResult<bool> {
        start::extend_reservation(self, crawl, amount, allowance).await
    }

    async fn fail_crawl(
        &self,
        crawl: Uuid,
        error: String,
        mut deliveries: Vec<NewDelivery>,
    ) -> StoreResult<bool> {
        self.sealer().seal_deliveries(&mut deliveries)?;
        end::fail(self, crawl, error, &deliveries).await
    }

    async fn cancel_crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome> {
        end::cancel(self, team, crawl).await
    }

    async fn crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<Option<Crawl>> {
        let mut found = read::crawl(self, Some(team), crawl).await?;
        self.sealer().open_crawls(&mut found)?;
        Ok(found)
    }

    async fn crawl_for_work(&self, crawl: Uuid) -> StoreResult<Option<Crawl>> {
        let mut found = read::crawl(self, None, crawl).await?;
        self.sealer().open_crawls(&mut found)?;
        Ok(found)
    }

    async fn active_crawls(&self, team: Uuid, kind: CrawlKind, limit: u32) -> StoreResult<Vec<Crawl>> {
        let mut found = read::active(self, team, kind, limit).await?;
        self.sealer().open_crawls(&mut found)?;
        Ok(found)
    }

    async fn crawl_documents(
        &self,
        crawl: Uuid,
        after: u64,
        limit: u32,
        max_bytes: u64,
    ) -> StoreResult<Vec<CrawlDocument>> {
        read::documents(self, crawl, after, limit, max_bytes).await
    }

    async fn crawl_entries(
        &self,
        crawl: Uuid,
        state: Option<EntryState>,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<Entry>> {
        read::entries(self, crawl, state, after, limit).await
    }

    async fn set_pace(&self, host: &str, pace: Pace) -> StoreResult<()> {
        self.pace(host, pace).await
    }

    async fn host_gap(&self, host: &str) -> StoreResult<Duration> {
        read::host_gap(self, host).await
    }

    async fn sweep_entries(&self, max_attempts: u32) -> StoreResult<CrawlSweep> {
        sweep::sweep(self, max_attempts).await
    }

    async fn overdue_crawls(&self, limit: u32) -> StoreResult<Vec<Crawl>> {
        let mut found = read::overdue(self, limit).await?;
        self.sealer().open_crawls(&mut found)?;
        Ok(found)
    }

    async fn purge_crawls(&self, limit: u32) -> StoreResult<u64> {
        sweep::purge(self, limit).await
    }
}
