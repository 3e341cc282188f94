//! Ceilings: what crawls, runs and webhooks store is counted exactly, and what is too much goes in its order.

use crate::agents_ground::{end, event, new_run, step};
use crate::crawls_ground::{Book, crawl, delivery, fetched, page, pages};
use crate::ground::{HOUR, NOW, TestStore, a_moment, number, scrape, team};
use std::time::{Duration, Instant};
use store::agents::{RunSnapshot, RunState, RunStep};
use store::ceilings::{Counted, SmallRows};
use store::crawls::{AttemptEnd, CrawlState, EntryDecision, Settlement};
use store::webhooks::{DeliveryEnd, NewDelivery};
use uuid::Uuid;

on_both!(
    what_a_crawl_stores_is_counted,
    crawls_that_store_too_much_are_found,
    ended_crawls_go_before_their_time_the_soonest_to_expire_first,
    what_runs_store_is_counted_and_goes_before_its_time,
    webhooks_that_were_given_up_go_first_then_those_of_the_largest_team,
    small_rows_beyond_a_number_go_the_oldest_first,
    a_postponed_page_waits_and_does_not_count,
);

async fn stored(ground: &TestStore, kind: Counted) -> u64 {
    ground.store.counted_bytes(kind).await.unwrap()
}

/// What the running total must be, counted anew.
async fn counted(ground: &TestStore, kind: Counted) -> u64 {
    let sql = match kind {
        Counted::Crawls => "SELECT CAST(coalesce(sum(stored), 0) AS BIGINT) FROM crawls",
        Counted::Runs => {
            "SELECT CAST(
                (SELECT coalesce(sum(octet_length(body) + 256), 0) FROM agent_events)
                + (SELECT coalesce(sum(octet_length(body) + 256), 0) FROM agent_snapshots)
                + (SELECT coalesce(sum(octet_length(request) + coalesce(octet_length(artifact), 0)
                    + coalesce(octet_length(result), 0) + 256), 0) FROM run_payloads)
             AS BIGINT)"
        }
        Counted::Webhooks => {
            "SELECT CAST(coalesce(sum(octet_length(body) + octet_length(target) + 256), 0) AS BIGINT) FROM deliveries"
        }
    };
    number(&ground.url, sql).await.unsigned_abs()
}

fn with_document(bytes: usize) -> AttemptEnd {
    AttemptEnd::Fetched { outcome: vec![1], document: Some(vec![7; bytes]), page: None, search: None }
}

/// A crawl that has ended and stores about so many bytes.
async fn ended_crawl(ground: &TestStore, bytes: usize, retain_for: Duration) -> Uuid {
    let new = store::crawls::NewCrawl { retain_for, ..crawl(ground.team) };
    let book = Book::start(ground, new, vec![page(1)]).await;
    let claimed = book.claim(1).await;
    book.end(&claimed[0], with_document(bytes)).await;
    let version = book.crawl().await.version;
    let settlement = Settlement { decisions: vec![(1, EntryDecision::Completed)], ..Settlement::default() };
    book.store.settle_entries(book.id, version, settlement).await.unwrap();
    assert_eq!(book.state().await, CrawlState::Completed);
    book.id
}

async fn what_a_crawl_stores_is_counted(ground: TestStore) {
    assert_eq!(stored(&ground, Counted::Crawls).await, 0);
    let book = Book::start(&ground, crawl(ground.team), pages(1..=4)).await;
    let addresses: u64 = pages(1..=4).iter().map(|one| (one.url.len() + one.host.len() + 256) as u64).sum();
    // The request too, as it is kept, which takes somewhat more than what was asked.
    let request = stored(&ground, Counted::Crawls).await - addresses;
    let asked = crawl(ground.team).request.len() as u64;
    assert!((asked..asked + 500).contains(&request), "{request}");
    let claimed = book.claim(3).await;
    book.end(&claimed[0], with_document(1_000)).await;
    book.end(&claimed[1], with_document(5_000)).await;
    assert_eq!(stored(&ground, Counted::Crawls).await, request + addresses + 6_000);
    // A document that nobody will read does not count any more.
    let settlement = Settlement {
        decisions: vec![(1, EntryDecision::Completed), (2, EntryDecision::Skipped("duplicate".into()))],
        found: vec![page(9)],
        ..Settlement::default()
    };
    let version = book.crawl().await.version;
    book.store.settle_entries(book.id, version, settlement).await.unwrap();
    let found = (page(9).url.len() + page(9).host.len() + 256) as u64;
    assert_eq!(stored(&ground, Counted::Crawls).await, request + addresses + found + 1_000);
    assert_eq!(stored(&ground, Counted::Crawls).await, counted(&ground, Counted::Crawls).await);
    // All of it goes with the crawl.
    let short = store::crawls::NewCrawl { retain_for: NOW, ..crawl(ground.team) };
    let brief = Book::start(&ground, short, pages(1..=2)).await;
    let claimed = brief.claim(1).await;
    brief.end(&claimed[0], fetched(1)).await;
    brief.store.cancel_crawl(ground.team, brief.id).await.unwrap();
    let before = stored(&ground, Counted::Crawls).await;
    a_moment().await;
    while ground.store.purge_crawls(100).await.unwrap() > 0 {}
    assert!(stored(&ground, Counted::Crawls).await < before);
    assert_eq!(stored(&ground, Counted::Crawls).await, request + addresses + found + 1_000);
}

