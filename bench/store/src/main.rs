//! Claims per second of a store: `gannet-bench-store DATABASE_URL [QUEUED] [SECONDS] [WORKERS] [BATCH]`.
//!
//! Fills the queue with `QUEUED` jobs over a hundred teams, then lets `WORKERS` tasks claim and finish
//! batches for `SECONDS`. Prints claims per second and the time of one claim, so that a run with 1,000
//! and a run with 1,000,000 queued jobs show how a claim grows with the queue. Use an empty database.

use anyhow::{Context, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store::jobs::{ClaimRequest, Finish, KindSlots, NewJob};
use store::keys::NewTeam;
use store::{Store, StoreOptions};
use uuid::Uuid;

const TEAMS: usize = 100;
const FILL: usize = 2_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .context("usage: gannet-bench-store DATABASE_URL [QUEUED] [SECONDS] [WORKERS] [BATCH]")?;
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (queued, seconds, workers, batch) = (number(1_000)?, number(5)?, number(4)?, number(8)?);

    let store = store::open(&StoreOptions::new(url)).await?;
    let teams = teams(&*store).await?;
    let filling = Instant::now();
    for first in (0..queued).step_by(FILL) {
        let jobs = (first..queued.min(first + FILL)).map(|n| job(teams[n % TEAMS])).collect();
        store.enqueue(jobs).await?;
    }
    println!("backend      {}", store.backend());
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
    {
        println!("workers      {workers}, batches of {batch}");
        println!("claims/s     {:.0} (claimed and finished)", claimed as f64 / elapsed);
        println!(
            "claim        {:.3} ms per job, waiting for turns included",
            spent as f64 / 1e3 / claimed as f64
        );
    }
    store.shut_down().await;
    Ok(())
}

async fn teams(store: &dyn Store) -> anyhow::Result<Vec<Uuid>> {
    let mut teams = Vec::with_capacity(TEAMS);
    for n in 0..TEAMS {
        let team = NewTeam {
            id: Uuid::now_v7(),
            name: format!("team {n}"),
            plan: "bench".into(),
            zero_data_retention: false,
        };
        teams.push(store.create_team(team).await?.id);
    }
    Ok(teams)
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
