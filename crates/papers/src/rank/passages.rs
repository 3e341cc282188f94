//! The passages of a paper that match a query best.

use super::accumulator::largest;
use super::lexical::TermQuery;
use crate::index::Index;
use crate::terms::{for_each_term, sentences};

/// Sentences per passage of an abstract.
const SENTENCES_PER_PASSAGE: usize = 2;
const SATURATION: f32 = 1.2;

/// A passage of a paper with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredPassage {
    pub text: String,
    /// 0 to 1.
    pub score: f64,
}

impl Index {
    /// The `k` best passages of a paper for a query: from its full text if there is one, else from its
    /// abstract.
    pub fn passages(&self, node: u32, question: &str, k: usize) -> Vec<ScoredPassage> {
        let mut texts = self.passages_of(node);
        if texts.is_empty() {
            let Some(paper) = self.paper(node) else { return Vec::new() };
            let all: Vec<&str> = sentences(&paper.abstract_text).collect();
            texts = all.chunks(SENTENCES_PER_PASSAGE).map(|chunk| chunk.join(" ")).collect();
        }
        let terms = TermQuery::from_text(self, question);
        let mut weights: Vec<(u32, f32)> =
            terms.terms.iter().map(|(term, weight, rarity)| (*term, weight * rarity)).collect();
        weights.sort_unstable_by_key(|(term, _)| *term);
        let highest = terms.max_score().max(f32::MIN_POSITIVE) / (SATURATION + 1.0);
        let scored = texts
            .iter()
            .enumerate()
            .map(|(place, text)| (place as u32, self.passage_score(&weights, text) / highest))
            .collect();
        largest(scored, k)
            .into_iter()
            .map(|(place, score)| ScoredPassage {
                text: std::mem::take(&mut texts[place as usize]),
                score: f64::from(score.clamp(0.0, 1.0)),
            })
            .collect()
    }

    fn passage_score(&self, weights: &[(u32, f32)], text: &str) -> f32 {
        let mut counts = vec![0.0_f32; weights.len()];
        for_each_term(text, |hash| {
            if let Some(place) =
                self.term(hash).and_then(|term| weights.binary_search_by_key(&term, |(term, _)| *term).ok())
            {
                counts[place] += 1.0;
            }
        });
        counts
            .iter()
            .zip(weights)
            .map(|(count, (_, weight))| weight * count / (count + SATURATION / 2.0))
            .sum()
    }
}
