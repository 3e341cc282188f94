//! Text similarity: BM25 of candidates against the intent and the seeds, in a single read of each candidate,
//! and the most similar documents of the corpus for a text, within a limit of postings.

use super::accumulator::Accumulator;
use crate::build::{for_each_pair, for_each_weight};
use crate::file::Cursor;
use crate::index::Index;
use crate::terms::for_each_term;

const SATURATION: f32 = 1.2;
const LENGTH_WEIGHT: f32 = 0.75;
/// Terms of one text that are used. A query has a dozen; 100 KB of pasted text must not cost more than a
/// page.
const MAX_QUERY_TERMS: usize = 256;

/// A text as weighted terms of an index.
#[derive(Debug, Clone, Default)]
pub struct TermQuery {
    /// Term, count, inverse document frequency.
    pub terms: Vec<(u32, f32, f32)>,
    /// Weight of terms that are not in the index.
    unknown: f32,
}

/// Inverse document frequency of a term.
fn idf(index: &Index, term: u32) -> f32 {
    let (documents, frequency) = (index.facts().documents as f32, index.term_frequency(term) as f32);
    (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

impl TermQuery {
    /// The terms of a text; a repeated word counts at most twice.
    pub fn from_text(index: &Index, text: &str) -> Self {
        let mut hashes = Vec::new();
        for_each_term(text, |hash| {
            if hashes.len() < MAX_QUERY_TERMS {
                hashes.push(hash);
            }
        });
        hashes.sort_unstable();
        let mut query = Self::default();
        for run in hashes.chunk_by(|one, other| one == other) {
            match index.term(run[0]) {
                Some(term) => query.terms.push((term, run.len().min(2) as f32, idf(index, term))),
                None => query.unknown += (1.0 + index.facts().documents as f32).ln(),
            }
        }
        query
    }

    /// The terms of a document; a word counts at most three times.
    pub fn from_document(index: &Index, node: u32) -> Self {
        let mut terms = Vec::new();
        for_each_weight(index.document(node), |term, weight| {
            terms.push((term, f32::from(weight.min(3)), idf(index, term)));
        });
        Self { terms, unknown: 0.0 }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds another query's terms, scaled.
    pub fn add(&mut self, other: &Self, scale: f32) {
        self.terms.extend(other.terms.iter().map(|(term, weight, rarity)| (*term, weight * scale, *rarity)));
        self.terms.sort_unstable_by_key(|(term, _, _)| *term);
        self.terms.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
    }

    /// The score of a document with every term many times; scales scores to 0 to 1.
    pub fn max_score(&self) -> f32 {
        self.unknown
            + self.terms.iter().map(|(_, weight, rarity)| weight * rarity * (SATURATION + 1.0)).sum::<f32>()
    }

    /// Documents with the rarest of these terms, best first, scored without document lengths. Reads at most
    /// `postings_left` postings (rarest terms first) and returns whether that was all.
    pub fn nearest(&self, index: &Index, mut postings_left: usize, most: usize) -> (Vec<(u32, f32)>, bool) {
        let mut terms = self.terms.clone();
        terms.sort_unstable_by(|one, other| {
            (other.1 * other.2).total_cmp(&(one.1 * one.2)).then(one.0.cmp(&other.0))
        });
        let expected: usize = terms.iter().map(|(term, _, _)| index.term_frequency(*term) as usize).sum();
        let mut sums = Accumulator::with_capacity(expected.min(postings_left).min(32 << 10));
        let mut all = true;
        for (term, weight, rarity) in terms {
            let frequency = index.term_frequency(term) as usize;
            if frequency > postings_left {
                all = false;
                continue;
            }
            postings_left -= frequency;
            let weight = weight * rarity;
            for_each_pair(&mut Cursor::new(index.postings(term)), |document, count| {
                let count = f32::from(count);
                sums.add(document, weight * count / (count + SATURATION));
            });
        }
        (sums.largest(most, |_| true), all)
    }
}

/// Several queries scored together.
#[derive(Debug)]
pub struct Scorer<const N: usize> {
    keys: Vec<u32>,
    weights: Vec<[f32; N]>,
    mask: usize,
    mean_length: f32,
}

const FREE: u32 = u32::MAX;

impl<const N: usize> Scorer<N> {
    pub fn new(index: &Index, queries: [&TermQuery; N]) -> Self {
        let count: usize = queries.iter().map(|query| query.terms.len()).sum();
        let size = (count * 4).next_power_of_two().max(16);
        let mean_length = (index.facts().mean_length as f32).max(1.0);
        let mut scorer =
            Self { keys: vec![FREE; size], weights: vec![[0.0; N]; size], mask: size - 1, mean_length };
        for (place, query) in queries.iter().enumerate() {
            for (term, weight, rarity) in &query.terms {
                let slot = scorer.slot(*term);
                scorer.keys[slot] = *term;
                scorer.weights[slot][place] += weight * rarity * (SATURATION + 1.0);
            }
        }
        scorer
    }

    #[inline]
    fn slot(&self, term: u32) -> usize {
        let mut at = (term.wrapping_mul(0x9e37_79b1) >> 7) as usize & self.mask;
        while self.keys[at] != term && self.keys[at] != FREE {
            at = (at + 1) & self.mask;
        }
        at
    }

    /// BM25 of a work against each query.
    pub fn score(&self, index: &Index, node: u32) -> [f32; N] {
        let mut scores = [0.0; N];
        let record = index.document(node);
        let length = Cursor::new(record).varint32();
        let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length as f32 / self.mean_length);
        for_each_weight(record, |term, count| {
            let slot = self.slot(term);
            if self.keys[slot] == term {
                let count = f32::from(count);
                let saturated = count / (count + damping);
                for (score, weight) in scores.iter_mut().zip(self.weights[slot]) {
                    *score += weight * saturated;
                }
            }
        });
        scores
    }
}