async fn crawls_that_store_too_much_are_found(ground: TestStore) {
    let small = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let large = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    for claimed in large.claim(4).await {
        let bytes = if claimed.lease.crawl == large.id { 20_000 } else { 2_000 };
        large.store.end_attempts(vec![(claimed.lease, with_document(bytes))]).await.unwrap();
    }
    let found = async |each: u64, together: u64| -> Vec<Uuid> {
        let found = ground.store.oversized_crawls(each, together, 10).await.unwrap();
        found.iter().map(|crawl| crawl.id).collect()
    };
    assert!(found(100_000, 100_000).await.is_empty());
    assert_eq!(found(10_000, 100_000).await, [large.id]);
    assert_eq!(found(1_000, 100_000).await, [large.id, small.id], "the largest first");
    assert_eq!(found(100_000, 30_000).await, [large.id], "together they are too many");
    ground.store.fail_crawl(large.id, "too large".into(), Vec::new()).await.unwrap();
    assert!(found(10_000, 30_000).await.is_empty(), "what has ended is not ended again");
}

async fn ended_crawls_go_before_their_time_the_soonest_to_expire_first(ground: TestStore) {
    let later = ended_crawl(&ground, 10_000, HOUR * 2).await;
    let soon = ended_crawl(&ground, 10_000, HOUR).await;
    let live = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let total = stored(&ground, Counted::Crawls).await;
    let evict = async |ceiling: u64, min_age: Duration| {
        ground.store.evict_crawls(ceiling, min_age, 100).await.unwrap()
    };
    assert_eq!(evict(total, NOW).await, 0, "nothing is over the ceiling");
    a_moment().await;
    assert_eq!(evict(total - 1, HOUR).await, 0, "what ended just now can still be read");
    assert_eq!(evict(total - 1, NOW).await, 1, "no more goes than must");
    a_moment().await;
    assert_eq!(evict(0, NOW).await, 0, "first what has expired is deleted");
    while ground.store.purge_crawls(100).await.unwrap() > 0 {}
    assert!(ground.store.crawl(ground.team, soon).await.unwrap().is_none());
    assert!(ground.store.crawl(ground.team, later).await.unwrap().is_some());
    assert_eq!(evict(0, NOW).await, 1);
    a_moment().await;
    while ground.store.purge_crawls(100).await.unwrap() > 0 {}
    assert!(ground.store.crawl(ground.team, later).await.unwrap().is_none());
    assert_eq!(live.state().await, CrawlState::Active, "what goes on is not touched");
    assert_eq!(stored(&ground, Counted::Crawls).await, counted(&ground, Counted::Crawls).await);
}

async fn what_runs_store_is_counted_and_goes_before_its_time(ground: TestStore) {
    let mut ids = Vec::new();
    for round in 0..3_u8 {
        let id = ground.start_run(new_run(ground.team)).await;
        let claimed = ground.claim_run().await;
        let told = RunStep {
            snapshots: vec![RunSnapshot { id: Uuid::now_v7(), body: vec![round; 9_000] }],
            artifact: Some(vec![round; 500]),
            ..step(vec![event(id, "told")], 0)
        };
        assert!(ground.store.step_run(&claimed.lease, told.clone()).await.unwrap());
        let larger = RunStep { artifact: Some(vec![round; 700]), snapshots: Vec::new(), ..told };
        assert!(ground.store.step_run(&claimed.lease, larger).await.unwrap());
        ground.store.end_run(id, Some(&claimed.lease), end(RunState::Succeeded, id, 1)).await.unwrap();
        assert_eq!(stored(&ground, Counted::Runs).await, counted(&ground, Counted::Runs).await);
        ids.push(id);
    }
    let waiting = ground.start_run(new_run(ground.team)).await;
    let total = stored(&ground, Counted::Runs).await;
    assert!(total > 27_000);
    a_moment().await;
    assert_eq!(ground.store.evict_runs(total, NOW, 100).await.unwrap(), 0);
    assert_eq!(ground.store.evict_runs(total - 12_000, NOW, 100).await.unwrap(), 2);
    a_moment().await;
    while ground.store.purge_runs(100).await.unwrap() > 0 {}
    assert!(ground.store.run(ground.team, ids[0]).await.unwrap().is_none());
    assert!(ground.store.run(ground.team, ids[2]).await.unwrap().is_some());
    assert_eq!(ground.store.evict_runs(0, NOW, 100).await.unwrap(), 1);
    a_moment().await;
    while ground.store.purge_runs(100).await.unwrap() > 0 {}
    assert!(ground.store.run(ground.team, waiting).await.unwrap().is_some(), "what waits is not touched");
    assert_eq!(stored(&ground, Counted::Runs).await, counted(&ground, Counted::Runs).await);
}

