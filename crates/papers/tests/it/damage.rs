//! Damaged files, and generations that change while they are read.

use crate::{Fixture, node, work};
use papers::{Index, Library, PaperSource, SearchQuery, SimilarQuery};
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
fn any_damaged_byte_is_detected_and_none_causes_a_panic() {
    let fixture = Fixture::with_works(&lines(60));
    let path = fixture.folder.path().join("library/generations/000001.papers");
    let whole = std::fs::read(&path).unwrap();
    Index::open(&path).unwrap().verify().unwrap();
    let broken = fixture.folder.path().join("broken");
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
fn generations_change_under_load_without_errors() {
    let fixture = Fixture::with_works(&lines(50));
    let stop = AtomicBool::new(false);
    let answered = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let index = fixture.library.current().unwrap();
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
            let path = fixture.file("more.jsonl", work(1_000 + round, "one more study", "", &[4]));
            fixture.import(PaperSource::Jsonl, &path).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(answered.load(Ordering::Relaxed) > 0);
    assert_eq!(fixture.index().facts().works, 54);
    let kept = std::fs::read_dir(fixture.folder.path().join("library/generations")).unwrap().count();
    assert_eq!(kept, 2, "the current one and the one before");
}

#[test]
fn another_process_opens_a_published_generation() {
    let fixture = Fixture::with_works(&lines(5));
    let other = Library::open(&fixture.folder.path().join("library")).unwrap();
    fixture.import(PaperSource::Jsonl, &fixture.file("more.jsonl", work(99, "more", "", &[]))).unwrap();
    assert_eq!(other.current().unwrap().facts().works, 5);
    other.refresh().unwrap();
    assert_eq!(other.current().unwrap().facts().works, 6);
    // Leftovers of a crashed build do no harm.
    std::fs::create_dir(fixture.folder.path().join("library/building")).unwrap();
    std::fs::write(fixture.folder.path().join("library/building/graph.tmp"), b"half").unwrap();
    fixture.import(PaperSource::Jsonl, &fixture.file("more.jsonl", work(100, "more", "", &[]))).unwrap();
    assert_eq!(fixture.index().facts().works, 7);
}
