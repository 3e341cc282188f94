//! Weights that an import learns from the collection's own citations.

use crate::{Fixture, node, work};
use papers::{BuildOptions, CollectionWeights, PaperSource, SimilarQuery};

fn import_and_learn(lines: &[String]) -> Fixture {
    let fixture = Fixture::new();
    let path = fixture.file("works.jsonl", lines.join("\n"));
    let options = BuildOptions { now: 1_700_000_000, ..BuildOptions::default() };
    fixture.library.import(PaperSource::Jsonl, &[path], &options, &|_, _, _| {}).unwrap();
    fixture
}

/// Twenty works on five topics, and a hundred that cite three of one topic each.
fn many_works() -> Vec<String> {
    const TOPICS: [&str; 5] =
        ["yeast budding", "cortex attention", "light microscope", "fish larvae", "leaf root"];
    let cited = |number: usize| {
        let topic = TOPICS[number % 5];
        work(
            number,
            &format!("About {topic} {number}"),
            &format!("The {topic} number{number} observed."),
            &[],
        )
    };
    let citing = |number: usize| {
        let topic = TOPICS[number % 5];
        let references = [0, 5, 10].map(|step| 1 + (number + step) % 20);
        let text = format!("We measured {topic} in a series number{number} of experiments.");
        work(1_000 + number, &format!("Series {number} of {topic}"), &text, &references)
    };
    (1..=20).map(cited).chain((0..100).map(citing)).collect()
}

#[test]
fn an_import_learns_from_citations_and_the_same_import_learns_the_same() {
    let lines = many_works();
    let [one, other] = [import_and_learn(&lines), import_and_learn(&lines)];
    assert_eq!(one.index().weights(), other.index().weights());
    let index = one.index();
    let seed = node(&index, "10.1/1").unwrap();
    let asked = SimilarQuery {
        seeds: vec![seed],
        intent: "cortex attention".into(),
        k: 5,
        ..SimilarQuery::default()
    };
    assert!(!index.similar(&asked).results.is_empty());
    // A collection that replaces this one learns anew.
    assert!(one.folder.path().join("library/generations/000001.weights").exists());
}

#[test]
fn without_citations_rerank_keeps_the_order_of_the_default() {
    let lines: Vec<String> = (1..=12)
        .map(|number| work(number, &format!("Gannet {number}"), &"The gannet dives. ".repeat(number), &[]))
        .collect();
    let fixture = import_and_learn(&lines);
    let index = fixture.index();
    assert!(!index.weights().reads_texts);
    assert_eq!(index.weights().second, CollectionWeights::default().second);
    let seed = node(&index, "10.1/1").unwrap();
    let ask = |rerank: bool| {
        let query = SimilarQuery {
            seeds: vec![seed],
            intent: "gannet dives".into(),
            k: 20,
            rerank,
            ..SimilarQuery::default()
        };
        index.similar(&query).results.iter().map(|ranked| ranked.node).collect::<Vec<_>>()
    };
    assert_eq!(ask(true), ask(false));
}

#[test]
fn a_hidden_work_is_neither_found_nor_connects_others() {
    let fixture = Fixture::with_works(&[
        work(1, "Alpha", "First text", &[]),
        work(2, "Beta", "Second words", &[]),
        work(3, "Review", "Alpha and beta together", &[1, 2]),
    ]);
    let index = fixture.index();
    let [one, two, review] = ["10.1/1", "10.1/2", "10.1/3"].map(|name| node(&index, name).unwrap());
    let ask = |hidden| {
        let query = SimilarQuery {
            seeds: vec![one],
            intent: "review".into(),
            k: 10,
            hidden,
            ..SimilarQuery::default()
        };
        index.similar(&query).results.iter().map(|ranked| ranked.node).collect::<Vec<_>>()
    };
    let found = ask(None);
    assert!(found.contains(&two) && found.contains(&review), "{found:?}");
    assert!(ask(Some(review)).is_empty());
}
