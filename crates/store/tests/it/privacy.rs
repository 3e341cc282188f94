//! Zero data retention: nothing of a private scrape but id, team, time, outcome and credits is ever
//! written, not even into the log of the database; and what a private crawl had to keep for a while leaves no trace in
//! the files once it was deleted.

use crate::crawls_ground::{Book, crawl, delivery, page as entry};
use crate::ground::{HOUR, NOW, TestStore, a_moment, key, page, scrape};
use memchr::memmem;
use std::path::{Path, PathBuf};
use store::audit_log::Actor;
use store::crawls::{AttemptEnd, EntryDecision, NewCrawl, NewEntry, Settlement};
use store::scrapes::{NewScrape, Recorded};
use store::search::NewSearchPage;
use testkit::PostgresCluster;

const SECRETS: [&str; 7] = [
    "secret-url",
    "secret-result",
    "secret-error",
    "secret-page",
    "secret-header",
    "secret-audit",
    "secret-words",
];

fn secretive(team: uuid::Uuid, private: bool) -> NewScrape {
    let mut page = page(1, b"secret-page secret-page");
    page.url = "http://secret-url.test/".into();
    page.headers = r#"{"etag":"secret-header"}"#.into();
    NewScrape {
        url: "http://secret-url.test/".into(),
        ok: false,
        result: Some(b"secret-result".to_vec()),
        error: Some("secret-error".into()),
        page: Some(page),
        search: Some(NewSearchPage {
            collection: "web".into(),
            key: [1; 16],
            url: "http://secret-url.test/".into(),
            hash: [1; 16],
            document: b"secret-words".to_vec(),
        }),
        audit: Some("secret-audit".into()),
        credits: 2,
        private,
        ..scrape(team)
    }
}

/// Every file under a folder, the folders in it too.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Which of the texts stand somewhere in the files of a folder.
fn found_in(folder: &Path, texts: &[&'static str]) -> Vec<&'static str> {
    let mut left = texts.to_vec();
    for file in files(folder) {
        let bytes = std::fs::read(file).unwrap_or_default();
        left.retain(|text| memmem::find(&bytes, text.as_bytes()).is_none());
    }
    texts.iter().copied().filter(|text| !left.contains(text)).collect()
}

async fn only_the_ledger_knows(ground: &TestStore, folder: &Path) {
    let store = &*ground.store;
    let key_id = store.create_key(key(ground.team, "k"), &Actor::server()).await.unwrap().id;
    let one = NewScrape { key_id: Some(key_id), ..secretive(ground.team, true) };
    let id = one.id;
    assert_eq!(store.record_scrapes(vec![one]).await.unwrap(), [Recorded::Written]);
    let kept = store.scrape(ground.team, id).await.unwrap().expect("the record itself is kept");
    assert_eq!((kept.private, kept.ok, kept.credits), (true, false, 2));
    assert_eq!((kept.url.as_str(), kept.result, kept.error), ("", None, None));
    assert!(store.activity(ground.team, None, None, HOUR, 10).await.unwrap().is_empty());
    assert!(store.cached_page(ground.team, &[1; 32]).await.unwrap().is_none());
    assert_eq!(store.balance(ground.team).await.unwrap().used, 2);
    assert_eq!(found_in(folder, &SECRETS), [""; 0], "nothing of it was written");
    // The same without privacy is found: the search is able to.
    store.record_scrapes(vec![secretive(ground.team, false)]).await.unwrap();
    assert_eq!(found_in(folder, &SECRETS), SECRETS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_nothing_of_a_private_scrape() {
    let ground = TestStore::sqlite().await;
    let file = PathBuf::from(ground.url.strip_prefix("sqlite:").unwrap());
    only_the_ledger_knows(&ground, file.parent().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_keeps_nothing_of_a_private_scrape() {
    let cluster = PostgresCluster::start();
    let ground = TestStore::at(cluster.database()).await;
    only_the_ledger_knows(&ground, cluster.folder()).await;
}

/// Large enough for pages of their own in the file, and small enough to share pages with others.
fn traces() -> Vec<(&'static str, Vec<u8>)> {
    let words = ["secret-large", "secret-small"];
    words.into_iter().zip([4000, 1]).map(|(word, count)| (word, word.as_bytes().repeat(count))).collect()
}

/// A private crawl from its start to its end: documents, addresses, results that are settled, a delivery that failed.
async fn private_crawl(ground: &TestStore, retain_for: std::time::Duration) {
    let new = NewCrawl { private: true, retain_for, ..crawl(ground.team) };
    let mut told = delivery(ground.team, new.id, "crawl.page");
    told.body = b"secret-told".repeat(1000);
    let addresses = (0..2).map(|n| NewEntry { url: format!("http://secret-address.test/{n}"), ..entry(n) });
    let book = Book::start(ground, new, addresses.collect()).await;
    let claimed = book.claim(10).await;
    for (one, (_, bytes)) in claimed.iter().zip(traces()) {
        let document = Some(bytes.clone());
        assert!(
            book.end(one, AttemptEnd::Fetched { outcome: bytes, document, page: None, search: None }).await
        );
    }
    let decisions = vec![
        (claimed[0].lease.seq, EntryDecision::Completed),
        (claimed[1].lease.seq, EntryDecision::Skipped("same".into())),
    ];
    let settlement = Settlement {
        decisions,
        memory: Some(b"secret-memory".repeat(500)),
        deliveries: vec![told],
        ..Settlement::default()
    };
    book.settle_entries(settlement).await;
    assert_eq!(book.told().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_nothing_of_a_private_crawl_that_was_deleted() {
    let words = ["secret-large", "secret-small", "secret-address", "secret-told", "secret-memory"];
    let ground = TestStore::sqlite().await;
    let file = PathBuf::from(ground.url.strip_prefix("sqlite:").unwrap());
    let folder = file.parent().unwrap();
    // Others work beside it, before and after.
    let other = Book::start(&ground, crawl(ground.team), vec![entry(7), entry(8)]).await;
    let held = other.claim(10).await;
    private_crawl(&ground, NOW).await;
    assert_eq!(found_in(folder, &words), words, "it is kept for a while, and the search finds it");
    other.fetch(&held).await;
    a_moment().await;
    while ground.store.purge_crawls(3).await.unwrap() > 0 {}
    assert_eq!(found_in(folder, &words), [""; 0], "nothing of it is left in any file");
    other.audit().await;
}
