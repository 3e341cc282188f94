//! Checks under their leases: claimed, kept, handed back, ended.

use super::super::credits::close_in;
use super::super::{Backend, SqlConnection, Transaction, webhooks};
use super::{held, lease_number};
use crate::monitors::{CheckEnd, CheckLease, ClaimedCheck, Monitor, check_from_row, monitor_from_row};
use crate::rows::Columns;
use crate::text::storable;
use crate::work::LeaseStatus;
use crate::{StoreError, StoreResult, clock};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

pub(super) async fn claim<B: Backend>(
    backend: &B,
    owner: Uuid,
    limit: u32,
    lease_for: Duration,
) -> StoreResult<Vec<ClaimedCheck>> {
    // Looked for first: most of the time nothing waits, and that must not cost a transaction.
    let waiting = backend.query("monitors.waiting_any").fetch_one(&mut backend.reader()).await?;
    if limit == 0 || !waiting.flag("waiting")? {
        return Ok(Vec::new());
    }
    let mut tx = backend.begin().await?;
    tx.lock("monitors.claim_lock").execute(&mut tx).await?;
    let found = tx.query("monitors.waiting").bind(i64::from(limit)).fetch_all(&mut tx).await?;
    let ids = found.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<_>>>()?;
    let rows = tx
        .batch("monitors.claim", &ids)
        .column(|id| *id)
        .bind(owner)
        .bind(clock::millis(lease_for))
        .fetch_all(&mut tx)
        .await?;
    let checks = rows.iter().map(check_from_row).collect::<StoreResult<Vec<_>>>()?;
    let monitors = checks.iter().map(|check| check.monitor_id).collect::<Vec<_>>();
    let monitors = tx.query("monitors.claimed_monitors").bind_list(monitors).fetch_all(&mut tx).await?;
    let monitors = monitors.iter().map(monitor_from_row).collect::<StoreResult<Vec<_>>>()?;
    let monitors: HashMap<Uuid, Monitor> =
        monitors.into_iter().map(|monitor| (monitor.id, monitor)).collect();
    tx.commit().await?;
    let mut claimed = Vec::new();
    for (row, check) in rows.iter().zip(checks) {
        // A monitor that is deleted just now has ended its checks.
        let Some(monitor) = monitors.get(&check.monitor_id).cloned() else { continue };
        let lease = CheckLease { check: check.id, owner, number: row.count("lease_number")? };
        claimed.push(ClaimedCheck { lease, check, monitor });
    }
    Ok(claimed)
}

pub(super) async fn keep<B: Backend>(
    backend: &B,
    leases: &[CheckLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    let mut tx = backend.begin().await?;
    let rows = tx
        .batch("monitors.keep", leases)
        .column(|lease| lease.check)
        .column(|lease| lease.owner)
        .column(lease_number)
        .bind(clock::millis(lease_for))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let kept = rows
        .iter()
        .map(|row| {
            let (check, owner) = (row.id("id")?, row.id("lease_owner")?);
            Ok(CheckLease { check, owner, number: row.count("lease_number")? })
        })
        .collect::<StoreResult<HashSet<_>>>()?;
    let status = |lease| if kept.contains(lease) { LeaseStatus::Held } else { LeaseStatus::Lost };
    Ok(leases.iter().map(status).collect())
}

pub(super) async fn hand_back<B: Backend>(backend: &B, lease: &CheckLease) -> StoreResult<bool> {
    let mut tx = backend.begin().await?;
    let done = tx
        .query("monitors.hand_back")
        .bind(lease.check)
        .bind(lease.owner)
        .bind(lease_number(lease))
        .execute(&mut tx)
        .await?;
    tx.announce().await?;
    tx.commit().await?;
    backend.wake();
    Ok(done > 0)
}

pub(super) async fn sweep<B: Backend>(backend: &B) -> StoreResult<u64> {
    let mut tx = backend.begin().await?;
    let swept = tx.query("monitors.sweep").execute(&mut tx).await?;
    if swept > 0 {
        tx.announce().await?;
    }
    tx.commit().await?;
    if swept > 0 {
        backend.wake();
    }
    Ok(swept)
}

pub(super) async fn end<B: Backend>(backend: &B, lease: &CheckLease, end: &CheckEnd) -> StoreResult<bool> {
    if !end.state.is_terminal() {
        return Err(StoreError::Misuse("a check ends in a terminal state".to_owned()));
    }
    let mut tx = backend.begin().await?;
    let Some(held) = held(&mut tx, lease).await? else { return Ok(false) };
    let ended = tx
        .query("monitors.check_end")
        .bind(lease.check)
        .bind(end.state.code())
        .bind(end.credits)
        .bind(storable(&end.result))
        .bind(held.retain_for)
        .bind(lease.owner)
        .bind(lease_number(lease))
        .bind(i64::from(end.told))
        .execute(&mut tx)
        .await?;
    if ended == 0 {
        return Ok(false);
    }
    tx.query("monitors.ended")
        .bind(held.monitor)
        .bind(lease.check)
        .bind(storable(&end.summary))
        .execute(&mut tx)
        .await?;
    if let Some(reservation) = end.reservation {
        close_in(&mut tx, reservation).await?;
    }
    webhooks::insert(&mut tx, &end.deliveries).await?;
    tx.commit().await?;
    backend.wake();
    Ok(true)
}
