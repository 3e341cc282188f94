//! Ranking of search results and related papers.

use crate::{Fixture, node, work};
use papers::{Date, Filter, Mode, SearchQuery, SimilarQuery};

fn fixture() -> Fixture {
    Fixture::with_works(&[
        work(1, "Attention in visual cortex", "Neurons in visual cortex change their firing with attention", &[10, 11, 12]),
        work(2, "Firing rates under attention", "Attention modulates firing rates of neurons in macaque cortex", &[10, 11, 13]),
        work(3, "Calcium imaging methods", "A microscope for calcium imaging of cortex in awake mice", &[10, 14]),
        work(4, "Yeast genetics", "Screening of deletion strains in budding yeast", &[20, 21]),
        work(5, "Reviews cited beside", "Overview", &[1, 2]),
        work(6, "Island", "Attention deficits in zebrafish larvae", &[]),
        r#"{"ids":{"doi":["10.1/7"],"pmid":["77"],"arxiv":["2101.00007"]},"title":"Dated and signed","abstract":"Budding yeast again","authors":["Ada Lovelace","B. Babbage"],"categories":["Cell Biology"],"created":"2020-05-06","passages":["The first passage is about microscopes.","The second one speaks of yeast mating types."]}"#.to_owned(),
    ])
}

fn ask(intent: &str, seed: u32) -> SimilarQuery {
    SimilarQuery { seeds: vec![seed], intent: intent.into(), k: 40, ..SimilarQuery::default() }
}

#[test]
fn intent_moves_the_ranking() {
    let fixture = fixture();
    let index = fixture.index();
    let seed = node(&index, "10.1/1").unwrap();
    let [two, three] = ["10.1/2", "10.1/3"].map(|name| node(&index, name).unwrap());
    let lead = |intent: &str, rerank| {
        let answer = index.similar(&SimilarQuery { rerank, ..ask(intent, seed) });
        let score = |wanted: u32| answer.results.iter().find(|ranked| ranked.node == wanted).unwrap().score;
        score(two) - score(three)
    };
    for rerank in [false, true] {
        let (firing, imaging) =
            (lead("firing rates of neurons", rerank), lead("microscope for calcium imaging in mice", rerank));
        assert!(firing > 0.0 && firing > imaging + 0.05, "{firing} {imaging}");
    }
    let answer = index.similar(&ask("attention", seed));
    assert!(answer.results.iter().all(|ranked| ranked.node != seed
        && (0.0..=1.0).contains(&ranked.score)
        && (0.0..=1.0).contains(&ranked.signals.semantic)));
    assert!(answer.results.is_sorted_by(|one, other| one.score >= other.score));
    assert_eq!(answer.results[0].signals.seed_overlap, 1);
}

#[test]
fn a_seed_without_edges_is_answered_by_text() {
    let fixture = fixture();
    let index = fixture.index();
    let seed = node(&index, "10.1/6").unwrap();
    let answer = index.similar(&ask("attention", seed));
    assert!(answer.results.len() >= 2);
    assert!(answer.notes.iter().any(|note| note.contains("found by their text")), "{:?}", answer.notes);
    let unknown = index.similar(&ask("qwertyuiop", seed));
    assert!(unknown.notes.iter().any(|note| note.contains("no word of the intent")), "{:?}", unknown.notes);
}

#[test]
fn anchors_add_candidates_and_exclusions_lower_them() {
    let fixture = fixture();
    let index = fixture.index();
    let [one, two, three, four] =
        ["10.1/1", "10.1/2", "10.1/3", "10.1/4"].map(|name| node(&index, name).unwrap());
    let both = index.similar(&SimilarQuery { seeds: vec![one, two], ..ask("cortex", one) });
    assert!(both.results.iter().any(|ranked| ranked.signals.seed_overlap == 2));
    assert!(both.results.iter().all(|ranked| ranked.node != one && ranked.node != two));
    let place = |exclude: Vec<u32>| {
        let answer = index.similar(&SimilarQuery { exclude, ..ask("cortex imaging", one) });
        answer.results.iter().position(|ranked| ranked.node == three).unwrap()
    };
    assert!(place(vec![two, four]) <= place(vec![]));
    assert!(
        index
            .similar(&SimilarQuery { exclude: vec![three], ..ask("cortex imaging", one) })
            .results
            .iter()
            .all(|ranked| ranked.node != three)
    );
}

