//! `kill -9` in the middle of many writes: what was acknowledged is there, and totals and ledger agree
//! with the rows, whatever the moment.

use crate::ground::{TestStore, cases, number, page, scrape};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use store::scrapes::NewScrape;
use store::snapshots::NewSnapshot;
use uuid::Uuid;

on_both!(totals_are_right_after_a_kill);

const URL: &str = "GANNET_TEST_KILL_URL";
const TEAM: &str = "GANNET_TEST_KILL_TEAM";
const PRICE: i64 = 3;

/// The process that is killed: this test binary again, running the one function below.
fn writer(ground: &TestStore) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "kill::the_writer", "--ignored", "--nocapture", "--test-threads=1"])
        .env(URL, &ground.url)
        .env(TEAM, ground.team.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

async fn totals_are_right_after_a_kill(ground: TestStore) {
    for round in 0..cases(4, 60) {
        let mut child = writer(&ground).spawn().expect("a second process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        // Every line is a batch that the writer was told is written.
        let reader = tokio::task::spawn_blocking(move || {
            lines.map_while(Result::ok).filter(|line| line.starts_with("written")).count()
        });
        tokio::time::sleep(Duration::from_millis(400 + u64::from(round * 37 % 150))).await;
        child.kill().expect("killed");
        child.wait().expect("gone");
        let acknowledged = i64::try_from(reader.await.unwrap()).unwrap();

        // What the killed process sent last may still be on its way through the server.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let store = &*ground.store;
        assert_eq!(store.cache_bytes().await.unwrap(), ground.counted("cache").await);
        assert_eq!(store.snapshot_bytes().await.unwrap(), ground.counted("snapshots").await);
        let written = number(&ground.url, "SELECT count(*) FROM activity").await;
        assert!(written >= acknowledged * 4, "round {round}: {written} < {acknowledged} * 4");
        assert_eq!(written % 4, 0, "whole batches");
        assert_eq!(store.balance(ground.team).await.unwrap().used, written * PRICE);
    }
    let written = number(&ground.url, "SELECT count(*) FROM activity").await;
    assert!(written > 0, "the writer wrote something before it was killed");
}

#[tokio::test]
#[ignore = "not a test: the process that another test starts and kills"]
async fn the_writer() {
    let Ok(url) = std::env::var(URL) else { return };
    let team: Uuid = std::env::var(TEAM).unwrap().parse().unwrap();
    let store = crate::ground::open(&url).await;
    for round in 0_u32.. {
        let batch = (0..4_u8).map(|n| NewScrape {
            result: Some(vec![n; 3_000 + (round as usize * 97) % 5_000]),
            page: Some(page(n + (round % 7) as u8 * 4, &vec![n; (round as usize * 131) % 9_000])),
            credits: PRICE,
            ..scrape(team)
        });
        store.record_scrapes(batch.collect()).await.unwrap();
        println!("written {round}");
        let body = vec![7; (round as usize * 13) % 4_000];
        let snapshot =
            NewSnapshot { key: [(round % 5) as u8; 32], url: String::new(), tag: String::new(), body };
        store.exchange_snapshot(team, snapshot).await.unwrap();
        store.sweep_cache(100_000, 8).await.unwrap();
        store.evict_snapshots(8_000, 4).await.unwrap();
    }
}
