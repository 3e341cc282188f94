//! What a worker says about a job it holds: still on it, or done with this attempt.

use super::super::credits::charge_in;
use super::super::{SqliteStore, Tx};
use super::{end, enqueue};
use crate::jobs::{Finish, Finished, JobState, Lease, LeaseStatus};
use crate::queue::ending::{self, Ending, ParentStanding, Standing, Verdict};
use crate::queue::intake;
use crate::rows::{self, Columns};
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreError, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// A job whose lease was checked inside the current transaction.
#[derive(Debug)]
pub(super) struct Held {
    id: Uuid,
    team: Uuid,
    parent: Option<Uuid>,
    /// Where its charges go: the parent's reservation, or else its own.
    purse: Option<Uuid>,
    pub lease_until: Millis,
    pub standing: Standing,
}

pub(super) async fn heartbeat(
    store: &SqliteStore,
    leases: &[Lease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let until = clock::now() + clock::millis(lease_for);
    let mut statuses = Vec::with_capacity(leases.len());
    for lease in leases {
        let row = sqlx::query(include_str!("../sql/jobs/heartbeat.sql"))
            .bind(lease.job)
            .bind(lease.owner)
            .bind(i64::from(lease.attempt))
            .bind(until)
            .fetch_optional(&mut *tx)
            .await?;
        statuses.push(match row {
            Some(row) if row.flag("cancel_requested")? => LeaseStatus::CancelRequested,
            Some(_) => LeaseStatus::Held,
            None => LeaseStatus::Lost,
        });
    }
    tx.commit().await?;
    Ok(statuses)
}

pub(super) async fn finish(store: &SqliteStore, lease: &Lease, finish: Finish) -> StoreResult<Finished> {
    let mut tx = store.write().await?;
    let Some(held) = held(&mut tx, lease).await? else { return Ok(Finished::LeaseLost) };
    let verdict = ending::decide(&held.standing, finish)?;
    let settled = settle(&mut tx, &held, &verdict).await?;
    tx.commit().await?;
    store.wake_if(settled.queued);
    Ok(Finished::Now(settled.state))
}

/// The job, when the lease still holds it.
pub(super) async fn held(tx: &mut Tx, lease: &Lease) -> StoreResult<Option<Held>> {
    let row = sqlx::query(include_str!("../sql/jobs/held.sql"))
        .bind(lease.job)
        .bind(lease.owner)
        .bind(i64::from(lease.attempt))
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let parent = row.id_or_none("parent_id")?;
    let parent_standing = match row.int_or_none("parent_state")? {
        Some(state) => Some(ParentStanding {
            state: rows::state(state)?,
            cancel_requested: row.flag("parent_cancel_requested")?,
        }),
        None => None,
    };
    Ok(Some(Held {
        id: row.id("id")?,
        team: row.id("team_id")?,
        parent,
        purse: row.id_or_none("parent_reservation")?.or(row.id_or_none("reservation")?),
        lease_until: row.int("lease_until")?,
        standing: Standing {
            attempts: row.int("attempts")?,
            max_attempts: row.int("max_attempts")?,
            cancel_requested: row.flag("cancel_requested")?,
            parent: parent_standing,
        },
    }))
}

/// How a job stands after its attempt was written down, and whether something was queued by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    pub state: JobState,
    pub queued: bool,
}

pub(super) async fn settle(tx: &mut Tx, held: &Held, verdict: &Verdict) -> StoreResult<Settled> {
    match verdict {
        Verdict::Requeue { error, delay, counted } => {
            sqlx::query(include_str!("../sql/jobs/requeue.sql"))
                .bind(held.id)
                .bind(i64::from(!counted))
                .bind(storable_or_none(error.as_ref()))
                .bind(delay.map(|delay| clock::now() + clock::millis(delay)))
                .execute(&mut **tx)
                .await?;
            Ok(Settled { state: JobState::Queued, queued: true })
        }
        Verdict::End(ending) => write_ending(tx, held, ending).await,
    }
}

async fn write_ending(tx: &mut Tx, held: &Held, ending: &Ending) -> StoreResult<Settled> {
    if ending.credits > 0 {
        let purse =
            held.purse.ok_or_else(|| StoreError::Misuse("the job has no reservation to charge".into()))?;
        charge_in(tx, purse, ending.credits).await?;
    }
    let owner = held.parent.unwrap_or(held.id);
    append_rows(tx, owner, held.id, &ending.rows).await?;
    intake::check_children(held.team, &ending.spawn)?;
    let spawned = enqueue::spawn(tx, owner, &ending.spawn).await?;
    if held.parent.is_none() && spawned > 0 {
        sqlx::query(include_str!("../sql/jobs/wait.sql"))
            .bind(held.id)
            .bind(storable_or_none(ending.result.as_ref()))
            .execute(&mut **tx)
            .await?;
        end::count_children(tx, held.id, spawned, end::Ended::default()).await?;
        return Ok(Settled { state: JobState::Waiting, queued: true });
    }
    end::end(tx, held.id, held.parent, ending, spawned).await?;
    Ok(Settled { state: ending.state, queued: spawned > 0 })
}

async fn append_rows(tx: &mut Tx, owner: Uuid, job: Uuid, bodies: &[String]) -> StoreResult<()> {
    if bodies.is_empty() {
        return Ok(());
    }
    let added = i64::try_from(bodies.len()).unwrap_or(i64::MAX);
    let row = sqlx::query(include_str!("../sql/jobs/rows_add.sql"))
        .bind(owner)
        .bind(added)
        .fetch_one(&mut **tx)
        .await?;
    let first = row.int("row_count")? - added + 1;
    let now = clock::now();
    for (seq, body) in (first..).zip(bodies) {
        sqlx::query(include_str!("../sql/jobs/row_insert.sql"))
            .bind(owner)
            .bind(seq)
            .bind(job)
            .bind(storable(body))
            .bind(now)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}
