//! Nothing of a session is left, however it ends: no process, no folder, no memory. 20 sessions; 200 with
//! `GANNET_TEST_SOAK=1`.

use super::begin;
use super::commands::command;
use super::life::wait_until_destroyed;
use crate::processes::{Process, all_gone, tree};
use crate::scrape::{ScrapeFixture, config};
use crate::server::signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Sessions that are ended one after another before the server is killed with the last ones.
fn session_count() -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { 200 } else { 20 }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The first process of each browser of the server.
fn browsers(server: u32) -> Vec<Process> {
    let processes = tree(server);
    let is_first = |process: &&Process| {
        process.is_chromium()
            && std::fs::read(format!("/proc/{}/cmdline", process.pid))
                .is_ok_and(|line| !line.windows(7).any(|part| part == b"--type=") && !line.is_empty())
    };
    processes.iter().filter(is_first).cloned().collect()
}

/// Ends a session in one of the ways; the reason that is listed.
async fn end(fixture: &ScrapeFixture, way: usize, before: &[Process]) -> (Value, &'static str) {
    let options = match way {
        1 => json!({ "ttl": 30 }),
        2 => json!({ "activityTtl": 10 }),
        _ => json!({}),
    };
    let session = begin(fixture, options).await;
    let id = session["id"].as_str().unwrap();
    command(fixture, &session, &format!("open {}", fixture.site.url("/member"))).await;
    let reason = match way {
        0 => {
            let ended = fixture.http().delete(&format!("/v2/browser/{id}")).await.unwrap();
            assert_eq!(ended.status, 200, "{}", ended.text);
            "deleted"
        }
        1 => "its ttl has passed",
        2 => "it was idle for its activityTtl",
        3 => {
            super::run_in_session(fixture, "close_browser.mjs", &session).await;
            "a client closed the browser"
        }
        _ => {
            // One of the new ones is this session's, another may be started ahead of the next.
            let new: Vec<Process> = browsers(fixture.server.pid())
                .into_iter()
                .filter(|process| !before.contains(process))
                .collect();
            for process in new {
                signal(process.pid, "KILL");
            }
            "the browser crashed"
        }
    };
    (session, reason)
}

#[tokio::test]
async fn nothing_is_left_of_sessions_however_they_end() {
    let temporary = testkit::TempDir::new();
    // A long name: the socket that Chromium makes there must fit all the same.
    let folder = temporary.join("a-folder-for-temporary-files-whose-name-is-longer-than-usual");
    std::fs::create_dir(&folder).unwrap();
    let own_temporary = |config: crate::server::ServerConfig| crate::server::ServerConfig {
        launcher: vec!["/usr/bin/env".into(), format!("TMPDIR={}", folder.display())],
        ..config.set("interact_warm", "off").set("browser_user", "same")
    };
    let fixture = ScrapeFixture::with(own_temporary).await;
    let pid = fixture.server.pid();
    let memory = || tree(pid).iter().map(Process::memory_kb).sum::<u64>();
    let (mut first, mut seen) = (0, Vec::new());
    for number in 0..session_count() {
        // The two that end by time take longest; a few of them are enough.
        let way = match number % 20 {
            3 => 1,
            6 | 13 => 2,
            other => [0, 3, 4][other % 3],
        };
        let before = browsers(pid);
        let (session, reason) = end(&fixture, way, &before).await;
        seen.extend(tree(pid).into_iter().filter(|process| process.pid != pid));
        let ended = wait_until_destroyed(&fixture, session["id"].as_str().unwrap()).await;
        assert_eq!(ended["destroyedReason"], reason);
        all_gone(&seen, Duration::from_secs(10));
        seen.clear();
        if number == session_count() / 4 {
            first = memory();
        }
    }
    let last = memory();
    println!(
        "{} sessions: memory of the server {first} kB after a quarter, {last} kB at the end",
        session_count()
    );
    // Else the kernel merges pages in the background, and what is measured goes up and down by itself.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("THP_enabled:\t0"), "no huge pages: {status}");
    // A tenth, and a little for buffers that still fill in a short run.
    assert!(last <= first + first / 10 + 4096, "{first} kB, then {last} kB");
    let left: Vec<String> = entries(&folder);
    assert_eq!(left, Vec::<String>::new(), "folders are left");

    // Sessions whose server is killed: their processes end at once, their folders go with the next start.
    for _ in 0..2 {
        let session = begin(&fixture, json!({})).await;
        command(&fixture, &session, &format!("open {}", fixture.site.url("/member"))).await;
    }
    let running = tree(pid);
    let ScrapeFixture { dir, server, site } = fixture;
    server.kill();
    all_gone(&running, Duration::from_secs(15));
    let server = own_temporary(config(&dir)).start().await;
    let fixture = ScrapeFixture { dir, server, site };
    fixture.scrape_document("/member", json!({ "waitFor": 100 })).await;
    let (_, _, log) = fixture.server.terminate();
    assert!(!log.contains("panicked"), "{log}");
    assert_eq!(entries(&folder), Vec::<String>::new(), "folders are left");
}
