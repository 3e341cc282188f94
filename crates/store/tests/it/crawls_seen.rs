//! What can be read of crawls, and what they tell of themselves.

use crate::crawls_ground::{Book, batch, crawl, delivery, fetched, lists, page, pages, skipped};
use crate::ground::{HOUR, NOW, TestStore, team};
use store::crawls::{
    AttemptEnd, CrawlKind, CrawlState, EntryDecision, EntryState, NewCrawl, Settled, Settlement,
};
use uuid::Uuid;

on_both!(
    documents_come_in_pages,
    lines_come_in_pages,
    crawls_are_seen_by_their_team,
    starting_is_told_of_and_wakes,
    entries_count_as_queue,
    hostile_texts_are_kept,
);

async fn documents_come_in_pages(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=4)).await;
    let claimed = book.claim(10).await;
    let sizes = [100, 50, 300, 20];
    let ends = claimed.iter().zip(sizes).map(|(one, size)| {
        let end = AttemptEnd::Fetched {
            outcome: Vec::new(),
            document: Some(vec![7; size]),
            page: None,
            search: None,
        };
        (one.lease, end)
    });
    ground.store.end_attempts(ends.collect()).await.unwrap();
    book.settle_all(Vec::new()).await;
    assert_eq!(book.crawl().await.bytes, 470);
    let read = async |after, limit, max_bytes| -> Vec<(u64, usize)> {
        let found = ground.store.crawl_documents(book.id, after, limit, max_bytes).await.unwrap();
        found.iter().map(|one| (one.number, one.body.len())).collect()
    };
    assert_eq!(read(0, 10, u64::MAX).await, [(1, 100), (2, 50), (3, 300), (4, 20)]);
    assert_eq!(read(0, 2, u64::MAX).await, [(1, 100), (2, 50)]);
    assert_eq!(read(0, 10, 150).await, [(1, 100), (2, 50)]);
    assert_eq!(read(0, 10, 149).await, [(1, 100)]);
    assert_eq!(read(2, 10, 10).await, [(3, 300)], "one at least");
    assert_eq!(read(3, 10, u64::MAX).await, [(4, 20)]);
    assert_eq!(read(4, 10, u64::MAX).await, []);
    assert_eq!(read(u64::MAX, 10, u64::MAX).await, []);
}

async fn lines_come_in_pages(ground: TestStore) {
    let entries = (1..=9).map(|n| if n % 3 == 0 { skipped(n, "word") } else { page(n) }).collect();
    let book = Book::start(&ground, crawl(ground.team), entries).await;
    let read = async |state, after, limit| -> Vec<u64> {
        let found = ground.store.crawl_entries(book.id, state, after, limit).await.unwrap();
        found.iter().map(|line| line.seq).collect()
    };
    assert_eq!(read(None, 0, 4).await, [1, 2, 3, 4]);
    assert_eq!(read(None, 4, 100).await, [5, 6, 7, 8, 9]);
    assert_eq!(read(Some(EntryState::Skipped), 3, 1).await, [6]);
    assert_eq!(read(Some(EntryState::Queued), 4, 2).await, [5, 7]);
    assert_eq!(read(Some(EntryState::Cancelled), 0, 9).await, [] as [u64; 0]);
    assert!(ground.store.crawl_entries(Uuid::now_v7(), None, 0, 9).await.unwrap().is_empty());
    ground.store.cancel_crawl(ground.team, book.id).await.unwrap();
    assert_eq!(read(Some(EntryState::Cancelled), 2, 2).await, [4, 5]);
    assert_eq!(read(Some(EntryState::Queued), 0, 9).await, [] as [u64; 0]);
}

async fn crawls_are_seen_by_their_team(ground: TestStore) {
    let first = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    let second = Book::start(&ground, crawl(ground.team), pages(1..=1)).await;
    let list = Book::start(&ground, batch(ground.team), pages(1..=1)).await;
    let other = team(&*ground.store, "free").await;
    assert!(ground.store.crawl(other, first.id).await.unwrap().is_none());
    assert_eq!(ground.store.crawl_for_work(first.id).await.unwrap().unwrap().team_id, ground.team);
    assert!(ground.store.crawl_for_work(Uuid::now_v7()).await.unwrap().is_none());
    let live = async |team, kind, limit| -> Vec<Uuid> {
        ground.store.active_crawls(team, kind, limit).await.unwrap().iter().map(|one| one.id).collect()
    };
    assert_eq!(live(ground.team, CrawlKind::Crawl, 9).await, [second.id, first.id], "newest first");
    assert_eq!(live(ground.team, CrawlKind::Crawl, 1).await, [second.id]);
    assert_eq!(live(ground.team, CrawlKind::Batch, 9).await, [list.id]);
    assert_eq!(live(other, CrawlKind::Crawl, 9).await, [] as [Uuid; 0]);
    ground.store.cancel_crawl(ground.team, second.id).await.unwrap();
    assert_eq!(live(ground.team, CrawlKind::Crawl, 9).await, [first.id]);
}

