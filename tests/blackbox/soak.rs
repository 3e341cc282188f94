//! Many scrapes in a row: nothing lost, nothing leaked. A short run here; forty thousand over HTTP and a
//! thousand through Chromium with `GANNET_TEST_SOAK=1`.

use crate::processes::{self, Process};
use crate::scrape::{ScrapeFixture, scrape_as};
use crate::wait::eventually;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

fn scrapes(short: usize, long: usize) -> usize {
    if std::env::var_os("GANNET_TEST_SOAK").is_some() { long } else { short }
}

/// Memory and other resources of a process tree.
#[derive(Debug, Clone, Copy)]
struct ResourceUse {
    memory_kb: u64,
    handles: usize,
}

/// Resource use during each part of the work.
#[derive(Default)]
struct Record(Vec<ResourceUse>);

impl Record {
    fn note(&mut self, tree: &[Process]) {
        let held = ResourceUse {
            memory_kb: tree.iter().map(Process::memory_kb).sum(),
            handles: tree.iter().map(Process::handles).sum(),
        };
        self.0.push(held);
    }

    fn quarter(&self, quarter: usize) -> (f64, f64) {
        let size = self.0.len() / 4;
        let part = &self.0[quarter * size..(quarter + 1) * size];
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let memory = part.iter().map(|held| held.memory_kb as f64 / 1024.0).collect();
        (mean(memory), mean(part.iter().map(|held| held.handles as f64).collect()))
    }

    /// Asserts that the last quarter used at most a tenth more than the second, plus a little for short runs
    /// in which buffers still fill.
    fn assert_flat(&self, what: &str, slack_mb: f64) {
        let (second, last) = (self.quarter(1), self.quarter(3));
        println!(
            "{what}: second quarter {:.1} MB, {:.0} handles; last {:.1} MB, {:.0} handles",
            second.0, second.1, last.0, last.1
        );
        assert!(
            last.0 <= second.0 * 1.1 + slack_mb,
            "{what}: memory grows: {:.1} -> {:.1} MB",
            second.0,
            last.0
        );
        assert!(last.1 <= second.1 * 1.1 + 8.0, "{what}: handles grow: {:.0} -> {:.0}", second.1, last.1);
    }
}

/// Scrapes the pages with these numbers, a few at a time; each must return its own content.
async fn scrape_all(
    fixture: &ScrapeFixture,
    kind: &str,
    numbers: std::ops::Range<usize>,
    at_once: usize,
    options: &Value,
) {
    let mut running = JoinSet::new();
    for number in numbers {
        if running.len() == at_once {
            let done: Result<(), _> = running.join_next().await.expect("one is running");
            done.unwrap();
        }
        let (http, url, options) =
            (fixture.http().clone(), fixture.site.url(&format!("/{kind}/{number}")), options.clone());
        running.spawn(async move {
            let response = scrape_as(&http, &url, options).await;
            assert_eq!(response.status, 200, "page {number}: {}", response.text);
            let text = response.json["data"]["markdown"].as_str().unwrap_or_default();
            assert!(
                text.contains(&format!("pageword{number},")),
                "page {number} is not itself: {}",
                response.text
            );
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn scrapes_over_http_lose_and_leak_nothing() {
    let fixture = ScrapeFixture::own().await;
    let (all, parts) = (scrapes(500, 40_000), 20);
    let mut record = Record::default();
    for part in 0..parts {
        let numbers = all * part / parts..all * (part + 1) / parts;
        scrape_all(&fixture, "page", numbers, 16, &json!({})).await;
        // The server alone, which stands first: a helper that it starts in the middle of a short run is no leak.
        record.note(&processes::tree(fixture.server.pid())[..1]);
    }
    let requested_once: usize =
        (0..all).filter(|number| fixture.site.hits(&format!("/page/{number}")) == 1).count();
    assert_eq!(requested_once, all, "every page was requested once");
    assert_eq!(fixture.credits_used().await, all as u64);
    // A server takes some 15 MB once, after a time: in a short run that may be between two quarters.
    record.assert_flat("HTTP", if all < 1000 { 20.0 } else { 0.0 });
}

#[tokio::test]
async fn scrapes_through_chromium_lose_and_leak_nothing() {
    let fixture = ScrapeFixture::own().await;
    let (all, parts) = (scrapes(40, 1_000), 20);
    let mut record = Record::default();
    for part in 0..parts {
        let numbers = all * part / parts..all * (part + 1) / parts;
        scrape_all(&fixture, "script-page", numbers, 4, &json!({ "timeout": 60_000 })).await;
        record.note(&processes::tree(fixture.server.pid()));
    }
    assert_eq!(fixture.credits_used().await, all as u64);
    record.assert_flat("Chromium", if all < 1000 { 60.0 } else { 0.0 });
    let tree = processes::tree(fixture.server.pid());
    assert!(tree.iter().any(Process::is_chromium), "{tree:?}");
    let ScrapeFixture { server, site: _site, dir: _dir } = fixture;
    let (code, _, log) = server.terminate();
    assert_eq!(code, Some(0), "{log}");
    processes::all_gone(&tree, Duration::from_secs(2));
}

#[tokio::test]
async fn no_chromium_process_outlives_a_killed_server() {
    let fixture = ScrapeFixture::own().await;
    // Killed in the middle of a visit, the worst moment.
    let (http, url) = (fixture.http().clone(), fixture.site.url("/form"));
    let visit = tokio::spawn(async move {
        let body = json!({ "url": url, "waitFor": 20_000 });
        http.post("/v2/scrape", &body).await.is_err()
    });
    let end = Instant::now() + Duration::from_secs(30);
    while processes::tree(fixture.server.pid()).iter().filter(|process| process.is_chromium()).count() < 3 {
        assert!(Instant::now() < end, "no Chromium was started");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    eventually("the page is visited", async || fixture.site.hits("/form") > 0).await;
    let tree = processes::tree(fixture.server.pid());
    fixture.server.kill();
    processes::all_gone(&tree, Duration::from_secs(5));
    assert!(visit.await.unwrap(), "the connection broke off");
}
