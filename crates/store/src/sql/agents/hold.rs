//! Leases of runs: claims, renewals, runs handed back.

use super::super::{Backend, SqlConnection, Transaction};
use crate::agents::choose::choose;
use crate::agents::rows;
use crate::agents::{ClaimedRun, RunClaim, RunLease};
use crate::rows::Columns;
use crate::work::LeaseStatus;
use crate::{StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;

pub(super) async fn claim(store: &impl Backend, request: &RunClaim) -> StoreResult<Vec<ClaimedRun>> {
    // Looked for by a reader first: most of the time nothing waits, and that must cost neither a lock nor a
    // write.
    let waiting = store
        .query("agents.waiting")
        .bind(i64::from(request.max_lost_leases))
        .fetch_optional(&mut store.reader())
        .await?;
    if request.limit == 0 || waiting.is_none() {
        return Ok(Vec::new());
    }
    let mut tx = store.begin().await?;
    let now = tx.query("agents.claim_lock").fetch_one(&mut tx).await?.int("now")?;
    let candidates = tx
        .query("agents.candidates")
        .bind(i64::from(request.max_lost_leases))
        .bind(i64::from(request.limit))
        .fetch_all(&mut tx)
        .await?;
    let candidates = candidates.iter().map(rows::candidate).collect::<StoreResult<_>>()?;
    let running = tx.query("agents.running").fetch_all(&mut tx).await?;
    let running = running
        .iter()
        .map(|row| Ok((row.id("team_id")?, row.count("running")?)))
        .collect::<StoreResult<HashMap<_, _>>>()?;
    let mut claimed = Vec::new();
    for run in choose(candidates, &running, request) {
        let taken = tx
            .query("agents.take")
            .bind(run)
            .bind(request.owner)
            .bind(clock::millis(request.lease_for))
            .bind(now)
            .fetch_optional(&mut tx)
            .await?;
        // Cancelled and ended since it was looked for.
        let Some(taken) = taken else { continue };
        let lease = rows::lease(&taken, request.owner)?;
        let row = tx.query("agents.run").bind(run).fetch_one(&mut tx).await?;
        claimed.push(ClaimedRun { lease, run: rows::run(&row)? });
    }
    tx.commit().await?;
    Ok(claimed)
}

pub(super) async fn keep(
    store: &impl Backend,
    leases: &[RunLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    let mut tx = store.begin().await?;
    let kept = tx
        .batch("agents.keep", leases)
        .column(|lease| lease.run)
        .column(|lease| lease.owner)
        .column(|lease| rows::number(lease.number))
        .bind(clock::millis(lease_for))
        .fetch_all(&mut tx)
        .await?;
    tx.commit().await?;
    let mut known = HashMap::new();
    for row in &kept {
        let lease = rows::lease(row, row.id("lease_owner")?)?;
        let stops = row.int_or_none("cancel_requested_at")?.is_some();
        known.insert(lease, if stops { LeaseStatus::CancelRequested } else { LeaseStatus::Held });
    }
    Ok(leases.iter().map(|lease| known.get(lease).copied().unwrap_or(LeaseStatus::Lost)).collect())
}

pub(super) async fn hand_back(store: &impl Backend, lease: &RunLease) -> StoreResult<bool> {
    let mut tx = store.begin().await?;
    let done = tx
        .query("agents.hand_back")
        .bind(lease.run)
        .bind(lease.owner)
        .bind(rows::number(lease.number))
        .execute(&mut tx)
        .await?;
    let held = done > 0;
    if held {
        tx.announce().await?;
    }
    tx.commit().await?;
    if held {
        store.wake();
    }
    Ok(held)
}
