//! How crawls end, what that costs, and what is left: cancelled, failed, overdue; appended to; purged.

use crate::crawls_ground::{
    Book, batch, came_to_nothing, crawl, delivery, fetched, lists, numbers, page, pages,
};
use crate::ground::{HOUR, NOW, TestStore, a_moment, number, run_sql, team};
use std::time::{Duration, Instant};
use store::StoreError;
use store::admission::Admission;
use store::crawls::{
    Appended, AttemptEnd, CancelOutcome, CrawlState, EntryDecision, EntryState, NewCrawl, Pace, Settled,
    Settlement,
};
use store::credits::NewReservation;
use store::work::LeaseStatus;
use uuid::Uuid;

on_both!(
    a_crawl_is_cancelled_at_any_stage,
    a_crawl_fails_with_all_that_is_open,
    a_crawl_past_its_deadline_is_found,
    a_batch_is_appended_to,
    a_completed_batch_opens_again,
    credits_come_from_the_reservation,
    credits_without_a_reservation_are_used,
    a_live_crawl_keeps_its_reservation,
    a_purge_leaves_nothing,
    a_purge_takes_what_is_due_and_no_more,
);

/// A crawl with an entry in every state, and lists that run.
async fn busy(ground: &TestStore, new: NewCrawl) -> (Book, Vec<store::crawls::ClaimedEntry>) {
    let book =
        Book::start(ground, new, vec![page(1), page(2), page(3), lists(9), page(4), page(5), page(6)]).await;
    let claimed = book.claim(6).await;
    assert_eq!(numbers(&claimed), [1, 2, 3, 4, 5, 6]);
    book.fetch(&claimed[..3]).await;
    let decision = |seq| match seq {
        1 => EntryDecision::Completed,
        2 => EntryDecision::Failed("own".into()),
        _ => EntryDecision::Skipped("own".into()),
    };
    book.settle_by(decision, Vec::new()).await;
    book.fetch(&claimed[4..5]).await;
    (book, claimed)
}

async fn a_crawl_is_cancelled_at_any_stage(ground: TestStore) {
    let (book, claimed) = busy(&ground, crawl(ground.team)).await;
    let stranger = team(&*ground.store, "free").await;
    assert_eq!(ground.store.cancel_crawl(stranger, book.id).await.unwrap(), CancelOutcome::NotFound);
    assert_eq!(
        ground.store.cancel_crawl(ground.team, Uuid::now_v7()).await.unwrap(),
        CancelOutcome::NotFound
    );
    let version = book.crawl().await.version;
    assert_eq!(ground.store.cancel_crawl(ground.team, book.id).await.unwrap(), CancelOutcome::Cancelled);
    book.audit().await;
    let ended = book.crawl().await;
    assert_eq!((ended.state, ended.counts.cancelled), (CrawlState::Cancelled, 3));
    assert_eq!((ended.counts.completed, ended.counts.failed, ended.counts.skipped), (1, 1, 1));
    assert_eq!(book.in_state(EntryState::Cancelled).await, [5, 6, 7]);
    let lines = book.lines(Some(EntryState::Cancelled)).await;
    assert!(lines.iter().all(|line| line.reason.is_none() && line.ended_at == ended.finished_at));
    assert_eq!(
        ground.store.cancel_crawl(ground.team, book.id).await.unwrap(),
        CancelOutcome::AlreadyFinished(CrawlState::Cancelled)
    );
    // Nothing of it goes on.
    assert!(book.claim(10).await.is_empty());
    let kept = ground.store.keep_entries(&[claimed[5].lease], HOUR).await.unwrap();
    assert_eq!(kept, [LeaseStatus::Lost]);
    assert!(!book.end(&claimed[5], fetched(6)).await);
    let settled = ground.store.settle_entries(book.id, version, Settlement::default()).await.unwrap();
    assert_eq!(settled, Settled::Overtaken);
    assert!(ground.store.unsettled_crawls(9).await.unwrap().is_empty());
    assert!(!ground.store.fail_crawl(book.id, "late".into(), Vec::new()).await.unwrap());
    assert_eq!(
        ground.store.crawl_documents(book.id, 0, 9, u64::MAX).await.unwrap().len(),
        1,
        "what it has stays"
    );

    let fresh = Book::start(&ground, crawl(ground.team), pages(1..=2)).await;
    assert_eq!(ground.store.cancel_crawl(ground.team, fresh.id).await.unwrap(), CancelOutcome::Cancelled);
    fresh.audit().await;
    let done = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    done.work(1, Vec::new()).await;
    assert_eq!(
        ground.store.cancel_crawl(ground.team, done.id).await.unwrap(),
        CancelOutcome::AlreadyFinished(CrawlState::Completed)
    );
}

