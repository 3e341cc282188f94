//! Accepting jobs: top-level ones, groups, and the children that a finishing job spawns.

use super::super::{SqliteStore, Tx, admission};
use super::end;
use crate::jobs::{Enqueued, JobState, NewJob};
use crate::queue::ending::Ending;
use crate::queue::intake;
use crate::rows::{Columns, state_number};
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn enqueue(store: &SqliteStore, jobs: &[NewJob]) -> StoreResult<Vec<Enqueued>> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now = clock::now();
    let mut accepted = Vec::with_capacity(jobs.len());
    for job in jobs {
        accepted.push(accept(&mut tx, job, JobState::Queued, now).await?);
    }
    tx.commit().await?;
    store.wake();
    Ok(accepted)
}

pub(super) async fn enqueue_group(
    store: &SqliteStore,
    parent: &NewJob,
    children: &[NewJob],
) -> StoreResult<Enqueued> {
    intake::check_children(parent.team_id, children)?;
    let mut tx = store.write().await?;
    let accepted = accept_group(&mut tx, parent, children).await?;
    tx.commit().await?;
    store.wake();
    Ok(accepted)
}

/// Counts after the jobs are in; the one writer keeps others out meanwhile.
pub(super) async fn enqueue_group_within(
    store: &SqliteStore,
    parent: &NewJob,
    children: &[NewJob],
    most_waiting: u64,
) -> StoreResult<Option<Enqueued>> {
    intake::check_children(parent.team_id, children)?;
    let mut tx = store.write().await?;
    let accepted = accept_group(&mut tx, parent, children).await?;
    if accepted.created && admission::waiting(&mut tx, parent.team_id).await? > most_waiting {
        return Ok(None);
    }
    tx.commit().await?;
    store.wake();
    Ok(Some(accepted))
}

/// Creates a parent with its children, unless its dedup key is taken.
async fn accept_group(tx: &mut Tx, parent: &NewJob, children: &[NewJob]) -> StoreResult<Enqueued> {
    let accepted = accept(tx, parent, JobState::Waiting, clock::now()).await?;
    if !accepted.created {
        return Ok(accepted);
    }
    let created = spawn(tx, parent.id, children).await?;
    if created == 0 {
        let done = Ending::bare(JobState::Completed, None);
        end::end(tx, parent.id, None, &done, 0).await?;
    } else {
        end::count_children(tx, parent.id, created, end::Ended::default()).await?;
    }
    Ok(accepted)
}

/// Inserts a top-level job, or finds the one that holds its dedup key.
async fn accept(tx: &mut Tx, job: &NewJob, state: JobState, now: Millis) -> StoreResult<Enqueued> {
    if insert(tx, job, None, state, now).await? {
        return Ok(Enqueued { id: job.id, created: true });
    }
    let holder = sqlx::query(include_str!("../sql/jobs/dedup_holder.sql"))
        .bind(job.team_id)
        .bind(&job.kind)
        .bind(storable_or_none(job.dedup_key.as_ref()))
        .fetch_optional(&mut **tx)
        .await?;
    match holder {
        Some(row) => Ok(Enqueued { id: row.id("id")?, created: false }),
        None => Err(intake::id_in_use(job.id)),
    }
}

/// Inserts children, leaving out those whose dedup key is taken; how many were created. The caller
/// counts them on the parent.
pub(super) async fn spawn(tx: &mut Tx, parent: Uuid, children: &[NewJob]) -> StoreResult<i64> {
    let now = clock::now();
    let mut created = 0;
    for child in children {
        if insert(tx, child, Some(parent), JobState::Queued, now).await? {
            created += 1;
        } else if child.dedup_key.is_none() {
            return Err(intake::id_in_use(child.id));
        }
    }
    Ok(created)
}

async fn insert(
    tx: &mut Tx,
    job: &NewJob,
    parent: Option<Uuid>,
    state: JobState,
    now: Millis,
) -> StoreResult<bool> {
    if let Some(reservation) = job.reservation {
        let open = sqlx::query(include_str!("../sql/credits/reservation_open.sql"))
            .bind(reservation)
            .fetch_optional(&mut **tx)
            .await?;
        if open.is_none() {
            return Err(intake::reservation_closed(reservation));
        }
    }
    let done = sqlx::query(include_str!("../sql/jobs/insert.sql"))
        .bind(job.id)
        .bind(job.team_id)
        .bind(parent)
        .bind(&job.kind)
        .bind(storable(&job.payload))
        .bind(state_number(state))
        .bind(intake::rank(job))
        .bind(i64::from(job.max_attempts))
        .bind(job.reservation)
        .bind(storable_or_none(job.dedup_key.as_ref()))
        .bind(clock::millis(job.retain_for))
        .bind(now)
        .bind(now + clock::millis(job.delay))
        .bind(now + clock::millis(job.deadline))
        .execute(&mut **tx)
        .await?;
    Ok(done.rows_affected() > 0)
}
