//! The second pass over the best of the first: pseudo-relevance feedback (what do the best candidates have in common?) and a walk
//! that starts from the works nearest to the intent. When asked to re-rank, it also reads each candidate's text: its title and its
//! single best sentence against the intent; and, where a model is installed, compares what text and intent mean.

use super::features::{COUNT, Candidate};
use super::lexical::{Scorer, TermQuery};
use super::structure::{EdgeBudget, Structure};
use crate::index::Index;
use crate::text::{for_each_term, sentences};

/// Features of the second pass, after those of the first.
pub const SECOND_FEATURES: [&str; 13] = [
    "intent",
    "seed",
    "walk",
    "coupling",
    "cocitation",
    "link",
    "rank",
    "feedback",
    "intent-walk",
    "sentence",
    "title",
    "meaning",
    "passage",
];
/// From here on, features need the texts of candidates.
pub const READING: usize = 9;
/// From here on, features need the vectors of a model.
pub const MEANING: usize = 11;
/// Number of features of the second pass.
pub const SECOND_COUNT: usize = SECOND_FEATURES.len();

/// Candidates that feedback learns from.
const FEEDBACK_DOCUMENTS: usize = 8;
/// Works nearest to the intent from which the walk starts.
const INTENT_STARTS: usize = 10;

/// How candidates are looked at in the second pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading<'a> {
    /// Titles and sentences are read.
    pub texts: bool,
    /// The intent as a vector of the model that the index has vectors of.
    pub meaning: Option<&'a [f32]>,
}

/// Describes `best` (in the order of the first pass) anew. What is not read stays zero.
pub fn describe(
    index: &Index,
    best: &[Candidate],
    intent: &TermQuery,
    nearest_to_intent: &[(u32, f32)],
    reading: Reading<'_>,
) -> Vec<[f32; SECOND_COUNT]> {
    let mut feedback = TermQuery::default();
    for (place, candidate) in best.iter().take(FEEDBACK_DOCUMENTS).enumerate() {
        feedback.add(&TermQuery::from_document(index, candidate.node), 1.0 / (place as f32 + 2.0));
    }
    feedback.add(intent, 1.0);
    let scorer = Scorer::new(index, [&feedback]);

    let starts: Vec<(u32, f32)> =
        nearest_to_intent.iter().take(INTENT_STARTS).map(|(node, score)| (*node, score * score)).collect();
    let walk =
        Structure::default().walk_from(index, &starts, EdgeBudget { walk: 8_000, ..EdgeBudget::default() });

    let mut weights: Vec<(u32, f32)> =
        intent.terms.iter().map(|(term, _, rarity)| (*term, *rarity)).collect();
    weights.sort_unstable_by_key(|(term, _)| *term);
    let mut rows: Vec<[f32; SECOND_COUNT]> = best
        .iter()
        .map(|candidate| {
            let mut row = [0.0; SECOND_COUNT];
            row[..COUNT].copy_from_slice(&candidate.features);
            row[COUNT] = scorer.score(index, candidate.node)[0];
            row[COUNT + 1] = walk.get(candidate.node);
            if let Some(paper) = reading.texts.then(|| index.paper(candidate.node)).flatten() {
                row[COUNT + 2] = sentences(&paper.abstract_text)
                    .map(|sentence| overlap(index, &weights, sentence))
                    .fold(0.0, f32::max);
                row[COUNT + 3] = overlap(index, &weights, &paper.title);
            }
            let nearness = |meaning| index.vectors()?.nearness(candidate.node, meaning);
            if let Some((whole, part)) = reading.meaning.and_then(nearness) {
                row[MEANING] = whole.max(0.0);
                row[MEANING + 1] = part.max(0.0);
            }
            row
        })
        .collect();
    for column in COUNT..SECOND_COUNT {
        let most = rows.iter().map(|row| row[column]).fold(0.0, f32::max);
        for row in &mut rows {
            row[column] = if most > 0.0 { row[column] / most } else { 0.0 };
        }
    }
    rows
}

/// Weight of the intent's terms found in `text`, damped by how long the text is.
fn overlap(index: &Index, weights: &[(u32, f32)], text: &str) -> f32 {
    let (mut found, mut terms) = (Vec::new(), 0);
    for_each_term(text, |hash| {
        terms += 1;
        if let Some(place) =
            index.term(hash).and_then(|term| weights.binary_search_by_key(&term, |(term, _)| *term).ok())
        {
            found.push(place);
        }
    });
    found.sort_unstable();
    found.dedup();
    let weight: f32 = found.iter().map(|place| weights[*place].1).sum();
    weight / (terms as f32 + 5.0).sqrt()
}
