//! A claim looks at the heads of lanes only: it does not grow with the queue behind them.

use crate::ground::{Ground, jobs, request, team};
use std::time::{Duration, Instant};
use store::jobs::Finish;
use uuid::Uuid;

on_both!(a_claim_does_not_grow_with_the_queue);

const FEW: usize = 20;
const MANY: usize = 6_000;

async fn a_claim_does_not_grow_with_the_queue(ground: Ground) {
    // Two teams, so that a claim has to pass the whole queue of one to see the other.
    let other = team(&*ground.store, "free").await;
    fill(&ground, other, FEW).await;
    let short = best_claim(&ground).await;
    fill(&ground, other, MANY).await;
    let long = best_claim(&ground).await;
    // A walk through the queue would make it hundreds of times dearer; a deeper index does not.
    let bound = short * 10 + Duration::from_millis(5);
    assert!(long < bound, "{long:?} with {MANY} queued jobs per team, {short:?} with {FEW}");
}

async fn fill(ground: &Ground, other: Uuid, count: usize) {
    for team in [ground.team, other] {
        ground.store.enqueue(jobs(team, count)).await.unwrap();
    }
}

/// The quickest of some claims, each given back: what others do on this machine only adds to one.
async fn best_claim(ground: &Ground) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..12 {
        let started = Instant::now();
        let claimed = ground.store.claim(&request(2)).await.unwrap();
        best = best.min(started.elapsed());
        assert_eq!(claimed.len(), 2);
        for claim in &claimed {
            ground.finish(claim, Finish::HandBack).await;
        }
    }
    best
}
