//! The life of a crawl: started, handed out, fetched, settled, completed.

use crate::crawls_ground::{
    Book, batch, came_to_nothing, crawl, document, key, lists, numbers, page, pages, skipped,
};
use crate::ground::{NOW, TestStore};
use store::StoreError;
use store::crawls::{
    CrawlKind, CrawlState, EntryDecision, EntryState, KnownEntry, NewCrawl, Settled, Settlement,
};
use uuid::Uuid;

on_both!(
    a_crawl_lives_and_completes,
    every_address_has_one_entry,
    what_was_skipped_may_become_a_page,
    lists_are_read_beside_the_pages,
    a_crawl_with_nothing_to_do_is_done,
    a_fate_needs_an_entry_that_waits_for_it,
);

async fn a_crawl_lives_and_completes(ground: TestStore) {
    let new = NewCrawl { key_id: Some(Uuid::now_v7()), limit: Some(100), ..crawl(ground.team) };
    let book = Book::start(&ground, new.clone(), pages(1..=2)).await;
    let fresh = book.crawl().await;
    assert_eq!((fresh.state, fresh.kind, fresh.limit), (CrawlState::Active, CrawlKind::Crawl, Some(100)));
    assert_eq!((fresh.request.as_str(), fresh.key_id), (new.request.as_str(), new.key_id));
    assert_eq!(fresh.deadline_at - fresh.created_at, 3_600_000);
    assert!((fresh.now - fresh.created_at).abs() < 60_000);

    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [1, 2], "in the order of numbers");
    assert_eq!((claimed[0].url.as_str(), claimed[0].host.as_str()), ("http://site.test/1", "site.test"));
    assert_eq!((claimed[0].depth, claimed[0].attempt, claimed[0].team_id), (1, 1, ground.team));
    assert!(!claimed[0].is_lists);
    book.fetch(&claimed).await;
    assert_eq!(ground.store.unsettled_crawls(10).await.unwrap(), [book.id]);

    let unsettled = book.unsettled().await;
    assert_eq!(unsettled.memory, None);
    assert_eq!(unsettled.crawl.counts.fetched, 2);
    let first = &unsettled.fetched[0];
    assert_eq!((first.seq, first.key, first.depth, first.is_lists), (1, key(1), 1, false));
    assert_eq!((first.outcome.as_deref(), first.has_document), (Some(1_u64.to_be_bytes().as_slice()), true));
    let decisions = vec![(1, EntryDecision::Completed), (2, EntryDecision::Failed(r#"{"code":"E"}"#.into()))];
    let settlement = Settlement {
        decisions,
        found: pages(3..=4),
        memory: Some(b"seen".to_vec()),
        ..Settlement::default()
    };
    assert_eq!(book.settle_entries(settlement).await, Settled::Now(CrawlState::Active));
    assert_eq!(ground.store.unsettled_crawls(10).await.unwrap(), [] as [Uuid; 0]);
    let unsettled = book.unsettled().await;
    assert_eq!((unsettled.memory.as_deref(), unsettled.fetched.len()), (Some(b"seen".as_slice()), 0));

    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [3, 4], "what was found gets the next numbers");
    book.fetch(&claimed).await;
    let decision =
        |seq| if seq == 3 { EntryDecision::Skipped("duplicate".into()) } else { EntryDecision::Completed };
    assert_eq!(book.settle_by(decision, Vec::new()).await, Settled::Now(CrawlState::Completed));

    let done = book.crawl().await;
    assert_eq!((done.counts.completed, done.counts.failed, done.counts.skipped), (2, 1, 1));
    assert_eq!(done.expires_at.unwrap() - done.finished_at.unwrap(), 3_600_000);
    assert!(done.version > fresh.version);
    let documents = ground.store.crawl_documents(book.id, 0, 10, u64::MAX).await.unwrap();
    assert_eq!(documents.iter().map(|one| (one.number, one.seq)).collect::<Vec<_>>(), [(1, 1), (2, 4)]);
    assert_eq!((documents[1].url.as_str(), &documents[1].body), ("http://site.test/4", &document(4)));
    let lines = book.lines(None).await;
    let reasons: Vec<_> = lines.iter().map(|line| line.reason.as_deref()).collect();
    assert_eq!(reasons, [None, Some(r#"{"code":"E"}"#), Some("duplicate"), None]);
    assert!(lines.iter().all(|line| line.ended_at.is_some() && line.attempts == 1));

    assert!(ground.store.unsettled_crawl(book.id, 10, NOW).await.unwrap().is_none(), "over");
    assert!(ground.store.unsettled_crawl(Uuid::now_v7(), 10, NOW).await.unwrap().is_none(), "unknown");
    let late = ground.store.settle_entries(book.id, done.version, Settlement::default()).await.unwrap();
    assert_eq!(late, Settled::Overtaken);
}

async fn every_address_has_one_entry(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages([1, 2, 1, 2, 2])).await;
    assert_eq!(book.crawl().await.counts.discovered, 2);
    let claimed = book.claim(1).await;
    book.fetch(&claimed).await;
    book.settle_all(pages([2, 3, 1, 3, 4])).await;
    assert_eq!(book.crawl().await.counts.discovered, 4);
    let lines = book.lines(None).await;
    let urls: Vec<_> = lines.iter().map(|line| (line.seq, line.url.as_str())).collect();
    assert_eq!(
        urls,
        [
            (1, "http://site.test/1"),
            (2, "http://site.test/2"),
            (3, "http://site.test/3"),
            (4, "http://site.test/4")
        ]
    );
    let known = ground.store.entries_by_key(book.id, &[key(4), key(9), key(1), key(4)]).await.unwrap();
    let seq = |seq| Some(KnownEntry { seq, skipped: None });
    assert_eq!(known, [seq(4), None, seq(1), seq(4)]);
    let other = Book::start(&ground, crawl(ground.team), pages([1])).await;
    assert_eq!(other.crawl().await.counts.discovered, 1, "keys belong to one crawl");
    assert_eq!(ground.store.entries_by_key(other.id, &[key(2)]).await.unwrap(), [None]);
}

async fn what_was_skipped_may_become_a_page(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), vec![page(1), skipped(2, "depth"), page(3)]).await;
    assert_eq!(book.crawl().await.counts.skipped, 1);
    let known = ground.store.entries_by_key(book.id, &[key(2)]).await.unwrap();
    assert_eq!(known, [Some(KnownEntry { seq: 2, skipped: Some("depth".into()) })]);
    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [1, 3]);
    book.fetch(&claimed).await;
    let decisions = vec![(1, EntryDecision::Completed), (3, EntryDecision::Skipped("duplicate".into()))];
    // 1 is not skipped and 9 is not there: they stay as they are.
    let settlement = Settlement { decisions, revived: vec![1, 2, 9], ..Settlement::default() };
    assert_eq!(book.settle_entries(settlement).await, Settled::Now(CrawlState::Active));
    let claimed = book.claim(10).await;
    assert_eq!((numbers(&claimed), claimed[0].attempt), (vec![2], 1));
    book.fetch(&claimed).await;
    let settlement = Settlement {
        decisions: vec![(2, EntryDecision::Completed)],
        revived: vec![3],
        ..Settlement::default()
    };
    book.settle_entries(settlement).await;
    assert_eq!(book.lines(Some(EntryState::Queued)).await[0].reason, None, "the word is gone");
    assert_eq!(book.work(1, Vec::new()).await, Settled::Now(CrawlState::Completed));
    let order: Vec<_> = ground
        .store
        .crawl_documents(book.id, 0, 9, u64::MAX)
        .await
        .unwrap()
        .iter()
        .map(|one| one.seq)
        .collect();
    assert_eq!(order, [1, 2, 3]);
}

