//! Answers a query: parse words and filters, find candidates, rank them again by proximity, load hits with
//! passages.

mod candidates;
mod collection_stats;
mod filters;
mod passages;
mod plan;
mod proximity;
mod rank;
mod spelling;
mod terms;
mod weights;

use crate::error::Result;
use crate::schema::{Fields, FilterTerm};
use crate::types::{Document, IndexHit, IndexResults, Query};
use candidates::ScoredDoc;
pub(crate) use collection_stats::{CollectionStats, count_documents};
use filters::DocumentFilter;
use plan::QueryPlan;
use rank::RankedDoc;
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};
use terms::ParsedQuery;
use uuid::Uuid;
pub use weights::Weights;

/// Of one query.
const MAX_HITS: usize = 1_000;
/// Candidates that are ranked again: at least this many, and this many for each requested hit.
const MIN_CANDIDATES: usize = 200;
const CANDIDATES_PER_HIT: usize = 3;
/// If the best candidate covers a smaller share of the query's weight, unknown words are corrected.
const MIN_COVERED_SHARE: f32 = 0.5;

/// One committed state of the index.
#[derive(Clone, Copy)]
pub(crate) struct IndexView<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) fields: &'a Fields,
    pub(crate) stats: &'a CollectionStats,
}

pub(crate) fn search(view: &IndexView, query: &Query, weights: &Weights) -> Result<IndexResults> {
    let searched = count_searched(view, query)?;
    let nothing = IndexResults { hits: Vec::new(), matched: Some(0), searched };
    let limit = query.limit.min(MAX_HITS);
    if limit == 0 || searched == 0 {
        return Ok(nothing);
    }
    let parsed = ParsedQuery::parse(query, view.stats);
    if parsed.is_empty() && !filters::has_filters(query) {
        return Ok(nothing);
    }
    let filter = DocumentFilter::new(view, query)?;
    let max_candidates = MIN_CANDIDATES.max(limit * CANDIDATES_PER_HIT);
    let mut plan = QueryPlan::build(view, &parsed, weights)?;
    let mut candidates = candidates::best_candidates(view, &plan, &filter, max_candidates, weights)?;
    let mut ranked = rank_candidates(view, query, &parsed, &plan, &candidates, weights)?;
    let covered = ranked.iter().map(|ranked| ranked.covered).fold(0.0, f32::max);
    if covered < MIN_COVERED_SHARE
        && let Some(corrected) = spelling::correct_plan(view, &plan, weights)?
    {
        plan = corrected;
        candidates = candidates::best_candidates(view, &plan, &filter, max_candidates, weights)?;
        ranked = rank_candidates(view, query, &parsed, &plan, &candidates, weights)?;
    }
    // With fewer candidates than requested, every matching document was seen.
    let matched = (ranked.len() < max_candidates).then_some(ranked.len() as u64);
    ranked.truncate(limit);
    let hits =
        ranked.iter().map(|ranked| load_hit(view, query, &plan, ranked)).collect::<Result<Vec<_>>>()?;
    Ok(IndexResults { hits, matched, searched })
}

fn rank_candidates(
    view: &IndexView,
    query: &Query,
    parsed: &ParsedQuery,
    plan: &QueryPlan,
    candidates: &[ScoredDoc],
    weights: &Weights,
) -> Result<Vec<RankedDoc>> {
    let matches = proximity::match_terms(view, plan, candidates, weights)?;
    rank::rank(view, query, parsed, plan, candidates, &matches, weights)
}

fn load_hit(view: &IndexView, query: &Query, plan: &QueryPlan, ranked: &RankedDoc) -> Result<IndexHit> {
    let address = DocAddress::new(ranked.segment, ranked.doc);
    let stored: TantivyDocument = view.searcher.doc(address)?;
    let text = stored.get_first(view.fields.stored).and_then(|value| value.as_str()).unwrap_or_default();
    let document: Document = serde_json::from_str(text)?;
    let passages = passages::best_passages(&document, plan, query.passages);
    Ok(IndexHit { document, seen_at: ranked.seen_at, score: ranked.score, passages })
}

/// The number of documents that a team can see in a collection.
fn count_searched(view: &IndexView, query: &Query) -> Result<u64> {
    let mut total = 0;
    for team in visible_teams(query.team) {
        total += view.stats.count_scope(view, &FilterTerm::Scope(team, query.collection.clone()))?;
    }
    Ok(total)
}

/// The teams whose documents a team sees: its own and the shared ones (nil).
fn visible_teams(team: Uuid) -> impl Iterator<Item = Uuid> {
    std::iter::once(Uuid::nil()).chain((!team.is_nil()).then_some(team))
}
