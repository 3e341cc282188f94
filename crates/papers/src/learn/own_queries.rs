//! Queries with a known answer, made from the collection alone: a work that cites two others says that they
//! belong together, and one of its own sentences says why. The ranker is asked as if the citing work did not
//! exist.

use crate::index::Index;
use crate::rank::{Scorer, TermQuery};
use crate::terms::sentences;

/// Queries, and works that are looked at to find them.
pub const MAX_QUERIES: usize = 1_500;
const MAX_EXAMINED: u32 = 100_000;
/// References of one work that are considered.
const MAX_CITED: usize = 60;
/// Queries of one work.
pub const QUERIES_PER_WORK: usize = 2;
/// One in this many queries asks by the title instead of a sentence.
const TITLE_QUERY_INTERVAL: usize = 7;
/// Shorter sentences say too little to be an intent.
pub const MIN_SENTENCE_BYTES: usize = 30;
/// A large prime: its multiples visit the works of all times alike, each once.
const STRIDE: u64 = 2_654_435_761;

/// A query made from a citing work.
#[derive(Debug, Clone)]
pub struct OwnQuery {
    pub citing: u32,
    pub seed: u32,
    /// What should be found.
    pub relevant: Vec<u32>,
    pub intent: String,
}

impl OwnQuery {
    /// Where in `nodes` the works are that should be found.
    pub fn places(&self, nodes: impl Iterator<Item = u32>) -> Vec<usize> {
        nodes.enumerate().filter(|(_, node)| self.relevant.contains(node)).map(|(place, _)| place).collect()
    }
}

pub fn own_queries(index: &Index) -> Vec<OwnQuery> {
    let works = index.facts().works;
    let mut queries = Vec::new();
    for turn in 0..works.min(MAX_EXAMINED) {
        let citing = (u64::from(turn) * STRIDE % u64::from(works)) as u32;
        add_queries(index, citing, &mut queries);
        if queries.len() >= MAX_QUERIES {
            break;
        }
    }
    queries
}

fn add_queries(index: &Index, citing: u32, queries: &mut Vec<OwnQuery>) {
    let mut cited = Vec::new();
    index.references().sample(citing, MAX_CITED, |node| {
        if node != citing && index.is_work(node) && !index.document(node).is_empty() {
            cited.push(node);
        }
    });
    cited.sort_unstable();
    cited.dedup();
    if cited.len() < 2 {
        return;
    }
    let Some(paper) = index.paper(citing) else { return };
    for turn in 0..QUERIES_PER_WORK.min(cited.len() - 1) {
        // Evenly spread over the references, beginning anywhere.
        let seed = cited[(citing as usize + turn * cited.len() / QUERIES_PER_WORK) % cited.len()];
        let scorer = Scorer::new(index, [&TermQuery::from_document(index, seed)]);
        let near = |node: &u32| scorer.score(index, *node)[0];
        // The one nearest to the seed: they may be cited in one sentence.
        let others = cited.iter().copied().filter(|node| *node != seed);
        let Some(relevant) = others.max_by(|one, other| near(one).total_cmp(&near(other))) else { return };
        let by_title = queries.len().is_multiple_of(TITLE_QUERY_INTERVAL);
        let sentence = if by_title { None } else { sentence_about(index, &paper.abstract_text, seed) };
        let intent = sentence.unwrap_or(&paper.title);
        if !intent.is_empty() {
            queries.push(OwnQuery { citing, seed, relevant: vec![relevant], intent: intent.to_owned() });
        }
    }
}

/// The sentence of a text that fits a work best.
fn sentence_about<'a>(index: &Index, text: &'a str, work: u32) -> Option<&'a str> {
    let fit = |sentence: &str| {
        let terms = TermQuery::from_text(index, sentence);
        Scorer::new(index, [&terms]).score(index, work)[0] / (5.0 + terms.terms.len() as f32).sqrt()
    };
    sentences(text)
        .filter(|sentence| sentence.len() > MIN_SENTENCE_BYTES)
        .max_by(|one, other| fit(one).total_cmp(&fit(other)))
}
