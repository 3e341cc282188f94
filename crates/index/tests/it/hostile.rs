//! Hostile documents and queries.

use crate::{Fixture, NOW, page, query};
use index::{Document, Filter, Image, Query};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

#[test]
fn hostile_documents_cost_little_and_stay_findable() {
    let heading = "a".to_owned();
    let giant = "x".repeat(5 << 20);
    let documents = [
        Document {
            headings: vec![heading; 1_000_000],
            ..page("https://headings.example/", "headings", "gannet")
        },
        page("https://token.example/", "token", &format!("gannet {giant}")),
        page(
            "https://control.example/",
            "control \u{0}\u{1}\u{1b}",
            &format!("gannet {}", "\u{0}\u{1}".repeat(100_000)),
        ),
        page(&format!("https://url.example/{giant}"), "url", "gannet"),
        page("https://words.example/", "words", &format!("gannet {}", "gannet ".repeat(1 << 20))),
        page("not an address", "nowhere", "gannet"),
        Document {
            links: vec![u64::MAX; 1_000_000],
            images: vec![Image { url: giant.clone(), text: giant.clone(), width: None, height: None }; 10],
            kind: Some(giant.clone()),
            language: Some(giant.clone()),
            attributes: (0..10_000).map(|at| (format!("a.{at}"), "1e999\n\u{0}".to_owned())).collect(),
            published: Some(i64::MIN),
            ..page("https://parts.example/", &giant, "gannet")
        },
        page("https://marks.example/", "marks", &"e\u{301}\u{301}\u{301}".repeat(100_000)),
    ];
    let start = Instant::now();
    let fixture = Fixture::with_pages(documents);
    assert_eq!(fixture.ask("gannet").len(), 7);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(fixture.index.status().unwrap().bytes < 10 << 20);
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    Fixture::with_pages((0..20).map(|at| {
        page(&format!("https://{at}.example/a/b"), "Gannet", "to be or not to be 東京タワー C++ gannets")
    }))
});

fn all_of(text: &str) -> Query {
    let list = || vec![text.to_owned()];
    Query {
        phrases: list(),
        without: list(),
        in_title: list(),
        in_url: list(),
        file_types: list(),
        sites: list(),
        without_sites: list(),
        language: Some(text.to_owned()),
        kinds: list(),
        filters: vec![Filter::Is(text.into(), list()), Filter::AtLeast(text.into(), f64::NAN)],
        valued: vec![(text.to_owned(), f32::NAN)],
        passages: usize::MAX,
        since: Some(i64::MIN),
        until: Some(i64::MAX),
        now: i64::MAX,
        ..query(text)
    }
}

#[test]
fn odd_queries_are_answered() {
    let fixture = &*FIXTURE;
    for nothing in ["", "   ", "?!… —", "\u{0}\u{1}", "\"\"", "~"] {
        assert!(fixture.ask(nothing).is_empty(), "{nothing:?}");
    }
    for something in [
        "the gannet of the",
        "to be",
        &"gannet ".repeat(70),
        &format!("gannet {}", "a b c d e f g ".repeat(40)),
    ] {
        assert_eq!(fixture.ask(something).len(), 10, "{something}");
    }
    assert!(fixture.search(&Query { limit: 0, ..query("gannet") }).hits.is_empty());
    assert_eq!(fixture.search(&Query { limit: usize::MAX, ..query("gannet") }).hits.len(), 20);
    assert_eq!(fixture.search(&Query { now: NOW, ..query("gannet") }).searched, 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_query_is_bounded(text in "\\PC{0,500}", mixed in "[a-zé東京タワ~+#\" .:/\\-]{0,200}") {
        for text in [text.as_str(), mixed.as_str()] {
            let start = Instant::now();
            let found = FIXTURE.search(&query(text));
            prop_assert!(found.hits.len() <= 10 && found.hits.iter().all(|hit| hit.score.is_finite()));
            FIXTURE.search(&all_of(text));
            prop_assert!(start.elapsed() < Duration::from_secs(2));
        }
    }
}
