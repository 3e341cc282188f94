//! Workers and what they hold: leases kept and lost, attempts handed back and tried again, the order of settling.

use crate::crawls_ground::{Book, batch, came_to_nothing, crawl, fetched, numbers, pages, request};
use crate::ground::{HOUR, NOW, TestStore, a_moment, page as stored_page};
use std::time::{Duration, Instant};
use store::admission::Admission;
use store::crawls::{
    AttemptEnd, ClaimedEntry, CrawlState, CrawlSweep, EntryClaim, EntryDecision, EntryLease, EntryState,
    NewCrawl, Settled, Settlement,
};
use store::work::LeaseStatus;
use uuid::Uuid;

on_both!(
    a_lost_lease_writes_nothing,
    leases_are_kept,
    a_retry_waits_and_counts,
    what_is_handed_back_does_not_count,
    lost_workers_are_replaced_until_it_is_enough,
    entries_are_settled_in_order,
    patience_ends,
    a_batch_waits_for_nobody,
    the_second_settlement_is_overtaken,
    a_page_goes_into_the_cache_with_its_attempt,
    work_is_signalled,
);

async fn claim_silently(book: &Book, limit: u32) -> Vec<ClaimedEntry> {
    let claim = EntryClaim { lease_for: NOW, ..request(limit) };
    let claimed = book.store.claim_entries(&claim).await.unwrap();
    a_moment().await;
    claimed
}

async fn a_lost_lease_writes_nothing(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let old = claim_silently(&book, 1).await.remove(0);
    assert_eq!(
        ground.store.sweep_entries(5).await.unwrap(),
        CrawlSweep { requeued: 1, abandoned: 0 },
        "taken back"
    );
    book.audit().await;
    let new = book.claim(1).await.remove(0);
    assert_eq!((new.lease.seq, new.attempt), (1, 2));
    assert!(new.lease.number > old.lease.number);
    for end in [fetched(1), came_to_nothing(), AttemptEnd::HandBack] {
        assert!(!book.end(&old, end).await, "the worker that woke up changes nothing");
    }
    let stranger = EntryLease { owner: Uuid::now_v7(), ..new.lease };
    let unknown = EntryLease { crawl: Uuid::now_v7(), ..new.lease };
    let twice = vec![
        (stranger, fetched(1)),
        (unknown, fetched(1)),
        (new.lease, fetched(1)),
        (new.lease, AttemptEnd::HandBack),
    ];
    assert_eq!(ground.store.end_attempts(twice).await.unwrap(), [false, false, true, false]);
    book.audit().await;
    assert_eq!(book.unsettled().await.fetched.len(), 1);
    assert!(ground.store.end_attempts(Vec::new()).await.unwrap().is_empty());
}

async fn leases_are_kept(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=4)).await;
    let other = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    let claimed = claim_silently(&book, 10).await;
    assert_eq!(claimed.len(), 5);
    let mut leases: Vec<EntryLease> = claimed.iter().map(|one| one.lease).collect();
    let gone = leases.iter().find(|lease| lease.crawl == other.id).copied().unwrap();
    leases.retain(|lease| lease.crawl == book.id);
    ground.store.cancel_crawl(ground.team, other.id).await.unwrap();
    let stale = EntryLease { number: leases[0].number + 1, ..leases[0] };
    let asked = [leases[0], gone, leases[2], stale];
    let answers = ground.store.keep_entries(&asked, HOUR).await.unwrap();
    let (held, lost) = (LeaseStatus::Held, LeaseStatus::Lost);
    assert_eq!(answers, [held, lost, held, lost]);
    assert_eq!(ground.store.sweep_entries(5).await.unwrap().requeued, 2, "those that nobody kept");
    assert_eq!(ground.store.keep_entries(&leases, HOUR).await.unwrap(), [held, lost, held, lost]);
    assert!(ground.store.keep_entries(&[], HOUR).await.unwrap().is_empty());
    assert_eq!(ground.store.sweep_entries(5).await.unwrap(), CrawlSweep::default());
    other.audit().await;
}

