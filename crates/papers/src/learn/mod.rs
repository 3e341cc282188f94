//! Learns the weights of a collection from its own citations: every import ends with it. What ranks well
//! differs between collections (how many references a paper has, how long its abstract is), and a collection
//! with citations says itself what belongs together. The sentences in which works cite others are the best
//! queries; where a source has none, sentences of abstracts stand in for them.
//!
//! Popularity is held back: how often a work is cited says much about relevance where it was learnt, and
//! misleads elsewhere. Learnt weights are used only where they are better on queries they were not learnt
//! from; otherwise the shipped ones stay.

mod citing_sentences;
mod own_queries;
mod softmax;

pub use citing_sentences::CitingSentences;
pub use softmax::{Example, LearntWeights, learn_weights};

use std::fmt::Write as _;

use crate::error::Result;
use crate::index::Index;
use crate::parallel::map_in_order;
use crate::rank::{FEATURE_COUNT, MEANING, Pooled, READING, SECOND_COUNT, SimilarQuery};
use crate::weights::{Blend, CollectionWeights, FIRST, MODEL, RERANK, SECOND};
use own_queries::{OwnQuery, own_queries};

/// With fewer queries nothing is learnt.
const MIN_QUERIES: usize = 150;
/// Candidates of each query that weights are learnt from.
const MAX_CANDIDATES: usize = 200;
/// Regularisation of the weights towards zero.
const REGULARISATION: f64 = 1.0;
/// One in this many citing works is kept to judge the weights.
const HELD_OUT_INTERVAL: u32 = 3;
/// Points of nDCG@10 by which learnt weights must be better than the shipped ones. The queries are made, not
/// asked: on eLife a gain of 1.4 on them was a loss of 0.3 on judged queries.
const MIN_GAIN: f64 = 2.0;
/// The feature of popularity (ArticleRank), in both passes.
const POPULARITY: usize = 6;

/// Weights for a collection, and in words what was measured.
#[derive(Debug, Clone)]
pub struct LearntCollection {
    pub weights: CollectionWeights,
    pub report: Vec<String>,
}

/// Learns from the citations of `index`. The queries are `sentences` in which its works cite others or, where
/// these are too few, sentences of abstracts, which are less like the queries of people. With too few of both,
/// the shipped weights are returned, and reading of texts, which could not be tried, is off.
pub fn learn_collection(index: &Index, sentences: &CitingSentences) -> Result<LearntCollection> {
    let shipped = CollectionWeights::default();
    let mut queries = sentences.queries(index);
    let mut origin = format!("citing sentences ({} works have such sentences)", sentences.works);
    if queries.len() < MIN_QUERIES {
        queries = own_queries(index);
        "the collection's citations".clone_into(&mut origin);
    }
    if queries.len() < MIN_QUERIES {
        let report = vec![format!("{} queries from citations are too few to learn from", queries.len())];
        return Ok(LearntCollection { weights: CollectionWeights { reads_texts: false, ..shipped }, report });
    }
    let mut report = vec![format!("{} queries from {origin}", queries.len())];
    let pools = first_examples(index, &queries)?;
    let first = choose("first pass", &queries, &pools, &FIRST, &mut report);
    let pools = second_examples(index, &queries, &first.blend)?;
    let without = |from: usize| {
        let mut pools = pools.clone();
        for row in pools.iter_mut().flat_map(|example| &mut example.rows) {
            row[from..].fill(0.0);
        }
        pools
    };
    let second = choose("default", &queries, &without(READING), &SECOND, &mut report);
    let rerank = choose("with texts", &queries, &without(MEANING), &RERANK, &mut report);
    let reads_texts = rerank.quality > second.quality;
    report.push(format!("reading texts {}", if reads_texts { "helps" } else { "does not help and is off" }));
    let model = if second.is_shipped { MODEL } else { without_popularity(&MODEL) };
    let weights = CollectionWeights {
        first: first.blend,
        second: second.blend,
        rerank: rerank.blend,
        model,
        reads_texts,
    };
    Ok(LearntCollection { weights, report })
}

/// Weights that won, and their nDCG@10 on the held-out queries in percent.
struct Chosen<const N: usize> {
    blend: Blend<N>,
    quality: f64,
    is_shipped: bool,
}