async fn webhooks_that_were_given_up_go_first_then_those_of_the_largest_team(ground: TestStore) {
    let others = team(&*ground.store, "free").await;
    let written = async |team: Uuid, count: usize| -> Vec<Uuid> {
        let subject = Uuid::now_v7();
        let all: Vec<_> = (0..count)
            .map(|_| NewDelivery { body: vec![b'x'; 1_000], ..delivery(team, subject, "page") })
            .collect();
        let ids = all.iter().map(|one| one.id).collect();
        ground.store.enqueue_deliveries(all).await.unwrap();
        ids
    };
    let dead = written(ground.team, 1).await;
    let (lease, _) = ground.store.claim_deliveries(1, HOUR).await.unwrap().remove(0);
    let given_up = DeliveryEnd::GivenUp { error: "nobody there".into(), keep_for: HOUR };
    ground.store.end_delivery(lease, given_up).await.unwrap();
    let few = written(others, 2).await;
    let many = written(ground.team, 5).await;
    let total = stored(&ground, Counted::Webhooks).await;
    assert_eq!(total, counted(&ground, Counted::Webhooks).await);
    assert_eq!(ground.store.evict_deliveries(total, 100).await.unwrap(), 0);
    assert_eq!(ground.store.evict_deliveries(total - 1, 100).await.unwrap(), 1);
    assert!(
        ground.store.dead_letters(ground.team, None, 10).await.unwrap().is_empty(),
        "{dead:?} went first"
    );
    let total = stored(&ground, Counted::Webhooks).await;
    assert_eq!(ground.store.evict_deliveries(total - 2_000, 100).await.unwrap(), 2);
    let mut left = Vec::new();
    loop {
        let claimed = ground.store.claim_deliveries(10, HOUR).await.unwrap();
        if claimed.is_empty() {
            break;
        }
        for (lease, delivery) in claimed {
            left.push(delivery.id);
            ground.store.end_delivery(lease, DeliveryEnd::Delivered).await.unwrap();
        }
    }
    assert!(few.iter().all(|id| left.contains(id)), "the team with few keeps its own");
    assert_eq!(left.iter().filter(|id| many.contains(id)).count(), 3);
    assert!(!left.contains(&many[0]) && !left.contains(&many[1]), "the oldest of the other went");
    assert_eq!(stored(&ground, Counted::Webhooks).await, 0);
}

async fn small_rows_beyond_a_number_go_the_oldest_first(ground: TestStore) {
    let mut ids = Vec::new();
    for _ in 0..6 {
        let one = scrape(ground.team);
        ids.push(one.id);
        ground.store.record_scrapes(vec![one]).await.unwrap();
        a_moment().await;
    }
    let trim = async |rows: SmallRows, keep: u32| ground.store.trim(rows, keep, 100).await.unwrap();
    assert_eq!(trim(SmallRows::Activity, 6).await, 0);
    assert_eq!(trim(SmallRows::Activity, 4).await, 2);
    let oldest = "SELECT count(*) FROM activity";
    assert_eq!(number(&ground.url, oldest).await, 4);
    let shown = ground.store.activity(ground.team, None, None, HOUR, 10).await.unwrap();
    let left: Vec<Uuid> = shown.iter().map(|one| one.id).collect();
    assert!(ids[2..].iter().all(|id| left.contains(id)), "the newest stay");
    for rows in [SmallRows::Searches, SmallRows::Feedback, SmallRows::IdempotencyKeys] {
        assert_eq!(trim(rows, 0).await, 0, "{rows:?}");
    }
}

async fn a_postponed_page_waits_and_does_not_count(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    let delay = Duration::from_millis(300);
    let mut claimed = book.claim(1).await;
    for _ in 0..3 {
        assert_eq!(claimed[0].attempt, 1, "none before it counted");
        let postponed = Instant::now();
        book.end(&claimed[0], AttemptEnd::Postponed { delay }).await;
        claimed = loop {
            let again = book.claim(1).await;
            if !again.is_empty() {
                break again;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        // The store counts whole milliseconds.
        assert!(postponed.elapsed() + Duration::from_millis(2) > delay, "it waits");
    }
    assert_eq!(claimed[0].attempt, 1);
}
