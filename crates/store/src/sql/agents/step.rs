//! Steps of runs and their ends, each one transaction.

use super::super::charges::charge_unreserved;
use super::super::credits::{charge_in, close_in};
use super::super::{Backend, SqlConnection, Transaction, webhooks};
use crate::agents::rows::{self, Added, Ending};
use crate::agents::{NewEvent, RunCancel, RunEnd, RunLease, RunStep};
use crate::rows::Columns;
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult};
use uuid::Uuid;

pub(super) async fn step(store: &impl Backend, lease: &RunLease, step: &RunStep) -> StoreResult<bool> {
    rows::check_step(step)?;
    let mut tx = store.begin().await?;
    let Some((_, now)) = lock_leased(&mut tx, lease).await? else { return Ok(false) };
    write(&mut tx, lease.run, step, now).await?;
    webhooks::insert(&mut tx, &step.deliveries).await?;
    tx.commit().await?;
    if !step.deliveries.is_empty() {
        store.wake();
    }
    Ok(true)
}

/// Locks a run that the lease still holds.
async fn lock_leased(tx: &mut impl SqlConnection, lease: &RunLease) -> StoreResult<Option<(Ending, Millis)>> {
    let found = tx
        .query("agents.held")
        .bind(lease.run)
        .bind(lease.owner)
        .bind(rows::number(lease.number))
        .fetch_optional(tx)
        .await?;
    found.map(|row| ending(&row)).transpose()
}

fn ending(row: &impl Columns) -> StoreResult<(Ending, Millis)> {
    Ok((Ending::from_row(row)?, row.int("now")?))
}

/// All of a step but its webhooks, on a run that is locked.
pub(super) async fn write(
    tx: &mut impl SqlConnection,
    run: Uuid,
    step: &RunStep,
    now: Millis,
) -> StoreResult<()> {
    let mut added = Added::default();
    for event in &step.events {
        let body = storable(&event.body);
        let done = tx
            .query("agents.event_insert")
            .bind(run)
            .bind(event.id)
            .bind(event.actor)
            .bind(now)
            .bind(&*body)
            .execute(tx)
            .await?;
        if done > 0 {
            added.event(&body);
        }
    }
    for snapshot in &step.snapshots {
        let done = tx
            .query("agents.snapshot_insert")
            .bind(run)
            .bind(snapshot.id)
            .bind(&snapshot.body)
            .execute(tx)
            .await?;
        if done > 0 {
            added.snapshot(&snapshot.body);
        }
    }
    if let Some(artifact) = &step.artifact {
        tx.query("agents.artifact_write").bind(run).bind(artifact).execute(tx).await?;
    }
    tx.query("agents.step")
        .bind(run)
        .bind(step.credits)
        .bind(added.events)
        .bind(added.event_bytes)
        .bind(added.snapshot_bytes)
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn end(
    store: &impl Backend,
    run: Uuid,
    lease: Option<&RunLease>,
    end: &RunEnd,
) -> StoreResult<bool> {
    rows::check_end(end)?;
    let mut tx = store.begin().await?;
    let found = if let Some(lease) = lease {
        lock_leased(&mut tx, lease).await?
    } else {
        let waits = tx.query("agents.unheld");
        waits.bind(run).fetch_optional(&mut tx).await?.map(|row| ending(&row)).transpose()?
    };
    let Some((ending, now)) = found else { return Ok(false) };
    write(&mut tx, run, &end.step, now).await?;
    if let Some(result) = &end.result {
        tx.query("agents.result_write").bind(run).bind(result).execute(&mut tx).await?;
    }
    tx.query("agents.end")
        .bind(run)
        .bind(rows::state_number(end.state))
        .bind(storable_or_none(end.error.as_ref()))
        .bind(now)
        .execute(&mut tx)
        .await?;
    let charge = ending.charge(end);
    if let Some(reservation) = ending.reservation {
        if charge > 0 {
            charge_in(&mut tx, reservation, charge).await?;
        }
        close_in(&mut tx, reservation).await?;
    } else {
        charge_unreserved(&mut tx, ending.spender(now), charge).await?;
    }
    if let Some(thread) = ending.thread {
        tx.query("agents.thread_touch").bind(thread).bind(now).execute(&mut tx).await?;
    }
    webhooks::insert(&mut tx, &end.step.deliveries).await?;
    // A slot is free, and there may be webhooks to send.
    tx.announce().await?;
    tx.commit().await?;
    store.wake();
    Ok(true)
}

pub(super) async fn cancel(
    store: &impl Backend,
    team: Uuid,
    run: Uuid,
    wish: NewEvent,
) -> StoreResult<RunCancel> {
    let mut tx = store.begin().await?;
    let found = tx.query("agents.cancellable").bind(run).bind(team).fetch_optional(&mut tx).await?;
    let Some(found) = found else { return Ok(RunCancel::NotFound) };
    let (state, now) = (found.int("state")?, found.int("now")?);
    if state > 1 {
        return Ok(RunCancel::AlreadyFinished);
    }
    if found.int_or_none("cancel_requested_at")?.is_some() {
        return Ok(RunCancel::AlreadyRequested);
    }
    tx.query("agents.request_cancel").bind(run).bind(now).execute(&mut tx).await?;
    write(&mut tx, run, &RunStep { events: vec![wish], ..RunStep::default() }, now).await?;
    tx.commit().await?;
    Ok(if state == 0 { RunCancel::Waiting } else { RunCancel::Requested })
}
