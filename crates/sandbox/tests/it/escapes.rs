//! Nothing can be reached from inside. Each refusal is compared with the same attempt in a process without a
//! sandbox, under the same account, so it is the sandbox that refuses and not a missing privilege.

use crate::attempts::{ATTEMPTS, Attempt, FreeFor};
use crate::handler::describe;
use crate::support::{FREE_ATTEMPT, LONG, assert_gone, options, run, run_for, trial};
use gannet_sandbox::{Job, JobError, Layer, ProcessPool, probe};
use libtest_mimic::Trial;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::process::{Command, ExitCode};

/// As seccomp (`EPERM`) and Landlock (`EACCES`) refuse.
const REFUSALS: [&str; 2] = ["error 1", "error 13"];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("escapes::every_layer_holds_here", every_layer_holds_here),
        trial("escapes::every_attempt_is_refused", every_attempt_is_refused),
        trial("escapes::the_same_attempts_work_without_a_sandbox", attempts_work_without_a_sandbox),
        trial("escapes::no_secret_is_handed_down", no_secret_is_handed_down),
        trial("escapes::the_input_can_be_read_and_not_written", input_can_be_read_and_not_written),
    ]
}

async fn every_layer_holds_here() {
    let layers = probe().await.expect("a process");
    assert!(layers.hold_all(), "{}", layers.describe());
    assert!(layers.landlock_abi >= 6 && layers.holds(Layer::SystemCalls), "{layers:?}");
}

async fn every_attempt_is_refused() {
    let role = "escape";
    let pool = ProcessPool::new(options(role));
    for Attempt { name, .. } in ATTEMPTS {
        let job = format!("attempt {name} {}", std::process::id());
        let outcome = run(&pool, &job, LONG).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(REFUSALS.contains(&outcome.as_str()), "{name}: {outcome}");
    }
    // What a parser needs still works.
    assert_eq!(run(&pool, "sum-in-threads", LONG).await.expect("threads"), "60");
    drop(pool);
    assert_gone(role).await;
}

async fn attempts_work_without_a_sandbox() {
    let server = std::process::id().to_string();
    let is_unfiltered_root = is_unfiltered_root();
    let is_free = |attempt: &&Attempt| match attempt.free_for {
        FreeFor::Anyone => true,
        FreeFor::Root => is_unfiltered_root,
        FreeFor::Nobody => false,
    };
    for Attempt { name, .. } in ATTEMPTS.iter().filter(is_free) {
        let mut command = Command::new("/proc/self/exe");
        let output = command.args([FREE_ATTEMPT, name, &server]).output().expect("start");
        let outcome = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !outcome.is_empty(), "{name}: {output:?}");
        assert!(!REFUSALS.contains(&outcome.as_str()), "{name}: {outcome}");
    }
}

/// Whether this process has all capabilities and no seccomp filter.
fn is_unfiltered_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} in {status}")).trim().to_owned()
    };
    let last = std::fs::read_to_string("/proc/sys/kernel/cap_last_cap").expect("/proc");
    let all = u64::MAX >> (63 - last.trim().parse::<u32>().expect("a number"));
    u64::from_str_radix(&value("CapEff:"), 16).expect("a number") == all && value("Seccomp:") == "0"
}

/// The side of the process without a sandbox.
pub fn run_free(name: &str, server: &str) -> ExitCode {
    let attempt = ATTEMPTS.iter().find(|attempt| attempt.name == name);
    let (Some(attempt), Ok(server)) = (attempt, server.parse()) else { return ExitCode::FAILURE };
    print!("{}", describe(&(attempt.run)(server)));
    ExitCode::SUCCESS
}

async fn no_secret_is_handed_down() {
    // A descriptor as a supervisor might leave one: without the flag that closes it in new processes.
    let leaked = File::open("/etc/passwd").expect("open");
    let high = rustix::io::fcntl_dupfd_cloexec(&leaked, 100).expect("a descriptor");
    rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty()).expect("a flag");
    let pool = ProcessPool::new(options("secret"));
    // Standard input, output and error, the connection, the input.
    assert_eq!(run(&pool, "descriptors", LONG).await.expect("a list"), "[0, 1, 2, 3, 4]");
    let environment = run(&pool, "environment", LONG).await.expect("a list");
    assert_eq!(environment, r#"[("MIMALLOC_ARENA_RESERVE", "65536")]"#);
}

async fn input_can_be_read_and_not_written() {
    let pool = ProcessPool::new(options("input"));
    let text = "0123456789".repeat(200_000);
    let echo = run_for(&pool, crate::support::OWNER, "echo", text.as_bytes(), LONG).await.expect("an echo");
    assert!(echo == text, "{} bytes", echo.len());
    let path = std::env::temp_dir().join(format!("gannet-sandbox-input-{}", std::process::id()));
    std::fs::write(&path, "a file").expect("write");
    let file = File::open(&path).expect("open");
    let open_for_writing = File::options().read(true).write(true).open(&path).expect("open");
    let job = |file, options| Job { owner: crate::support::OWNER, options, input: file, time_limit: LONG };
    for _ in 0..2 {
        // The second time the position in the file is at its end.
        assert_eq!(pool.run(job(file.as_fd(), b"echo")).await.expect("an echo"), b"a file");
    }
    assert_eq!(pool.run(job(file.as_fd(), b"write-to-input")).await.expect("an answer"), b"false");
    let refused = pool.run(job(open_for_writing.as_fd(), b"echo")).await;
    assert!(matches!(refused, Err(JobError::Input(_))), "{refused:?}");
    assert_eq!(std::fs::read(&path).expect("read"), b"a file");
    std::fs::remove_file(path).expect("remove");
}
