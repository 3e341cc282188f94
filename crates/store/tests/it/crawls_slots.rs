//! How many entries start, whose, and when: limits, gaps, paces, plans, and turns among teams.

use crate::crawls_ground::{
    Book, HOST, came_to_nothing, crawl, fetched, lists, numbers, page, pages, request,
};
use crate::ground::{HOUR, NOW, TestStore, team};
use std::time::{Duration, Instant};
use store::crawls::{
    AttemptEnd, CrawlState, EntryClaim, EntryDecision, EntryState, NewCrawl, NewEntry, Pace, Settled,
};
use store::work::PlanSlots;
use uuid::Uuid;

on_both!(
    a_limit_is_exact_whatever_the_concurrency,
    max_running_holds,
    a_gap_lies_between_starts,
    a_host_keeps_its_pace_over_all_crawls,
    a_paused_host_does_not_hold_up_others,
    plans_have_slots,
    teams_and_crawls_take_turns,
    a_pause_only_grows,
    a_shorter_gap_counts_at_once,
);

const GAP: Duration = Duration::from_millis(120);
/// The gap as another clock measures it: the store counts whole milliseconds.
const MEASURED: Duration = Duration::from_millis(118);

/// Claims until something is handed out.
async fn claim_some(book: &Book, limit: u32) -> Vec<u64> {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        let claimed = book.claim(limit).await;
        if !claimed.is_empty() {
            let found = numbers(&claimed);
            book.fetch(&claimed).await;
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("nothing was handed out");
}

async fn a_limit_is_exact_whatever_the_concurrency(ground: TestStore) {
    // By the numbers of the pages some fail and some are duplicates; each leads to two more.
    let decision = |seq: u64| match seq {
        seq if seq % 3 == 0 => EntryDecision::Failed("e".into()),
        seq if seq % 5 == 0 => EntryDecision::Skipped("duplicate".into()),
        _ => EntryDecision::Completed,
    };
    let mut ends = Vec::new();
    for concurrency in [1, 3, 8, 40] {
        let new = NewCrawl { limit: Some(9), ..crawl(ground.team) };
        let book = Book::start(&ground, new, pages(1..=6)).await;
        let mut rounds = 0;
        while book.state().await == CrawlState::Active {
            let claimed = book.claim(concurrency).await;
            // They come back in the opposite order.
            for one in claimed.iter().rev() {
                assert!(book.end(one, fetched(one.lease.seq)).await);
            }
            let unsettled = book.unsettled().await;
            let found =
                unsettled.fetched.iter().flat_map(|one| pages([one.seq * 2 + 5, one.seq * 2 + 6])).collect();
            book.settle_by(decision, found).await;
            rounds += 1;
            assert!(rounds < 100, "the crawl comes to an end");
        }
        let done = book.crawl().await;
        assert_eq!((done.state, done.counts.completed), (CrawlState::Completed, 9));
        ends.push((book.in_state(EntryState::Completed).await, book.in_state(EntryState::Failed).await));
    }
    assert_eq!(ends[0].0, [1, 2, 4, 7, 8, 11, 13, 14, 16]);
    assert!(ends.iter().all(|end| *end == ends[0]), "however many at once: {ends:?}");
}

async fn max_running_holds(ground: TestStore) {
    let new = NewCrawl { max_running: Some(2), ..crawl(ground.team) };
    let book = Book::start(&ground, new, vec![lists(9), page(1), page(2), page(3)]).await;
    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [1, 2], "lists count too");
    assert!(book.claim(10).await.is_empty());
    assert!(book.end(&claimed[0], came_to_nothing()).await);
    assert_eq!(numbers(&book.claim(10).await), [3], "what is fetched runs no longer");
    assert!(book.end(&claimed[1], AttemptEnd::HandBack).await);
    assert_eq!(numbers(&book.claim(10).await), [2]);
}

async fn a_gap_lies_between_starts(ground: TestStore) {
    let new = NewCrawl { gap: Some(GAP), max_running: Some(5), ..crawl(ground.team) };
    let book = Book::start(&ground, new, pages(1..=3)).await;
    let first = Instant::now();
    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [1], "one at a time");
    tokio::time::sleep(GAP).await;
    assert!(book.claim(10).await.is_empty(), "while one runs, also after the gap");
    book.fetch(&claimed).await;
    let second = Instant::now();
    assert_eq!(claim_some(&book, 10).await, [2]);
    assert!(first.elapsed() >= MEASURED);
    // New entries do not shorten the gap.
    book.settle_all(pages(4..=5)).await;
    assert_eq!(claim_some(&book, 10).await, [3]);
    assert!(second.elapsed() >= MEASURED, "{:?}", second.elapsed());
}

async fn a_host_keeps_its_pace_over_all_crawls(ground: TestStore) {
    ground.store.set_pace(HOST, Pace { gap: GAP, pause: NOW }).await.unwrap();
    assert_eq!(ground.store.host_gap(HOST).await.unwrap(), GAP);
    assert_eq!(ground.store.host_gap("unknown.test").await.unwrap(), NOW);
    let one = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let two = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let start = Instant::now();
    for starts in 1..=4_u32 {
        let found = claim_some(&one, 10).await;
        assert_eq!(found.len(), 1, "one of the host at a time");
        assert!(start.elapsed() >= MEASURED * (starts - 1), "start {starts} after {:?}", start.elapsed());
    }
    two.audit().await;
    assert_eq!((one.unsettled().await.fetched.len(), two.unsettled().await.fetched.len()), (2, 2));
    // Without a gap, all at once.
    ground.store.set_pace(HOST, Pace::default()).await.unwrap();
    let free = Book::start(&ground, crawl(ground.team), pages(1..=5)).await;
    assert_eq!(free.claim(10).await.len(), 5);
}

