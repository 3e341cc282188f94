//! `similar`, `citers` and `references`: builds the pool of candidates, ranks it, and notes what was left
//! out.

use std::collections::HashSet;

use super::accumulator::largest;
use super::citation_graph::{EdgeBudget, Hidden, Structure};
use super::features::{self, PoolCandidate};
use super::lexical::TermQuery;
use super::second_pass::{self, SECOND_COUNT, SecondPassInput};
use crate::index::Index;
use crate::weights::{Blend, LISTED, Weights, density};
use crate::work::Date;

/// Seeds and anchors together; more are ignored.
pub const MAX_SEEDS: usize = 50;
/// Maximum candidates from each kind of evidence.
const MAX_FROM_WALK: usize = 400;
const MAX_FROM_COUPLING: usize = 200;
const MAX_FROM_COCITATION: usize = 100;
const MAX_FROM_LINKS: usize = 500;
const MAX_FROM_INTENT: usize = 200;
const MAX_FROM_SEED_TEXT: usize = 200;
/// A pool that the graph does not fill to this size is filled by text.
const FULL_POOL: usize = 800;
/// Terms of the seed that are used to find similar texts.
const SEED_TERMS: usize = 24;
/// Postings read for the intent, and the same number for the seeds.
const MAX_POSTINGS: usize = 60_000;
/// With fewer candidates from the graph, a note is added.
const FEW_GRAPH_CANDIDATES: usize = 20;
/// Longer lists of citers are sampled.
const MAX_LISTED: usize = 20_000;
/// Candidates of the second pass.
const SECOND_PASS_CANDIDATES: usize = 100;

/// Which papers to find for a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Papers like the seed.
    #[default]
    Similar,
    /// Papers that cite the seed.
    Citers,
    /// Papers that the seed cites.
    References,
}

/// Filters of results.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub from: Option<Date>,
    pub to: Option<Date>,
    /// Each must occur in a category of the paper.
    pub categories: Vec<String>,
    /// Each must occur in the name of an author.
    pub authors: Vec<String>,
}

impl Filter {
    pub(super) fn admits_date(&self, index: &Index, node: u32) -> bool {
        if self.from.is_none() && self.to.is_none() {
            return true;
        }
        // Compare dates as precisely as both are known: a month matches any of its days.
        index.date(node).is_some_and(|date| {
            let day = if date.number() % 10_000 == 0 { date.number() + 101 } else { date.number() };
            self.from.is_none_or(|from| day >= from.number()) && self.to.is_none_or(|to| day <= to.number())
        })
    }

    /// Whether the record is needed.
    pub(super) fn needs_record(&self) -> bool {
        !self.categories.is_empty() || !self.authors.is_empty()
    }

    pub(super) fn admits_record(&self, index: &Index, node: u32) -> bool {
        if !self.needs_record() {
            return true;
        }
        let holds = |names: &[String], wanted: &String| {
            let wanted = wanted.to_lowercase();
            names.iter().any(|name| name.to_lowercase().contains(&wanted))
        };
        index.paper(node).is_some_and(|paper| {
            self.categories.iter().all(|wanted| holds(&paper.categories, wanted))
                && self.authors.iter().all(|wanted| holds(&paper.authors, wanted))
        })
    }
}

/// A query for related papers.
#[derive(Debug, Clone, Default)]
pub struct SimilarQuery {
    /// The seed, then the anchors.
    pub seeds: Vec<u32>,
    /// Works that candidates should not resemble.
    pub exclude: Vec<u32>,
    pub intent: String,
    pub mode: Mode,
    pub k: usize,
    pub rerank: bool,
    /// The embedding of the intent by the model of the index's vectors; used for re-ranking.
    pub meaning: Option<Vec<f32>>,
    pub filter: Filter,
    /// A work that is treated as if it did not exist, for learning from what it cites.
    pub hidden: Option<u32>,
}

impl SimilarQuery {
    /// What the second pass reads of the candidates.
    fn reading(&self, reads_texts: bool) -> SecondPassInput<'_> {
        let meaning = self.meaning.as_deref().filter(|_| self.rerank);
        let texts = (self.rerank && (reads_texts || meaning.is_some())).then_some(self.intent.as_str());
        SecondPassInput { texts, meaning, hidden: self.hidden }
    }
}

