//! How well changes are told from noise, on generated pages in the shape of real sites: 60 pages in 20
//! versions each, with clocks, counters, adverts, shuffled lists, session ids, parts that are missing at times,
//! error pages and walls. What is true is kept in a model of each page that the detector never sees.
//!
//! Two corpora: rules were written while looking at the results of the first one. The second one has other
//! kinds of pages and was not looked at.

mod export;
mod held_out;
mod measure;
mod model;
mod random;
mod tuned;

use measure::{Figures, measure};

fn assert_good(name: &str, figures: &Figures) {
    println!("{name}: {figures}");
    assert_eq!(figures.empty, 0, "{name}: alerts without a difference");
    assert!(figures.precision() >= 0.98, "{name}: {figures}\n{}", figures.mistakes.join("\n"));
    assert!(figures.recall() >= 0.97, "{name}: {figures}\n{}", figures.mistakes.join("\n"));
    assert_eq!(figures.errors_told, figures.errors, "{name}: error pages taken for content");
}

#[test]
fn changes_are_told_from_noise() {
    let figures = measure(tuned::pages(1));
    assert_eq!(figures.versions, 60 * 20);
    assert_good("corpus", &figures);
}

#[test]
fn changes_are_told_from_noise_on_pages_of_other_kinds() {
    let figures = measure(held_out::pages(2));
    assert_eq!(figures.versions, 60 * 20);
    assert_good("held-out corpus", &figures);
}

/// `GANNET_TEST_WRITE=folder` writes both corpora there.
#[test]
fn corpora_are_written() {
    let Some(folder) = std::env::var_os("GANNET_TEST_WRITE").map(std::path::PathBuf::from) else { return };
    if folder.is_dir() {
        export::export(tuned::pages(1), &folder.join("corpus.jsonl"));
        export::export(held_out::pages(2), &folder.join("held-out.jsonl"));
    }
}
