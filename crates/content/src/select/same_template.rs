//! What one template repeats is judged alike: the last posts of a long thread are content when the first are.
//!
//! The further down a block stands, the less sure the model is of it, because most of what stands far down on
//! other pages is not content. Where the first items of a long run were kept, the doubtful ones follow.

use super::survey::Survey;
use html::dom::Tag;
use std::collections::HashMap;

/// Items that a run has at least.
const MIN_ITEMS: u32 = 8;
/// The first items, by which the others are judged.
const FIRST_ITEMS: u32 = 6;
/// Of the blocks at one place of the first items, this share must be kept.
const MIN_KEPT_SHARE: f32 = 0.7;
/// A less likely block is left out even so.
const MIN_PROBABILITY: f32 = 0.06;

/// Blocks at one place of the first items of a run: all and kept.
#[derive(Default)]
struct RepeatedPlace {
    blocks: u32,
    kept: u32,
}

/// Adds the blocks to `kept` that stand where the first items of the same run have kept ones.
pub fn keep_alike(survey: &Survey, chances: &[f32], kept: &mut [bool]) {
    if !survey.groups.iter().any(|group| group.items >= MIN_ITEMS) {
        return;
    }
    let items = item_numbers(survey);
    let place_of = |at: usize| {
        let item = survey.inherited[survey.outline.blocks[at].owner as usize].wide.element;
        let element = survey.outline.elements.get(item as usize)?;
        let group = survey.group_of[item as usize];
        let is_run = survey.groups[group as usize].items >= MIN_ITEMS && is_item(element.tag);
        is_run.then(|| (items[item as usize], (group, survey.path_of[at])))
    };
    let mut places: HashMap<(u32, u32), RepeatedPlace> = HashMap::new();
    for (at, &kept) in kept.iter().enumerate() {
        if let Some((item, place)) = place_of(at)
            && item < FIRST_ITEMS
        {
            let place = places.entry(place).or_default();
            place.blocks += 1;
            place.kept += u32::from(kept);
        }
    }
    for at in 0..kept.len() {
        if !kept[at]
            && chances[at] >= MIN_PROBABILITY
            && let Some((item, place)) = place_of(at)
            && item >= FIRST_ITEMS
            && let Some(place) = places.get(&place)
        {
            kept[at] = place.kept >= 2 && place.kept as f32 >= MIN_KEPT_SHARE * place.blocks as f32;
        }
    }
}

/// The number of each element among the siblings of its template.
fn item_numbers(survey: &Survey) -> Vec<u32> {
    let mut next = vec![0u32; survey.groups.len()];
    survey
        .group_of
        .iter()
        .map(|&group| {
            let next = &mut next[group as usize];
            *next += 1;
            *next - 1
        })
        .collect()
}

/// Paragraphs and headings of one article are siblings too, and end where the article ends.
fn is_item(tag: Tag) -> bool {
    matches!(tag, Tag::Div | Tag::Article | Tag::Section | Tag::Li | Tag::Table | Tag::Tbody | Tag::Dl)
}