async fn a_crawl_fails_with_all_that_is_open(ground: TestStore) {
    let (book, claimed) = busy(&ground, crawl(ground.team)).await;
    let told = vec![delivery(ground.team, book.id, "crawl.failed")];
    assert!(ground.store.fail_crawl(book.id, "the \0 end".into(), told.clone()).await.unwrap());
    book.audit().await;
    let ended = book.crawl().await;
    assert_eq!((ended.state, ended.counts.failed), (CrawlState::Failed, 4));
    assert_eq!(ended.error.as_deref(), Some("the \u{fffd} end"));
    let lines = book.lines(Some(EntryState::Failed)).await;
    let reasons: Vec<_> = lines.iter().map(|line| (line.seq, line.reason.as_deref().unwrap())).collect();
    let end = "the \u{fffd} end";
    assert_eq!(reasons, [(2, "own"), (5, end), (6, end), (7, end)]);
    assert!(!book.end(&claimed[3], came_to_nothing()).await, "its lists are over too");
    assert!(!ground.store.fail_crawl(book.id, "again".into(), told).await.unwrap());
    assert!(!ground.store.fail_crawl(Uuid::now_v7(), "unknown".into(), Vec::new()).await.unwrap());
    assert_eq!(book.told().await, ["crawl.failed"], "once");
}

async fn a_crawl_past_its_deadline_is_found(ground: TestStore) {
    let late = NewCrawl { deadline: Duration::from_millis(1), ..crawl(ground.team) };
    let book = Book::start(&ground, late.clone(), pages(1..=1)).await;
    let ended = Book::start(&ground, NewCrawl { id: Uuid::now_v7(), ..late }, pages(1..=1)).await;
    ground.store.cancel_crawl(ground.team, ended.id).await.unwrap();
    Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    a_moment().await;
    let overdue = ground.store.overdue_crawls(10).await.unwrap();
    assert_eq!(overdue.iter().map(|one| one.id).collect::<Vec<_>>(), [book.id]);
    assert!(overdue[0].deadline_at <= overdue[0].now);
    assert!(ground.store.fail_crawl(book.id, "too late".into(), Vec::new()).await.unwrap());
    assert!(ground.store.overdue_crawls(10).await.unwrap().is_empty());
}

async fn a_batch_is_appended_to(ground: TestStore) {
    let book = Book::start(&ground, batch(ground.team), pages(1..=2)).await;
    let append = async |team, id, entries| {
        ground.store.append_entries(team, id, entries, None, Admission::default()).await.unwrap()
    };
    assert_eq!(append(ground.team, book.id, pages(2..=4)).await, Appended::Added(2));
    book.audit().await;
    assert_eq!(numbers(&book.claim(10).await), [1, 2, 3, 4]);
    assert_eq!(append(ground.team, book.id, pages(5..=5)).await, Appended::Added(1));
    assert_eq!(append(ground.team, book.id, Vec::new()).await, Appended::Added(0));
    let other = team(&*ground.store, "free").await;
    assert_eq!(append(other, book.id, pages(6..=6)).await, Appended::NotFound);
    assert_eq!(append(ground.team, Uuid::now_v7(), pages(6..=6)).await, Appended::NotFound);
    let no_list = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    assert_eq!(append(ground.team, no_list.id, pages(6..=6)).await, Appended::NotFound);
    ground.store.cancel_crawl(ground.team, book.id).await.unwrap();
    assert_eq!(append(ground.team, book.id, pages(6..=6)).await, Appended::Ended(CrawlState::Cancelled));
    book.audit().await;
    assert_eq!(book.crawl().await.counts.discovered, 5);
}

