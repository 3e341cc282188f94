//! A closer look at the candidates: where in each field the words of the query stand.

use crate::error::Result;
use crate::schema::{BODY, HOST, PATH, RANKED, TITLE};
use crate::search::View;
use crate::search::candidates::Candidate;
use crate::search::plan::Plan;
use crate::search::weights::Weights;
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

/// Places of one word in one field that are looked at.
const MOST_PLACES: usize = 128;
/// Words between two neighbours of the query that still count as near.
const NEAR: u32 = 8;
/// Words at the beginning of a body that say what it is about.
const LEAD: u32 = 40;

/// What a candidate shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Look {
    /// Words of the query it holds anywhere, a bit each.
    pub(crate) words: u64,
    /// By field.
    pub(crate) held: [u64; RANKED],
    /// Neighbours of the query in each field, weighed by their rarity.
    pub(crate) pairs: [f32; RANKED],
    /// How close together all words it holds come in the body: 1 where nothing stands between them.
    pub(crate) density: f32,
    /// Words at the beginning of the body.
    pub(crate) lead: u64,
    /// Shares of the title and of the path that the query explains.
    pub(crate) title: f32,
    pub(crate) path: f32,
}

/// Places of words in one field: position and number of the word, in order.
type Places = Vec<(u32, u8)>;

/// Looks at all candidates, which come in the order of segments and documents.
pub(crate) fn look(
    view: &View,
    plan: &Plan,
    candidates: &[Candidate],
    weights: &Weights,
) -> Result<Vec<Look>> {
    let mut looks = Vec::with_capacity(candidates.len());
    for group in candidates.chunk_by(|one, other| one.segment == other.segment) {
        looks.extend(look_at_segment(view, plan, group, weights)?);
    }
    Ok(looks)
}

fn look_at_segment(view: &View, plan: &Plan, group: &[Candidate], weights: &Weights) -> Result<Vec<Look>> {
    let mut looks = vec![Look::default(); group.len()];
    let mut places: [Vec<Places>; RANKED] = std::array::from_fn(|_| vec![Places::new(); group.len()]);
    let ordinal = group[0].segment;
    let segment = view.searcher.segment_reader(ordinal);
    let mut found: Vec<u32> = Vec::new();
    for (word, terms) in plan.groups.iter().enumerate() {
        for list in &terms.lists[ordinal as usize] {
            let index = view.census.words(ordinal as usize, list.field);
            let placed = list.field != HOST && !terms.glued;
            let option =
                if placed { IndexRecordOption::WithFreqsAndPositions } else { IndexRecordOption::Basic };
            let mut postings = index.read_postings_from_terminfo(&list.info, option)?;
            for (at, candidate) in group.iter().enumerate() {
                if postings.doc() < candidate.doc {
                    postings.seek(candidate.doc);
                }
                if postings.doc() != candidate.doc {
                    continue;
                }
                looks[at].held[list.field] |= terms.words;
                if placed {
                    postings.positions(&mut found);
                    let found = found.iter().take(MOST_PLACES).map(|place| (*place, word as u8));
                    places[list.field][at].extend(found);
                }
            }
        }
    }
    for (field, places) in places.iter_mut().enumerate() {
        let lengths = segment.get_fieldnorms_reader(view.fields.ranked[field])?;
        for ((look, places), candidate) in looks.iter_mut().zip(places).zip(group) {
            look.words |= look.held[field];
            places.sort_unstable();
            places.dedup();
            let length = lengths.fieldnorm(candidate.doc) as f32;
            let b = weights.lengths[field];
            let norm = 1.0 / (1.0 - b + b * length / view.census.lengths[field]);
            look.pairs[field] = pairs(plan, places, norm);
            match field {
                TITLE => look.title = explained(places, length),
                PATH => look.path = explained(places, length),
                BODY => {
                    look.density = density(places);
                    let lead = places.iter().take_while(|(place, _)| *place < LEAD);
                    look.lead = lead.fold(0, |bits, (_, word)| bits | 1 << word);
                }
                _ => {}
            }
        }
    }
    Ok(looks)
}

/// The share of a field's tokens that stand where words of the query stand.
fn explained(places: &Places, length: f32) -> f32 {
    let mut positions: Vec<u32> = places.iter().map(|(place, _)| *place).collect();
    positions.dedup();
    (positions.len() as f32 / length.max(1.0)).min(1.0)
}

/// How well neighbours of the query are neighbours here. Often is better than once, but less and less, and a long text has it easier.
fn pairs(plan: &Plan, places: &Places, norm: f32) -> f32 {
    if places.len() < 2 || plan.pairs.is_empty() {
        return 0.0;
    }
    let mut near = vec![0.0; plan.pairs.len()];
    for (at, &(place, word)) in places.iter().enumerate() {
        for &(next, other) in places[at + 1..].iter().take_while(|(next, _)| *next <= place + NEAR) {
            if next == place {
                continue;
            }
            for (pair, near) in plan.pairs.iter().zip(&mut near) {
                // In the other order they say half as much.
                let order = match (usize::from(word), usize::from(other)) {
                    (one, other) if (one, other) == (pair.0, pair.1) => 1.0,
                    (one, other) if (other, one) == (pair.0, pair.1) => 0.5,
                    _ => continue,
                };
                let apart = 1.0 + (next - place).abs_diff(pair.2) as f32;
                *near += order / (apart * apart);
            }
        }
    }
    let weight = |pair: &(usize, usize, u32)| plan.groups[pair.0].idf.min(plan.groups[pair.1].idf);
    plan.pairs.iter().zip(near).map(|(pair, near)| weight(pair) * near * norm / (near * norm + 1.0)).sum()
}

/// Words held, over the length of the shortest stretch that holds each of them.
fn density(places: &Places) -> f32 {
    let mut seen = [0_u32; 64];
    let held = places.iter().fold(0_u64, |bits, (_, word)| bits | 1 << word).count_ones();
    if held < 2 {
        return 0.0;
    }
    let (mut have, mut from, mut shortest) = (0, 0, u32::MAX);
    for &(place, word) in places {
        have += u32::from(seen[usize::from(word)] == 0);
        seen[usize::from(word)] += 1;
        while have == held {
            let (first, word) = places[from];
            shortest = shortest.min(place - first + 1);
            seen[usize::from(word)] -= 1;
            have -= u32::from(seen[usize::from(word)] == 0);
            from += 1;
        }
    }
    held as f32 / shortest.max(held) as f32
}
