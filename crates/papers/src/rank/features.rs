//! Features of candidates, each divided by its largest value in the pool, so that weights mean the same for a
//! seed with three citations and one with three thousand.

use super::citation_graph::Structure;
use super::lexical::{Scorer, TermQuery};
use crate::index::Index;

/// Names of the features of the first pass, in their order.
pub const FEATURES: [&str; 7] = ["intent", "seed", "walk", "coupling", "cocitation", "link", "rank"];
/// Number of features of the first pass.
pub const COUNT: usize = FEATURES.len();

const INTENT: usize = 0;
const SEED: usize = 1;
const WALK: usize = 2;
const COUPLING: usize = 3;
const COCITATION: usize = 4;
const LINK: usize = 5;
const RANK: usize = 6;

/// A candidate with its features.
#[derive(Debug, Clone, Copy)]
pub struct PoolCandidate {
    pub node: u32,
    /// BM25 against the intent, not normalised.
    pub intent: f32,
    /// Probability on the random walk, not normalised.
    pub walk: f32,
    pub features: [f32; COUNT],
}

/// Computes the features of `nodes`. `seeds` is the text of the seeds together.
pub fn describe(
    index: &Index,
    nodes: &[u32],
    structure: &Structure,
    intent: &TermQuery,
    seeds: &TermQuery,
) -> Vec<PoolCandidate> {
    let scorer = Scorer::new(index, [intent, seeds]);
    let mut candidates: Vec<PoolCandidate> = nodes
        .iter()
        .map(|node| {
            let [intent, seed] = scorer.score(index, *node);
            let mut features = [0.0; COUNT];
            features[INTENT] = intent;
            features[SEED] = seed;
            features[WALK] = structure.walk.get(*node);
            features[COUPLING] = structure.coupling.get(*node);
            features[COCITATION] = structure.cocitation.get(*node);
            features[LINK] = structure.links.get(*node);
            // ArticleRank spans several orders of magnitude; works that are only cited have none.
            features[RANK] = (1.0 + index.article_rank(*node)).ln();
            PoolCandidate { node: *node, intent, walk: features[WALK], features }
        })
        .collect();
    let mut largest = [0.0_f32; COUNT];
    for candidate in &candidates {
        for (most, value) in largest.iter_mut().zip(candidate.features) {
            *most = most.max(value);
        }
    }
    for candidate in &mut candidates {
        for (value, most) in candidate.features.iter_mut().zip(largest) {
            *value = if most > 0.0 { *value / most } else { 0.0 };
        }
    }
    candidates
}
