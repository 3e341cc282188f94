//! The ledger of crawls on SQLite; each concern has its file, this one only ties them to the trait.

mod attempts;
mod claim;
mod end;
mod entries;
mod purge;
mod read;
mod settle;
mod standing;
mod start;
mod sweep;

use super::SqliteStore;
use crate::StoreResult;
use crate::admission::Admission;
use crate::crawls::{
    Appended, AttemptEnd, ClaimedEntry, Crawl, CrawlKind, CrawlSweep, Crawls, Entry, EntryClaim, EntryKey,
    EntryLease, EntryState, KeptDocument, KnownEntry, NewCrawl, NewEntry, Pace, Settled, Settlement,
    StartedCrawl, Turn,
};
use crate::jobs::{CancelOutcome, LeaseStatus};
use crate::webhooks::NewDelivery;
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl Crawls for SqliteStore {
    async fn start_crawl(&self, mut crawl: NewCrawl, entries: Vec<NewEntry>) -> StoreResult<StartedCrawl> {
        self.sealer.seal_crawl(&mut crawl)?;
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
        claim::claim(self, request).await
    }

    async fn keep_entries(
        &self,
        leases: &[EntryLease],
        lease_for: Duration,
    ) -> StoreResult<Vec<LeaseStatus>> {
        attempts::keep(self, leases, lease_for).await
    }

    async fn end_attempts(&self, ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
        attempts::end(self, ends).await
    }

    async fn turn(&self, crawl: Uuid, limit: u32, patience: Duration) -> StoreResult<Option<Turn>> {
        let mut turn = read::turn(self, crawl, limit, patience).await?;
        self.sealer.open_crawls(turn.iter_mut().map(|turn| &mut turn.crawl))?;
        Ok(turn)
    }

    async fn unsettled_crawls(&self, limit: u32) -> StoreResult<Vec<Uuid>> {
        read::unsettled(self, limit).await
    }

    async fn entries_by_key(&self, crawl: Uuid, keys: &[EntryKey]) -> StoreResult<Vec<Option<KnownEntry>>> {
        entries::by_key(self, crawl, keys).await
    }

    async fn settle(&self, crawl: Uuid, version: u64, mut settlement: Settlement) -> StoreResult<Settled> {
        self.sealer.seal_settlement(&mut settlement)?;
        settle::settle(self, crawl, version, settlement).await
    }

    async fn fail_crawl(
        &self,
        crawl: Uuid,
        error: String,
        mut deliveries: Vec<NewDelivery>,
    ) -> StoreResult<bool> {
        self.sealer.seal_deliveries(&mut deliveries)?;
        end::fail(self, crawl, error, &deliveries).await
    }

    async fn cancel_crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<CancelOutcome> {
        end::cancel(self, team, crawl).await
    }

    async fn crawl(&self, team: Uuid, crawl: Uuid) -> StoreResult<Option<Crawl>> {
        let mut found = read::crawl(self, team, crawl).await?;
        self.sealer.open_crawls(&mut found)?;
        Ok(found)
    }

    async fn crawl_for_work(&self, crawl: Uuid) -> StoreResult<Option<Crawl>> {
        let mut found = read::for_work(self, crawl).await?;
        self.sealer.open_crawls(&mut found)?;
        Ok(found)
    }

    async fn active_crawls(&self, team: Uuid, kind: CrawlKind, limit: u32) -> StoreResult<Vec<Crawl>> {
        let mut found = read::active(self, team, kind, limit).await?;
        self.sealer.open_crawls(&mut found)?;
        Ok(found)
    }

    async fn crawl_documents(
        &self,
        crawl: Uuid,
        after: u64,
        limit: u32,
        most_bytes: u64,
    ) -> StoreResult<Vec<KeptDocument>> {
        read::documents(self, crawl, after, limit, most_bytes).await
    }

    async fn crawl_entries(
        &self,
        crawl: Uuid,
        state: Option<EntryState>,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<Entry>> {
        entries::lines(self, crawl, state, after, limit).await
    }

    async fn set_pace(&self, host: &str, pace: Pace) -> StoreResult<()> {
        claim::set_pace(self, host, pace).await
    }

    async fn sweep_entries(&self, most_attempts: u32) -> StoreResult<CrawlSweep> {
        sweep::sweep(self, most_attempts).await
    }

    async fn overdue_crawls(&self, limit: u32) -> StoreResult<Vec<Crawl>> {
        let mut found = read::overdue(self, limit).await?;
        self.sealer.open_crawls(&mut found)?;
        Ok(found)
    }

    async fn purge_crawls(&self, limit: u32) -> StoreResult<u64> {
        purge::purge(self, limit).await
    }
}
