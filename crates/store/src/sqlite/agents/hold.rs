//! Who holds which run: claims, leases kept, runs handed back.

use super::super::SqliteStore;
use crate::agents::choose::choose;
use crate::agents::rows;
use crate::agents::{ClaimedRun, RunClaim, RunLease};
use crate::jobs::LeaseStatus;
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;

pub(super) async fn claim(store: &SqliteStore, request: &RunClaim) -> StoreResult<Vec<ClaimedRun>> {
    // Looked for by a reader first: most of the time nothing waits, and that must not cost a write.
    let waiting = sqlx::query(include_str!("../sql/agents/waiting.sql"))
        .bind(i64::from(request.most_lost))
        .fetch_optional(&store.readers)
        .await?;
    if request.limit == 0 || waiting.is_none() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now = clock::now();
    let candidates = sqlx::query(include_str!("../sql/agents/candidates.sql"))
        .bind(i64::from(request.most_lost))
        .bind(i64::from(request.limit))
        .fetch_all(&mut *tx)
        .await?;
    let candidates = candidates.iter().map(rows::candidate).collect::<StoreResult<_>>()?;
    let running = sqlx::query(include_str!("../sql/agents/running.sql")).fetch_all(&mut *tx).await?;
    let running = running
        .iter()
        .map(|row| Ok((row.id("team_id")?, row.count("running")?)))
        .collect::<StoreResult<HashMap<_, _>>>()?;
    let mut claimed = Vec::new();
    for run in choose(candidates, &running, request) {
        let taken = sqlx::query(include_str!("../sql/agents/take.sql"))
            .bind(run)
            .bind(request.owner)
            .bind(now + clock::millis(request.lease_for))
            .bind(now)
            .fetch_one(&mut *tx)
            .await?;
        let lease = rows::lease(&taken, request.owner)?;
        let row = sqlx::query(include_str!("../sql/agents/run.sql"))
            .bind(run)
            .bind(now)
            .fetch_one(&mut *tx)
            .await?;
        claimed.push(ClaimedRun { lease, run: rows::run(&row)? });
    }
    tx.commit().await?;
    Ok(claimed)
}

pub(super) async fn keep(
    store: &SqliteStore,
    leases: &[RunLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    let mut tx = store.write().await?;
    let until = clock::now() + clock::millis(lease_for);
    let mut statuses = Vec::with_capacity(leases.len());
    for lease in leases {
        let kept = sqlx::query(include_str!("../sql/agents/keep.sql"))
            .bind(lease.run)
            .bind(lease.owner)
            .bind(rows::number(lease.number))
            .bind(until)
            .fetch_optional(&mut *tx)
            .await?;
        statuses.push(match kept {
            None => LeaseStatus::Lost,
            Some(row) if row.int_or_none("cancel_requested_at")?.is_some() => LeaseStatus::CancelRequested,
            Some(_) => LeaseStatus::Held,
        });
    }
    tx.commit().await?;
    Ok(statuses)
}

pub(super) async fn hand_back(store: &SqliteStore, lease: &RunLease) -> StoreResult<bool> {
    let mut tx = store.write().await?;
    let done = sqlx::query(include_str!("../sql/agents/hand_back.sql"))
        .bind(lease.run)
        .bind(lease.owner)
        .bind(rows::number(lease.number))
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    let held = done.rows_affected() > 0;
    store.wake_if(held);
    Ok(held)
}
