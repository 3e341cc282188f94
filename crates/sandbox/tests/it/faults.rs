//! Whatever goes wrong in a process ends its job with the right error, inside its time, and nothing else.

use crate::support::{LONG, OWNER, assert_gone, options, processes, run, trial};
use gannet_sandbox::{JobError, ProcessPool, bytes_as_input};
use libtest_mimic::Trial;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(700);
/// How much later than its limit a job may end, on a busy machine.
const LATE: Duration = Duration::from_secs(5);

/// A job, its time limit, and the error that it has to end with.
struct Fault {
    job: &'static str,
    time_limit: Duration,
    is_expected: fn(&JobError) -> bool,
}

const fn fault(job: &'static str, time_limit: Duration, is_expected: fn(&JobError) -> bool) -> Fault {
    Fault { job, time_limit, is_expected }
}

const FAULTS: &[Fault] = &[
    fault("abort", LONG, |error| matches!(error, JobError::Crashed { signal: Some(libc::SIGABRT), .. })),
    fault("overflow-the-stack", LONG, |error| matches!(error, JobError::Crashed { signal: Some(_), .. })),
    fault("panic", LONG, |error| {
        // Where our code failed is said, not what the document contains.
        let text = error.to_string();
        text.contains("exit code 101, panicked at ")
            && text.contains("handler.rs:")
            && !text.contains("secret")
    }),
    fault("exit", LONG, |error| matches!(error, JobError::Protocol(_))),
    fault("loop", SHORT, |error| matches!(error, JobError::TimedOut)),
    fault("loop-in-threads", SHORT, |error| matches!(error, JobError::TimedOut)),
    fault("sleep", SHORT, |error| matches!(error, JobError::TimedOut)),
    fault("allocate-large", LONG, |error| matches!(error, JobError::OutOfMemory)),
    fault("allocate-small", LONG, |error| matches!(error, JobError::OutOfMemory)),
    fault("allocate-at-once", LONG, |error| matches!(error, JobError::OutOfMemory)),
    fault("large-output", LONG, |error| matches!(error, JobError::TooLarge { .. })),
    fault("claim-4-gb", LONG, |error| matches!(error, JobError::TooLarge { .. })),
    fault("send-garbage", LONG, |error| matches!(error, JobError::Protocol(_))),
    fault("send-half", LONG, |error| matches!(error, JobError::Protocol(_))),
    fault("close-the-connection", LONG, |error| matches!(error, JobError::Protocol(_))),
];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = (FAULTS.iter().enumerate())
        .map(|(number, fault)| {
            let name = format!("faults::{}", fault.job.replace('-', "_"));
            trial(&name, move || fault_ends_its_job_only(fault, number))
        })
        .collect();
    trials.extend([
        trial("faults::bytes_that_nobody_asked_for_reach_no_other_job", unasked_bytes_reach_no_other_job),
        trial("faults::a_role_that_does_not_exist_is_said", unknown_role_is_said),
        trial("faults::a_hundred_faults_leave_nothing_behind", hundred_faults_leave_nothing_behind),
        trial("faults::jobs_beside_a_fault_go_on", jobs_beside_a_fault_go_on),
        trial("faults::options_that_are_too_large_are_refused", large_options_are_refused),
    ]);
    trials
}

async fn fault_ends_its_job_only(fault: &Fault, number: usize) {
    let role = format!("fault{number}");
    let pool = ProcessPool::new(options(&role));
    let start = Instant::now();
    let error = run(&pool, fault.job, fault.time_limit).await.expect_err("an error");
    assert!((fault.is_expected)(&error), "{error:?}");
    assert!(start.elapsed() < fault.time_limit + LATE, "{:?}", start.elapsed());
    assert_eq!(run(&pool, "echo", LONG).await.expect("the next job works"), "some input");
    drop(pool);
    assert_gone(&role).await;
}

async fn unasked_bytes_reach_no_other_job() {
    let role = "unasked";
    let pool = ProcessPool::new(options(role));
    assert_eq!(run(&pool, "send-twice", LONG).await.expect("its own output"), "0");
    assert_eq!(run(&pool, "echo", LONG).await.expect("an echo"), "some input");
    // What is sent while the next job is at work is not its output either.
    assert_eq!(run(&pool, "send-late", LONG).await.expect("its own output"), "0");
    assert_eq!(run(&pool, "echo-slowly", LONG).await.expect("an echo"), "some input");
    // Sends frames without end, of which none is the output.
    let error = run(&pool, "send-for-ever", LONG).await.expect_err("an error");
    assert!(matches!(error, JobError::Protocol(_)), "{error:?}");
    assert_eq!(run(&pool, "echo", LONG).await.expect("an echo"), "some input");
    drop(pool);
    assert_gone(role).await;
}

async fn unknown_role_is_said() {
    let pool = ProcessPool::new(options("no-role"));
    let error = run(&pool, "echo", LONG).await.expect_err("an error");
    assert!(matches!(error, JobError::Start(_)), "{error:?}");
    assert!(error.to_string().contains("this role does not exist"), "{error}");
}

async fn large_options_are_refused() {
    let pool = ProcessPool::new(options("largeopt"));
    let error = run(&pool, &"x".repeat(2 * 1024 * 1024), LONG).await.expect_err("an error");
    assert!(matches!(error, JobError::Input(_)), "{error:?}");
    assert_eq!(run(&pool, "echo", LONG).await.expect("an echo"), "some input");
}

/// Memory goes back, and so do processes and descriptors.
async fn hundred_faults_leave_nothing_behind() {
    let role = "hundred";
    let pool = ProcessPool::new(options(role));
    let mut after_some = 0;
    for round in 0..100 {
        let job = ["abort", "allocate-at-once", "send-garbage", "exit", "echo"][round % 5];
        let _ = run(&pool, job, LONG).await;
        if round == 20 {
            after_some = resident_bytes();
        }
    }
    assert!(processes(role).len() <= 4, "{:?}", processes(role));
    let grown = resident_bytes().saturating_sub(after_some);
    // Other tests run in this process at the same time.
    assert!(grown < 20 * 1024 * 1024, "{grown} bytes more");
    drop(pool);
    assert_gone(role).await;
}

async fn jobs_beside_a_fault_go_on() {
    let pool = ProcessPool::new(options("beside"));
    let looping = tokio::spawn({
        let pool = pool.clone();
        async move { run(&pool, "loop", Duration::from_secs(2)).await }
    });
    let input = bytes_as_input(b"x").expect("memory");
    for _ in 0..20 {
        let job =
            gannet_sandbox::Job { owner: OWNER, options: b"echo", input: input.as_fd(), time_limit: LONG };
        assert_eq!(pool.run(job).await.expect("an echo"), b"x");
    }
    assert!(matches!(looping.await.expect("the task"), Err(JobError::TimedOut)));
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("/proc");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("a number") * 4096
}
