//! Keeps the text of a reference page whole: a manual, an API, a changelog.
//!
//! Such a page is one long document with code, terms and tables, and what stands far down in it is as much
//! content as what stands at the top; the model, which has learnt from articles, is less and less sure of it.

use super::marks::Marks;
use super::outline::{Element, Outline};
use super::sums::KeptWords;
use html::dom::Tag;

/// Code blocks, definition lists and tables with kept text, from which on a page is a reference page.
const MIN_PARTS: usize = 4;
/// A less likely block is left out even so.
const MIN_PROBABILITY: f32 = 0.05;
/// Parts of a page that are never kept for what stands around them.
const NEVER: u32 = Marks::NOT_MAIN_CONTENT | Marks::FORM | Marks::BUTTON | Marks::SELECT;

/// Adds the doubtful blocks of the document on a reference page.
pub fn keep_document(outline: &Outline, chances: &[f32], kept: &mut [bool]) {
    let counts = KeptWords::new(&outline.blocks, kept);
    let total = counts.between(0, kept.len()).0;
    let is_part = |element: &&Element| matches!(element.tag, Tag::Pre | Tag::Dl | Tag::Table);
    let parts = outline.elements.iter().filter(is_part).filter(|part| counts.words_in(part).0 > 0).count();
    if total == 0 || parts < MIN_PARTS {
        return;
    }
    // The document is the smallest element with nine tenths of the kept words. Elements stand in the order of
    // the page, so the last that holds enough is the innermost.
    let document = outline
        .elements
        .iter()
        .rev()
        .find(|element| 10 * u64::from(counts.words_in(element).0) >= 9 * u64::from(total));
    let Some(document) = document else { return };
    if !counts.is_mostly_kept(document) {
        return;
    }
    for at in document.first_block as usize..document.end_block as usize {
        let block = &outline.blocks[at];
        let is_link_list = 2 * block.tally.link_words > block.tally.words;
        kept[at] |= chances[at] >= MIN_PROBABILITY && !is_link_list && !block.marks.has(NEVER);
    }
}
