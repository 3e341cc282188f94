//! The second pass over the best candidates of the first: pseudo-relevance feedback (what the best candidates
//! have in common) and a random walk from the works most similar to the intent. With re-ranking, it also
//! compares the title and the best sentence of each candidate with the intent and, if a model is installed,
//! their embeddings.

use super::citation_graph::{EdgeBudget, Hidden, Structure};
use super::features::{COUNT, PoolCandidate};
use super::lexical::{Scorer, TermQuery};
use crate::index::Index;
use crate::terms::{for_each_term, sentences};

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
/// Features from this index on need the texts of candidates.
pub const READING: usize = 9;
/// Features from this index on need embeddings.
pub const MEANING: usize = 11;
/// Number of features of the second pass.
pub const SECOND_COUNT: usize = SECOND_FEATURES.len();

/// Candidates used for feedback.
const FEEDBACK_DOCUMENTS: usize = 8;
/// Sentences of the intent that are matched one by one.
const MAX_INTENT_SENTENCES: usize = 8;
/// Works most similar to the intent from which the walk starts.
const INTENT_STARTS: usize = 10;

/// Options of the second pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct SecondPassInput<'a> {
    /// The intent; `None` if titles and sentences are not read.
    pub texts: Option<&'a str>,
    /// The embedding of the intent by the model of the index's vectors.
    pub meaning: Option<&'a [f32]>,
    /// A work that is treated as if it did not exist.
    pub hidden: Option<u32>,
}

/// Computes the features of `best` (in the order of the first pass). Features that need texts stay zero
/// without them.
pub fn describe(
    index: &Index,
    best: &[PoolCandidate],
    intent: &TermQuery,
    nearest_to_intent: &[(u32, f32)],
    reading: SecondPassInput<'_>,
) -> Vec<[f32; SECOND_COUNT]> {
    let mut feedback = TermQuery::default();
    for (place, candidate) in best.iter().take(FEEDBACK_DOCUMENTS).enumerate() {
        feedback.add(&TermQuery::from_document(index, candidate.node), 1.0 / (place as f32 + 2.0));
    }
    feedback.add(intent, 1.0);
    let scorer = Scorer::new(index, [&feedback]);

    let starts: Vec<(u32, f32)> =
        nearest_to_intent.iter().take(INTENT_STARTS).map(|(node, score)| (*node, score * score)).collect();
    let budget = EdgeBudget { walk: 8_000, pairs: 0, ..EdgeBudget::default() };
    let mut structure = Structure::around(index, &[], budget, Hidden::new(index, reading.hidden));
    let walk = structure.walk_from(index, &starts, budget);

    let whole = sorted_weights(intent);
    let parts = intent_parts(index, reading.texts.unwrap_or_default());
    let mut rows: Vec<[f32; SECOND_COUNT]> = best
        .iter()
        .map(|candidate| {
            let mut row = [0.0; SECOND_COUNT];
            row[..COUNT].copy_from_slice(&candidate.features);
            row[COUNT] = scorer.score(index, candidate.node)[0];
            row[COUNT + 1] = walk.get(candidate.node);
            if let Some(paper) = reading.texts.and_then(|_| index.paper(candidate.node)) {
                let best_sentence = |part: &Vec<(u32, f32)>| {
                    let fits = sentences(&paper.abstract_text).map(|sentence| overlap(index, part, sentence));
                    fits.fold(0.0, f32::max)
                };
                row[COUNT + 2] = parts.iter().map(best_sentence).sum();
                row[COUNT + 3] = overlap(index, &whole, &paper.title);
            }
            let similarity = |meaning| index.vectors()?.similarity(candidate.node, meaning);
            if let Some((whole, part)) = reading.meaning.and_then(similarity) {
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

/// The terms of each sentence of the intent: a long intent is about several things, and each of them may be
/// in another sentence of an abstract.
fn intent_parts(index: &Index, intent: &str) -> Vec<Vec<(u32, f32)>> {
    let parts = sentences(intent).map(|sentence| sorted_weights(&TermQuery::from_text(index, sentence)));
    parts.filter(|part| !part.is_empty()).take(MAX_INTENT_SENTENCES).collect()
}

fn sorted_weights(text: &TermQuery) -> Vec<(u32, f32)> {
    let mut weights: Vec<(u32, f32)> = text.terms.iter().map(|(term, _, rarity)| (*term, *rarity)).collect();
    weights.sort_unstable_by_key(|(term, _)| *term);
    weights
}

/// Weight of the intent's terms in `text`, reduced by the length of the text.
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
