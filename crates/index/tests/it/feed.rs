//! Entries that are added, changed and deleted, and the state after a crash.

use crate::{DAY, Fixture, NOW, page, small};
use index::{Index, IndexEntry, Options};

#[test]
fn a_newer_page_replaces_the_older() {
    let mut fixture = Fixture::with_pages([page("https://a.example/", "old", "gannet")]);
    fixture
        .add([page("https://a.example/", "newer", "gannet"), page("https://a.example/", "newest", "gannet")]);
    assert_eq!(fixture.ask("gannet"), ["newest"]);
    assert_eq!(fixture.index.status().unwrap().documents, 1);
    assert_eq!(fixture.index.last_seq().unwrap(), 3);
    let gone = IndexEntry { document: None, ..fixture.entry(page("https://a.example/", "", "")) };
    fixture.index.feed(vec![gone]).unwrap();
    fixture.index.commit().unwrap();
    assert!(fixture.ask("gannet").is_empty());
    assert_eq!(fixture.index.last_seq().unwrap(), 4);
}

#[test]
fn a_crash_loses_only_uncommitted_entries() {
    let mut fixture = Fixture::with_pages([page("https://a.example/", "kept", "gannet")]);
    let lost = fixture.entry(page("https://b.example/", "lost", "gannet"));
    fixture.index.feed(vec![lost.clone()]).unwrap();
    assert_eq!(fixture.index.last_seq().unwrap(), 1, "uncommitted entries are not counted");
    let Fixture { folder, index, .. } = fixture;
    drop(index);
    let index = Index::open(folder.path(), small(Options::default())).unwrap();
    assert_eq!(index.last_seq().unwrap(), 1);
    assert_eq!(index.search(&crate::query("gannet")).unwrap().hits.len(), 1);
    index.feed(vec![lost]).unwrap();
    index.commit().unwrap();
    assert_eq!(index.last_seq().unwrap(), 2);
    assert_eq!(index.search(&crate::query("gannet")).unwrap().hits.len(), 2);
}

#[test]
fn an_emptied_index_starts_again() {
    let mut fixture = Fixture::with_pages([page("https://a.example/", "a", "gannet")]);
    fixture.index.wipe().unwrap();
    assert_eq!(fixture.index.last_seq().unwrap(), 0);
    assert!(fixture.ask("gannet").is_empty());
    fixture.seq = 0;
    fixture.add([page("https://a.example/", "again", "gannet")]);
    assert_eq!(fixture.ask("gannet"), ["again"]);
    assert_eq!(fixture.index.last_seq().unwrap(), 1);
}

#[test]
fn the_oldest_documents_are_removed_first() {
    let most = 400_000;
    let mut fixture = Fixture::with(Options { max_bytes: most, ..Options::default() });
    let mut evicted = 0;
    for round in 0..3 {
        let mut entries = Vec::new();
        for number in 0..60 {
            let at = round * 60 + number;
            // Random words, which do not compress.
            let word = |word: i64| format!("{:x}", (at * 300 + word).wrapping_mul(0x1e37_79b9_7f4a_7c15));
            let body = (0..300).map(word).collect::<Vec<_>>().join(" ");
            let document = page(&format!("https://a.example/{at}"), &format!("page {at}"), &body);
            entries.push(IndexEntry { seen_at: NOW - 1_000 * DAY + at * 1_000, ..fixture.entry(document) });
        }
        fixture.index.feed(entries).unwrap();
        evicted += fixture.index.commit().unwrap();
        let status = fixture.index.status().unwrap();
        assert!(status.bytes <= most, "{} bytes after round {round}", status.bytes);
    }
    let status = fixture.index.status().unwrap();
    assert!(evicted > 0 && status.evicted == evicted && status.documents == 180 - evicted);
    assert_eq!(status.last_seq, 180);
    assert_eq!(fixture.ask("page 179")[0], "page 179");
    assert!(!fixture.ask("page 0").contains(&"page 0".to_owned()));
}