async fn a_completed_batch_opens_again(ground: TestStore) {
    let new = NewCrawl { deadline: Duration::from_mins(30), ..batch(ground.team) };
    let book = Book::start(&ground, new, pages(1..=1)).await;
    assert_eq!(book.work(1, Vec::new()).await, Settled::Now(CrawlState::Completed));
    let before = book.crawl().await;
    let append = async |entries| {
        ground.store.append_entries(ground.team, book.id, entries, None, Admission::default()).await.unwrap()
    };
    a_moment().await;
    assert_eq!(append(pages(1..=1)).await, Appended::Added(0));
    let same = book.crawl().await;
    assert_eq!((same.state, same.finished_at), (CrawlState::Completed, before.finished_at), "nothing new");
    assert_eq!(append(pages(1..=3)).await, Appended::Added(2));
    book.audit().await;
    let open = book.crawl().await;
    assert_eq!((open.state, open.finished_at, open.expires_at), (CrawlState::Active, None, None));
    assert!(open.deadline_at > before.deadline_at, "its time starts again");
    assert_eq!(book.work(9, Vec::new()).await, Settled::Now(CrawlState::Completed));
    assert_eq!(book.crawl().await.counts.completed, 3);
}

async fn reserve(ground: &TestStore, amount: i64, hold_for: Duration) -> Uuid {
    let new = NewReservation {
        team_id: ground.team,
        key_id: None,
        amount,
        allowance: Some(1_000),
        purpose: "crawl".into(),
        hold_for,
    };
    ground.store.reserve(new).await.unwrap().unwrap()
}

async fn credits_come_from_the_reservation(ground: TestStore) {
    let held = reserve(&ground, 10, HOUR).await;
    let book =
        Book::start(&ground, NewCrawl { reservation: Some(held), ..crawl(ground.team) }, pages(1..=3)).await;
    let claimed = book.claim(2).await;
    book.fetch(&claimed).await;
    let price = |credits, seq| Settlement {
        decisions: vec![(seq, EntryDecision::Completed)],
        credits,
        ..Settlement::default()
    };
    book.settle_entries(price(4, 1)).await;
    assert_eq!((book.balance().await, book.crawl().await.credits), ((4, 6), 4));
    assert!(!ground.store.extend_reservation(book.id, 3, 12).await.unwrap(), "13 of 12");
    assert!(ground.store.extend_reservation(book.id, 2, 12).await.unwrap());
    assert_eq!(book.balance().await, (4, 8));
    book.settle_entries(price(9, 2)).await;
    let (balance, credits) = (book.balance().await, book.crawl().await.credits);
    assert_eq!((balance, credits), ((13, 0), 13), "what was done is charged, set aside or not");
    book.work(1, Vec::new()).await;
    assert_eq!(book.balance().await, (13, 0), "the end gives back the rest");

    let closed = NewCrawl { reservation: Some(held), ..crawl(ground.team) };
    let refused = ground.store.start_crawl(closed, pages(1..=1)).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))));
    for end in 0..3 {
        let held = reserve(&ground, 5, HOUR).await;
        let new = NewCrawl { reservation: Some(held), ..crawl(ground.team) };
        let entries = if end == 0 { Vec::new() } else { pages(1..=1) };
        let book = Book::start(&ground, new, entries).await;
        match end {
            1 => assert!(ground.store.fail_crawl(book.id, "e".into(), Vec::new()).await.unwrap()),
            2 => assert!(
                ground.store.cancel_crawl(ground.team, book.id).await.unwrap() == CancelOutcome::Cancelled
            ),
            _ => assert_eq!(book.state().await, CrawlState::Completed),
        }
        assert_eq!(book.balance().await, (13, 0));
    }

    // Additions: a new reservation takes the place of what is left of the old.
    let (first, second) = (reserve(&ground, 3, HOUR).await, reserve(&ground, 8, HOUR).await);
    let book =
        Book::start(&ground, NewCrawl { reservation: Some(first), ..batch(ground.team) }, pages(1..=1)).await;
    assert_eq!(book.balance().await, (13, 11));
    let append = async |entries, reservation| {
        ground.store.append_entries(ground.team, book.id, entries, reservation, Admission::default()).await
    };
    assert_eq!(append(pages(2..=2), Some(second)).await.unwrap(), Appended::Added(1));
    assert_eq!(book.balance().await, (13, 8));
    assert!(matches!(append(pages(3..=3), Some(first)).await, Err(StoreError::Misuse(_))), "closed");
    assert_eq!(book.crawl().await.counts.discovered, 2);
    book.work(13, Vec::new()).await;
    assert_eq!((book.state().await, book.balance().await), (CrawlState::Completed, (13, 0)));
    let third = reserve(&ground, 2, HOUR).await;
    assert_eq!(append(pages(1..=2), Some(third)).await.unwrap(), Appended::Added(0));
    assert_eq!(book.balance().await, (13, 0), "not needed, so not held");
}

