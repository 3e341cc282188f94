//! A closer look at the candidates: where in each field the words of the query stand.

use crate::error::Result;
use crate::schema::{BODY, HEADINGS, RANKED, TITLE};
use crate::search::View;
use crate::search::candidates::Candidate;
use crate::search::plan::Plan;
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
    /// Neighbours of the query in title, headings and body, weighed by their rarity.
    pub(crate) pairs: [f32; 3],
    /// How close together all words it holds come in the body: 1 where nothing stands between them.
    pub(crate) density: f32,
    /// Words at the beginning of the body.
    pub(crate) lead: u64,
    /// Places of the title that the query explains.
    pub(crate) title_places: u32,
}

/// Places of words in one field: position and number of the word, in order.
type Places = Vec<(u32, u8)>;

/// Looks at all candidates, which come in the order of segments and documents.
pub(crate) fn look(view: &View, plan: &Plan, candidates: &[Candidate]) -> Result<Vec<Look>> {
    let mut looks = vec![Look::default(); candidates.len()];
    let mut places: [Vec<Places>; 3] = [TITLE, HEADINGS, BODY].map(|_| vec![Places::new(); candidates.len()]);
    let mut from = 0;
    for group in candidates.chunk_by(|one, other| one.segment == other.segment) {
        let range = from..from + group.len();
        from = range.end;
        let ordinal = group[0].segment;
        let segment = view.searcher.segment_reader(ordinal);
        let mut found: Vec<u32> = Vec::new();
        for (word, terms) in plan.groups.iter().enumerate() {
            for list in &terms.lists[ordinal as usize] {
                let index = segment.inverted_index(view.fields.ranked[list.field])?;
                let kept = [TITLE, HEADINGS, BODY].iter().position(|field| *field == list.field);
                let option = match kept {
                    Some(_) => IndexRecordOption::WithFreqsAndPositions,
                    None => IndexRecordOption::Basic,
                };
                let mut postings = index.read_postings_from_terminfo(&list.info, option)?;
                for (candidate, at) in group.iter().zip(range.clone()) {
                    if postings.doc() < candidate.doc {
                        postings.seek(candidate.doc);
                    }
                    if postings.doc() != candidate.doc {
                        continue;
                    }
                    looks[at].held[list.field] |= terms.words;
                    if let Some(kept) = kept.filter(|_| !terms.glued) {
                        postings.positions(&mut found);
                        places[kept][at]
                            .extend(found.iter().take(MOST_PLACES).map(|place| (*place, word as u8)));
                    }
                }
            }
        }
    }
    for (at, look) in looks.iter_mut().enumerate() {
        look.words = look.held.iter().fold(0, |all, held| all | held);
        for (kept, places) in places.iter_mut().enumerate() {
            let places = &mut places[at];
            places.sort_unstable();
            places.dedup();
            look.pairs[kept] = pairs(plan, places);
        }
        look.title_places = count_places(&places[0][at]);
        look.density = density(&places[2][at]);
        look.lead = places[2][at]
            .iter()
            .take_while(|(place, _)| *place < LEAD)
            .fold(0, |bits, (_, word)| bits | 1 << word);
    }
    Ok(looks)
}

fn count_places(places: &Places) -> u32 {
    let mut positions: Vec<u32> = places.iter().map(|(place, _)| *place).collect();
    positions.dedup();
    positions.len() as u32
}

/// How well neighbours of the query are neighbours here. Often is better than once, but less and less.
fn pairs(plan: &Plan, places: &Places) -> f32 {
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
    plan.pairs.iter().zip(near).map(|(pair, near)| weight(pair) * near / (near + 1.0)).sum()
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
