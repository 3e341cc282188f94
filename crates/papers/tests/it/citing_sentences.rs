//! Weights that an import learns from the sentences in which works cite others.

use crate::{Fixture, node, work};
use papers::{BuildOptions, CollectionWeights, PaperSource, Result};
use std::sync::Mutex;

/// Imports and learns; what the import said.
fn import_and_learn(fixture: &Fixture, source: PaperSource, name: &str, text: &str) -> Result<Vec<String>> {
    let path = fixture.file(name, text);
    let options = BuildOptions { now: 1_700_000_000, ..BuildOptions::default() };
    let said = Mutex::new(Vec::new());
    let progress = |stage: &str, _, total| {
        if total == 0 {
            said.lock().unwrap().push(stage.to_owned());
        }
    };
    fixture.library.import(source, &[path], &options, &progress)?;
    Ok(said.into_inner().unwrap())
}

const TOPICS: [&str; 5] =
    ["yeast budding", "cortex attention", "light microscope", "fish larvae", "leaf root"];

fn cited(number: usize) -> String {
    let topic = TOPICS[number % 5];
    work(number, &format!("About {topic} {number}"), &format!("The {topic} number{number} observed."), &[])
}

/// A work with two sentences that cite two works of its topic each.
fn citing(number: usize) -> String {
    let topic = TOPICS[number % 5];
    let named = |step: usize| format!("doi:10.1/{}", 1 + (number + step) % 20);
    let context = |steps: [usize; 2]| {
        let text = format!("Two groups measured {topic} in the same series of experiments.");
        serde_json::json!({ "text": text, "references": steps.map(named) })
    };
    serde_json::json!({
        "ids": { "doi": [format!("10.1/{}", 1_000 + number)] },
        "title": format!("Series {number} of {topic}"),
        "references": [named(0)],
        "contexts": [context([0, 5]), context([5, 10])],
    })
    .to_string()
}

#[test]
fn an_import_learns_from_citing_sentences_and_says_so() {
    let lines: Vec<String> = (1..=20).map(cited).chain((0..100).map(citing)).collect();
    let fixture = Fixture::new();
    let said = import_and_learn(&fixture, PaperSource::Jsonl, "works.jsonl", &lines.join("\n")).unwrap();
    let wanted = "200 queries from citing sentences (100 works have such sentences)";
    assert!(said.iter().any(|line| line == wanted), "{said:#?}");
    let index = fixture.index();
    let series = node(&index, "10.1/1000").unwrap();
    assert_eq!(index.references().count(series), 3, "what a sentence cites is a reference");
    assert!(index.passages(series, "groups measured", 1).iter().all(|found| !found.text.contains("groups")));
    assert_ne!(index.weights().second, CollectionWeights::default().second, "{said:#?}");

    // Another import keeps what earlier ones taught.
    let other = work(5_000, "One more work", "Of no topic.", &[]);
    let said = import_and_learn(&fixture, PaperSource::Jsonl, "more.jsonl", &other).unwrap();
    assert!(said.iter().any(|line| line == wanted), "{said:#?}");
}

#[test]
fn a_few_citing_sentences_leave_the_queries_from_abstracts() {
    let lines: Vec<String> = (1..=20).map(cited).chain((0..10).map(citing)).collect();
    let said =
        import_and_learn(&Fixture::new(), PaperSource::Jsonl, "works.jsonl", &lines.join("\n")).unwrap();
    assert!(
        said.iter().any(|line| line.ends_with("queries from citations are too few to learn from")),
        "{said:#?}"
    );
}

#[test]
fn a_broken_context_is_an_error_with_its_line() {
    let broken =
        r#"{"ids":{"doi":"10.1/9"},"title":"t","contexts":[{"text":"Both","references":["doi:10.1/1",7]}]}"#;
    let wrong =
        r#"{"ids":{"doi":"10.1/9"},"title":"t","contexts":[{"text":"Both","references":["nowhere"]}]}"#;
    for (line, what) in
        [(broken, "invalid type: integer `7`"), (wrong, "contexts[0]: \"nowhere\" is not a reference")]
    {
        let text = format!("{}\n{line}", cited(1));
        let error = import_and_learn(&Fixture::new(), PaperSource::Jsonl, "works.jsonl", &text)
            .unwrap_err()
            .to_string();
        assert!(error.contains("works.jsonl:2: ") && error.contains(what), "{error}");
    }
}

#[test]
fn hostile_contexts_are_cut() {
    let references: Vec<String> = (0..5_000).map(|number| format!("doi:10.1/{number}")).collect();
    let context = serde_json::json!({ "text": "x ".repeat(1_000_000), "references": references });
    let small = serde_json::json!({ "text": "Both were seen", "references": ["doi:10.1/1", "doi:10.1/2"] });
    let mut contexts = vec![context; 2];
    contexts.resize(20_000, small);
    let line = serde_json::json!({ "ids": { "doi": "10.1/9" }, "title": "Hostile", "contexts": contexts });
    let fixture = Fixture::new();
    import_and_learn(&fixture, PaperSource::Jsonl, "works.jsonl", &line.to_string()).unwrap();
    let index = fixture.index();
    assert!(index.references().count(node(&index, "10.1/9").unwrap()) <= 25);
    let staged = fixture.folder.path().join("library/staged/000001.jsonl");
    assert!(std::fs::metadata(staged).unwrap().len() < 20_000);
}

#[test]
fn the_sentences_of_an_article_are_read() {
    let reference = |number: usize| {
        format!(
            r#"<ref id="bib{number}"><element-citation><pub-id pub-id-type="doi">10.1/{number}</pub-id></element-citation></ref>"#
        )
    };
    let cite = |number: usize| {
        format!(r#"<xref ref-type="bibr" rid="bib{number}">Doe et al., 20{number:02}</xref>"#)
    };
    let article = |number: usize| {
        let [one, other, third] = [0, 5, 10].map(|step| 1 + (number + step) % 20);
        format!(
            r#"<article><front><article-meta><article-id pub-id-type="doi">10.2/{number}</article-id>
            <title-group><article-title>Series {number}</article-title></title-group></article-meta></front>
            <body><p>A first claim ({}). Two groups measured it in the same series of experiments ({}; {}). See <xref ref-type="fig" rid="f1">Figure 1</xref>.</p>
            <p>Others measured it again in a longer series (<xref ref-type="bibr" rid="bib{one} bib{third}">1, 2</xref>).</p></body>
            <back><ref-list>{}{}{}</ref-list></back></article>"#,
            cite(one),
            cite(one),
            cite(other),
            reference(one),
            reference(other),
            reference(third),
        )
    };
    let fixture = Fixture::new();
    let works: Vec<String> = (1..=20).map(cited).collect();
    import_and_learn(&fixture, PaperSource::Jsonl, "works.jsonl", &works.join("\n")).unwrap();
    let articles: String = (0..80).map(article).collect();
    let said =
        import_and_learn(&fixture, PaperSource::Jats, "articles.xml", &format!("<all>{articles}</all>"))
            .unwrap();
    let wanted = "160 queries from citing sentences (80 works have such sentences)";
    assert!(said.iter().any(|line| line == wanted), "{said:#?}");
}
