//! What nobody else would end: jobs of lost workers, jobs past their deadline, jobs past their keeping.

use super::super::SqliteStore;
use super::{end, finish};
use crate::jobs::{JobState, Lease, SweepReport};
use crate::queue::ending::{self, DEADLINE_PASSED, Ending};
use crate::rows::{self, Columns};
use crate::{StoreResult, clock};
use uuid::Uuid;

/// The most jobs of each sort that one sweep looks at.
const SWEEP_LIMIT: i64 = 200;

pub(super) async fn sweep(store: &SqliteStore) -> StoreResult<SweepReport> {
    let mut report = SweepReport::default();
    for job in overdue(store).await? {
        match fail_overdue(store, job).await {
            Ok(failed) => report.overdue += u64::from(failed),
            Err(error) => report.pass_over(job, error)?,
        }
    }
    for lease in lost(store).await? {
        match take_back(store, &lease).await {
            Ok(Some(JobState::Queued)) => report.requeued += 1,
            Ok(Some(JobState::Failed)) => report.abandoned += 1,
            Ok(Some(_)) => report.cancelled += 1,
            Ok(None) => {}
            Err(error) => report.pass_over(lease.job, error)?,
        }
    }
    store.wake_if(report.requeued > 0);
    Ok(report)
}

async fn overdue(store: &SqliteStore) -> StoreResult<Vec<Uuid>> {
    let found = sqlx::query(include_str!("../sql/jobs/overdue.sql"))
        .bind(clock::now())
        .bind(SWEEP_LIMIT)
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(|row| row.id("id")).collect()
}

async fn fail_overdue(store: &SqliteStore, job: Uuid) -> StoreResult<bool> {
    let mut tx = store.write().await?;
    let row = sqlx::query(include_str!("../sql/jobs/overdue_one.sql"))
        .bind(job)
        .bind(clock::now())
        .fetch_optional(&mut *tx)
        .await?;
    let Some(row) = row else { return Ok(false) };
    if rows::state(row.int("state")?)? == JobState::Waiting {
        end::stop_children(&mut tx, job).await?;
    }
    let failed = Ending::bare(JobState::Failed, Some(DEADLINE_PASSED.into()));
    end::end(&mut tx, job, row.id_or_none("parent_id")?, &failed, 0).await?;
    tx.commit().await?;
    Ok(true)
}

async fn lost(store: &SqliteStore) -> StoreResult<Vec<Lease>> {
    let found = sqlx::query(include_str!("../sql/jobs/lost.sql"))
        .bind(clock::now())
        .bind(SWEEP_LIMIT)
        .fetch_all(&store.readers)
        .await?;
    found.iter().map(|row| rows::lease(row, row.id("lease_owner")?)).collect()
}

/// Takes a job from its silent worker; how it stands then. `None` when the worker spoke after all.
async fn take_back(store: &SqliteStore, lease: &Lease) -> StoreResult<Option<JobState>> {
    let mut tx = store.write().await?;
    let Some(held) = finish::held(&mut tx, lease).await? else { return Ok(None) };
    if held.lease_until > clock::now() {
        return Ok(None);
    }
    let verdict = ending::lost(&held.standing)?;
    let settled = finish::settle(&mut tx, &held, &verdict).await?;
    tx.commit().await?;
    Ok(Some(settled.state))
}

/// Each call is one short transaction: a huge crawl must not hold the only writer while it goes.
pub(super) async fn purge(store: &SqliteStore, limit: u32) -> StoreResult<u64> {
    let mut tx = store.write().await?;
    let mut left = u64::from(limit);
    for statement in [
        include_str!("../sql/jobs/purge_rows.sql"),
        include_str!("../sql/jobs/purge_children.sql"),
        include_str!("../sql/jobs/purge.sql"),
    ] {
        let done =
            sqlx::query(statement).bind(clock::now()).bind(left.cast_signed()).execute(&mut *tx).await?;
        left = left.saturating_sub(done.rows_affected());
    }
    tx.commit().await?;
    Ok(u64::from(limit) - left)
}