async fn a_retry_waits_and_counts(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    let first = book.claim(1).await.remove(0);
    assert!(book.end(&first, AttemptEnd::Retry { error: "busy".into(), delay: HOUR }).await);
    let second = book.claim(10).await;
    assert_eq!(numbers(&second), [2], "others go on meanwhile");
    let (start, delay) = (Instant::now(), Duration::from_millis(150));
    assert!(book.end(&second[0], AttemptEnd::Retry { error: "busy".into(), delay }).await);
    let again = loop {
        if let Some(claimed) = book.claim(10).await.pop() {
            break claimed;
        }
        assert!(start.elapsed() < Duration::from_mins(2));
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    // The store counts whole milliseconds.
    assert!(start.elapsed() >= Duration::from_millis(148));
    assert_eq!((again.lease.seq, again.attempt), (2, 2));
}

async fn what_is_handed_back_does_not_count(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    for _ in 0..3 {
        let claimed = book.claim(1).await.remove(0);
        assert_eq!((claimed.lease.seq, claimed.attempt), (1, 1), "its old place, its first attempt");
        assert!(book.end(&claimed, AttemptEnd::HandBack).await);
    }
    assert_eq!(book.lines(None).await[0].attempts, 0);
}

async fn lost_workers_are_replaced_until_it_is_enough(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    for attempt in 1..=2 {
        assert_eq!(claim_silently(&book, 1).await[0].attempt, attempt);
        let expected = if attempt == 1 {
            CrawlSweep { requeued: 1, abandoned: 0 }
        } else {
            CrawlSweep { requeued: 0, abandoned: 1 }
        };
        assert_eq!(ground.store.sweep_entries(2).await.unwrap(), expected);
        book.audit().await;
    }
    let unsettled = book.unsettled().await;
    assert_eq!((unsettled.fetched[0].outcome.as_deref(), unsettled.fetched[0].has_document), (None, false));
    assert_eq!(
        book.settle_by(|_| EntryDecision::Failed("lost".into()), Vec::new()).await,
        Settled::Now(CrawlState::Completed)
    );
}

async fn entries_are_settled_in_order(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=5)).await;
    let claimed = book.claim(5).await;
    let unsettled = async |limit| -> Vec<u64> {
        let unsettled = ground.store.unsettled_crawl(book.id, limit, HOUR).await.unwrap().unwrap();
        unsettled.fetched.iter().map(|one| one.seq).collect()
    };
    book.fetch(&[claimed[3].clone(), claimed[1].clone()]).await;
    assert_eq!(unsettled(10).await, [] as [u64; 0], "1 runs");
    book.fetch(&claimed[..1]).await;
    assert_eq!(unsettled(10).await, [1, 2], "3 runs");
    assert_eq!(unsettled(1).await, [1]);
    // One that is tried again is not waited for: not in the queue, not in its second attempt.
    assert!(book.end(&claimed[2], AttemptEnd::Retry { error: "e".into(), delay: NOW }).await);
    assert_eq!(unsettled(10).await, [1, 2, 4]);
    assert_eq!(numbers(&book.claim(1).await), [3]);
    assert_eq!(unsettled(10).await, [1, 2, 4]);
    book.fetch(&claimed[4..]).await;
    assert_eq!(unsettled(10).await, [1, 2, 4, 5]);
}

async fn patience_ends(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=3)).await;
    let claimed = book.claim(3).await;
    book.fetch(&claimed[1..2]).await;
    let unsettled = async |patience| -> Vec<u64> {
        let unsettled = ground.store.unsettled_crawl(book.id, 10, patience).await.unwrap().unwrap();
        unsettled.fetched.iter().map(|one| one.seq).collect()
    };
    assert_eq!(unsettled(HOUR).await, [] as [u64; 0]);
    a_moment().await;
    assert_eq!(unsettled(Duration::from_millis(10)).await, [2], "1 runs for too long");
}