async fn lists_are_read_beside_the_pages(ground: TestStore) {
    let new = NewCrawl { limit: Some(1), ..crawl(ground.team) };
    let book = Book::start(&ground, new, vec![lists(9), page(1), page(2)]).await;
    let counts = book.crawl().await.counts;
    assert_eq!((counts.discovered, counts.queued, counts.reading_lists), (2, 2, 1));
    let claimed = book.claim(10).await;
    assert_eq!(numbers(&claimed), [1, 2], "the lists do not count for the limit");
    assert_eq!((claimed[0].is_lists, claimed[1].is_lists), (true, false));
    let counts = book.crawl().await.counts;
    assert_eq!((counts.running, counts.reading_lists), (1, 1));
    book.fetch(&claimed[1..]).await;
    assert_eq!(book.settle_all(Vec::new()).await, Settled::Now(CrawlState::Active), "the lists still run");
    assert!(book.end(&claimed[0], came_to_nothing()).await);
    let unsettled = book.unsettled().await;
    assert!(unsettled.fetched[0].is_lists && unsettled.crawl.counts.reading_lists == 1);
    assert_eq!(book.settle_all(pages(5..=6)).await, Settled::Now(CrawlState::Completed));
    let done = book.crawl().await.counts;
    assert_eq!((done.discovered, done.completed, done.skipped, done.reading_lists), (4, 1, 3, 0));
    assert!(
        book.lines(Some(EntryState::Skipped))
            .await
            .iter()
            .all(|line| line.reason.as_deref() == Some("limit"))
    );
}

