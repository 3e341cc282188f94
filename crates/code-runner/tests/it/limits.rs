//! Code that does not end, or takes all it can get.

use crate::support::{LONG, Session, assert_gone, no_browser, processes_with, runtime, runtimes, trial};
use code_runner::Language::{self, Bash, Node, Python};
use code_runner::{CodeUser, LockIn, RunnerError, Runners, RunnersOptions};
use libtest_mimic::Trial;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first argument with which this binary is a server that is killed.
pub const SERVER_TO_BE_KILLED: &str = "server-to-be-killed";

pub fn trials() -> Vec<Trial> {
    vec![
        trial("limits::endless_loops_end_at_the_time_limit", endless_loops_end),
        trial("limits::endless_output_is_cut_and_ends", endless_output_is_cut),
        trial("limits::a_fork_bomb_is_bounded_and_ends", fork_bomb_is_bounded),
        trial("limits::memory_bombs_end", memory_bombs_end),
        trial("limits::memory_that_the_kernel_holds_for_code_is_counted", memory_of_the_kernel_is_counted),
        trial("limits::the_disk_is_not_filled", disk_is_not_filled),
        trial("limits::deleted_files_that_are_mapped_are_counted", deleted_files_are_counted),
        trial("limits::background_processes_end_with_the_session", background_processes_end),
        trial("limits::everything_ends_when_the_server_is_killed", everything_ends_with_the_server),
        trial("limits::the_end_of_a_session_ends_a_running_call", session_end_ends_a_running_call),
        trial("limits::a_dropped_call_ends_its_process", dropped_call_ends_its_process),
    ]
}

const SHORT: Duration = Duration::from_millis(1500);

