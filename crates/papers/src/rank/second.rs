//! The second pass over the best of the first: pseudo-relevance feedback (what do the best candidates have in common?) and a walk
//! that starts from the works nearest to the intent. When asked to re-rank, it also reads each candidate's text: its title and its
//! single best sentence against the intent.

use super::features::{COUNT, Candidate};
use super::lexical::{Scorer, TermQuery};
use super::structure::{EdgeBudget, Structure};
use crate::index::Index;
use crate::text::for_each_term;

/// Features of the second pass, after those of the first.
pub const SECOND_FEATURES: [&str; 11] = [
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
];
/// From here on, features need the texts of candidates.
pub const READING: usize = 9;
/// Number of features of the second pass.
pub const SECOND_COUNT: usize = SECOND_FEATURES.len();

/// Candidates that feedback learns from.
const FEEDBACK_DOCUMENTS: usize = 8;
/// Works nearest to the intent from which the walk starts.
const INTENT_STARTS: usize = 10;
/// Bytes of an abstract that are cut into sentences.
const SENTENCE_BYTES: usize = 8 << 10;

/// Describes `best` (in the order of the first pass) anew. Without `reading`, what needs the texts stays zero.
pub fn describe(
    index: &Index,
    best: &[Candidate],
    intent: &TermQuery,
    nearest_to_intent: &[(u32, f32)],
    reading: bool,
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
            if let Some(paper) = reading.then(|| index.paper(candidate.node)).flatten() {
                row[COUNT + 2] = sentences(&paper.abstract_text)
                    .map(|sentence| overlap(index, &weights, sentence))
                    .fold(0.0, f32::max);
                row[COUNT + 3] = overlap(index, &weights, &paper.title);
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

/// Sentences, roughly: cut at a full stop, question or exclamation mark before a space.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(SENTENCE_BYTES)];
    text.split_inclusive(['.', '?', '!'])
        .scan(0_usize, move |start, piece| {
            let begin = *start;
            *start += piece.len();
            Some((begin, *start))
        })
        .scan(0_usize, move |open, (_, end)| {
            let ends = text[end..].chars().next().is_none_or(char::is_whitespace);
            if ends {
                let sentence = text[*open..end].trim();
                *open = end;
                Some(Some(sentence))
            } else {
                Some(None)
            }
        })
        .flatten()
        .filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn sentences_end_before_a_space() {
        let found: Vec<_> = super::sentences("First, 3.5 mg. Second? Third e.g.this. Tail").collect();
        assert_eq!(found, ["First, 3.5 mg.", "Second?", "Third e.g.this.", "Tail"]);
        assert_eq!(super::sentences("").count(), 0);
        assert_eq!(super::sentences("...").count(), 1);
    }
}
