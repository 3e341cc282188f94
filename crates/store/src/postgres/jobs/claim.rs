//! Handing out jobs. Claims take turns at one lock, so counting slots and taking them is one step over
//! all processes; whoever finishes a job meanwhile only makes room.

use super::super::{PostgresStore, Tx};
use crate::jobs::{ClaimRequest, Claimed};
use crate::queue::choose::{Due, LaneHead, Round, Turn};
use crate::rows::{self, Columns};
use crate::{StoreResult, clock};
use std::collections::HashMap;
use uuid::Uuid;

pub(super) async fn claim(store: &PostgresStore, request: &ClaimRequest) -> StoreResult<Vec<Claimed>> {
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    sqlx::query(include_str!("../sql/jobs/claim_lock.sql")).execute(&mut tx).await?;
    let running = sqlx::query(include_str!("../sql/jobs/running.sql")).fetch_all(&mut tx).await?;
    let running = running.iter().map(rows::running).collect::<StoreResult<Vec<_>>>()?;
    let kinds = Round::free_kinds(request, &running);
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let mut round = Round::new(request, &running, lanes(&mut tx, &kinds).await?);
    let mut chosen = Vec::new();
    loop {
        match round.next() {
            Turn::Take(job) => chosen.push(job),
            Turn::Look(index) => {
                let following = rest(&mut tx, round.lane(index), round.left()).await?;
                round.refill(index, following);
            }
            Turn::Done => break,
        }
    }
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let claimed = take(&mut tx, request, &chosen).await?;
    tx.commit().await?;
    Ok(claimed)
}

/// Takes the chosen jobs, less those that somebody else changes just now, in the order chosen.
async fn take(tx: &mut Tx, request: &ClaimRequest, chosen: &[Uuid]) -> StoreResult<Vec<Claimed>> {
    let taken = sqlx::query(include_str!("../sql/jobs/claim.sql"))
        .bind(chosen)
        .bind(request.owner)
        .bind(clock::millis(request.lease_for))
        .fetch_all(&mut *tx)
        .await?;
    let mut by_id = HashMap::with_capacity(taken.len());
    for row in &taken {
        let lease = rows::lease(row, request.owner)?;
        let claimed = Claimed { job: rows::job(row)?, lease, now: row.int("now")? };
        by_id.insert(row.id("id")?, claimed);
    }
    Ok(chosen.iter().filter_map(|id| by_id.remove(id)).collect())
}

async fn lanes(tx: &mut Tx, kinds: &[String]) -> StoreResult<Vec<LaneHead>> {
    let found = sqlx::query(include_str!("../sql/jobs/lanes.sql")).bind(kinds).fetch_all(&mut *tx).await?;
    found.iter().map(rows::lane_head).collect()
}

async fn rest(tx: &mut Tx, lane: &LaneHead, limit: u32) -> StoreResult<Vec<Due>> {
    let found = sqlx::query(include_str!("../sql/jobs/lane_rest.sql"))
        .bind(&lane.kind)
        .bind(lane.rank)
        .bind(lane.team)
        .bind(lane.head.run_at)
        .bind(lane.head.id)
        .bind(i64::from(limit))
        .fetch_all(&mut *tx)
        .await?;
    found.iter().map(rows::due).collect()
}