/// The signals behind the rank of a paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signals {
    /// Probability of the paper on a random walk along citations that returns to the seeds.
    pub structural: f64,
    /// Share of the intent's weight that the text of the paper contains, 0 to 1.
    pub semantic: f64,
    /// ArticleRank in the whole graph; the mean is 1.
    pub article_rank: f64,
    /// Seeds that cite it, are cited by it, share references with it or are co-cited with it.
    pub seed_overlap: u32,
}

/// A ranked paper.
#[derive(Debug, Clone, Copy)]
pub struct RankedPaper {
    pub node: u32,
    /// 0 to 1, descending.
    pub score: f64,
    pub signals: Signals,
}

/// Ranked papers with notes.
#[derive(Debug, Clone)]
pub struct SimilarPapers {
    pub results: Vec<RankedPaper>,
    /// Number of candidates before the limit `k`.
    pub pool_size: usize,
    /// Whether candidates are missing because of `k` or a cap.
    pub truncated: bool,
    pub notes: Vec<String>,
}

/// The pool with all features, for learning weights.
#[derive(Debug)]
pub struct Pooled {
    /// Density of the graph around the seeds, 0 to 1.
    pub density: f32,
    pub nodes: Vec<u32>,
    pub first: Vec<[f32; features::COUNT]>,
    /// For the best of the first pass in order: index in `nodes`, features.
    pub second: Vec<(usize, [f32; SECOND_COUNT])>,
}

/// The pool with its features.
struct CandidatePool {
    density: f32,
    candidates: Vec<PoolCandidate>,
    structure: Structure,
    intent: TermQuery,
    near_intent: Vec<(u32, f32)>,
    pool_size: usize,
    capped: bool,
    notes: Vec<String>,
}

impl Index {
    /// Finds related papers.
    pub fn similar(&self, query: &SimilarQuery) -> SimilarPapers {
        let mut prepared = prepare(self, query);
        let weights =
            if query.mode == Mode::Similar { self.weights().first.at(prepared.density) } else { LISTED };
        let mut scored = first_pass(&prepared.candidates, &weights);
        if !query.exclude.is_empty() {
            apply_exclusions(self, query, &prepared.candidates, &mut scored);
        }
        let ordered = largest(scored, prepared.candidates.len());
        let ordered = if query.mode == Mode::Similar {
            second_pass(self, &prepared, &ordered, query.reading(self.weights().reads_texts))
        } else {
            ordered
        };
        prepared.notes.push(ranker(query, self.weights().reads_texts).to_owned());
        let highest = prepared.intent.max_score().max(f32::MIN_POSITIVE);
        let results: Vec<RankedPaper> = ordered
            .into_iter()
            .filter(|(place, _)| query.filter.admits_record(self, prepared.candidates[*place as usize].node))
            .take(query.k)
            .map(|(place, score)| {
                let candidate = prepared.candidates[place as usize];
                RankedPaper {
                    node: candidate.node,
                    score: f64::from(1.0 / (1.0 + (-score / 4.0).exp())),
                    signals: Signals {
                        structural: f64::from(candidate.walk),
                        semantic: f64::from((candidate.intent / highest).min(1.0)),
                        article_rank: f64::from(self.article_rank(candidate.node)),
                        seed_overlap: prepared.structure.seeds_tied_to(candidate.node),
                    },
                }
            })
            .collect();
        let truncated = prepared.capped || results.len() < prepared.pool_size;
        SimilarPapers { truncated, results, pool_size: prepared.pool_size, notes: prepared.notes }
    }

    /// The pool and its features, for learning weights from judged queries.
    pub fn pool(&self, query: &SimilarQuery, first: &Blend<{ features::COUNT }>) -> Pooled {
        let prepared = prepare(self, query);
        let ordered =
            largest(first_pass(&prepared.candidates, &first.at(prepared.density)), SECOND_PASS_CANDIDATES);
        let best: Vec<PoolCandidate> =
            ordered.iter().map(|(place, _)| prepared.candidates[*place as usize]).collect();
        let rows =
            second_pass::describe(self, &best, &prepared.intent, &prepared.near_intent, query.reading(true));
        Pooled {
            density: prepared.density,
            nodes: prepared.candidates.iter().map(|candidate| candidate.node).collect(),
            first: prepared.candidates.iter().map(|candidate| candidate.features).collect(),
            second: ordered.iter().map(|(place, _)| *place as usize).zip(rows).collect(),
        }
    }
}

