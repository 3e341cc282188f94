//! A query answered: words and filters, candidates, a closer look, hits with passages.

mod candidates;
mod census;
mod closer;
mod gate;
mod passages;
mod plan;
mod rank;
mod spelling;
mod terms;
mod weights;

use crate::error::Result;
use crate::parts::{Document, Found, Hit, Query};
use crate::schema::{Fields, Mark};
use candidates::Candidate;
pub(crate) use census::{Census, count};
use gate::Gate;
use plan::Plan;
use rank::Ranked;
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};
use terms::Asked;
use uuid::Uuid;
pub use weights::Weights;

/// Hits of one answer.
const MOST_HITS: usize = 1_000;
/// Candidates that are looked at more closely, for few hits and for many.
const CANDIDATES: usize = 200;
const CANDIDATES_FOR_EACH: usize = 3;
/// Share of a query's weight that the best candidate must cover before its unknown words are taken for what they are.
const COVERED: f32 = 0.5;

/// One state of the index.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) fields: &'a Fields,
    pub(crate) census: &'a Census,
}

pub(crate) fn search(view: &View, query: &Query, weights: &Weights) -> Result<Found> {
    let searched = searched(view, query)?;
    let nothing = Found { hits: Vec::new(), matched: Some(0), searched };
    let limit = query.limit.min(MOST_HITS);
    if limit == 0 || searched == 0 {
        return Ok(nothing);
    }
    let asked = Asked::of(query, view.census);
    if asked.is_empty() && !gate::chooses(query) {
        return Ok(nothing);
    }
    let gate = Gate::of(view, query)?;
    let most = CANDIDATES.max(limit * CANDIDATES_FOR_EACH);
    let mut plan = Plan::of(view, &asked, weights)?;
    let mut candidates = candidates::best(view, &plan, &gate, most, weights)?;
    let mut ranked = ranked(view, query, &asked, &plan, &candidates, weights)?;
    let covered = ranked.iter().map(|ranked| ranked.covered).fold(0.0, f32::max);
    if covered < COVERED
        && let Some(corrected) = spelling::corrected(view, &plan, weights)?
    {
        plan = corrected;
        candidates = candidates::best(view, &plan, &gate, most, weights)?;
        ranked = self::ranked(view, query, &asked, &plan, &candidates, weights)?;
    }
    // All there is was seen when there are fewer than were asked for.
    let matched = (ranked.len() < most).then_some(ranked.len() as u64);
    ranked.truncate(limit);
    let hits = ranked.iter().map(|ranked| hit(view, query, &plan, ranked)).collect::<Result<Vec<_>>>()?;
    Ok(Found { hits, matched, searched })
}

fn ranked(
    view: &View,
    query: &Query,
    asked: &Asked,
    plan: &Plan,
    candidates: &[Candidate],
    weights: &Weights,
) -> Result<Vec<Ranked>> {
    let looks = closer::look(view, plan, candidates, weights)?;
    rank::rank(view, query, asked, plan, candidates, &looks, weights)
}

fn hit(view: &View, query: &Query, plan: &Plan, ranked: &Ranked) -> Result<Hit> {
    let address = DocAddress::new(ranked.segment, ranked.doc);
    let stored: TantivyDocument = view.searcher.doc(address)?;
    let text = stored.get_first(view.fields.stored).and_then(|value| value.as_str()).unwrap_or_default();
    let document: Document = serde_json::from_str(text)?;
    let passages = passages::best(&document, plan, query.passages);
    Ok(Hit { document, seen_at: ranked.seen_at, score: ranked.score, passages })
}

/// Documents that a team can see in a collection.
fn searched(view: &View, query: &Query) -> Result<u64> {
    let mut total = 0;
    for team in teams(query.team) {
        total += view.census.scope(view, &Mark::Scope(team, query.collection.clone()))?;
    }
    Ok(total)
}

/// Whose documents a team sees: its own, and everybody's.
fn teams(team: Uuid) -> impl Iterator<Item = Uuid> {
    std::iter::once(Uuid::nil()).chain((!team.is_nil()).then_some(team))
}