async fn credits_without_a_reservation_are_used(ground: TestStore) {
    for (new, price) in [(crawl(ground.team), 3), (batch(ground.team), 4)] {
        let book = Book::start(&ground, new, pages(1..=1)).await;
        let claimed = book.claim(1).await;
        book.fetch(&claimed).await;
        let settlement = Settlement {
            decisions: vec![(1, EntryDecision::Completed)],
            credits: price,
            ..Settlement::default()
        };
        book.settle_entries(settlement).await;
    }
    assert_eq!(ground.store.balance(ground.team).await.unwrap().used, 7);
    let used =
        number(&ground.url, "SELECT count(*) FROM credit_usage WHERE purpose IN ('crawl', 'batch_scrape')");
    assert_eq!(used.await, 2);
}

async fn a_live_crawl_keeps_its_reservation(ground: TestStore) {
    let held = reserve(&ground, 5, Duration::from_millis(1)).await;
    let book =
        Book::start(&ground, NewCrawl { reservation: Some(held), ..crawl(ground.team) }, pages(1..=1)).await;
    reserve(&ground, 2, Duration::from_millis(1)).await;
    a_moment().await;
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 1, "not the one of a live crawl");
    assert_eq!(book.balance().await, (0, 5));
    ground.store.cancel_crawl(ground.team, book.id).await.unwrap();
    assert_eq!(book.balance().await, (0, 0));
}

const ROWS: &str = "SELECT CAST((SELECT count(*) FROM crawls) + (SELECT count(*) FROM crawl_payloads)
    + (SELECT count(*) FROM entries) + (SELECT count(*) FROM outcomes) + (SELECT count(*) FROM documents)
    + (SELECT count(*) FROM host_paces) AS BIGINT)";

async fn a_purge_leaves_nothing(ground: TestStore) {
    ground.store.set_pace("slow.test", Pace { gap: Duration::from_millis(1), pause: NOW }).await.unwrap();
    let (book, _) = busy(&ground, NewCrawl { retain_for: NOW, ..crawl(ground.team) }).await;
    assert_eq!(ground.store.purge_crawls(100).await.unwrap(), 0, "not while it lives");
    ground.store.cancel_crawl(ground.team, book.id).await.unwrap();
    run_sql(&ground.url, "UPDATE host_paces SET set_at = 0, started_at = 0").await;
    a_moment().await;
    assert!(number(&ground.url, ROWS).await > 8);
    let mut rounds = 0;
    while ground.store.purge_crawls(3).await.unwrap() == 3 {
        rounds += 1;
        assert!(rounds < 20);
    }
    assert!(rounds >= 3, "little by little");
    assert_eq!(number(&ground.url, ROWS).await, 0);
    assert!(ground.store.crawl(ground.team, book.id).await.unwrap().is_none());
    assert_eq!(ground.store.sweep_entries(9).await.unwrap().requeued, 0);
}

async fn a_purge_takes_what_is_due_and_no_more(ground: TestStore) {
    let brief = NewCrawl { retain_for: NOW, ..batch(ground.team) };
    let live = Book::start(&ground, brief.clone(), pages(1..=1)).await;
    let kept = Book::start(&ground, batch(ground.team), pages(1..=1)).await;
    kept.work(9, Vec::new()).await;
    live.settle_all(Vec::new()).await;
    let gone = Book::start(&ground, NewCrawl { id: Uuid::now_v7(), ..brief }, pages(1..=1)).await;
    let claimed = gone.claim(1).await;
    gone.end(&claimed[0], AttemptEnd::HandBack).await;
    ground.store.cancel_crawl(ground.team, gone.id).await.unwrap();
    ground.store.set_pace("site.test", Pace::default()).await.unwrap();
    a_moment().await;
    // Past its time, nothing is added any more, purged or not.
    let late = ground
        .store
        .append_entries(ground.team, live.id, pages(5..=5), None, Admission::default())
        .await
        .unwrap();
    assert_eq!(late, Appended::NotFound);
    // PostgreSQL may still be rolling back the refused call, which holds the row of its crawl for a moment; what a
    // purge finds locked is left for the next one.
    let end = Instant::now() + Duration::from_secs(10);
    while ground.store.crawl_for_work(live.id).await.unwrap().is_some() {
        assert!(Instant::now() < end, "purged in time");
        ground.store.purge_crawls(1_000).await.unwrap();
    }
    kept.audit().await;
    assert!(ground.store.crawl_for_work(gone.id).await.unwrap().is_none());
    assert_eq!(number(&ground.url, "SELECT count(*) FROM host_paces").await, 1, "told of lately");
}
