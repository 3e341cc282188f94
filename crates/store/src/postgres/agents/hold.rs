//! Who holds which run: claims, leases kept, runs handed back.

use super::super::PostgresStore;
use crate::agents::choose::choose;
use crate::agents::rows;
use crate::agents::{ClaimedRun, RunClaim, RunLease};
use crate::jobs::LeaseStatus;
use crate::rows::Columns;
use crate::{StoreResult, clock};
use std::collections::HashMap;
use std::time::Duration;

pub(super) async fn claim(store: &PostgresStore, request: &RunClaim) -> StoreResult<Vec<ClaimedRun>> {
    // Looked for without the lock first: most of the time nothing waits.
    let waiting = sqlx::query(include_str!("../sql/agents/waiting.sql"))
        .bind(i64::from(request.most_lost))
        .fetch_optional(&store.pool)
        .await?;
    if request.limit == 0 || waiting.is_none() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now =
        sqlx::query(include_str!("../sql/agents/claim_lock.sql")).fetch_one(&mut tx).await?.int("now")?;
    let candidates = sqlx::query(include_str!("../sql/agents/candidates.sql"))
        .bind(i64::from(request.most_lost))
        .bind(i64::from(request.limit))
        .fetch_all(&mut tx)
        .await?;
    let candidates = candidates.iter().map(rows::candidate).collect::<StoreResult<_>>()?;
    let running = sqlx::query(include_str!("../sql/agents/running.sql")).fetch_all(&mut tx).await?;
    let running = running
        .iter()
        .map(|row| Ok((row.id("team_id")?, row.count("running")?)))
        .collect::<StoreResult<HashMap<_, _>>>()?;
    let mut claimed = Vec::new();
    for run in choose(candidates, &running, request) {
        let taken = sqlx::query(include_str!("../sql/agents/take.sql"))
            .bind(run)
            .bind(request.owner)
            .bind(clock::millis(request.lease_for))
            .bind(now)
            .fetch_optional(&mut tx)
            .await?;
        // Cancelled and ended since it was looked for.
        let Some(taken) = taken else { continue };
        let lease = rows::lease(&taken, request.owner)?;
        let row = sqlx::query(include_str!("../sql/agents/run.sql")).bind(run).fetch_one(&mut tx).await?;
        claimed.push(ClaimedRun { lease, run: rows::run(&row)? });
    }
    tx.commit().await?;
    Ok(claimed)
}

pub(super) async fn keep(
    store: &PostgresStore,
    leases: &[RunLease],
    lease_for: Duration,
) -> StoreResult<Vec<LeaseStatus>> {
    let kept = sqlx::query(include_str!("../sql/agents/keep.sql"))
        .bind(leases.iter().map(|lease| lease.run).collect::<Vec<_>>())
        .bind(leases.iter().map(|lease| lease.owner).collect::<Vec<_>>())
        .bind(leases.iter().map(|lease| rows::number(lease.number)).collect::<Vec<_>>())
        .bind(clock::millis(lease_for))
        .fetch_all(&store.pool)
        .await?;
    let mut known = HashMap::new();
    for row in &kept {
        let lease = rows::lease(row, row.id("lease_owner")?)?;
        let stops = row.int_or_none("cancel_requested_at")?.is_some();
        known.insert(lease, if stops { LeaseStatus::CancelRequested } else { LeaseStatus::Held });
    }
    Ok(leases.iter().map(|lease| known.get(lease).copied().unwrap_or(LeaseStatus::Lost)).collect())
}

pub(super) async fn hand_back(store: &PostgresStore, lease: &RunLease) -> StoreResult<bool> {
    let mut tx = store.write().await?;
    let done = sqlx::query(include_str!("../sql/agents/hand_back.sql"))
        .bind(lease.run)
        .bind(lease.owner)
        .bind(rows::number(lease.number))
        .execute(&mut tx)
        .await?;
    let held = done.rows_affected() > 0;
    if held {
        PostgresStore::announce(&mut tx).await?;
    }
    tx.commit().await?;
    Ok(held)
}
