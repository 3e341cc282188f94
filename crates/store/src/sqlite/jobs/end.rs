//! The end of a job, whoever brings it about (its worker, a cancellation, the sweeper): its state, its
//! reservation, its parent's counters and, with the last child, its parent's end, in one transaction.

use super::super::Tx;
use super::super::credits::close_in;
use crate::jobs::JobState;
use crate::queue::ending::{self, Ending};
use crate::rows::{self, Columns, state_number};
use crate::text::storable_or_none;
use crate::{StoreResult, clock};
use uuid::Uuid;

/// How many children of a parent ended, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
}

impl Ended {
    fn one(state: JobState) -> Self {
        let is = |wanted| i64::from(state == wanted);
        Self {
            completed: is(JobState::Completed),
            failed: is(JobState::Failed),
            cancelled: is(JobState::Cancelled),
        }
    }
}

/// How a parent stands after its children were counted.
#[derive(Debug)]
pub(super) struct Counted {
    pub state: JobState,
    pub cancel_requested: bool,
    pub open: i64,
}

pub(super) async fn count_children(
    tx: &mut Tx,
    parent: Uuid,
    created: i64,
    ended: Ended,
) -> StoreResult<Counted> {
    let row = sqlx::query(include_str!("../sql/jobs/count_children.sql"))
        .bind(parent)
        .bind(created)
        .bind(ended.completed)
        .bind(ended.failed)
        .bind(ended.cancelled)
        .fetch_one(&mut **tx)
        .await?;
    Ok(Counted {
        state: rows::state(row.int("state")?)?,
        cancel_requested: row.flag("cancel_requested")?,
        open: row.int("children_open")?,
    })
}

/// Ends a job. `spawned` siblings were inserted with it and are counted here.
pub(super) async fn end(
    tx: &mut Tx,
    job: Uuid,
    parent: Option<Uuid>,
    ending: &Ending,
    spawned: i64,
) -> StoreResult<()> {
    write_end(tx, job, ending).await?;
    let Some(parent) = parent else { return Ok(()) };
    let counted = count_children(tx, parent, spawned, Ended::one(ending.state)).await?;
    if counted.open == 0 && counted.state == JobState::Waiting {
        let last = Ending::bare(ending::parent_end(counted.cancel_requested), None);
        write_end(tx, parent, &last).await?;
    }
    Ok(())
}

async fn write_end(tx: &mut Tx, job: Uuid, ending: &Ending) -> StoreResult<()> {
    let row = sqlx::query(include_str!("../sql/jobs/end.sql"))
        .bind(job)
        .bind(state_number(ending.state))
        .bind(storable_or_none(ending.result.as_ref()))
        .bind(storable_or_none(ending.error.as_ref()))
        .bind(clock::now())
        .fetch_one(&mut **tx)
        .await?;
    if let Some(reservation) = row.id_or_none("reservation")? {
        close_in(tx, reservation).await?;
    }
    Ok(())
}

/// Cancels a parent's queued children, asks its running ones to stop, and counts.
pub(super) async fn stop_children(tx: &mut Tx, parent: Uuid) -> StoreResult<Counted> {
    let cancelled = sqlx::query(include_str!("../sql/jobs/cancel_queued_children.sql"))
        .bind(parent)
        .bind(clock::now())
        .fetch_all(&mut **tx)
        .await?;
    for row in &cancelled {
        if let Some(reservation) = row.id_or_none("reservation")? {
            close_in(tx, reservation).await?;
        }
    }
    sqlx::query(include_str!("../sql/jobs/stop_running_children.sql"))
        .bind(parent)
        .execute(&mut **tx)
        .await?;
    let ended = Ended { cancelled: i64::try_from(cancelled.len()).unwrap_or(i64::MAX), ..Ended::default() };
    count_children(tx, parent, 0, ended).await
}

/// Notes on a job that somebody wants it to stop.
pub(super) async fn request_cancel(tx: &mut Tx, job: Uuid) -> StoreResult<()> {
    sqlx::query(include_str!("../sql/jobs/request_cancel.sql")).bind(job).execute(&mut **tx).await?;
    Ok(())
}
