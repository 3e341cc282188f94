//! What is kept for search: pages and their feed, what searches found, and what was said about it.

use crate::crawls_ground::{Book, crawl, pages};
use crate::ground::{HOUR, NOW, TestStore, a_moment, number, page as cached_page, run_sql, scrape, team};
use sqlx::Connection;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::crawls::{AttemptEnd, NewCrawl};
use store::pages::KeptPage;
use store::scrapes::NewScrape;
use store::search::{FeedEntry, FeedbackPut, MAX_VALUED_SOURCES, NewFeedback, NewSearch, NewSearchPage};
use uuid::Uuid;

on_both!(
    a_page_comes_changes_and_goes,
    the_same_words_are_not_written_again,
    a_page_that_is_kept_is_known_to_be,
    scrapes_and_crawls_bring_their_pages,
    the_feed_is_read_in_parts,
    the_oldest_seen_go_first,
    a_part_of_a_collection_goes,
    no_reader_of_the_feed_misses_a_slow_writer,
    a_search_is_remembered_for_its_team,
    feedback_counts_once,
    no_team_values_too_much,
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_restored_from_an_older_copy_says_so_on_sqlite() {
    a_feed_restored_from_an_older_copy_says_so(TestStore::sqlite().await).await;
}

/// On a cluster of its own: in the shared one, open transactions of other tests hold the feed back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_restored_from_an_older_copy_says_so_on_postgresql() {
    let cluster = testkit::PostgresCluster::start();
    a_feed_restored_from_an_older_copy_says_so(TestStore::at(cluster.database()).await).await;
}

fn page(n: u8, words: &str) -> NewSearchPage {
    let mut hash = [0; 16];
    hash[..words.len().min(16)].copy_from_slice(&words.as_bytes()[..words.len().min(16)]);
    NewSearchPage {
        collection: "web".into(),
        key: [n; 16],
        url: format!("http://x.test/{n}"),
        hash,
        document: words.as_bytes().to_vec(),
    }
}

async fn put(ground: &TestStore, pages: Vec<NewSearchPage>) -> u64 {
    ground.store.put_search_pages(ground.team, pages).await.unwrap()
}

