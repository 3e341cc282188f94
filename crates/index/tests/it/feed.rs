//! Entries that come, change and go, and what a crash leaves.

use crate::{DAY, Ground, NOW, page, small};
use index::{Entry, Index, Options};

#[test]
fn a_newer_page_takes_the_place_of_the_older() {
    let mut ground = Ground::of([page("https://a.example/", "old", "gannet")]);
    ground
        .add([page("https://a.example/", "newer", "gannet"), page("https://a.example/", "newest", "gannet")]);
    assert_eq!(ground.ask("gannet"), ["newest"]);
    assert_eq!(ground.index.status().unwrap().documents, 1);
    assert_eq!(ground.index.last_seq().unwrap(), 3);
    let gone = Entry { document: None, ..ground.entry(page("https://a.example/", "", "")) };
    ground.index.feed(vec![gone]).unwrap();
    ground.index.commit().unwrap();
    assert!(ground.ask("gannet").is_empty());
    assert_eq!(ground.index.last_seq().unwrap(), 4);
}

#[test]
fn a_crash_before_the_commit_loses_the_way_back_to_it_and_no_more() {
    let mut ground = Ground::of([page("https://a.example/", "kept", "gannet")]);
    let lost = ground.entry(page("https://b.example/", "lost", "gannet"));
    ground.index.feed(vec![lost.clone()]).unwrap();
    assert_eq!(ground.index.last_seq().unwrap(), 1, "what is not committed is not counted");
    let Ground { folder, index, .. } = ground;
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
    let mut ground = Ground::of([page("https://a.example/", "a", "gannet")]);
    ground.index.wipe().unwrap();
    assert_eq!(ground.index.last_seq().unwrap(), 0);
    assert!(ground.ask("gannet").is_empty());
    ground.seq = 0;
    ground.add([page("https://a.example/", "again", "gannet")]);
    assert_eq!(ground.ask("gannet"), ["again"]);
    assert_eq!(ground.index.last_seq().unwrap(), 1);
}

#[test]
fn what_was_seen_longest_ago_goes_first() {
    let most = 400_000;
    let mut ground = Ground::with(Options { max_bytes: most, ..Options::default() });
    let mut evicted = 0;
    for round in 0..3 {
        let mut entries = Vec::new();
        for number in 0..60 {
            let at = round * 60 + number;
            // Words that nothing can be saved on.
            let word = |word: i64| format!("{:x}", (at * 300 + word).wrapping_mul(0x1e37_79b9_7f4a_7c15));
            let body = (0..300).map(word).collect::<Vec<_>>().join(" ");
            let document = page(&format!("https://a.example/{at}"), &format!("page {at}"), &body);
            entries.push(Entry { seen_at: NOW - 1_000 * DAY + at * 1_000, ..ground.entry(document) });
        }
        ground.index.feed(entries).unwrap();
        evicted += ground.index.commit().unwrap();
        let status = ground.index.status().unwrap();
        assert!(status.bytes <= most, "{} bytes after round {round}", status.bytes);
    }
    let status = ground.index.status().unwrap();
    assert!(evicted > 0 && status.evicted == evicted && status.documents == 180 - evicted);
    assert_eq!(status.last_seq, 180);
    assert_eq!(ground.ask("page 179")[0], "page 179");
    assert!(!ground.ask("page 0").contains(&"page 0".to_owned()));
}
