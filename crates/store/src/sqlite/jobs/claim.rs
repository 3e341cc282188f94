//! Handing out jobs. The one writer makes counting slots and taking them one step.

use super::super::{SqliteStore, Tx};
use crate::jobs::{ClaimRequest, Claimed};
use crate::queue::choose::{Due, LaneHead, Round, Turn};
use crate::{Millis, StoreResult, clock, rows};

pub(super) async fn claim(store: &SqliteStore, request: &ClaimRequest) -> StoreResult<Vec<Claimed>> {
    if request.limit == 0 {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    let now = clock::now();
    let running = sqlx::query(include_str!("../sql/jobs/running.sql")).fetch_all(&mut *tx).await?;
    let running = running.iter().map(rows::running).collect::<StoreResult<Vec<_>>>()?;
    let kinds = Round::free_kinds(request, &running);
    if kinds.is_empty() {
        return Ok(Vec::new());
    }
    let mut round = Round::new(request, &running, lanes(&mut tx, kinds, now).await?);
    let mut claimed = Vec::new();
    loop {
        match round.next() {
            Turn::Take(job) => {
                let row = sqlx::query(include_str!("../sql/jobs/claim.sql"))
                    .bind(job)
                    .bind(request.owner)
                    .bind(now + clock::millis(request.lease_for))
                    .bind(now)
                    .fetch_one(&mut *tx)
                    .await?;
                claimed.push(Claimed {
                    job: rows::job(&row)?,
                    lease: rows::lease(&row, request.owner)?,
                    now,
                });
            }
            Turn::Look(index) => {
                let following = rest(&mut tx, round.lane(index), now, round.left()).await?;
                round.refill(index, following);
            }
            Turn::Done => break,
        }
    }
    tx.commit().await?;
    Ok(claimed)
}

async fn lanes(tx: &mut Tx, kinds: Vec<String>, now: Millis) -> StoreResult<Vec<LaneHead>> {
    let found = sqlx::query(include_str!("../sql/jobs/lanes.sql"))
        .bind(serde_json::Value::from(kinds).to_string())
        .bind(now)
        .fetch_all(&mut **tx)
        .await?;
    found.iter().map(rows::lane_head).collect()
}

async fn rest(tx: &mut Tx, lane: &LaneHead, now: Millis, limit: u32) -> StoreResult<Vec<Due>> {
    let found = sqlx::query(include_str!("../sql/jobs/lane_rest.sql"))
        .bind(&lane.kind)
        .bind(lane.rank)
        .bind(lane.team)
        .bind(now)
        .bind(lane.head.run_at)
        .bind(lane.head.id)
        .bind(i64::from(limit))
        .fetch_all(&mut **tx)
        .await?;
    found.iter().map(rows::due).collect()
}