#[test]
fn filters_are_applied() {
    let fixture = fixture();
    let index = fixture.index();
    let seven = node(&index, "10.1/7").unwrap();
    let search = |text: &str, filter: Filter| {
        index
            .search(&SearchQuery { text: text.into(), k: 10, filter })
            .iter()
            .map(|(node, _)| *node)
            .collect::<Vec<_>>()
    };
    assert_eq!(search("budding yeast", Filter::default()).len(), 2);
    assert_eq!(
        search(
            "budding yeast",
            Filter { authors: vec!["lovelace".into(), "BABB".into()], ..Filter::default() }
        ),
        [seven]
    );
    assert!(
        search(
            "budding yeast",
            Filter { authors: vec!["lovelace".into(), "Turing".into()], ..Filter::default() }
        )
        .is_empty()
    );
    assert_eq!(
        search("budding yeast", Filter { categories: vec!["cell".into()], ..Filter::default() }),
        [seven]
    );
    let day = |text: &str| Date::parse(text);
    assert_eq!(
        search(
            "budding yeast",
            Filter { from: day("2020-05-06"), to: day("2020-05-06"), ..Filter::default() }
        ),
        [seven]
    );
    assert!(search("budding yeast", Filter { from: day("2020-05-07"), ..Filter::default() }).is_empty());
    assert_eq!(search("https://doi.org/10.1/7", Filter::default())[0], seven);
    assert!(search("", Filter::default()).is_empty());
}

#[test]
fn passages_come_from_the_full_text_or_the_abstract() {
    let fixture = fixture();
    let index = fixture.index();
    let full = index.passages(node(&index, "pmid:77").unwrap(), "yeast mating", 1);
    assert!(full[0].text.starts_with("The second one") && full[0].score > 0.0);
    let from_abstract = index.passages(node(&index, "10.1/1").unwrap(), "neurons", 4);
    assert_eq!(from_abstract[0].text, "Neurons in visual cortex change their firing with attention");
    let cited_only = node(&index, "10.1/20").unwrap();
    assert!(index.passages(cited_only, "anything", 4).is_empty());
}

#[test]
fn every_spelling_finds_the_same_paper() {
    let fixture = fixture();
    let index = fixture.index();
    let paper = index.paper(node(&index, "10.1/7").unwrap()).unwrap();
    assert_eq!(paper.primary.to_string(), "arxiv:2101.00007");
    for name in [
        "DOI:10.1/7",
        "https://doi.org/10.1/7",
        "arXiv:2101.00007v3",
        "2101.00007",
        "http://arxiv.org/pdf/2101.00007.pdf",
        "PMID:077",
        &paper.number.to_string(),
    ] {
        assert_eq!(node(&index, name), Some(paper.node), "{name}");
    }
    for name in ["pmid:10.1/7", "doi:10.1/", "123", "10.1/nothing", "arxiv:77"] {
        assert_eq!(node(&index, name), None, "{name}");
    }
}

#[test]
fn absurd_queries_are_cheap() {
    let fixture = fixture();
    let index = fixture.index();
    let seed = node(&index, "10.1/1").unwrap();
    let long = "attention ".repeat(10_000);
    assert!(!index.similar(&ask(&long, seed)).results.is_empty());
    let many: Vec<u32> = (0..200).map(|_| seed).collect();
    let answer = index.similar(&SimilarQuery { seeds: many, ..ask("cortex", seed) });
    assert!(answer.notes.iter().any(|note| note.contains("first 50")), "{:?}", answer.notes);
    let stub = node(&index, "10.1/10").unwrap();
    assert!(!index.similar(&ask("cortex", stub)).results.is_empty(), "a cited-only seed works");
    assert!(index.similar(&SimilarQuery { mode: Mode::References, ..ask("x", stub) }).results.is_empty());
}
