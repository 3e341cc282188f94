//! `kill -9` in the middle of a crawl: what was acknowledged is there, counters, documents, credits and webhooks
//! agree, and another process brings the crawl to its exact end.

use crate::crawls_ground::{Book, crawl, delivery, fetched, pages, request};
use crate::ground::{HOUR, NOW, TestStore, a_moment, cases, number};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use store::Store;
use store::crawls::{CrawlState, EntryClaim, EntryDecision, NewCrawl, Settled, Settlement};
use uuid::Uuid;

on_both!(a_crawl_survives_kills);

const URL: &str = "GANNET_TEST_KILL_URL";
const TEAM: &str = "GANNET_TEST_KILL_TEAM";
const CRAWL: &str = "GANNET_TEST_KILL_CRAWL";
const PRICE: i64 = 3;
const LIMIT: u64 = 2_000;

/// The process that is killed: this test binary again, running the one function below.
fn worker(book: &Book, url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "crawls_kill::the_worker", "--ignored", "--nocapture", "--test-threads=1"])
        .env(URL, url)
        .env(TEAM, book.team.to_string())
        .env(CRAWL, book.id.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

async fn a_crawl_survives_kills(ground: TestStore) {
    let new = NewCrawl { limit: Some(LIMIT), ..crawl(ground.team) };
    let book = Book::start(&ground, new, pages(0..8)).await;
    for round in 0..cases(3, 40) {
        let mut child = worker(&book, &ground.url).spawn().expect("a second process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let (started, works) = tokio::sync::oneshot::channel();
        let reader = tokio::task::spawn_blocking(move || {
            let mut settled =
                lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("completed ")?.parse().ok());
            let first = settled.next();
            let _ = started.send(());
            settled.last().or(first).unwrap_or(0_u64)
        });
        let works = tokio::time::timeout(Duration::from_mins(1), works).await;
        works.expect("the worker begins").expect("the reader says so");
        tokio::time::sleep(Duration::from_millis(u64::from(20 + round * 37 % 150))).await;
        child.kill().expect("killed");
        child.wait().expect("gone");
        let acknowledged = reader.await.unwrap();

        // What the killed process sent last may still be on its way through the server.
        tokio::time::sleep(Duration::from_millis(100)).await;
        book.audit().await;
        let counts = book.crawl().await.counts;
        assert!(counts.completed >= acknowledged, "round {round}: {} < {acknowledged}", counts.completed);
        let completed = i64::try_from(counts.completed).unwrap();
        assert_eq!(book.balance().await, (completed * PRICE, 0));
        assert_eq!(number(&ground.url, "SELECT count(*) FROM deliveries").await, completed);
    }
    assert!(book.crawl().await.counts.completed > 0, "something was done before the kills");
    // Whoever comes next finds everything that is needed to bring it to its end.
    while work(&*ground.store, book.team, book.id, 200).await.is_some() {}
    book.audit().await;
    let done = book.crawl().await;
    assert_eq!((done.state, done.counts.completed), (CrawlState::Completed, LIMIT));
    assert_eq!(book.balance().await.0, i64::try_from(LIMIT).unwrap() * PRICE);
}

/// One round of work: takes back what others lost, claims, fetches, settles. The documents so far, while it lives.
async fn work(store: &dyn Store, team: Uuid, id: Uuid, at_once: u32) -> Option<u64> {
    store.sweep_entries(u32::MAX).await.unwrap();
    // Leases that are over at once, so that the next process need not wait.
    let claim = EntryClaim { lease_for: NOW, ..request(at_once) };
    let claimed = store.claim_entries(&claim).await.unwrap();
    let ends = claimed.iter().map(|one| (one.lease, fetched(one.lease.seq))).collect();
    store.end_attempts(ends).await.unwrap();
    let unsettled = store.unsettled_crawl(id, at_once, HOUR).await.unwrap()?;
    let decisions: Vec<(u64, EntryDecision)> =
        unsettled.fetched.iter().map(|one| (one.seq, EntryDecision::Completed)).collect();
    let settlement = Settlement {
        deliveries: decisions.iter().map(|_| delivery(team, id, "crawl.page")).collect(),
        credits: i64::try_from(decisions.len()).unwrap() * PRICE,
        found: decisions.iter().flat_map(|(seq, _)| pages([seq * 2 + 7, seq * 2 + 8])).collect(),
        decisions,
        ..Settlement::default()
    };
    let settled = store.settle_entries(id, unsettled.crawl.version, settlement).await.unwrap();
    if claimed.is_empty() && unsettled.fetched.is_empty() {
        a_moment().await;
    }
    let live = settled == Settled::Now(CrawlState::Active);
    live.then_some(unsettled.crawl.counts.completed)
}

#[tokio::test]
#[ignore = "not a test: the process that another test starts and kills"]
async fn the_worker() {
    let Ok(url) = std::env::var(URL) else { return };
    let [team, id] = [TEAM, CRAWL].map(|name| std::env::var(name).unwrap().parse::<Uuid>().unwrap());
    let store = crate::ground::open(&url).await;
    while let Some(completed) = work(&*store, team, id, 8).await {
        println!("completed {completed}");
    }
}