async fn endless_loops_end() {
    let session = Session::start().await;
    for (language, code) in [
        (Node, "console.log('start'); for (;;) {}"),
        (Node, "console.log('start'); await new Promise(() => {})"),
        (Python, "print('start')\nwhile True: pass"),
        (Bash, "echo start; while :; do :; done"),
        (Bash, "echo start; sleep 4242"),
    ] {
        // The time of its start does not count here.
        session.run(language, "1").await;
        let start = Instant::now();
        let output = session.run_for(language, code, SHORT).await;
        assert!(start.elapsed() < SHORT + Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(
            (output.killed, output.exit_code, output.stdout.as_str()),
            (true, 137, "start\n"),
            "{output:?}"
        );
        assert!(output.stderr.ends_with("was ended: time limit of 1.5 s\n"), "{output:?}");
        let next = session.run(language, "1").await;
        assert!(next.stderr.contains("variables of earlier calls are gone"), "{next:?}");
    }
    assert_gone("sleep 4242").await;
}

async fn endless_output_is_cut() {
    let session = Session::start().await;
    for (language, code) in [
        (Bash, "yes 0123456789abcdef | head -c 1000000000"),
        (Bash, "yes 0123456789abcdef | head -c 100000000 >&2"),
        (
            Node,
            "const text = 'x'.repeat(1e6); for (let n = 0; n < 300; n++) process.stdout.write(text); 'end'",
        ),
    ] {
        let output = session.run(language, code).await;
        assert_eq!((output.exit_code, output.killed, output.truncated), (0, false, true), "{code}");
        assert!(output.stdout.len() <= 256 * 1024 && output.stderr.len() <= 256 * 1024);
    }
    let output = session.run_for(Bash, "yes", SHORT).await;
    assert!(output.killed && output.truncated);
    assert_eq!(session.result(Node, "1 + 1").await, "2");
}

async fn fork_bomb_is_bounded() {
    let session = Session::start_bash(None).await;
    let bomb = "bomb() { sleep 31415 & bomb & bomb; }; bomb";
    let call = session.run_for(Bash, bomb, Duration::from_secs(3));
    tokio::pin!(call);
    let mut most = 0;
    let output = loop {
        tokio::select! {
            output = &mut call => break output,
            () = tokio::time::sleep(Duration::from_millis(100)) => {
                most = most.max(processes_with("sleep 31415").len());
            }
        }
    };
    assert!(most <= 64, "{most}");
    assert!(output.killed || output.exit_code != 0, "{output:?}");
    session.runners.end().await;
    assert!(processes_with("sleep 31415").is_empty());
}

async fn memory_bombs_end() {
    let session = Session::start().await;
    for (language, code) in [
        (Node, "const all = []; for (;;) all.push(new Array(1e6).fill(1.5))"),
        (Node, "const all = []; for (;;) all.push(Buffer.alloc(5e7, 1))"),
        (Python, "all = []\nwhile True: all.append(bytearray(50_000_000))"),
        (
            Python,
            "import mmap\nall = []\nwhile True:\n    all.append(mmap.mmap(-1, 50_000_000)); all[-1].write(b'x' * 50_000_000)",
        ),
        (Bash, "x=$(head -c 20000000 /dev/zero | tr '\\0' x); while :; do x=$x$x; done"),
        (Bash, "for n in {1..8}; do head -c 210000000 /dev/zero | tail -c 200000000 | sleep 60 & done; wait"),
    ] {
        let start = Instant::now();
        let output = session.run_for(language, code, Duration::from_secs(30)).await;
        assert!(output.exit_code != 0, "{code}: {output:?}");
        assert!(start.elapsed() < Duration::from_secs(40), "{code}: {:?}", start.elapsed());
        // What is left of it may be too much together with the other runtimes: that ends it, and the next call has a new one.
        let is_over = session.run(language, "1").await.killed;
        assert!(!is_over || !session.run(language, "1").await.killed, "{code}");
    }
}

async fn memory_of_the_kernel_is_counted() {
    let session = Session::start().await;
    for code in [
        // Shared memory that stays taken without being mapped.
        "import mmap, os
memory = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2000 << 20)
for at in range(0, 2000, 50):
    memory[at << 20 : (at + 50) << 20] = b'x' * (50 << 20)
    memory.madvise(mmap.MADV_DONTNEED, at << 20, 50 << 20)
import time; time.sleep(60)",
        // Tables of pages.
        "import mmap, time
kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
memory = mmap.mmap(-1, 600 << 30, flags=kind, prot=mmap.PROT_READ)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, 600 << 30, 2 << 20): memory[at]
time.sleep(60)",
        // Sockets that hold something.
        "import os, socket, time
for child in range(40):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(100)]
        time.sleep(60)
        os._exit(0)
time.sleep(60)",
    ] {
        let output = session.run_for(Python, code, Duration::from_secs(40)).await;
        assert!(output.killed && output.stderr.contains("more than 1024 MB of"), "{code}: {output:?}");
    }
}

async fn disk_is_not_filled() {
    let session = Session::start_bash(None).await;
    let output = session.run(Bash, "head -c 200000000 /dev/zero > large; stat -c %s large").await;
    assert_eq!(output.result, (100 * 1024 * 1024).to_string(), "one file: {output:?}");
    let many = "for n in {1..200}; do head -c 90000000 /dev/zero > file$n || break; done";
    let output = session.run(Bash, many).await;
    assert!(output.killed && output.stderr.contains("more than 1024 MB of files"), "{output:?}");
    let used = Command::new("du").args(["-sm"]).arg(session.path()).output().expect("du");
    let used = String::from_utf8_lossy(&used.stdout).into_owned();
    let megabytes: u64 = used.split_whitespace().next().expect("a number").parse().expect("a number");
    assert!(megabytes < 8000, "{megabytes} MB");
    std::fs::remove_dir_all(session.runners.folder().home()).expect("the folder");
}