/// Everything after a number, once nobody is left who began to write before now: other tests of the cluster may be at it.
async fn feed(ground: &TestStore, after: i64, limit: u32) -> Vec<FeedEntry> {
    if ground.store.backend() == "postgresql" {
        let begun = number(&ground.url, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").await;
        let oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
        while number(&ground.url, oldest).await < begun {
            a_moment().await;
        }
    }
    ground.store.search_feed(after, limit).await.unwrap().entries
}

/// What a reader of the feed holds in the end, as it would apply it.
fn applied(entries: &[FeedEntry]) -> BTreeMap<([u8; 16], Uuid), Vec<u8>> {
    let mut held = BTreeMap::new();
    for entry in entries {
        match &entry.document {
            Some(document) => held.insert((entry.key, entry.team), document.clone()),
            None => held.remove(&(entry.key, entry.team)),
        };
    }
    held
}

async fn a_page_comes_changes_and_goes(ground: TestStore) {
    let store = &*ground.store;
    assert_eq!(put(&ground, vec![page(1, "one"), page(2, "two")]).await, 2);
    let first = feed(&ground, 0, 100).await;
    assert_eq!(first.len(), 2);
    let entry = first.iter().find(|entry| entry.key == [1; 16]).expect("the first page");
    assert_eq!((entry.team, &*entry.collection), (ground.team, "web"));
    assert_eq!(entry.document.as_deref(), Some(&b"one"[..]));
    assert!(entry.seen_at > 1_700_000_000_000);
    let cursor = first.last().unwrap().seq;
    assert!(feed(&ground, cursor, 100).await.is_empty(), "nothing new");

    put(&ground, vec![page(1, "changed")]).await;
    let changed = feed(&ground, cursor, 100).await;
    assert_eq!(changed.len(), 1);
    assert!(changed[0].seq > cursor);
    assert_eq!(changed[0].document.as_deref(), Some(&b"changed"[..]));
    assert_eq!(store.forget_search_pages(ground.team, "web", "http://x.test/1").await.unwrap(), 1);
    let gone = feed(&ground, changed[0].seq, 100).await;
    assert_eq!((gone.len(), gone[0].key, &gone[0].document), (1, [1; 16], &None));
    // Whoever begins now sees the page go that it never saw come.
    assert_eq!(applied(&feed(&ground, 0, 100).await).len(), 1);
    // And it may come back.
    assert_eq!(put(&ground, vec![page(1, "changed")]).await, 1);
    assert_eq!(applied(&feed(&ground, 0, 100).await).len(), 2);
    assert_eq!(store.search_bytes().await.unwrap(), ground.counted("search").await);
    let totals = store.search_totals().await.unwrap();
    assert_eq!((totals.len(), &*totals[0].collection, totals[0].pages), (1, "web", 2));
    assert_eq!(i64::try_from(totals[0].bytes).unwrap(), store.search_bytes().await.unwrap());
}

async fn the_same_words_are_not_written_again(ground: TestStore) {
    let store = &*ground.store;
    put(&ground, vec![page(1, "one")]).await;
    let before = feed(&ground, 0, 10).await;
    assert_eq!(put(&ground, vec![page(1, "one")]).await, 0);
    assert_eq!(feed(&ground, 0, 10).await, before);
    // Seen again after two days it counts among the young ones.
    run_sql(&ground.url, "UPDATE search_pages SET seen_at = seen_at - 172800000").await;
    assert_eq!(put(&ground, vec![page(1, "one")]).await, 1);
    let after = feed(&ground, 0, 10).await;
    assert!(after[0].seq > before[0].seq && after[0].seen_at >= before[0].seen_at);
    // Another team's page is another page.
    store.put_search_pages(Uuid::nil(), vec![page(1, "one")]).await.unwrap();
    assert_eq!(feed(&ground, 0, 10).await.len(), 2);
}

async fn a_page_that_is_kept_is_known_to_be(ground: TestStore) {
    let store = &*ground.store;
    let has = async |team, n: u8| store.has_search_page(team, "web", &[n; 16]).await.unwrap();
    assert!(!has(ground.team, 1).await);
    // As a run keeps what it read: for the cache and for search.
    let kept = KeptPage { cached: Some(cached_page(1, b"body")), search: Some(page(1, "one")) };
    store.put_page(ground.team, kept).await.unwrap();
    assert!(has(ground.team, 1).await && !has(ground.team, 2).await && !has(Uuid::nil(), 1).await);
    assert!(store.cached_page(ground.team, &[1; 32]).await.unwrap().is_some());
    assert_eq!(feed(&ground, 0, 10).await.len(), 1);
    store.forget_search_pages(ground.team, "web", "http://x.test/1").await.unwrap();
    assert!(!has(ground.team, 1).await, "the row of a page that went says nothing");
}

async fn scrapes_and_crawls_bring_their_pages(ground: TestStore) {
    let store = &*ground.store;
    let with =
        |n: u8, private: bool| NewScrape { search: Some(page(n, "scraped")), private, ..scrape(ground.team) };
    let twice = with(3, false);
    store.record_scrapes(vec![with(1, false), with(2, true), twice.clone()]).await.unwrap();
    store.record_scrapes(vec![twice]).await.unwrap();
    let keys = |entries: Vec<FeedEntry>| entries.iter().map(|entry| entry.key[0]).collect::<BTreeSet<_>>();
    assert_eq!(keys(feed(&ground, 0, 10).await), BTreeSet::from([1, 3]), "nothing of a private scrape");

    for (n, private) in [(7, false), (8, true)] {
        let book = Book::start(&ground, NewCrawl { private, ..crawl(ground.team) }, pages(1..=1)).await;
        let claimed = book.claim(1).await;
        let search = Some(page(n, "crawled"));
        let end = AttemptEnd::Fetched { outcome: Vec::new(), document: None, page: None, search };
        assert!(book.end(&claimed[0], end.clone()).await);
        assert!(!book.end(&claimed[0], end).await);
    }
    assert_eq!(keys(feed(&ground, 0, 10).await), BTreeSet::from([1, 3, 7]));
}

async fn the_feed_is_read_in_parts(ground: TestStore) {
    for n in 0..40 {
        put(&ground, vec![page(n, "a"), page(n + 100, "b")]).await;
    }
    let (mut after, mut read) = (0, Vec::new());
    loop {
        let part = feed(&ground, after, 7).await;
        let Some(last) = part.last() else { break };
        assert!(part.first().unwrap().seq > after);
        assert!(part.is_sorted_by_key(|entry| entry.seq) && part.len() <= 8);
        after = last.seq;
        read.extend(part);
    }
    assert_eq!(read.len(), 80);
    assert_eq!(applied(&read).len(), 80);
}

async fn the_oldest_seen_go_first(ground: TestStore) {
    let store = &*ground.store;
    for n in 0..4 {
        put(&ground, vec![page(n, &"x".repeat(1_000))]).await;
        a_moment().await;
    }
    put(&ground, vec![page(0, &"y".repeat(1_000))]).await;
    let total = u64::try_from(store.search_bytes().await.unwrap()).unwrap();
    assert_eq!(store.evict_search_pages(total, 100).await.unwrap(), 0);
    assert_eq!(store.evict_search_pages(total - 1, 100).await.unwrap(), 1);
    let held = applied(&feed(&ground, 0, 10).await);
    assert!(!held.contains_key(&([1; 16], ground.team)), "the oldest");
    assert_eq!(held.len(), 3);
    assert_eq!(store.evict_search_pages(0, 2).await.unwrap(), 2);
    assert_eq!(store.evict_search_pages(0, 2).await.unwrap(), 1);
    assert_eq!(store.search_bytes().await.unwrap(), 0);
    // What went is told of for a week.
    assert_eq!(store.purge_search(100).await.unwrap(), 0);
    assert_eq!(feed(&ground, 0, 10).await.len(), 4);
    run_sql(&ground.url, "UPDATE search_pages SET seen_at = seen_at - 8 * 86400000").await;
    assert_eq!(store.purge_search(3).await.unwrap(), 3);
    assert_eq!(store.purge_search(3).await.unwrap(), 1);
    assert!(feed(&ground, 0, 10).await.is_empty());
}

async fn a_part_of_a_collection_goes(ground: TestStore) {
    let store = &*ground.store;
    let many = (0..1_200_u32).map(|n| {
        let mut one = page(0, "words");
        one.key[..4].copy_from_slice(&n.to_be_bytes());
        one.collection = if n % 3 == 0 { "developer".into() } else { "web".into() };
        one.url = format!("http://{}.test/{n}", if n % 2 == 0 { "even%_" } else { "odd" });
        one
    });
    assert_eq!(put(&ground, many.collect()).await, 1_200);
    let forget = async |prefix: &str| store.forget_search_pages(ground.team, "web", prefix).await.unwrap();
    assert_eq!(forget("http://even%_").await, 400);
    assert_eq!(forget("http://even%_").await, 0, "gone already");
    let other = team(store, "free").await;
    assert_eq!(store.forget_search_pages(other, "developer", "").await.unwrap(), 0);
    assert_eq!(forget("").await, 400);
    let totals = store.search_totals().await.unwrap();
    assert_eq!((totals.len(), &*totals[0].collection, totals[0].pages), (1, "developer", 400));
}

async fn a_feed_restored_from_an_older_copy_says_so(ground: TestStore) {
    let store = &*ground.store;
    put(&ground, vec![page(1, "one")]).await;
    assert_eq!(feed(&ground, 0, 10).await.len(), 1);
    let now = store.search_feed(0, 10).await.unwrap();
    assert!(!now.ahead && !store.search_feed(now.entries[0].seq, 10).await.unwrap().ahead);
    assert!(store.search_feed(now.entries[0].seq + 1_000_000_000, 10).await.unwrap().ahead);
    let again = ground.another().await.search_feed(0, 10).await.unwrap();
    assert_eq!(again.id, now.id, "one feed, whoever reads it");
    if store.backend() == "postgresql" {
        // Rows of transactions that are still to come in this cluster.
        run_sql(&ground.url, "UPDATE search_pages SET seq = seq + 1000000000").await;
        assert!(feed(&ground, 0, 10).await.is_empty());
        assert_eq!(store.purge_search(10).await.unwrap(), 1);
        assert_eq!(feed(&ground, 0, 10).await.len(), 1);
    }
}

/// Writers commit in any order, some of them late; a reader that only ever goes forward ends with what is there.
async fn no_reader_of_the_feed_misses_a_slow_writer(ground: TestStore) {
    let stores = [ground.store.clone(), ground.another().await];
    let done = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (store, done) = (ground.another().await, done.clone());
        async move {
            let (mut after, mut read) = (0, Vec::new());
            loop {
                let last_round = done.load(Ordering::Acquire);
                let part = store.search_feed(after, 5).await.unwrap().entries;
                if let Some(last) = part.last() {
                    after = last.seq;
                } else if last_round {
                    return (after, read);
                }
                read.extend(part);
            }
        }
    });
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..8_u8 {
        let (store, team) = (stores[usize::from(n) % 2].clone(), ground.team);
        writers.spawn(async move {
            for round in 0..25_u8 {
                let own = page(n * 25 + round, &format!("{n} {round}"));
                let shared = page(250, &format!("shared {n} {round}"));
                // A large batch takes longer to commit than those that begin after it.
                let scrapes = (0..if n == 0 { 40 } else { 1 }).map(|_| scrape(team));
                let last = NewScrape { search: Some(own), ..scrape(team) };
                store.record_scrapes(scrapes.chain([last]).collect()).await.unwrap();
                store.put_search_pages(team, vec![shared]).await.unwrap();
            }
        });
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    done.store(true, Ordering::Release);
    let (after, mut read) = reader.await.unwrap();
    read.extend(feed(&ground, after, 10_000).await);
    let held = applied(&read);
    assert_eq!(held.len(), 201);
    assert_eq!(held, applied(&feed(&ground, 0, 10_000).await));
}

