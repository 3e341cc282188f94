//! Lists of the index compared with the imported edges.

use crate::{Fixture, node, work};
use papers::{Mode, SimilarQuery};
use std::collections::{BTreeMap, BTreeSet};

/// Pseudo-random edges with hubs: low numbers are cited far more often.
fn edges(works: usize, each: usize) -> BTreeSet<(usize, usize)> {
    let mut state = 12_345_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut out = BTreeSet::new();
    for citing in 0..works {
        for _ in 0..each {
            let cited = next() % (works * 2) * (next() % 100) / 100;
            out.insert((citing, cited));
        }
    }
    out
}

#[test]
fn references_and_citers_equal_the_edges() {
    let (works, edges) = (600, edges(600, 12));
    let mut references = BTreeMap::<usize, Vec<usize>>::new();
    for (citing, cited) in &edges {
        references.entry(*citing).or_default().push(*cited);
    }
    let lines: Vec<String> = (0..works)
        .map(|number| work(number, &format!("work number {number}"), "", &references[&number]))
        .collect();
    let fixture = Fixture::with_works(&lines);
    let index = fixture.index();
    index.verify().unwrap();

    let without_loops: BTreeSet<(usize, usize)> =
        edges.into_iter().filter(|(citing, cited)| citing != cited).collect();
    assert_eq!(index.facts().edges, without_loops.len() as u64);
    assert!(index.facts().nodes > index.facts().works, "cited-only works are nodes");
    let node_of = |number: usize| node(&index, &format!("doi:10.1/{number}"));
    let number_of = |node: u32| {
        index.paper(node).unwrap().primary.value().trim_start_matches("10.1/").parse::<usize>().unwrap()
    };
    let mut out = BTreeSet::new();
    let mut back = BTreeSet::new();
    for number in 0..works * 2 {
        let Some(node) = node_of(number) else { continue };
        index.references().for_each(node, |target| {
            out.insert((number, number_of(target)));
        });
        index.citers().for_each(node, |source| {
            back.insert((number_of(source), number));
        });
    }
    assert_eq!(out, without_loops);
    assert_eq!(back, without_loops);

    // The same through a query: nothing is lost before the limit.
    let seed = node_of(1).unwrap();
    let ask = |mode| {
        index.similar(&SimilarQuery {
            seeds: vec![seed],
            intent: "work".into(),
            mode,
            k: 500,
            ..SimilarQuery::default()
        })
    };
    let cited: BTreeSet<usize> =
        ask(Mode::References).results.iter().map(|ranked| number_of(ranked.node)).collect();
    assert_eq!(cited, without_loops.iter().filter(|edge| edge.0 == 1).map(|edge| edge.1).collect());
    let citers = ask(Mode::Citers);
    assert_eq!(citers.pool_size, without_loops.iter().filter(|edge| edge.1 == 1).count());
    assert_eq!(citers.truncated, citers.pool_size > 500);
}

#[test]
fn a_hub_is_sampled_and_says_so() {
    const CITERS: usize = 30_000;
    let mut lines = vec![work(0, "the famous method", "a method everybody cites", &[])];
    lines.extend((1..=CITERS).map(|number| work(number, "a user of the method", "", &[0, number % 50 + 1])));
    let fixture = Fixture::with_works(&lines);
    let index = fixture.index();
    let seed = node(&index, "doi:10.1/0").unwrap();
    assert_eq!(index.citers().count(seed) as usize, CITERS);
    let mut all = Vec::new();
    index.citers().for_each(seed, |node| all.push(node));
    assert_eq!(all.len(), CITERS);
    let mut sample = Vec::new();
    assert_eq!(index.citers().sample(seed, 1_000, |node| sample.push(node)), CITERS);
    assert!((900..=1_100).contains(&sample.len()), "{}", sample.len());
    assert!(sample.iter().max() > Some(&(CITERS as u32 / 10 * 9)), "spread over the whole list");

    let query = SimilarQuery { seeds: vec![seed], intent: "users".into(), k: 10, ..SimilarQuery::default() };
    let answer = index.similar(&query);
    assert!(
        answer.truncated && answer.notes.iter().any(|note| note.contains("sampled")),
        "{:?}",
        answer.notes
    );
    let answer = index.similar(&SimilarQuery { mode: Mode::Citers, ..query });
    assert_eq!(answer.pool_size, CITERS);
    assert!(answer.notes.iter().any(|note| note.contains("sample")), "{:?}", answer.notes);
}
