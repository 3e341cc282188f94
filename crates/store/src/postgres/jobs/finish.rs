//! What a worker says about a job it holds: still on it, or done with this attempt.

use super::super::credits::{charge_in, lock_reservations};
use super::super::{PostgresStore, Tx};
use super::{end, enqueue};
use crate::jobs::{Finish, Finished, JobState, Lease, LeaseStatus};
use crate::queue::ending::{self, Ending, ParentStanding, Standing, Verdict};
use crate::queue::intake;
use crate::rows::{self, Columns};
use crate::text::{storable, storable_or_none};
use crate::{StoreError, StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// A job that the current transaction has locked, after its parent, and whose lease was checked.
#[derive(Debug)]
pub(super) struct Held {
    id: Uuid,
    team: Uuid,
    parent: Option<Uuid>,
    /// Where its charges go: the parent's reservation, or else its own.
    purse: Option<Uuid>,
    /// The lease has run out, though nobody took the job yet.
    pub silent: bool,
    pub standing: Standing,
}

pub(super) async fn heartbeat(
    store: &PostgresStore,
    leases: &[Lease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = leases.iter().map(|lease| lease.job).collect();
    let owners: Vec<Uuid> = leases.iter().map(|lease| lease.owner).collect();
    let numbers: Vec<i64> = leases.iter().map(|lease| i64::from(lease.attempt)).collect();
    let extended = sqlx::query(include_str!("../sql/jobs/heartbeat.sql"))
        .bind(ids)
        .bind(owners)
        .bind(numbers)
        .bind(clock::millis(lease_for))
        .fetch_all(&store.pool)
        .await?;
    let mut held = HashMap::with_capacity(extended.len());
    for row in &extended {
        held.insert(rows::lease(row, row.id("lease_owner")?)?, row.flag("cancel_requested")?);
    }
    let status = |lease| match held.get(lease) {
        Some(true) => LeaseStatus::CancelRequested,
        Some(false) => LeaseStatus::Held,
        None => LeaseStatus::Lost,
    };
    Ok(leases.iter().map(status).collect())
}

pub(super) async fn finish(store: &PostgresStore, lease: &Lease, finish: Finish) -> StoreResult<Finished> {
    let mut tx = store.write().await?;
    let Some(held) = held(&mut tx, lease).await? else { return Ok(Finished::LeaseLost) };
    let verdict = ending::decide(&held.standing, finish)?;
    let settled = settle(&mut tx, &held, &verdict).await?;
    tx.commit().await?;
    Ok(Finished::Now(settled))
}

/// The parent of a job, locked, and how it stands.
#[derive(Debug)]
pub(super) struct LockedParent {
    pub id: Uuid,
    standing: ParentStanding,
    reservation: Option<Uuid>,
}

/// Locks the parent of a job, if it has one; `None` when the job is gone.
pub(super) async fn lock_parent_of(tx: &mut Tx, job: Uuid) -> StoreResult<Option<Option<LockedParent>>> {
    let found =
        sqlx::query(include_str!("../sql/jobs/parent_of.sql")).bind(job).fetch_optional(&mut *tx).await?;
    let Some(row) = found else { return Ok(None) };
    let Some(id) = row.id_or_none("parent_id")? else { return Ok(Some(None)) };
    let parent =
        sqlx::query(include_str!("../sql/jobs/lock_parent.sql")).bind(id).fetch_optional(&mut *tx).await?;
    let Some(row) = parent else { return Ok(None) };
    let standing = ParentStanding {
        state: rows::state(row.int("state")?)?,
        cancel_requested: row.flag("cancel_requested")?,
    };
    Ok(Some(Some(LockedParent { id, standing, reservation: row.id_or_none("reservation")? })))
}

/// Locks the job, when the lease still holds it.
pub(super) async fn held(tx: &mut Tx, lease: &Lease) -> StoreResult<Option<Held>> {
    let Some(parent) = lock_parent_of(tx, lease.job).await? else { return Ok(None) };
    let found = sqlx::query(include_str!("../sql/jobs/held.sql"))
        .bind(lease.job)
        .bind(lease.owner)
        .bind(i64::from(lease.attempt))
        .fetch_optional(&mut *tx)
        .await?;
    let Some(row) = found else { return Ok(None) };
    let own = row.id_or_none("reservation")?;
    let parents = parent.as_ref().and_then(|parent| parent.reservation);
    let reservations: Vec<Uuid> = own.into_iter().chain(parents).collect();
    lock_reservations(tx, &reservations).await?;
    Ok(Some(Held {
        id: row.id("id")?,
        team: row.id("team_id")?,
        parent: parent.as_ref().map(|parent| parent.id),
        purse: parents.or(own),
        silent: row.flag("silent")?,
        standing: Standing {
            attempts: row.int("attempts")?,
            max_attempts: row.int("max_attempts")?,
            cancel_requested: row.flag("cancel_requested")?,
            parent: parent.map(|parent| parent.standing),
        },
    }))
}

/// Writes the end of an attempt down; how the job stands then.
pub(super) async fn settle(tx: &mut Tx, held: &Held, verdict: &Verdict) -> StoreResult<JobState> {
    match verdict {
        Verdict::Requeue { error, delay, counted } => {
            sqlx::query(include_str!("../sql/jobs/requeue.sql"))
                .bind(held.id)
                .bind(i64::from(!counted))
                .bind(storable_or_none(error.as_ref()))
                .bind(delay.map(clock::millis))
                .execute(&mut *tx)
                .await?;
            PostgresStore::announce(tx).await?;
            Ok(JobState::Queued)
        }
        Verdict::End(ending) => write_ending(tx, held, ending).await,
    }
}

async fn write_ending(tx: &mut Tx, held: &Held, ending: &Ending) -> StoreResult<JobState> {
    if ending.credits > 0 {
        let purse =
            held.purse.ok_or_else(|| StoreError::Misuse("the job has no reservation to charge".into()))?;
        charge_in(tx, purse, ending.credits).await?;
    }
    let owner = held.parent.unwrap_or(held.id);
    append_rows(tx, owner, held.id, &ending.rows).await?;
    intake::check_children(held.team, &ending.spawn)?;
    let spawned = enqueue::spawn(tx, held.team, owner, &ending.spawn).await?;
    if spawned > 0 {
        PostgresStore::announce(tx).await?;
    }
    if held.parent.is_none() && spawned > 0 {
        sqlx::query(include_str!("../sql/jobs/wait.sql"))
            .bind(held.id)
            .bind(storable_or_none(ending.result.as_ref()))
            .execute(&mut *tx)
            .await?;
        end::count_children(tx, held.id, spawned, end::Ended::default()).await?;
        return Ok(JobState::Waiting);
    }
    end::end(tx, held.id, held.parent, ending, spawned).await?;
    Ok(ending.state)
}

async fn append_rows(tx: &mut Tx, owner: Uuid, job: Uuid, bodies: &[String]) -> StoreResult<()> {
    if bodies.is_empty() {
        return Ok(());
    }
    let added = i64::try_from(bodies.len()).unwrap_or(i64::MAX);
    let row = sqlx::query(include_str!("../sql/jobs/rows_add.sql"))
        .bind(owner)
        .bind(added)
        .fetch_one(&mut *tx)
        .await?;
    sqlx::query(include_str!("../sql/jobs/row_insert.sql"))
        .bind(owner)
        .bind(row.int("row_count")? - added)
        .bind(job)
        .bind(bodies.iter().map(|body| storable(body)).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await?;
    Ok(())
}
