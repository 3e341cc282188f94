//! When processes start, for whom they are used again, and when they end.

use crate::support::{
    LONG, LOOPING_SERVER, OTHER_OWNER, OWNER, assert_gone, options, processes, run, run_for, runtime, trial,
    wait_for_processes,
};
use gannet_sandbox::{Executable, JobError, ProcessPool};
use libtest_mimic::Trial;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use uuid::Uuid;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("lifecycle::a_warm_process_does_the_first_job", warm_process_does_the_first_job),
        trial("lifecycle::a_process_serves_one_owner", process_serves_one_owner),
        trial("lifecycle::a_process_ends_after_its_last_job", process_ends_after_its_last_job),
        trial("lifecycle::a_large_process_is_not_kept", large_process_is_not_kept),
        trial("lifecycle::arguments_reach_the_process", arguments_reach_the_process),
        trial("lifecycle::another_program_stays_the_one_that_was_opened", another_program),
        trial("lifecycle::a_dropped_job_kills_its_process", dropped_job_kills_its_process),
        trial("lifecycle::waiting_for_a_process_counts", waiting_for_a_process_counts),
        trial("lifecycle::processes_end_with_the_server", processes_end_with_the_server),
        trial("lifecycle::processes_outlive_the_thread_that_asked", processes_outlive_the_thread),
    ]
}

async fn pid(pool: &ProcessPool) -> u32 {
    run(pool, "pid", LONG).await.expect("a job").parse().expect("a number")
}

async fn warm_process_does_the_first_job() {
    let role = "warm";
    let pool = ProcessPool::new(options(role));
    assert!(processes(role).is_empty());
    pool.warm_up();
    let ready = wait_for_processes(role, 1).await;
    // Until it has given up its rights another one is started for a job. Each job here is of another owner,
    // so that none of those is used again.
    let start = Instant::now();
    for owner in 1.. {
        let used = run_for(&pool, Uuid::from_u128(owner), "pid", b"", LONG).await.expect("a job");
        if ready == [used.parse::<u32>().expect("a number")] {
            break;
        }
        assert!(start.elapsed() < LONG, "{used} is not {ready:?}");
    }
    wait_for_processes(role, 2).await;
    drop(pool);
    assert_gone(role).await;
}

async fn process_serves_one_owner() {
    let pool = ProcessPool::new(options("owners"));
    let of = async |owner| run_for(&pool, owner, "pid", b"", LONG).await.expect("a job");
    let first = of(OWNER).await;
    assert_eq!(of(OWNER).await, first, "its start is paid for once");
    let other = of(OTHER_OWNER).await;
    assert_ne!(other, first, "another owner gets another process");
    // One used process is kept, the last one.
    assert_eq!(of(OTHER_OWNER).await, other);
    assert_ne!(of(OWNER).await, first);
}

async fn process_ends_after_its_last_job() {
    let mut limited = options("lastjob");
    limited.max_jobs_per_process = 2;
    let pool = ProcessPool::new(limited);
    let numbers = [pid(&pool).await, pid(&pool).await, pid(&pool).await];
    assert!(numbers[0] == numbers[1] && numbers[1] != numbers[2], "{numbers:?}");
}

async fn large_process_is_not_kept() {
    let mut limited = options("large");
    limited.max_idle_bytes = 90 * 1024 * 1024;
    let pool = ProcessPool::new(limited);
    let first = pid(&pool).await;
    assert_eq!(pid(&pool).await, first, "a small one is kept");
    run(&pool, "keep-100-mb", LONG).await.expect("a job");
    assert_ne!(pid(&pool).await, first);
}

async fn arguments_reach_the_process() {
    let mut named = options("argument");
    named.arguments = vec!["models".to_owned(), "folder".to_owned()];
    let output = run(&ProcessPool::new(named), "arguments", LONG).await;
    assert_eq!(output.expect("a job"), "models folder");
}

/// An upgrade may replace a program while the server goes on.
async fn another_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("another");
    // A link, because a copy that was just written cannot be started while another test starts a process.
    let own = std::env::current_exe().expect("this program");
    std::os::unix::fs::symlink(own, &path).expect("a link to this program");
    let mut another = options("another");
    another.executable = Executable::open(&path).expect("open");
    let pool = ProcessPool::new(another);
    let first = pid(&pool).await;
    let command_line = std::fs::read(format!("/proc/{first}/cmdline")).expect("a running process");
    assert!(command_line.starts_with(b"another\0"), "{}", String::from_utf8_lossy(&command_line));
    std::fs::write(folder.path().join("newer"), "not a program").expect("write");
    std::fs::rename(folder.path().join("newer"), &path).expect("replace");
    let next = run_for(&pool, OTHER_OWNER, "pid", b"", LONG).await.expect("a job");
    assert_ne!(next, first.to_string());
}

async fn dropped_job_kills_its_process() {
    let role = "dropped";
    let mut single = options(role);
    single.warm_processes = 0;
    let pool = ProcessPool::new(single);
    let job = tokio::spawn({
        let pool = pool.clone();
        async move { run(&pool, "loop", LONG).await }
    });
    wait_for_processes(role, 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    job.abort();
    assert_gone(role).await;
    assert_eq!(run(&pool, "echo", LONG).await.expect("the next job works"), "some input");
}

async fn waiting_for_a_process_counts() {
    let mut single = options("waiting");
    single.max_jobs = 1;
    let pool = ProcessPool::new(single);
    let busy = tokio::spawn({
        let pool = pool.clone();
        async move { run(&pool, "sleep", Duration::from_secs(3)).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let late = run(&pool, "echo", Duration::from_millis(300)).await;
    assert!(matches!(late, Err(JobError::TimedOut)), "{late:?}");
    assert!(matches!(busy.await.expect("the task"), Err(JobError::TimedOut)));
    assert_eq!(run(&pool, "echo", LONG).await.expect("a free place again"), "some input");
}

async fn processes_end_with_the_server() {
    let role = "orphan";
    let mut command = Command::new("/proc/self/exe");
    let mut server = command.args([LOOPING_SERVER, role]).stdout(Stdio::null()).spawn().expect("start");
    // One that loops and one that is ready.
    wait_for_processes(role, 2).await;
    server.kill().expect("kill");
    server.wait().expect("wait");
    assert_gone(role).await;
}

/// A server whose process does not end by itself.
pub fn run_looping_server(role: &str) -> ExitCode {
    runtime().block_on(async {
        let pool = ProcessPool::new(options(role));
        let _ = run(&pool, "loop", LONG).await;
    });
    ExitCode::SUCCESS
}

/// The kernel takes the thread that starts a process for its parent, and threads of a runtime come and go.
async fn processes_outlive_the_thread() {
    let pool = ProcessPool::new(options("thread"));
    let asked = pool.clone();
    let handle = tokio::runtime::Handle::current();
    let thread = std::thread::spawn(move || handle.block_on(pid(&asked)));
    let first = thread.join().expect("the thread");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(pid(&pool).await, first);
}
