use super::PostgresStore;
use crate::crawls::*;
use crate::jobs::{CancelOutcome, LeaseStatus};
use crate::webhooks::NewDelivery;
use crate::{StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl Crawls for PostgresStore {
    async fn start_crawl(&self, _crawl: NewCrawl, _entries: Vec<NewEntry>) -> StoreResult<()> {
        Err(StoreError::Misuse("start_crawl is not there yet".into()))
    }

    async fn append_entries(
        &self,
        _team: Uuid,
        _batch: Uuid,
        _entries: Vec<NewEntry>,
        _reservation: Option<Uuid>,
    ) -> StoreResult<Appended> {
        Err(StoreError::Misuse("append_entries is not there yet".into()))
    }

    async fn claim_entries(&self, _request: &EntryClaim) -> StoreResult<Vec<ClaimedEntry>> {
        Err(StoreError::Misuse("claim_entries is not there yet".into()))
    }

    async fn keep_entries(&self, _leases: &[EntryLease], _lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        Err(StoreError::Misuse("keep_entries is not there yet".into()))
    }

    async fn end_attempts(&self, _ends: Vec<(EntryLease, AttemptEnd)>) -> StoreResult<Vec<bool>> {
        Err(StoreError::Misuse("end_attempts is not there yet".into()))
    }

    async fn turn(&self, _crawl: Uuid, _limit: u32, _patience: Duration) -> StoreResult<Option<Turn>> {
        Err(StoreError::Misuse("turn is not there yet".into()))
    }

    async fn unsettled_crawls(&self, _limit: u32) -> StoreResult<Vec<Uuid>> {
        Err(StoreError::Misuse("unsettled_crawls is not there yet".into()))
    }

    async fn entries_by_key(&self, _crawl: Uuid, _keys: &[EntryKey]) -> StoreResult<Vec<Option<KnownEntry>>> {
        Err(StoreError::Misuse("entries_by_key is not there yet".into()))
    }

    async fn settle(&self, _crawl: Uuid, _version: u64, _settlement: Settlement) -> StoreResult<Settled> {
        Err(StoreError::Misuse("settle is not there yet".into()))
    }

    async fn fail_crawl(&self, _crawl: Uuid, _error: String, _deliveries: Vec<NewDelivery>) -> StoreResult<bool> {
        Err(StoreError::Misuse("fail_crawl is not there yet".into()))
    }

    async fn cancel_crawl(&self, _team: Uuid, _crawl: Uuid) -> StoreResult<CancelOutcome> {
        Err(StoreError::Misuse("cancel_crawl is not there yet".into()))
    }

    async fn crawl(&self, _team: Uuid, _crawl: Uuid) -> StoreResult<Option<Crawl>> {
        Err(StoreError::Misuse("crawl is not there yet".into()))
    }

    async fn crawl_for_work(&self, _crawl: Uuid) -> StoreResult<Option<Crawl>> {
        Err(StoreError::Misuse("crawl_for_work is not there yet".into()))
    }

    async fn active_crawls(&self, _team: Uuid, _kind: CrawlKind, _limit: u32) -> StoreResult<Vec<Crawl>> {
        Err(StoreError::Misuse("active_crawls is not there yet".into()))
    }

    async fn crawl_documents(
        &self,
        _crawl: Uuid,
        _after: u64,
        _limit: u32,
        _most_bytes: u64,
    ) -> StoreResult<Vec<KeptDocument>> {
        Err(StoreError::Misuse("crawl_documents is not there yet".into()))
    }

    async fn crawl_entries(
        &self,
        _crawl: Uuid,
        _state: Option<EntryState>,
        _after: u64,
        _limit: u32,
    ) -> StoreResult<Vec<Entry>> {
        Err(StoreError::Misuse("crawl_entries is not there yet".into()))
    }

    async fn set_pace(&self, _host: &str, _pace: Pace) -> StoreResult<()> {
        Err(StoreError::Misuse("set_pace is not there yet".into()))
    }

    async fn sweep_entries(&self, _most_attempts: u32) -> StoreResult<CrawlSweep> {
        Err(StoreError::Misuse("sweep_entries is not there yet".into()))
    }

    async fn overdue_crawls(&self, _limit: u32) -> StoreResult<Vec<Crawl>> {
        Err(StoreError::Misuse("overdue_crawls is not there yet".into()))
    }

    async fn purge_crawls(&self, _limit: u32) -> StoreResult<u64> {
        Err(StoreError::Misuse("purge_crawls is not there yet".into()))
    }
}
