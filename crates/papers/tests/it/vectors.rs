//! Embeddings next to the index: computed, reused, continued after an interruption, never of another text.

use crate::{Fixture, node, work};
use papers::{Embedder, PaperSource, SimilarQuery, Vectors};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model that counts letters: texts with the same letters have the same vector.
#[derive(Debug, Default)]
struct Letters {
    asked: AtomicUsize,
    /// Fails after this many texts, like a killed process.
    ends_after: Option<usize>,
}

impl Embedder for Letters {
    fn identity(&self) -> u64 {
        7
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let asked = self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        assert!(self.ends_after.is_none_or(|most| asked + texts.len() <= most), "the model was taken away");
        texts.iter().map(|text| letters(text)).collect()
    }
}

fn letters(text: &str) -> Vec<f32> {
    let mut counts = [0.0_f32; 26];
    for byte in text.bytes().map(|byte| byte.to_ascii_lowercase()).filter(u8::is_ascii_lowercase) {
        counts[usize::from(byte - b'a')] += 1.0;
    }
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt().max(1.0);
    counts.iter().map(|count| count / length).collect()
}

fn lines(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| {
            let letter = char::from(b'a' + (number % 26) as u8).to_string();
            work(number, &letter.repeat(5), &format!("Cells. {}", letter.repeat(20)), &[number / 2])
        })
        .collect()
}

#[test]
fn embeddings_change_the_ranking_where_words_cannot() {
    let fixture = Fixture::with_works(&lines(60));
    let model = Letters::default();
    fixture.library.make_vectors(&model, &|_, _| {}).unwrap();
    let index = fixture.index();
    assert_eq!(index.vectors().map(Vectors::filled), Some(60));
    index.verify().unwrap();
    let seed = node(&index, "10.1/1").unwrap();
    // No work has this word; only the model knows that it is made of z.
    let place = |meaning: Option<Vec<f32>>| {
        let query = SimilarQuery {
            seeds: vec![seed],
            intent: "cells zzzzzzzz".into(),
            k: 60,
            rerank: true,
            meaning,
            ..SimilarQuery::default()
        };
        let answer = index.similar(&query);
        let wanted = node(&index, "10.1/25").unwrap();
        let told = answer.notes.join("; ");
        (answer.results.iter().position(|ranked| ranked.node == wanted).unwrap(), told)
    };
    let (without, built_in) = place(None);
    let (with, by_model) = place(Some(letters("zzzzzzzz")));
    assert!(with < without, "{with} {without}");
    assert!(
        built_in.contains("no neural model") && by_model.contains("embedding model"),
        "{built_in} | {by_model}"
    );
}

#[test]
fn a_new_generation_reuses_unchanged_vectors() {
    let fixture = Fixture::with_works(&lines(20));
    fixture.library.make_vectors(&Letters::default(), &|_, _| {}).unwrap();
    let more = [work(3, "Another title", "Another text", &[]), work(99, "New", "", &[])].join("\n");
    fixture.import(PaperSource::Jsonl, &fixture.file("more.jsonl", more)).unwrap();
    assert_eq!(fixture.index().vectors().map(Vectors::filled), Some(19), "a changed text has no vector");
    let model = Letters::default();
    fixture.library.make_vectors(&model, &|_, _| {}).unwrap();
    assert_eq!(fixture.index().vectors().map(Vectors::filled), Some(21));
    // A whole and two parts for the changed work, a whole and one part for the new one.
    assert_eq!(model.asked.load(Ordering::SeqCst), 5);
}

#[test]
fn an_interrupted_run_continues() {
    let fixture = Fixture::with_works(&lines(200));
    let cut = Letters { ends_after: Some(300), ..Letters::default() };
    assert!(fixture.library.make_vectors(&cut, &|_, _| {}).is_err());
    assert!(fixture.index().vectors().is_none(), "half of it is nothing yet");
    let rest = Letters::default();
    fixture.library.make_vectors(&rest, &|_, _| {}).unwrap();
    assert_eq!(fixture.index().vectors().map(Vectors::filled), Some(200));
    assert!(rest.asked.load(Ordering::SeqCst) < 200 * 4, "finished vectors are kept");
    fixture.index().verify().unwrap();
}

#[test]
fn damaged_vectors_are_found_and_do_not_stop_the_index() {
    let fixture = Fixture::with_works(&lines(10));
    fixture.library.make_vectors(&Letters::default(), &|_, _| {}).unwrap();
    let path = fixture.folder.path().join("library/generations/000001.vectors");
    let whole = std::fs::read(&path).unwrap();
    let other = |bytes: &[u8]| {
        // A new file, as nothing ever writes into one that is served.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        papers::Index::open(&fixture.folder.path().join("library/generations/000001.papers")).unwrap()
    };
    let mut broken = whole.clone();
    broken[200] ^= 1;
    assert!(other(&broken).verify().is_err());
    for length in [1, 31, whole.len() / 2, whole.len() - 1] {
        let index = other(&whole[..length]);
        assert!(index.vectors().is_none() && index.verify().is_err(), "{length} bytes");
    }
    other(&whole).verify().unwrap();
}
