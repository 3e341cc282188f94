//! The log: a server works and stops also when nobody can read its log any more (a closed pipe, a terminal that is gone).

use crate::http::Http;
use crate::server::{KEY, ServerConfig, signal};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use testkit::TempDir;

/// Waits for the process and answers its exit code; `None` when it is still running after this time.
fn exit_code(child: &mut Child, limit: Duration) -> Option<i32> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().expect("wait") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("kill");
    child.wait().expect("wait");
    None
}

#[tokio::test]
async fn a_server_whose_log_has_no_reader_works_and_stops() {
    let dir = TempDir::new();
    let mut child = ServerConfig::at(dir.path())
        .set("log", "debug")
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start gannet");
    // Closed before the first line: each write to the log fails from now on.
    drop(child.stderr.take());
    let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    let address = lines
        .map_while(Result::ok)
        .find_map(|line| line.trim().strip_prefix("listening").map(|address| address.trim().to_owned()));
    let Some(address) = address else {
        let _ = child.kill();
        panic!("the server ended before it listened");
    };
    let http = Http::new(&address, Some(KEY));
    let health = http.get("/health").await.map(|response| response.status);
    signal(child.id(), "TERM");
    assert_eq!(exit_code(&mut child, Duration::from_secs(20)), Some(0), "SIGTERM must stop it");
    assert_eq!(health.expect("an answer"), 200);
}
