//! Headings with what they announce, and lists of links that are either the content or navigation beside it.

use super::marks::Marks;
use super::outline::{Block, Outline};
use super::sums::KeptWords;
use super::survey::Survey;
use html::dom::Tag;

/// Words outside navigation from which on a page has content of its own.
const MIN_OWN_WORDS: u32 = 15;
/// A list below a kept heading is kept from this mean probability on; less likely, the heading goes too.
const MIN_SECTION_PROBABILITY: f32 = 0.12;
/// Main content with more kept words than this beside its title is not just a list.
const MAX_OTHER_WORDS: u32 = 5;
/// Parts of a page that are never kept for what stands around them.
const NEVER: u32 = Marks::FOOTER
    | Marks::ASIDE
    | Marks::DIALOG
    | Marks::HIDDEN
    | Marks::UNSHOWN
    | Marks::FORM
    | Marks::BUTTON
    | Marks::SELECT;

/// Drops lists of links in navigation where something else is kept: on a short page they look like much.
pub fn drop_navigation(outline: &Outline, kept: &mut [bool]) {
    let is_menu = |block: &Block| {
        block.marks.has(Marks::NAV)
            && 10 * u64::from(block.tally.link_words) >= 7 * u64::from(block.tally.words)
    };
    let own: u64 = outline
        .blocks
        .iter()
        .zip(&*kept)
        .filter(|(block, kept)| **kept && !block.marks.has(Marks::NAV))
        .map(|(block, _)| u64::from(block.tally.words))
        .sum();
    if own >= u64::from(MIN_OWN_WORDS) {
        for (block, kept) in outline.blocks.iter().zip(kept) {
            *kept &= !is_menu(block);
        }
    }
}

/// A kept heading of which nothing else is kept: keeps what it announces, or drops it.
pub fn keep_announced(survey: &Survey, chances: &[f32], title: Option<usize>, kept: &mut [bool]) {
    let outline = survey.outline;
    for at in 0..kept.len() {
        let block = &outline.blocks[at];
        if !kept[at] || !block.marks.has(Marks::HEADING) || Some(at) == title {
            continue;
        }
        // What a heading announces stands in the box around it.
        let around = &outline.elements[survey.wider[block.owner as usize] as usize];
        let end = survey.section_end(at).min(around.end_block as usize);
        let next = survey.section_end(at);
        let has_subsection = next < kept.len()
            && kept[next]
            && survey.inherited[outline.blocks[next].lead as usize].heading
                > survey.inherited[block.lead as usize].heading;
        if end <= at + 1 || has_subsection || kept[at + 1..end].iter().any(|kept| *kept) {
            continue;
        }
        let words = |at: usize| outline.blocks[at].tally.words as f32;
        let all: f32 = (at + 1..end).map(words).sum();
        let expected: f32 = (at + 1..end).map(|at| words(at) * chances[at]).sum();
        if expected >= MIN_SECTION_PROBABILITY * all {
            for (kept, block) in kept[at + 1..end].iter_mut().zip(&outline.blocks[at + 1..end]) {
                *kept = !block.marks.has(NEVER | Marks::NAV);
            }
        } else {
            kept[at] = false;
        }
    }
}

/// Where the title of the main content would be all that is kept of it, the list below it is the content.
pub fn keep_only_list(outline: &Outline, title: usize, kept: &mut [bool]) {
    let owner = outline.blocks[title].owner;
    let Some(main) = outline.chain(owner).find(|element| matches!(element.tag, Tag::Main | Tag::Article))
    else {
        return;
    };
    let blocks = title + 1..main.end_block as usize;
    let counts = KeptWords::new(&outline.blocks, kept);
    let (others, words) = counts.between(blocks.start, blocks.end);
    let sentences: u32 =
        outline.blocks[blocks.clone()].iter().map(|block| block.tally.long_sentence_words).sum();
    if others > MAX_OTHER_WORDS || 3 * u64::from(sentences) > u64::from(words) {
        return;
    }
    for at in blocks {
        let block = &outline.blocks[at];
        let is_entry = outline.chain(block.owner).take(4).any(|element| element.tag == Tag::Li);
        kept[at] |= is_entry && !block.marks.has(NEVER);
    }
}