async fn a_search_is_remembered_for_its_team(ground: TestStore) {
    let store = &*ground.store;
    let new = |private, keep_for| NewSearch {
        id: Uuid::now_v7(),
        team_id: ground.team,
        query: "gannets\0".into(),
        urls: vec!["http://x.test/".into()],
        private,
        keep_for,
    };
    let (open, private, brief) = (new(false, HOUR), new(true, HOUR), new(false, NOW));
    for search in [&open, &private, &brief] {
        store.put_search(search.clone()).await.unwrap();
    }
    a_moment().await;
    let found = store.search_record(ground.team, open.id).await.unwrap().expect("the search");
    assert_eq!((&*found.query, found.urls), ("gannets\u{fffd}", open.urls.clone()));
    let found = store.search_record(ground.team, private.id).await.unwrap().expect("the private one");
    assert!(found.query.is_empty() && found.urls.is_empty());
    assert!(store.search_record(ground.team, brief.id).await.unwrap().is_none());
    let other = team(store, "free").await;
    assert!(store.search_record(other, open.id).await.unwrap().is_none());
    assert_eq!(store.purge_search(10).await.unwrap(), 1);
}

fn feedback(team_id: Uuid, subject: Uuid, valued: &[&str]) -> NewFeedback {
    let valued = valued.iter().map(|source| (*source).to_owned()).collect();
    let (endpoint, body) = ("search".to_owned(), "{}".to_owned());
    NewFeedback { id: Uuid::now_v7(), team_id, endpoint, subject, body, valued }
}