async fn a_crawl_with_nothing_to_do_is_done(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), vec![skipped(1, "robots")]).await;
    assert_eq!(book.state().await, CrawlState::Completed);
    let none = NewCrawl { limit: Some(0), ..crawl(ground.team) };
    let book = Book::start(&ground, none, pages(1..=3)).await;
    assert_eq!((book.state().await, book.crawl().await.counts.skipped), (CrawlState::Completed, 3));
    let book = Book::start(&ground, batch(ground.team), Vec::new()).await;
    assert_eq!(book.state().await, CrawlState::Completed);
    assert!(book.claim(10).await.is_empty());
}

async fn a_fate_needs_an_entry_that_waits_for_it(ground: TestStore) {
    let book = Book::start(&ground, crawl(ground.team), pages(1..=3)).await;
    let claimed = book.claim(2).await;
    book.fetch(&claimed[..1]).await;
    book.end(&claimed[1], came_to_nothing()).await;
    let version = book.crawl().await.version;
    for decisions in [
        vec![(3, EntryDecision::Completed)],
        vec![(1, EntryDecision::Completed), (1, EntryDecision::Completed)],
        vec![(1, EntryDecision::Completed), (7, EntryDecision::Failed("x".into()))],
        vec![(2, EntryDecision::Completed)],
    ] {
        let settlement = Settlement { decisions, ..Settlement::default() };
        let refused = ground.store.settle_entries(book.id, version, settlement).await;
        assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    }
    let negative = Settlement { credits: -1, ..Settlement::default() };
    assert!(matches!(
        ground.store.settle_entries(book.id, version, negative).await,
        Err(StoreError::Misuse(_))
    ));
    book.audit().await;
    assert_eq!(
        (book.crawl().await.counts.fetched, book.crawl().await.version),
        (2, version),
        "nothing happened"
    );
    let again = ground.store.start_crawl(NewCrawl { id: book.id, ..crawl(ground.team) }, pages(5..=6)).await;
    assert!(matches!(again, Err(StoreError::Misuse(_))), "the id is in use");
    let limited = NewCrawl { limit: Some(1), ..batch(ground.team) };
    assert!(matches!(ground.store.start_crawl(limited, pages(1..=2)).await, Err(StoreError::Misuse(_))));
    book.audit().await;
}
