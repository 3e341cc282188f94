//! The index follows the store: what comes, changes and goes, over restarts, other databases and other
//! processes.

use super::*;
use imports::search_page::{WEB, to_new_search_page};
use index::{Document, Query};
use std::fs;
use store::Store;
use store::StoreOptions;
use testkit::TempDir;

const MOST: u64 = 1 << 30;

async fn store(folder: &TempDir, name: &str) -> Arc<dyn Store> {
    let url = format!("sqlite:{}", folder.join(name).display());
    store::open(&StoreOptions::new(url)).await.unwrap()
}

fn local(folder: &TempDir) -> Arc<LocalIndex> {
    Arc::new(LocalIndex::at(folder.join("search-index"), MOST))
}

async fn put(store: &Arc<dyn Store>, pages: impl IntoIterator<Item = (u8, &str)>) {
    let pages = pages.into_iter().map(|(n, words)| {
        let url = format!("https://a.test/{n}");
        let document =
            Document { url, title: format!("Page {n}"), body: words.to_owned(), ..Document::default() };
        to_new_search_page(WEB, &[n; 16], document).unwrap()
    });
    store.put_search_pages(Uuid::nil(), pages.collect()).await.unwrap();
}

/// How many pages have a word.
async fn found(local: &LocalIndex, word: &str) -> usize {
    let query = Query { collection: WEB.into(), text: word.into(), limit: 50, ..Query::default() };
    local.search(query).await.unwrap().hits.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_changes_and_goes_is_followed() {
    let folder = TempDir::new();
    let store = store(&folder, "a.db").await;
    let local = local(&folder);
    let feeder = Feeder::new(local.clone(), store.clone());
    put(&store, [(1, "gannets dive deep"), (2, "puffins dig burrows")]).await;
    let fed = feeder.catch_up(&mut |_| {}).await.unwrap();
    assert_eq!((fed.lines, fed.afresh), (2, true));
    assert_eq!((found(&local, "gannets").await, found(&local, "burrows").await), (1, 1));
    put(&store, [(1, "terns hover")]).await;
    store.forget_search_pages(Uuid::nil(), WEB, "https://a.test/2").await.unwrap();
    let fed = feeder.catch_up(&mut |_| {}).await.unwrap();
    assert_eq!((fed.lines, fed.afresh), (2, false));
    let now = (found(&local, "gannets").await, found(&local, "burrows").await, found(&local, "terns").await);
    assert_eq!(now, (0, 0, 1));
    assert_eq!(feeder.catch_up(&mut |_| {}).await.unwrap().lines, 0, "nothing new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_goes_on_and_a_lost_folder_is_filled_again() {
    let folder = TempDir::new();
    let store = store(&folder, "a.db").await;
    put(&store, (0..200).map(|n| (n, "gannets"))).await;
    let first = local(&folder);
    assert_eq!(Feeder::new(first.clone(), store.clone()).catch_up(&mut |_| {}).await.unwrap().lines, 200);
    drop(first);
    put(&store, [(201, "gannets")]).await;
    let second = local(&folder);
    let fed = Feeder::new(second.clone(), store.clone()).catch_up(&mut |_| {}).await.unwrap();
    assert_eq!((fed.lines, fed.afresh), (1, false));
    drop(second);
    fs::remove_dir_all(folder.join("search-index")).unwrap();
    let third = local(&folder);
    let fed = Feeder::new(third.clone(), store.clone()).catch_up(&mut |_| {}).await.unwrap();
    assert_eq!((fed.lines, fed.afresh), (201, true));
    let (again, _) = Feeder::new(third.clone(), store).rebuild(&mut |_| {}).await.unwrap();
    assert_eq!(again.lines, 201);
    assert_eq!(third.status().await.unwrap().documents, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_feed_or_one_that_was_left_too_long_starts_afresh() {
    let folder = TempDir::new();
    let (one, two) = (store(&folder, "a.db").await, store(&folder, "b.db").await);
    put(&one, [(1, "gannets"), (2, "gannets")]).await;
    put(&two, [(3, "puffins")]).await;
    let index = local(&folder);
    Feeder::new(index.clone(), one.clone()).catch_up(&mut |_| {}).await.unwrap();
    let fed = Feeder::new(index.clone(), two.clone()).catch_up(&mut |_| {}).await.unwrap();
    assert!(fed.afresh);
    assert_eq!((found(&index, "gannets").await, found(&index, "puffins").await), (0, 1));
    // A week at rest: what went in the meantime may be forgotten.
    let path = folder.join("search-index").join(NOTE);
    let mut note: Note = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    note.at_end -= 7 * 24 * 3_600_000;
    fs::write(&path, serde_json::to_vec(&note).unwrap()).unwrap();
    assert!(Feeder::new(index.clone(), two.clone()).catch_up(&mut |_| {}).await.unwrap().afresh);
    fs::write(&path, "nonsense").unwrap();
    assert!(Feeder::new(index.clone(), two).catch_up(&mut |_| {}).await.unwrap().afresh);
    assert_eq!(found(&index, "puffins").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_read_costs_itself_alone() {
    let folder = TempDir::new();
    let store = store(&folder, "a.db").await;
    put(&store, [(1, "gannets")]).await;
    let mut broken =
        to_new_search_page(WEB, &[2; 16], Document { title: "x".into(), ..Document::default() }).unwrap();
    broken.document = b"no such thing".to_vec();
    store.put_search_pages(Uuid::nil(), vec![broken]).await.unwrap();
    put(&store, [(3, "gannets")]).await;
    let index = local(&folder);
    let fed = Feeder::new(index.clone(), store).catch_up(&mut |_| {}).await.unwrap();
    assert_eq!((fed.lines, fed.unreadable), (3, 1));
    assert_eq!(found(&index, "gannets").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_writes_and_others_read_beside_it() {
    let folder = TempDir::new();
    let store = store(&folder, "a.db").await;
    put(&store, [(1, "gannets")]).await;
    let writer = local(&folder);
    Feeder::new(writer.clone(), store.clone()).catch_up(&mut |_| {}).await.unwrap();
    let reader = local(&folder);
    let refused = Feeder::new(reader.clone(), store.clone()).catch_up(&mut |_| {}).await.unwrap_err();
    assert!(refused.is_elsewhere(), "{refused}");
    reader.open_to_read().unwrap();
    assert!(writer.writes() && !reader.writes());
    assert_eq!(found(&reader, "gannets").await, 1);
    // The writer is gone: whoever is left takes its place.
    drop(writer);
    put(&store, [(2, "gannets")]).await;
    let stop = CancellationToken::new();
    let following = tokio::spawn(Feeder::new(reader.clone(), store).run(stop.clone()));
    let end = Instant::now() + Duration::from_secs(20);
    while found(&reader, "gannets").await < 2 {
        assert!(Instant::now() < end, "the page was not taken in");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stop.cancel();
    following.await.unwrap();
}