fn first_pass(candidates: &[PoolCandidate], weights: &Weights<{ features::COUNT }>) -> Vec<(u32, f32)> {
    candidates
        .iter()
        .enumerate()
        .map(|(place, candidate)| (place as u32, weights.score(&candidate.features)))
        .collect()
}

/// The name of the ranker, for the notes.
fn ranker(query: &SimilarQuery, reads_texts: bool) -> &'static str {
    match (query.rerank && query.mode == Mode::Similar, &query.meaning) {
        (false, _) => "ranked by the fused text and graph model",
        (true, None) if !reads_texts => {
            "ranked by the fused text and graph model; reading the candidates did not improve the order in this collection"
        }
        (true, None) => {
            "ranked by the fused text and graph model, then by reading the best candidates (built-in, no neural model)"
        }
        (true, Some(_)) => {
            "ranked by the fused text and graph model, then by reading the best candidates with an embedding model"
        }
    }
}

fn second_pass(
    index: &Index,
    prepared: &CandidatePool,
    ordered: &[(u32, f32)],
    reading: SecondPassInput<'_>,
) -> Vec<(u32, f32)> {
    let (head, tail) = ordered.split_at(ordered.len().min(SECOND_PASS_CANDIDATES));
    let best: Vec<PoolCandidate> =
        head.iter().map(|(place, _)| prepared.candidates[*place as usize]).collect();
    let rows = second_pass::describe(index, &best, &prepared.intent, &prepared.near_intent, reading);
    let blend = match reading {
        SecondPassInput { meaning: Some(_), .. } => &index.weights().model,
        SecondPassInput { texts: Some(_), .. } => &index.weights().rerank,
        SecondPassInput { .. } => &index.weights().second,
    };
    let weights = blend.at(prepared.density);
    let scored = head.iter().zip(&rows).map(|((place, _), row)| (*place, weights.score(row))).collect();
    let mut out = largest(scored, head.len());
    // The others keep their order below these.
    let floor = out.last().map_or(0.0, |(_, score)| *score) - tail.first().map_or(0.0, |(_, score)| *score);
    out.extend(tail.iter().map(|(place, score)| (*place, score + floor)));
    out
}

/// Lowers candidates that resemble the excluded works more than the seeds.
fn apply_exclusions(
    index: &Index,
    query: &SimilarQuery,
    candidates: &[PoolCandidate],
    scored: &mut [(u32, f32)],
) {
    const STRENGTH: f32 = 4.0;
    let unwanted: Vec<(u32, f32)> = query.exclude.iter().map(|node| (*node, 1.0)).collect();
    let structure = Structure::around(index, &unwanted, EdgeBudget::default(), Hidden::default());
    let nodes: Vec<u32> = candidates.iter().map(|candidate| candidate.node).collect();
    let described = features::describe(
        index,
        &nodes,
        &structure,
        &TermQuery::default(),
        &combined_terms(index, &query.exclude),
    );
    for ((_, score), candidate) in scored.iter_mut().zip(described) {
        let likeness = candidate.features[1].max(candidate.features[2]).max(candidate.features[3]);
        *score -= STRENGTH * likeness;
    }
}

fn combined_terms(index: &Index, nodes: &[u32]) -> TermQuery {
    let mut text = TermQuery::default();
    for node in nodes {
        text.add(&TermQuery::from_document(index, *node), 1.0 / nodes.len() as f32);
    }
    text
}