async fn deleted_files_are_counted() {
    let session = Session::start().await;
    // Of each file one page is mapped, and nothing else shows that it is there.
    let code = "import ctypes, os, time
mmap = ctypes.CDLL(None).mmap
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for number in range(20):
    file = os.open(f'mapped{number}', os.O_RDWR | os.O_CREAT)
    os.unlink(f'mapped{number}')
    for _ in range(90): os.write(file, bytes(1 << 20))
    mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
time.sleep(60)";
    let output = session.run_for(Python, code, Duration::from_secs(50)).await;
    assert!(output.killed && output.stderr.contains("more than 1024 MB of files"), "{output:?}");
}

async fn background_processes_end() {
    for code in [
        "sleep 27182 &",
        "setsid sleep 27182 &",
        "(setsid bash -c 'trap \"\" TERM HUP; (sleep 27182 &) & disown; exec sleep 27182' &)",
        "nohup bash -c 'while :; do sleep 27182; done' > /dev/null 2>&1 &",
    ] {
        let session = Session::start_bash(None).await;
        let output = session.run(Bash, code).await;
        assert_eq!((output.exit_code, output.killed), (0, false), "{output:?}");
        assert_eq!(session.result(Bash, "echo next").await, "next");
        let start = Instant::now();
        while processes_with("sleep 27182").is_empty() {
            assert!(start.elapsed() < LONG, "{code} starts nothing");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        session.runners.end().await;
        assert!(processes_with("sleep 27182").is_empty(), "{code}");
    }
    // Without being asked, too.
    let session = Session::start_bash(None).await;
    session.run(Bash, "setsid sleep 27183 & sleep 0.2").await;
    drop(session);
    assert_gone("sleep 27183").await;
}

async fn everything_ends_with_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("/proc/self/exe");
    command.arg(SERVER_TO_BE_KILLED).arg(folder.path()).stdin(Stdio::null());
    let mut server = command.spawn().expect("a server");
    let start = Instant::now();
    while processes_with("sleep 16180").len() < 2 {
        assert!(start.elapsed() < LONG, "nothing starts");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.kill().expect("killed");
    server.wait().expect("waited");
    assert_gone("sleep 16180").await;
    assert_gone(&folder.path().to_string_lossy()).await;
}

/// A server with a session whose shell has left processes in the background.
pub fn run_server_to_be_killed(folder: &str) -> ExitCode {
    runtime().block_on(async {
        let options = RunnersOptions {
            folder: PathBuf::from(folder),
            open_cdp: no_browser(),
            browser_commands: None,
            environment: Vec::new(),
            readable: Vec::new(),
            lock_in: LockIn::Required,
            user: CodeUser::Auto,
        };
        let runners = Runners::new(Arc::new(runtimes().await), options).expect("runners");
        let call = runners.run(Language::Bash, "setsid sleep 16180 & sleep 16180", LONG);
        call.await.expect("an output");
        ExitCode::SUCCESS
    })
}

async fn session_end_ends_a_running_call() {
    let session = Session::start_bash(None).await;
    session.run(Bash, "1").await;
    let call = session.run(Bash, "echo start; sleep 17320");
    let end = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        session.runners.end().await;
    };
    let (output, ()) = tokio::join!(call, end);
    assert_eq!((output.killed, output.stdout.as_str()), (true, "start\n"), "{output:?}");
    assert!(output.stderr.ends_with("was ended: the session has ended\n"), "{output:?}");
    assert!(processes_with("sleep 17320").is_empty());
    assert_eq!(session.runners.run(Bash, "1", LONG).await, Err(RunnerError::SessionEnded));
}

async fn dropped_call_ends_its_process() {
    let session = Session::start_bash(None).await;
    let call = session.runners.run(Bash, "sleep 14142", LONG);
    assert!(tokio::time::timeout(Duration::from_secs(2), call).await.is_err());
    assert_gone("sleep 14142").await;
    assert!(session.run(Bash, "echo").await.stderr.contains("variables of earlier calls are gone"));
}