async fn starting_is_told_of_and_wakes(ground: TestStore) {
    let mut signal = ground.store.work_signal();
    signal.mark_unchanged();
    let mut new = NewCrawl { audit: Some("somebody".into()), ..crawl(ground.team) };
    new.deliveries = vec![delivery(ground.team, new.id, "crawl.started")];
    let book = Book::start(&ground, new, pages(1..=1)).await;
    tokio::time::timeout(HOUR, signal.changed()).await.unwrap().unwrap();
    let secret = NewCrawl { private: true, audit: Some("nobody".into()), ..crawl(ground.team) };
    let private = Book::start(&ground, secret, pages(1..=1)).await;
    assert!(private.crawl().await.private && !book.crawl().await.private);
    let list = Book::start(&ground, batch(ground.team), pages(1..=1)).await;
    let shown = ground.store.activity(ground.team, None, None, HOUR, 10).await.unwrap();
    let shown: Vec<_> =
        shown.iter().map(|one| (one.id, one.endpoint.as_str(), one.audit.as_deref())).collect();
    assert_eq!(shown, [(list.id, "batch_scrape", None), (book.id, "crawl", Some("somebody"))]);
    assert_eq!(book.told().await, ["crawl.started"]);

    // A settlement tells in its order, its end last; what was overtaken tells nothing.
    let claimed = book.claim(1).await;
    book.fetch(&claimed).await;
    let events = |names: &[&str]| names.iter().map(|name| delivery(ground.team, book.id, name)).collect();
    let settlement = Settlement {
        decisions: vec![(1, EntryDecision::Completed)],
        deliveries: events(&["crawl.page", "crawl.note"]),
        at_end: events(&["crawl.completed"]),
        ..Settlement::default()
    };
    let version = book.crawl().await.version;
    let late = ground.store.settle_entries(book.id, version + 1, settlement.clone()).await.unwrap();
    assert_eq!(late, Settled::Overtaken);
    assert_eq!(book.settle_entries(settlement).await, Settled::Now(CrawlState::Completed));
    assert_eq!(book.told().await, ["crawl.page", "crawl.note", "crawl.completed"]);
}

async fn entries_count_as_queue(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), vec![lists(9), page(1), page(2), page(3)]).await;
    let status = async || ground.store.queue_status(ground.team).await.unwrap();
    assert_eq!((status().await.waiting, status().await.active), (3, 0));
    assert_eq!(status().await.most_recent_success, None);
    let claimed = book.claim(3).await;
    assert_eq!((status().await.waiting, status().await.active), (1, 2));
    book.fetch(&claimed).await;
    assert_eq!((status().await.waiting, status().await.active), (1, 0));
    book.settle_all(Vec::new()).await;
    book.work(1, Vec::new()).await;
    let done = status().await;
    assert_eq!((done.waiting, done.active), (0, 0));
    assert_eq!(done.most_recent_success, book.crawl().await.finished_at);
}

async fn hostile_texts_are_kept(ground: TestStore) {
    let mut odd = page(1);
    odd.url = "http://site.test/\0'\"\\\u{2028}ä𝄞[1,2]".into();
    odd.host = "site\0.test".into();
    let new = NewCrawl { request: "{\"a\":\"\0\"}".into(), ..crawl(ground.team) };
    let book = Book::start(&ground, new, vec![odd, skipped(2, "\0'\"")]).await;
    let claimed = book.claim(9).await;
    assert_eq!(claimed[0].url, "http://site.test/\u{fffd}'\"\\\u{2028}ä𝄞[1,2]");
    assert_eq!(claimed[0].host, "site\u{fffd}.test");
    let retry = AttemptEnd::Retry { error: "\0oh".into(), delay: NOW };
    assert!(book.end(&claimed[0], retry).await);
    assert_eq!(book.lines(None).await[0].reason.as_deref(), Some("\u{fffd}oh"), "why it is tried again");
    let claimed = book.claim(9).await;
    assert!(book.end(&claimed[0], fetched(1)).await);
    book.settle_by(|_| EntryDecision::Failed("[\"\0\"]".into()), Vec::new()).await;
    assert_eq!(book.lines(None).await[0].reason.as_deref(), Some("[\"\u{fffd}\"]"));
    ground.store.set_pace("host\0", store::crawls::Pace::default()).await.unwrap();
}
