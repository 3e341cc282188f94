//! Where the words of the query occur in each field of the candidates, and how close together.

use crate::error::Result;
use crate::schema::{BODY, HOST, PATH, RANKED_FIELDS, TITLE};
use crate::search::IndexView;
use crate::search::candidates::ScoredDoc;
use crate::search::plan::QueryPlan;
use crate::search::weights::Weights;
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

/// Positions of one word in one field that are read.
const MAX_POSITIONS: usize = 128;
/// Distance up to which two neighbours of the query still count as near.
const MAX_NEAR_DISTANCE: u32 = 8;
/// Words at the beginning of a body that count as its lead.
const LEAD_WORDS: u32 = 40;

/// Which words of the query a candidate contains, and where.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TermMatches {
    /// Words of the query that occur anywhere, a bit each.
    pub(crate) words: u64,
    /// The same by field.
    pub(crate) held: [u64; RANKED_FIELDS],
    /// Score of neighbouring words in each field, weighted by their rarity.
    pub(crate) pairs: [f32; RANKED_FIELDS],
    /// How close together all its words occur in the body: 1 if nothing is between them.
    pub(crate) density: f32,
    /// Words of the query at the beginning of the body.
    pub(crate) lead: u64,
    /// Share of the title's and of the path's words that are in the query.
    pub(crate) title: f32,
    pub(crate) path: f32,
}

/// Positions in one field with the index of the word, in order.
type WordPositions = Vec<(u32, u8)>;

/// Finds the words in all candidates, which must be ordered by segment and document.
pub(crate) fn match_terms(
    view: &IndexView,
    plan: &QueryPlan,
    candidates: &[ScoredDoc],
    weights: &Weights,
) -> Result<Vec<TermMatches>> {
    let mut matches = Vec::with_capacity(candidates.len());
    for group in candidates.chunk_by(|one, other| one.segment == other.segment) {
        matches.extend(match_in_segment(view, plan, group, weights)?);
    }
    Ok(matches)
}

fn match_in_segment(
    view: &IndexView,
    plan: &QueryPlan,
    group: &[ScoredDoc],
    weights: &Weights,
) -> Result<Vec<TermMatches>> {
    let mut matches = vec![TermMatches::default(); group.len()];
    let mut positions: [Vec<WordPositions>; RANKED_FIELDS] =
        std::array::from_fn(|_| vec![WordPositions::new(); group.len()]);
    let ordinal = group[0].segment;
    let segment = view.searcher.segment_reader(ordinal);
    let mut found: Vec<u32> = Vec::new();
    for (word, terms) in plan.terms.iter().enumerate() {
        for list in &terms.lists[ordinal as usize] {
            let index = view.stats.term_dictionary(ordinal as usize, list.field);
            let with_positions = list.field != HOST && !terms.joined;
            let option = if with_positions {
                IndexRecordOption::WithFreqsAndPositions
            } else {
                IndexRecordOption::Basic
            };
            let mut postings = index.read_postings_from_terminfo(&list.info, option)?;
            for (at, candidate) in group.iter().enumerate() {
                if postings.doc() < candidate.doc {
                    postings.seek(candidate.doc);
                }
                if postings.doc() != candidate.doc {
                    continue;
                }
                matches[at].held[list.field] |= terms.words;
                if with_positions {
                    postings.positions(&mut found);
                    let found = found.iter().take(MAX_POSITIONS).map(|position| (*position, word as u8));
                    positions[list.field][at].extend(found);
                }
            }
        }
    }
    for (field, positions) in positions.iter_mut().enumerate() {
        let lengths = segment.get_fieldnorms_reader(view.fields.ranked[field])?;
        for ((doc, positions), candidate) in matches.iter_mut().zip(positions).zip(group) {
            doc.words |= doc.held[field];
            positions.sort_unstable();
            positions.dedup();
            let length = lengths.fieldnorm(candidate.doc) as f32;
            let b = weights.lengths[field];
            let norm = 1.0 / (1.0 - b + b * length / view.stats.lengths[field]);
            doc.pairs[field] = pair_score(plan, positions, norm);
            match field {
                TITLE => doc.title = covered_share(positions, length),
                PATH => doc.path = covered_share(positions, length),
                BODY => {
                    doc.density = density(positions);
                    let lead = positions.iter().take_while(|(position, _)| *position < LEAD_WORDS);
                    doc.lead = lead.fold(0, |bits, (_, word)| bits | 1 << word);
                }
                _ => {}
            }
        }
    }
    Ok(matches)
}

/// The share of a field's positions that hold words of the query.
fn covered_share(positions: &WordPositions, length: f32) -> f32 {
    let mut positions: Vec<u32> = positions.iter().map(|(position, _)| *position).collect();
    positions.dedup();
    (positions.len() as f32 / length.max(1.0)).min(1.0)
}

/// How well neighbours of the query are neighbours in a field. Repetition counts less and less, and so do
/// long texts.
fn pair_score(plan: &QueryPlan, positions: &WordPositions, norm: f32) -> f32 {
    if positions.len() < 2 || plan.pairs.is_empty() {
        return 0.0;
    }
    let mut near = vec![0.0; plan.pairs.len()];
    for (at, &(position, word)) in positions.iter().enumerate() {
        for &(next, other) in
            positions[at + 1..].iter().take_while(|(next, _)| *next <= position + MAX_NEAR_DISTANCE)
        {
            if next == position {
                continue;
            }
            for (pair, near) in plan.pairs.iter().zip(&mut near) {
                // In reverse order they count half.
                let order = match (usize::from(word), usize::from(other)) {
                    (one, other) if (one, other) == (pair.0, pair.1) => 1.0,
                    (one, other) if (other, one) == (pair.0, pair.1) => 0.5,
                    _ => continue,
                };
                let apart = 1.0 + (next - position).abs_diff(pair.2) as f32;
                *near += order / (apart * apart);
            }
        }
    }
    let weight = |pair: &(usize, usize, u32)| plan.terms[pair.0].idf.min(plan.terms[pair.1].idf);
    plan.pairs.iter().zip(near).map(|(pair, near)| weight(pair) * near * norm / (near * norm + 1.0)).sum()
}

/// The number of distinct words over the length of the shortest span that contains all of them.
fn density(positions: &WordPositions) -> f32 {
    let mut seen = [0_u32; 64];
    let held = positions.iter().fold(0_u64, |bits, (_, word)| bits | 1 << word).count_ones();
    if held < 2 {
        return 0.0;
    }
    let (mut have, mut from, mut shortest) = (0, 0, u32::MAX);
    for &(position, word) in positions {
        have += u32::from(seen[usize::from(word)] == 0);
        seen[usize::from(word)] += 1;
        while have == held {
            let (first, word) = positions[from];
            shortest = shortest.min(position - first + 1);
            seen[usize::from(word)] -= 1;
            have -= u32::from(seen[usize::from(word)] == 0);
            from += 1;
        }
    }
    held as f32 / shortest.max(held) as f32
}