async fn feedback_counts_once(ground: TestStore) {
    let store = &*ground.store;
    let subject = Uuid::now_v7();
    let first = feedback(ground.team, subject, &["x.test", "x.test", "http://y.test/a"]);
    assert_eq!(store.put_feedback(first.clone()).await.unwrap(), FeedbackPut::Written);
    let again = feedback(ground.team, subject, &["x.test"]);
    assert_eq!(store.put_feedback(again).await.unwrap(), FeedbackPut::KnownBefore(first.id));
    a_moment().await;
    store.put_feedback(feedback(ground.team, Uuid::now_v7(), &["x.test"])).await.unwrap();
    let valued: HashMap<_, _> = store.valued_sources(ground.team).await.unwrap().into_iter().collect();
    assert_eq!(valued.len(), 2);
    assert!(valued["x.test"] > valued["http://y.test/a"] && valued["x.test"] < 1.0);
    let other = team(store, "free").await;
    assert!(store.valued_sources(other).await.unwrap().is_empty());
    // Another team may speak of the same subject; it is its own.
    let theirs = feedback(other, subject, &[]);
    assert_eq!(store.put_feedback(theirs).await.unwrap(), FeedbackPut::Written);
}

async fn no_team_values_too_much(ground: TestStore) {
    let store = &*ground.store;
    for round in 0..6 {
        let sources: Vec<String> = (0..100).map(|n| format!("h{}.test", round * 100 + n)).collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        store.put_feedback(feedback(ground.team, Uuid::now_v7(), &sources)).await.unwrap();
        a_moment().await;
    }
    let valued = store.valued_sources(ground.team).await.unwrap();
    assert_eq!(valued.len(), MAX_VALUED_SOURCES as usize);
    assert!(valued.iter().all(|(source, _)| source != "h0.test"), "the oldest went");
}

/// The same by hand: one that began first commits last, and nothing after it is read before that.
#[tokio::test]
async fn what_began_first_is_read_first() {
    let ground = TestStore::postgres().await;
    let mut slow = sqlx::PgConnection::connect(&ground.url).await.unwrap();
    let mut transaction = slow.begin().await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO search_pages (team_id, collection, key, seq, seen_at, bytes, hash, url, document)
         VALUES (gen_random_uuid(), 'web', '\\x01', gannet_change(), gannet_now(), 0, '', '', 'slow');
         UPDATE search_pages SET key = decode(repeat('01', 16), 'hex')",
    )
    .execute(&mut *transaction)
    .await
    .unwrap();
    put(&ground, vec![page(2, "quick")]).await;
    let early = ground.store.search_feed(0, 10).await.unwrap().entries;
    assert!(early.is_empty(), "the quick one waits for the slow one");
    transaction.commit().await.unwrap();
    let documents: Vec<_> = feed(&ground, 0, 10).await.into_iter().map(|entry| entry.document).collect();
    assert_eq!(documents, [Some(b"slow".to_vec()), Some(b"quick".to_vec())]);
}
