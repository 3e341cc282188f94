//! Files that are not what they should be, and generations changing under readers.

use crate::{Shelf, node, work};
use papers::{Index, Library, SearchQuery, SimilarQuery, Source};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn lines(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| {
            work(
                number,
                &format!("Study {number} of cells"),
                "words about cells and light",
                &[number / 2, number / 3, number + 1],
            )
        })
        .collect()
}

#[test]
fn any_damaged_byte_is_found_and_none_brings_the_reader_down() {
    let shelf = Shelf::of(&lines(60));
    let path = shelf.folder.path().join("library/generations/000001.papers");
    let whole = std::fs::read(&path).unwrap();
    Index::open(&path).unwrap().verify().unwrap();
    let broken = shelf.folder.path().join("broken");
    for place in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        std::fs::write(&broken, &bytes).unwrap();
        let Ok(index) = Index::open(&broken) else { continue };
        assert!(index.verify().is_err(), "byte {place} of {}", whole.len());
        let query = SimilarQuery {
            seeds: vec![1, 70],
            intent: "cells".into(),
            k: 5,
            rerank: true,
            ..SimilarQuery::default()
        };
        let _ = index.similar(&query);
        let _ = index.search(&SearchQuery { text: "light".into(), k: 5, ..SearchQuery::default() });
        let _ = node(&index, "doi:10.1/3");
    }
    for length in [0, 1, 19, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&broken, &whole[..length]).unwrap();
        assert!(Index::open(&broken).is_err(), "{length} bytes");
    }
}

#[test]
fn generations_change_under_load_and_nobody_notices() {
    let shelf = Shelf::of(&lines(50));
    let stop = AtomicBool::new(false);
    let answered = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let index = shelf.library.current().unwrap();
                    let seed = node(&index, "doi:10.1/4").unwrap();
                    let answer = index.similar(&SimilarQuery {
                        seeds: vec![seed],
                        intent: "light".into(),
                        k: 10,
                        ..SimilarQuery::default()
                    });
                    assert_eq!(answer.results.len(), 10);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..4 {
            let path = shelf.file("more.jsonl", work(1_000 + round, "one more study", "", &[4]));
            shelf.import(Source::Jsonl, &path).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(answered.load(Ordering::Relaxed) > 0);
    assert_eq!(shelf.index().facts().works, 54);
    let kept = std::fs::read_dir(shelf.folder.path().join("library/generations")).unwrap().count();
    assert_eq!(kept, 2, "the one that serves and the one before");
}

#[test]
fn another_process_takes_up_what_was_published() {
    let shelf = Shelf::of(&lines(5));
    let other = Library::open(&shelf.folder.path().join("library")).unwrap();
    shelf.import(Source::Jsonl, &shelf.file("more.jsonl", work(99, "more", "", &[]))).unwrap();
    assert_eq!(other.current().unwrap().facts().works, 5);
    other.refresh().unwrap();
    assert_eq!(other.current().unwrap().facts().works, 6);
    // What a crashed build leaves behind does no harm.
    std::fs::create_dir(shelf.folder.path().join("library/building")).unwrap();
    std::fs::write(shelf.folder.path().join("library/building/graph.tmp"), b"half").unwrap();
    shelf.import(Source::Jsonl, &shelf.file("more.jsonl", work(100, "more", "", &[]))).unwrap();
    assert_eq!(shelf.index().facts().works, 7);
}
