//! What a process costs. Not a test, so it only runs when it is asked for:
//! `cargo test --release -p gannet-sandbox --test it -- --ignored --nocapture`.

use crate::support::{LONG, OWNER, options, run, trial};
use gannet_sandbox::{Job, ProcessPool, bytes_as_input};
use libtest_mimic::Trial;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

const STARTS: usize = 50;
const JOBS: usize = 2000;
const INPUT_BYTES: usize = 1024 * 1024;

pub fn trials() -> Vec<Trial> {
    vec![trial("speed::start_and_round_trip", start_and_round_trip).with_ignored_flag(true)]
}

async fn start_and_round_trip() {
    let mut cold = options("cold");
    cold.warm_processes = 0;
    let pool = ProcessPool::new(cold);
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        run(&pool, "pid", LONG).await.expect("a job");
        starts.push(start.elapsed());
    }
    let pool = ProcessPool::new(options("hot"));
    let mut warm = Vec::new();
    let mut with_input = Vec::new();
    let input = bytes_as_input(&vec![b'x'; INPUT_BYTES]).expect("memory");
    for _ in 0..JOBS {
        let start = Instant::now();
        run(&pool, "pid", LONG).await.expect("a job");
        warm.push(start.elapsed());
    }
    for _ in 0..JOBS / 20 {
        let start = Instant::now();
        let job = Job { owner: OWNER, options: b"echo", input: input.as_fd(), time_limit: LONG };
        pool.run(job).await.expect("an echo");
        with_input.push(start.elapsed());
    }
    println!(
        "sandboxed process: start and first job {:.2} ms, job in a running one {:.0} µs, \
         the same with 1 MB in and out {:.2} ms (medians)",
        median(starts).as_secs_f64() * 1e3,
        median(warm).as_secs_f64() * 1e6,
        median(with_input).as_secs_f64() * 1e3,
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