/// Learns weights from the queries that are not held out, and chooses by those that are.
fn choose<const N: usize>(
    name: &str,
    queries: &[OwnQuery],
    examples: &[Example<N>],
    shipped: &Blend<N>,
    report: &mut Vec<String>,
) -> Chosen<N> {
    let mut taught = Vec::new();
    let mut held_out = Vec::new();
    for (query, example) in queries.iter().zip(examples) {
        if is_held_out(query) {
            held_out.push((example, query.relevant.len()));
        } else {
            taught.push(without_popularity_rows(example));
        }
    }
    let own: Blend<N> = learn_weights(&taught.iter().collect::<Vec<_>>(), REGULARISATION, None).blend();
    // What was learnt from judged queries elsewhere and what was learnt here correct each other.
    let both = without_popularity(shipped).plus(&own);
    let before = ndcg(&held_out, shipped);
    let mut chosen = Chosen { blend: shipped.clone(), quality: before, is_shipped: true };
    let mut line = format!("{name}: shipped {before:.1}");
    for (variant, blend) in [("own", own), ("both", both)] {
        let quality = ndcg(&held_out, &blend);
        let _ = write!(line, ", {variant} {quality:.1}");
        if quality > chosen.quality.max(before + MIN_GAIN) {
            chosen = Chosen { blend, quality, is_shipped: false };
        }
    }
    report.push(line);
    chosen
}

/// All queries of one citing work are held out, or none.
fn is_held_out(query: &OwnQuery) -> bool {
    (query.citing.wrapping_mul(0x9e37_79b1) >> 8).is_multiple_of(HELD_OUT_INTERVAL)
}

fn without_popularity<const N: usize>(blend: &Blend<N>) -> Blend<N> {
    let mut blend = blend.clone();
    for weights in [&mut blend.thin, &mut blend.dense] {
        weights.linear[POPULARITY] = 0.0;
        weights.root[POPULARITY] = 0.0;
    }
    blend
}

fn without_popularity_rows<const N: usize>(example: &Example<N>) -> Example<N> {
    let mut example = example.clone();
    for row in &mut example.rows {
        row[POPULARITY] = 0.0;
    }
    example
}

/// nDCG@10 in percent, of examples with the number of works that should be found. One that is not in the pool
/// counts as not found.
fn ndcg<const N: usize>(examples: &[(&Example<N>, usize)], blend: &Blend<N>) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let mut sum = 0.0;
    for (example, relevant) in examples {
        let ideal: f64 = (0..(*relevant).clamp(1, 10)).map(gain).sum();
        let weights = blend.at(example.density);
        let scores: Vec<f32> = example.rows.iter().map(|row| weights.score(row)).collect();
        for place in &example.relevant {
            let better = scores.iter().filter(|score| **score > scores[*place]).count();
            if better < 10 {
                sum += gain(better) / ideal;
            }
        }
    }
    100.0 * sum / examples.len().max(1) as f64
}

fn first_examples(index: &Index, queries: &[OwnQuery]) -> Result<Vec<Example<FEATURE_COUNT>>> {
    each_pool(index, queries, &FIRST, false, |query, pool| {
        // Hopeless candidates teach nothing and cost most of the time. All features count alike here, so that
        // what is learnt does not depend on earlier weights.
        let promise = |place: &usize| pool.first[*place].iter().map(|value| value.sqrt()).sum::<f32>();
        let mut kept: Vec<usize> = (0..pool.nodes.len()).collect();
        kept.sort_by(|one, other| promise(other).total_cmp(&promise(one)));
        kept.truncate(MAX_CANDIDATES);
        let relevant = query.places(kept.iter().map(|place| pool.nodes[*place]));
        let rows = kept.iter().map(|place| pool.first[*place]).collect();
        Example { density: pool.density, rows, relevant }
    })
}

fn second_examples(
    index: &Index,
    queries: &[OwnQuery],
    first: &Blend<FEATURE_COUNT>,
) -> Result<Vec<Example<SECOND_COUNT>>> {
    each_pool(index, queries, first, true, |query, pool| {
        let relevant = query.places(pool.second.iter().map(|(place, _)| pool.nodes[*place]));
        let rows = pool.second.iter().map(|(_, row)| *row).collect();
        Example { density: pool.density, rows, relevant }
    })
}

/// Asks every query and makes an example of its pool.
fn each_pool<const N: usize>(
    index: &Index,
    queries: &[OwnQuery],
    first: &Blend<FEATURE_COUNT>,
    rerank: bool,
    to_example: impl Fn(&OwnQuery, Pooled) -> Example<N> + Sync,
) -> Result<Vec<Example<N>>> {
    let mut examples = Vec::with_capacity(queries.len());
    let ask = |query: &OwnQuery| {
        let asked = SimilarQuery {
            seeds: vec![query.seed],
            intent: query.intent.clone(),
            hidden: Some(query.citing),
            rerank,
            ..SimilarQuery::default()
        };
        to_example(query, index.pool(&asked, first))
    };
    map_in_order(queries.iter(), ask, |example| {
        examples.push(example);
        Ok(())
    })?;
    Ok(examples)
}