async fn a_paused_host_does_not_hold_up_others(ground: TestStore) {
    ground.store.set_pace("paused.test", Pace { gap: NOW, pause: Duration::from_hours(1) }).await.unwrap();
    let paused = |n| NewEntry { host: "paused.test".into(), ..page(n) };
    let mut entries: Vec<NewEntry> = (1..=600).map(paused).collect();
    entries.extend(pages(601..=604));
    let book = Book::start(&ground, crawl(ground.team), entries).await;
    let mut found = Vec::new();
    for _ in 0..40 {
        found.extend(numbers(&book.store.claim_entries(&request(2)).await.unwrap()));
    }
    assert_eq!(found, [601, 602, 603, 604], "what may start is found behind what may not");
    // A crawl of that host alone costs other crawls nothing.
    Book::start(&ground, crawl(ground.team), vec![paused(1)]).await;
    let other = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    assert_eq!(other.claim(1).await[0].lease.crawl, other.id);
}

async fn plans_have_slots(ground: TestStore) {
    let rich = team(&*ground.store, "rich").await;
    let odd = team(&*ground.store, "odd").await;
    for team_id in [ground.team, rich, odd] {
        for _ in 0..2 {
            Book::start(&ground, crawl(team_id), pages(1..=20)).await;
        }
    }
    let slots = |plan: &str, max_running| PlanSlots { plan: plan.into(), max_running };
    let claim = EntryClaim {
        plans: vec![slots("free", Some(3)), slots("rich", None)],
        other_plans: Some(1),
        ..request(30)
    };
    let claimed = ground.store.claim_entries(&claim).await.unwrap();
    let of = |team: Uuid| claimed.iter().filter(|one| one.team_id == team).count();
    assert_eq!([of(ground.team), of(rich), of(odd)], [3, 26, 1], "every slot and not one more");
    let more = ground.store.claim_entries(&claim).await.unwrap();
    assert!(more.iter().all(|one| one.team_id == rich), "the slots of others are taken");
    let ended = claimed.iter().find(|one| one.team_id == ground.team).unwrap();
    ground.store.end_attempts(vec![(ended.lease, AttemptEnd::HandBack)]).await.unwrap();
    let again = ground.store.claim_entries(&claim).await.unwrap();
    assert_eq!(again.iter().filter(|one| one.team_id == ground.team).count(), 1);
}

async fn teams_and_crawls_take_turns(ground: TestStore) {
    let small = team(&*ground.store, "free").await;
    let first = Book::start(&ground, crawl(ground.team), pages(1..=50)).await;
    let second = Book::start(&ground, crawl(ground.team), pages(1..=50)).await;
    let other = Book::start(&ground, crawl(small), pages(1..=50)).await;
    let share = async |limit| -> [usize; 3] {
        let claimed = ground.store.claim_entries(&request(limit)).await.unwrap();
        [&first, &second, &other].map(|book| claimed.iter().filter(|one| one.lease.crawl == book.id).count())
    };
    assert_eq!(share(1).await, [1, 0, 0], "the oldest first");
    assert_eq!(share(1).await, [0, 0, 1], "then the team that has none");
    assert_eq!(share(1).await, [0, 1, 0], "then the crawl that has none");
    assert_eq!(share(9).await, [2, 2, 5], "six to each team, and within a team to each crawl the same");
    // Who has more running waits until the others have caught up.
    let late = Book::start(&ground, crawl(team(&*ground.store, "free").await), pages(1..=50)).await;
    let claimed = ground.store.claim_entries(&request(6)).await.unwrap();
    assert!(claimed.iter().all(|one| one.lease.crawl == late.id));
}

async fn a_pause_only_grows(ground: TestStore) {
    let pause = |pause| Pace { gap: NOW, pause };
    let book = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    ground.store.set_pace(HOST, pause(Duration::from_hours(1))).await.unwrap();
    ground.store.set_pace(HOST, pause(NOW)).await.unwrap();
    assert!(book.claim(1).await.is_empty());
    let other =
        Book::start(&ground, crawl(ground.team), vec![NewEntry { host: "b.test".into(), ..page(1) }]).await;
    let start = Instant::now();
    ground.store.set_pace("b.test", pause(GAP)).await.unwrap();
    assert_eq!(claim_some(&other, 1).await, [1]);
    assert!(start.elapsed() >= MEASURED, "{:?}", start.elapsed());
    assert_eq!(other.settle_all(Vec::new()).await, Settled::Now(CrawlState::Completed));
}

async fn a_shorter_gap_counts_at_once(ground: TestStore) {
    ground.store.set_pace(HOST, Pace { gap: HOUR, pause: NOW }).await.unwrap();
    let book = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    assert_eq!(numbers(&book.claim(2).await), [1]);
    assert!(book.claim(2).await.is_empty());
    ground.store.set_pace(HOST, Pace::default()).await.unwrap();
    assert_eq!(numbers(&book.claim(2).await), [2]);
}
