//! The job queue on SQLite; each concern has its file, this one only ties them to the trait.

mod cancel;
mod claim;
mod end;
mod enqueue;
mod finish;
mod read;
mod sweep;

use super::SqliteStore;
use crate::jobs::{
    CancelOutcome, ClaimRequest, Claimed, Enqueued, Finish, Finished, Job, JobState, Jobs, Lease,
    LeaseStatus, NewJob, QueueStatus, ResultRow, SweepReport,
};
use crate::{Millis, StoreResult};
use std::time::Duration;
use tokio::sync::watch;
use uuid::Uuid;

#[async_trait::async_trait]
impl Jobs for SqliteStore {
    async fn enqueue(&self, jobs: Vec<NewJob>) -> StoreResult<Vec<Enqueued>> {
        enqueue::enqueue(self, &jobs).await
    }

    async fn enqueue_group(&self, parent: NewJob, children: Vec<NewJob>) -> StoreResult<Enqueued> {
        enqueue::enqueue_group(self, &parent, &children).await
    }

    async fn enqueue_group_within(
        &self,
        parent: NewJob,
        children: Vec<NewJob>,
        most_waiting: u64,
    ) -> StoreResult<Option<Enqueued>> {
        enqueue::enqueue_group_within(self, &parent, &children, most_waiting).await
    }

    async fn claim(&self, request: &ClaimRequest) -> StoreResult<Vec<Claimed>> {
        claim::claim(self, request).await
    }

    async fn heartbeat(&self, leases: &[Lease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        finish::heartbeat(self, leases, lease_for).await
    }

    async fn finish(&self, lease: &Lease, finish: Finish) -> StoreResult<Finished> {
        finish::finish(self, lease, finish).await
    }

    async fn cancel(&self, team: Uuid, job: Uuid) -> StoreResult<CancelOutcome> {
        cancel::cancel(self, team, job).await
    }

    async fn job(&self, team: Uuid, job: Uuid) -> StoreResult<Option<Job>> {
        read::job(self, team, job).await
    }

    async fn recent(
        &self,
        team: Uuid,
        kind: &str,
        before: Option<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Job>> {
        read::recent(self, team, kind, before, limit).await
    }

    async fn rows(&self, team: Uuid, job: Uuid, after: u64, limit: u32) -> StoreResult<Vec<ResultRow>> {
        read::rows(self, team, job, after, limit).await
    }

    async fn children(
        &self,
        team: Uuid,
        parent: Uuid,
        state: JobState,
        after: Option<Uuid>,
        limit: u32,
    ) -> StoreResult<Vec<Job>> {
        read::children(self, team, parent, state, after, limit).await
    }

    async fn queue_status(&self, team: Uuid) -> StoreResult<QueueStatus> {
        read::queue_status(self, team).await
    }

    async fn sweep(&self) -> StoreResult<SweepReport> {
        sweep::sweep(self).await
    }

    async fn purge(&self, limit: u32) -> StoreResult<u64> {
        sweep::purge(self, limit).await
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.work.subscribe()
    }
}