async fn a_batch_waits_for_nobody(ground: TestStore) {
    let book = Book::start(&ground, batch(ground.team), pages(1..=3)).await;
    let claimed = book.claim(3).await;
    book.fetch(&claimed[2..]).await;
    let unsettled = ground.store.unsettled_crawl(book.id, 10, HOUR).await.unwrap().unwrap();
    assert_eq!(unsettled.fetched.iter().map(|one| one.seq).collect::<Vec<_>>(), [3]);
}

async fn the_second_settlement_is_overtaken(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=3)).await;
    let claimed = book.claim(2).await;
    book.fetch(&claimed).await;
    let unsettled = book.unsettled().await;
    let settle = |decisions: Vec<u64>| {
        let decisions = decisions.into_iter().map(|seq| (seq, EntryDecision::Completed)).collect();
        ground.store.settle_entries(
            book.id,
            unsettled.crawl.version,
            Settlement { decisions, credits: 1, ..Settlement::default() },
        )
    };
    let (one, two) = tokio::join!(settle(vec![1, 2]), settle(vec![1, 2]));
    let mut both = [one.unwrap(), two.unwrap()];
    both.sort_by_key(|settled| *settled == Settled::Overtaken);
    assert_eq!(both, [Settled::Now(CrawlState::Active), Settled::Overtaken]);
    book.audit().await;
    assert_eq!(book.balance().await, (1, 0), "charged once");
    let unknown = ground.store.settle_entries(Uuid::now_v7(), 0, Settlement::default()).await.unwrap();
    assert_eq!(unknown, Settled::Overtaken);
}

async fn a_page_goes_into_the_cache_with_its_attempt(ground: TestStore) {
    let end = |n: u8| AttemptEnd::Fetched {
        outcome: Vec::new(),
        document: None,
        page: Some(stored_page(n, b"the page")),
        search: None,
    };
    let book = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    let claimed = book.claim(1).await;
    assert!(book.end(&claimed[0], end(1)).await);
    let cached = ground.store.cached_page(ground.team, &[1; 32]).await.unwrap().unwrap();
    assert_eq!(cached.body, b"the page");
    assert!(!book.end(&claimed[0], end(2)).await);
    assert!(ground.store.cached_page(ground.team, &[2; 32]).await.unwrap().is_none(), "the lease was lost");
    let private = Book::start(&ground, NewCrawl { private: true, ..crawl(ground.team) }, pages(1..=1)).await;
    let claimed = private.claim(1).await;
    assert!(private.end(&claimed[0], end(3)).await);
    assert!(ground.store.cached_page(ground.team, &[3; 32]).await.unwrap().is_none(), "not of a private one");
}

async fn work_is_signalled(ground: TestStore) {
    let book = Book::start(&ground, batch(ground.team), pages(1..=3)).await;
    let mut signal = ground.store.work_signal();
    let claimed = claim_silently(&book, 3).await;
    let mut heard = async |what: &str| {
        let changed = tokio::time::timeout(Duration::from_secs(20), signal.changed()).await;
        assert!(changed.is_ok(), "{what} wakes");
        // PostgreSQL may tell of one thing twice.
        a_moment().await;
        signal.mark_unchanged();
    };
    // What came before is not what is listened for.
    book.store.append_entries(book.team, book.id, pages(4..=4), None, Admission::default()).await.unwrap();
    heard("an addition").await;
    book.end(&claimed[0], AttemptEnd::HandBack).await;
    heard("something handed back").await;
    ground.store.sweep_entries(9).await.unwrap();
    heard("a sweep").await;
    let claimed = book.claim(4).await;
    book.fetch(&claimed).await;
    book.settle_all(pages(5..=5)).await;
    heard("a settlement that found something").await;
    assert_eq!(book.in_state(EntryState::Queued).await, [5]);
}
