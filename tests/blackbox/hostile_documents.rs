//! Hostile and mutated files through `POST /v2/parse`: each ends in a document or a typed error inside its time, the
//! process that reads it stays small, and neither the server nor a scrape beside it suffers. A part of the files here;
//! all of them, and a thousand in a row, with `GANNET_TEST_SOAK=1`.

use crate::http::{Http, HttpResponse};
use crate::parse::parse;
use crate::processes::{self, Process};
use crate::scrape::ScrapeFixture;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::document_files::{SampleFile, hostile_files, mutated_files, valid_files};
use tokio::task::JoinSet;

const FILES_AT_ONCE: usize = 2;
const TIMEOUT_MS: u64 = 10_000;
/// How much later than its timeout a response may come on a busy machine.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(5);
const MAX_READER_MB: u64 = 1024;
const MAX_SERVER_GROWTH_MB: u64 = 20;
/// Short times are noise: a scrape that takes this long is never too slow.
const SCRAPE_FLOOR: Duration = Duration::from_millis(40);

fn is_long() -> bool {
    std::env::var_os("GANNET_TEST_SOAK").is_some()
}

/// Every file, or in the short form every so many.
fn files() -> Vec<SampleFile> {
    let (hostile, mutated) = if is_long() { (1, 500) } else { (8, 40) };
    hostile_files().into_iter().step_by(hostile).chain(mutated_files(mutated)).collect()
}

/// Sends a file; returns what was wrong with the response.
async fn try_file(http: &Http, file: &SampleFile) -> Result<(), String> {
    let began = Instant::now();
    let response = parse(http, &file.name, &file.bytes, &json!({ "timeout": TIMEOUT_MS })).await;
    let took = began.elapsed();
    let is_late = took > Duration::from_millis(TIMEOUT_MS) + TIMEOUT_MARGIN;
    if is_late || !is_document_or_error(&response) {
        return Err(format!("{}: {} in {took:?}: {:.300}", file.name, response.status, response.text));
    }
    Ok(())
}

fn is_document_or_error(response: &HttpResponse) -> bool {
    if response.status == 200 {
        return response.json["data"]["markdown"].is_string();
    }
    let has_text = |name: &str| response.json[name].as_str().is_some_and(|text| !text.is_empty());
    response.json["success"] == false && has_text("error") && has_text("code")
}

/// Scrapes a page again and again until `enough`; the median time.
async fn median_scrape(fixture: &ScrapeFixture, enough: impl Fn(usize) -> bool) -> Duration {
    let mut times = Vec::new();
    while !enough(times.len()) {
        let began = Instant::now();
        fixture.scrape_document("/article", json!({ "maxAge": 0, "fastMode": true })).await;
        times.push(began.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

fn memory_mb(pid: u32) -> u64 {
    let tree = processes::tree(pid);
    tree.iter().find(|process| process.pid == pid).map_or(0, Process::memory_kb) / 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_cost_one_request_each() {
    let fixture = Arc::new(ScrapeFixture::own().await);
    let pid = fixture.server.pid();
    let alone = median_scrape(&fixture, |count| count >= 20).await;
    let is_done = Arc::new(AtomicBool::new(false));
    // The largest process that the server has started, looked at again and again.
    let (watched, largest) = (Arc::clone(&is_done), Arc::new(AtomicU64::new(0)));
    let seen = Arc::clone(&largest);
    let watch = std::thread::spawn(move || {
        while !watched.load(Ordering::Relaxed) {
            let readers = processes::tree(pid).into_iter().filter(|process| process.pid != pid);
            seen.fetch_max(readers.map(|process| process.memory_kb()).max().unwrap_or(0), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let beside = {
        let (fixture, is_done) = (Arc::clone(&fixture), Arc::clone(&is_done));
        tokio::spawn(async move {
            median_scrape(&fixture, |count| count > 0 && is_done.load(Ordering::Relaxed)).await
        })
    };
    let files = files();
    let count = files.len();
    let mut wrong = Vec::new();
    let mut running: JoinSet<Result<(), String>> = JoinSet::new();
    for file in files {
        if running.len() == FILES_AT_ONCE {
            wrong.extend(running.join_next().await.expect("one is running").expect("no panic").err());
        }
        let fixture = Arc::clone(&fixture);
        running.spawn(async move { try_file(fixture.http(), &file).await });
    }
    while let Some(ended) = running.join_next().await {
        wrong.extend(ended.expect("no panic").err());
    }
    is_done.store(true, Ordering::Relaxed);
    let beside = beside.await.expect("scrapes");
    watch.join().expect("a watch");
    let largest = largest.load(Ordering::Relaxed) / 1024;
    println!("{count} files; largest reader {largest} MB; a scrape takes {alone:?}, beside them {beside:?}");
    assert!(wrong.is_empty(), "{} files went wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(largest <= MAX_READER_MB, "a reader had {largest} MB");
    assert!(beside <= (alone * 2).max(SCRAPE_FLOOR), "a scrape took {alone:?}, beside the files {beside:?}");
    assert_nothing_left(fixture);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_a_row_leave_no_memory_and_no_process() {
    let fixture = Arc::new(ScrapeFixture::own().await);
    let files = valid_files();
    let send = async |count: usize| {
        for number in 0..count {
            let SampleFile { name, bytes } = &files[number % files.len()];
            let response = parse(fixture.http(), name, bytes, &json!({ "timeout": 60_000 })).await;
            assert_eq!(response.status, 200, "{name}: {}", response.text);
        }
    };
    // Pools, caches and buffers fill first.
    let (warm_up, count) = if is_long() { (200, 1_000) } else { (34, 68) };
    send(warm_up).await;
    let before = memory_mb(fixture.server.pid());
    send(count).await;
    let after = memory_mb(fixture.server.pid());
    println!("{count} files in a row: server {before} MB, then {after} MB");
    assert!(after <= before + MAX_SERVER_GROWTH_MB, "{before} MB became {after} MB");
    assert_nothing_left(fixture);
}

/// Ends the server; every process that it started is gone then.
fn assert_nothing_left(fixture: Arc<ScrapeFixture>) {
    let fixture = Arc::into_inner(fixture).expect("nobody else uses the fixture");
    let tree = processes::tree(fixture.server.pid());
    assert!(!tree.iter().any(Process::is_zombie), "{tree:?}");
    let ScrapeFixture { server, site: _site, dir: _dir } = fixture;
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    processes::all_gone(&tree, Duration::from_secs(5));
}