fn prepare(index: &Index, query: &SimilarQuery) -> CandidatePool {
    let mut notes = Vec::new();
    let seeds = &query.seeds[..query.seeds.len().min(MAX_SEEDS)];
    if seeds.len() < query.seeds.len() {
        notes.push(format!("only the first {MAX_SEEDS} seeds were used"));
    }
    let weighted: Vec<(u32, f32)> = seeds.iter().map(|seed| (*seed, 1.0)).collect();
    let structure =
        Structure::around(index, &weighted, EdgeBudget::default(), Hidden::new(index, query.hidden));
    let intent = TermQuery::from_text(index, &query.intent);
    let seed_text = combined_terms(index, seeds);
    let (near_intent, _) = intent.nearest(index, MAX_POSTINGS, FULL_POOL);
    let mut near: Vec<(u32, f32)> = near_intent.clone();
    near.retain(|(node, _)| !seeds.contains(node) && query.hidden != Some(*node));

    let left_out: HashSet<u32> = seeds.iter().chain(&query.exclude).chain(&query.hidden).copied().collect();
    let (mut nodes, pool_size, mut capped) = match query.mode {
        Mode::Similar => similar_pool(index, &structure, &near, &seed_text, &left_out, &mut notes),
        Mode::Citers | Mode::References => listed_pool(index, query.mode, seeds, &left_out, &mut notes),
    };
    if intent.is_empty() {
        notes.push(
            "no word of the intent occurs in the index: ranked by relation to the seed alone".to_owned(),
        );
    }
    let before = nodes.len();
    nodes.retain(|node| query.filter.admits_date(index, *node));
    let pool_size = pool_size - (before - nodes.len());
    if structure.sampled {
        notes.push("very long citation lists were sampled".to_owned());
        capped |= query.mode == Mode::Similar;
    }
    let candidates = features::describe(index, &nodes, &structure, &intent, &seed_text);
    let structural = structure.coupling.len() + structure.cocitation.len() + structure.links.len();
    CandidatePool {
        density: density(structural),
        candidates,
        structure,
        intent,
        near_intent: near,
        pool_size,
        capped,
        notes,
    }
}

fn similar_pool(
    index: &Index,
    structure: &Structure,
    near_intent: &[(u32, f32)],
    seed_text: &TermQuery,
    left_out: &HashSet<u32>,
    notes: &mut Vec<String>,
) -> (Vec<u32>, usize, bool) {
    let keep = |node: u32| index.is_work(node) && !left_out.contains(&node);
    let mut nodes: Vec<u32> = Vec::with_capacity(1_500);
    for (evidence, most) in [
        (&structure.walk, MAX_FROM_WALK),
        (&structure.coupling, MAX_FROM_COUPLING),
        (&structure.cocitation, MAX_FROM_COCITATION),
        (&structure.links, MAX_FROM_LINKS),
    ] {
        nodes.extend(evidence.largest(most, keep).iter().map(|(node, _)| *node));
    }
    nodes.sort_unstable();
    nodes.dedup();
    // Checked last, for the few that are left: looking up a text takes several slow memory accesses.
    let has_text = |node: &u32| !index.document(*node).is_empty();
    nodes.retain(has_text);
    if nodes.len() < FEW_GRAPH_CANDIDATES {
        notes.push(format!(
            "the citation graph has only {} candidates; the others were found by their text",
            nodes.len()
        ));
    }
    let mut terms = seed_text.clone();
    terms.terms.sort_unstable_by(|one, other| {
        (other.1 * other.2).total_cmp(&(one.1 * one.2)).then(one.0.cmp(&other.0))
    });
    terms.terms.truncate(SEED_TERMS);
    // Where the graph knows little, texts fill the pool: half of the rest by the intent, half by the seed.
    let missing = FULL_POOL.saturating_sub(nodes.len() + MAX_FROM_INTENT + MAX_FROM_SEED_TEXT);
    let (near_seed, _) = terms.nearest(index, MAX_POSTINGS, MAX_FROM_SEED_TEXT + missing / 2);
    nodes.extend(
        near_intent
            .iter()
            .take(MAX_FROM_INTENT + missing / 2)
            .chain(&near_seed)
            .map(|(node, _)| *node)
            .filter(|node| keep(*node) && has_text(node)),
    );
    nodes.sort_unstable();
    nodes.dedup();
    let size = nodes.len();
    (nodes, size, false)
}

fn listed_pool(
    index: &Index,
    mode: Mode,
    seeds: &[u32],
    left_out: &HashSet<u32>,
    notes: &mut Vec<String>,
) -> (Vec<u32>, usize, bool) {
    let lists = if mode == Mode::Citers { index.citers() } else { index.references() };
    let mut nodes = Vec::new();
    let mut unread = 0;
    for seed in seeds {
        let before = nodes.len();
        let full = lists.sample(*seed, MAX_LISTED, |node| nodes.push(node));
        unread += full.saturating_sub(nodes.len() - before);
    }
    nodes.sort_unstable();
    nodes.dedup();
    nodes.retain(|node| !left_out.contains(node));
    if unread > 0 {
        notes.push(format!("the list is longer than {MAX_LISTED}: an even sample of it was ranked"));
    }
    let size = nodes.len() + unread;
    (nodes, size, unread > 0)
}
