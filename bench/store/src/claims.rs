//! Claims per second with a queue of a given length.
//!
//! Fills the queue with `QUEUED` jobs over a hundred teams, then lets `WORKERS` tasks claim and finish
//! batches for `SECONDS`. Prints claims per second and the time of one claim, so that a run with 1,000
//! and a run with 1,000,000 queued jobs show how a claim grows with the queue.

use crate::{number, team};
use anyhow::ensure;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::Store;
use store::jobs::{ClaimRequest, Finish, KindSlots, NewJob};
use uuid::Uuid;

const TEAMS: usize = 100;
const FILL: usize = 2_000;

pub async fn run(store: Arc<dyn Store>, rest: &[String]) -> anyhow::Result<()> {
    let (queued, seconds) = (number(rest, 0, 1_000)?, number(rest, 1, 5)?);
    let (workers, batch) = (number(rest, 2, 4)?, number(rest, 3, 8)?);
    let mut teams = Vec::with_capacity(TEAMS);
    for n in 0..TEAMS {
        teams.push(team(&*store, format!("team {n}")).await?);
    }
    let filling = Instant::now();
    for first in (0..queued).step_by(FILL) {
        let jobs = (first..queued.min(first + FILL)).map(|n| job(teams[n % TEAMS])).collect();
        store.enqueue(jobs).await?;
    }
    println!("queued       {queued} jobs of {TEAMS} teams in {:.1} s", filling.elapsed().as_secs_f64());

    let (claimed, spent) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds as u64);
    let mut tasks = Vec::new();
    for _ in 0..workers {
        tasks.push(tokio::spawn(work(
            store.clone(),
            end,
            u32::try_from(batch)?,
            claimed.clone(),
            spent.clone(),
        )));
    }
    for task in tasks {
        task.await??;
    }
    let elapsed = started.elapsed().as_secs_f64();
    let (claimed, spent) = (claimed.load(Ordering::Relaxed), spent.load(Ordering::Relaxed));
    ensure!(claimed > 0, "nothing was claimed");
    println!("workers      {workers}, batches of {batch}");
    println!("claims/s     {:.0} (claimed and finished)", claimed as f64 / elapsed);
    println!(
        "claim        {:.3} ms per job, waiting for turns included",
        spent as f64 / 1e3 / claimed as f64
    );
    Ok(())
}

fn job(team_id: Uuid) -> NewJob {
    NewJob {
        id: Uuid::now_v7(),
        team_id,
        kind: "scrape".into(),
        payload: r#"{"url":"http://127.0.0.1/"}"#.into(),
        priority: 0,
        delay: Duration::ZERO,
        max_attempts: 3,
        deadline: Duration::from_hours(1),
        dedup_key: None,
        retain_for: Duration::from_hours(1),
        reservation: None,
    }
}

/// Claims and finishes until the end, and puts back one job per finished one, so that the queue keeps
/// its length.
async fn work(
    store: Arc<dyn Store>,
    end: Instant,
    batch: u32,
    claimed: Arc<AtomicU64>,
    spent: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    let request = ClaimRequest {
        owner: Uuid::now_v7(),
        kinds: vec![KindSlots { kind: "scrape".into(), max_running: Some(10_000) }],
        plans: Vec::new(),
        other_plans: None,
        limit: batch,
        lease_for: Duration::from_mins(1),
    };
    while Instant::now() < end {
        let start = Instant::now();
        let jobs = store.claim(&request).await?;
        spent.fetch_add(u64::try_from(start.elapsed().as_micros())?, Ordering::Relaxed);
        claimed.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        for claim in &jobs {
            let done = Finish::Completed { result: None, rows: Vec::new(), spawn: Vec::new(), credits: 0 };
            store.finish(&claim.lease, done).await?;
        }
        store.enqueue(jobs.iter().map(|claim| job(claim.job.team_id)).collect()).await?;
    }
    Ok(())
}
