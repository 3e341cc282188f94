//! What the tests share: pools with names of their own, and what `/proc` shows of them.

use gannet_sandbox::{Job, JobError, PoolOptions, ProcessPool, bytes_as_input};
use libtest_mimic::Trial;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// First arguments with which this binary is neither a test nor a sandboxed process.
pub const FREE_ATTEMPT: &str = "free-attempt";
pub const LOOPING_SERVER: &str = "looping-server";

pub const OWNER: Uuid = Uuid::from_u128(1);
pub const OTHER_OWNER: Uuid = Uuid::from_u128(2);
/// Far more than any job of these tests needs.
pub const LONG: Duration = Duration::from_mins(1);
/// How long the kernel may take to clear a killed process away, on a busy machine.
const GONE_TIMEOUT: Duration = Duration::from_secs(10);

/// A test in a runtime of its own.
pub fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        runtime().block_on(test());
        Ok(())
    })
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("runtime")
}

/// Options for a pool whose processes bear this name, of at most 8 letters.
pub fn options(role: &str) -> PoolOptions {
    let mut options = PoolOptions::new(role);
    options.policy.max_memory_bytes = 512 * 1024 * 1024;
    options.max_output_bytes = 4 * 1024 * 1024;
    options.max_jobs = 4;
    options.warm_processes = 1;
    options
}

pub async fn run(pool: &ProcessPool, options: &str, time_limit: Duration) -> Result<String, JobError> {
    run_for(pool, OWNER, options, b"some input", time_limit).await
}

pub async fn run_for(
    pool: &ProcessPool,
    owner: Uuid,
    options: &str,
    input: &[u8],
    time_limit: Duration,
) -> Result<String, JobError> {
    let input = bytes_as_input(input).expect("memory");
    let job = Job { owner, options: options.as_bytes(), input: input.as_fd(), time_limit };
    pool.run(job).await.map(|output| String::from_utf8_lossy(&output).into_owned())
}

/// The processes of a pool, those that have ended and were not waited for included.
pub fn processes(role: &str) -> Vec<u32> {
    let wanted = format!("(gannet-{role})");
    let numbers = std::fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|number| {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat"));
            stat.is_ok_and(|stat| stat.contains(&wanted))
        })
        .collect()
}

pub async fn assert_gone(role: &str) {
    let start = Instant::now();
    while !processes(role).is_empty() {
        assert!(start.elapsed() < GONE_TIMEOUT, "left: {:?}", processes(role));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a pool has this number of processes.
pub async fn wait_for_processes(role: &str, count: usize) -> Vec<u32> {
    let start = Instant::now();
    loop {
        let found = processes(role);
        if found.len() == count {
            return found;
        }
        assert!(start.elapsed() < GONE_TIMEOUT, "{count} processes expected: {found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
