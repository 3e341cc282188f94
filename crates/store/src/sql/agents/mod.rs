//! Runs of agents; each concern has its file, this one only ties them to the trait. On PostgreSQL a
//! transaction that changes a run locks its row first, and a start locks its team and then its thread; on
//! SQLite the one writer makes every read and the change that follows it one step.

mod hold;
mod read;
mod start;
mod step;
mod sweep;

use super::Backend;
use crate::agents::{
    ClaimedRun, Event, NewEvent, NewRun, Run, RunCancel, RunClaim, RunEnd, RunKind, RunLease, RunPayload,
    RunStep, RunStore, StartedRun, Thread,
};
use crate::work::LeaseStatus;
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl<B: Backend> RunStore for B {
    async fn start_run(&self, mut run: NewRun) -> StoreResult<StartedRun> {
        self.sealer().seal_run(&mut run)?;
        start::start(self, &run).await
    }

    async fn claim_runs(&self, request: &RunClaim) -> StoreResult<Vec<ClaimedRun>> {
        let mut claimed = hold::claim(self, request).await?;
        self.sealer().open_runs(claimed.iter_mut().map(|claimed| &mut claimed.run))?;
        Ok(claimed)
    }

    async fn keep_runs(&self, leases: &[RunLease], lease_for: Duration) -> StoreResult<Vec<LeaseStatus>> {
        hold::keep(self, leases, lease_for).await
    }

    async fn step_run(&self, lease: &RunLease, mut step: RunStep) -> StoreResult<bool> {
        self.sealer().seal_deliveries(&mut step.deliveries)?;
        step::step(self, lease, &step).await
    }

    async fn end_run(&self, run: Uuid, lease: Option<&RunLease>, mut end: RunEnd) -> StoreResult<bool> {
        self.sealer().seal_deliveries(&mut end.step.deliveries)?;
        step::end(self, run, lease, &end).await
    }

    async fn hand_back_run(&self, lease: &RunLease) -> StoreResult<bool> {
        hold::hand_back(self, lease).await
    }

    async fn cancel_run(&self, team: Uuid, run: Uuid, wish: NewEvent) -> StoreResult<RunCancel> {
        step::cancel(self, team, run, wish).await
    }

    async fn run(&self, team: Uuid, run: Uuid) -> StoreResult<Option<Run>> {
        let mut found = read::run(self, team, run).await?;
        self.sealer().open_runs(&mut found)?;
        Ok(found)
    }

    async fn run_payload(&self, run: Uuid) -> StoreResult<Option<RunPayload>> {
        read::payload(self, run).await
    }

    async fn runs(
        &self,
        team: Uuid,
        kind: RunKind,
        before: Option<Millis>,
        limit: u32,
    ) -> StoreResult<Vec<Run>> {
        let mut found = read::runs(self, team, kind, before, limit).await?;
        self.sealer().open_runs(&mut found)?;
        Ok(found)
    }

    async fn run_events(&self, run: Uuid, after: u64, limit: u32, max_bytes: u64) -> StoreResult<Vec<Event>> {
        read::events(self, run, after, limit, max_bytes).await
    }

    async fn event_number(&self, run: Uuid, event: Uuid) -> StoreResult<Option<u64>> {
        read::event_number(self, run, event).await
    }

    async fn run_snapshot(&self, run: Uuid, snapshot: Uuid) -> StoreResult<Option<Vec<u8>>> {
        read::snapshot(self, run, snapshot).await
    }

    async fn thread(&self, team: Uuid, thread: Uuid) -> StoreResult<Option<Thread>> {
        read::thread(self, team, thread).await
    }

    async fn thread_runs(&self, thread: Uuid, limit: u32) -> StoreResult<Vec<Run>> {
        let mut found = read::thread_runs(self, thread, limit).await?;
        self.sealer().open_runs(&mut found)?;
        Ok(found)
    }

    async fn sweep_runs(&self) -> StoreResult<u64> {
        sweep::take_back(self).await
    }

    async fn stranded_runs(&self, max_lost_leases: u32, limit: u32) -> StoreResult<Vec<Run>> {
        let mut found = sweep::stranded(self, max_lost_leases, limit).await?;
        self.sealer().open_runs(&mut found)?;
        Ok(found)
    }

    async fn purge_runs(&self, limit: u32) -> StoreResult<u64> {
        sweep::purge(self, limit).await
    }
}
