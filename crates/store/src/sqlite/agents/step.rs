//! Steps of runs and their ends, each one transaction.

use super::super::credits::{charge_in, close_in, use_in};
use super::super::{SqliteStore, Tx, webhooks};
use crate::agents::rows::{self, Added, Ending};
use crate::agents::{NewEvent, RunCancel, RunEnd, RunLease, RunStep};
use crate::rows::Columns;
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn step(store: &SqliteStore, lease: &RunLease, step: &RunStep) -> StoreResult<bool> {
    rows::check_step(step)?;
    let mut tx = store.write().await?;
    if held(&mut tx, lease).await?.is_none() {
        return Ok(false);
    }
    write(&mut tx, lease.run, step, clock::now()).await?;
    webhooks::insert(&mut tx, &step.deliveries).await?;
    tx.commit().await?;
    store.wake_if(!step.deliveries.is_empty());
    Ok(true)
}

async fn held(tx: &mut Tx, lease: &RunLease) -> StoreResult<Option<Ending>> {
    let found = sqlx::query(include_str!("../sql/agents/held.sql"))
        .bind(lease.run)
        .bind(lease.owner)
        .bind(rows::number(lease.number))
        .fetch_optional(&mut **tx)
        .await?;
    found.map(|row| Ending::of(&row)).transpose()
}

/// All of a step but its webhooks.
pub(super) async fn write(tx: &mut Tx, run: Uuid, step: &RunStep, now: Millis) -> StoreResult<()> {
    let mut added = Added::default();
    for event in &step.events {
        let body = storable(&event.body);
        let done = sqlx::query(include_str!("../sql/agents/event_insert.sql"))
            .bind(run)
            .bind(event.id)
            .bind(event.actor)
            .bind(now)
            .bind(&*body)
            .execute(&mut **tx)
            .await?;
        if done.rows_affected() > 0 {
            added.event(&body);
        }
    }
    for snapshot in &step.snapshots {
        let done = sqlx::query(include_str!("../sql/agents/snapshot_insert.sql"))
            .bind(run)
            .bind(snapshot.id)
            .bind(&snapshot.body)
            .execute(&mut **tx)
            .await?;
        if done.rows_affected() > 0 {
            added.snapshot(&snapshot.body);
        }
    }
    if let Some(artifact) = &step.artifact {
        sqlx::query(include_str!("../sql/agents/artifact_write.sql"))
            .bind(run)
            .bind(artifact)
            .execute(&mut **tx)
            .await?;
    }
    sqlx::query(include_str!("../sql/agents/step.sql"))
        .bind(run)
        .bind(step.credits)
        .bind(added.events)
        .bind(added.event_bytes)
        .bind(added.snapshot_bytes)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub(super) async fn end(
    store: &SqliteStore,
    run: Uuid,
    lease: Option<&RunLease>,
    end: &RunEnd,
) -> StoreResult<bool> {
    rows::check_end(end)?;
    let mut tx = store.write().await?;
    let found = if let Some(lease) = lease {
        held(&mut tx, lease).await?
    } else {
        let waits = sqlx::query(include_str!("../sql/agents/unheld.sql"));
        waits.bind(run).fetch_optional(&mut *tx).await?.map(|row| Ending::of(&row)).transpose()?
    };
    let Some(ending) = found else { return Ok(false) };
    let now = clock::now();
    write(&mut tx, run, &end.step, now).await?;
    if let Some(result) = &end.result {
        sqlx::query(include_str!("../sql/agents/result_write.sql"))
            .bind(run)
            .bind(result)
            .execute(&mut *tx)
            .await?;
    }
    sqlx::query(include_str!("../sql/agents/end.sql"))
        .bind(run)
        .bind(rows::state_number(end.state))
        .bind(storable_or_none(end.error.as_ref()))
        .bind(now)
        .execute(&mut *tx)
        .await?;
    let charge = ending.charge(end);
    match ending.reservation {
        Some(reservation) => {
            if charge > 0 {
                charge_in(&mut tx, reservation, charge).await?;
            }
            close_in(&mut tx, reservation).await?;
        }
        None => use_in(&mut tx, &ending.spender(now), charge).await?,
    }
    if let Some(thread) = ending.thread {
        sqlx::query(include_str!("../sql/agents/thread_touch.sql"))
            .bind(thread)
            .bind(now)
            .execute(&mut *tx)
            .await?;
    }
    webhooks::insert(&mut tx, &end.step.deliveries).await?;
    tx.commit().await?;
    // A slot is free, and somebody may have to be told.
    store.wake();
    Ok(true)
}

pub(super) async fn cancel(
    store: &SqliteStore,
    team: Uuid,
    run: Uuid,
    wish: NewEvent,
) -> StoreResult<RunCancel> {
    let mut tx = store.write().await?;
    let found = sqlx::query(include_str!("../sql/agents/cancellable.sql"))
        .bind(run)
        .bind(team)
        .fetch_optional(&mut *tx)
        .await?;
    let Some(found) = found else { return Ok(RunCancel::NotFound) };
    let state = found.int("state")?;
    if state > 1 {
        return Ok(RunCancel::AlreadyFinished);
    }
    if found.int_or_none("cancel_requested_at")?.is_some() {
        return Ok(RunCancel::AlreadyRequested);
    }
    let now = clock::now();
    sqlx::query(include_str!("../sql/agents/request_cancel.sql"))
        .bind(run)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    write(&mut tx, run, &RunStep { events: vec![wish], ..RunStep::default() }, now).await?;
    tx.commit().await?;
    Ok(if state == 0 { RunCancel::Waiting } else { RunCancel::Requested })
}
