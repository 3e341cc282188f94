//! Keeps the members that an API page lists: their signatures, what is said of each, and the headings above.
//!
//! A summary of members is short lines full of links, which the model takes for a menu. The signature of the
//! page's own subject, which it keeps, looks the same as theirs.

use super::marks::Marks;
use super::outline::{Block, Outline};
use super::words::hash_word;

/// What generators of API documentation call the element around a signature.
const SIGNATURE_NAMES: [&str; 5] = ["monospace", "memname", "declaration", "prototype", "sig"];
/// Elements at and above a text that may have such a name.
const MAX_NAME_STEPS: usize = 2;
/// Blocks between a heading and the first signature below it: the member's name, buttons.
const MAX_HEADING_DISTANCE: usize = 6;
/// Parts of a page that are never kept for what stands around them.
const NEVER: u32 = Marks::NOT_MAIN_CONTENT | Marks::FORM | Marks::BUTTON | Marks::SELECT;

/// Adds the members of an API page of which one signature is kept.
pub fn keep_members(outline: &Outline, kept: &mut [bool]) {
    let names = SIGNATURE_NAMES.map(hash_word);
    let signatures: Vec<usize> = (0..kept.len()).filter(|&at| is_signature(outline, at, &names)).collect();
    if !signatures.iter().any(|&at| kept[at]) {
        return;
    }
    for (number, &at) in signatures.iter().enumerate() {
        if kept[at] {
            continue;
        }
        kept[at] = true;
        let owner = &outline.elements[outline.blocks[at].owner as usize];
        let end = outline.elements[owner.parent as usize].end_block as usize;
        // A box with another member in it is the list, not the member's own.
        if signatures.get(number + 1).is_none_or(|&next| next >= end) {
            for (block, kept) in outline.blocks[at..end].iter().zip(&mut kept[at..end]) {
                *kept |= is_text(block);
            }
        }
        let above = at.saturating_sub(MAX_HEADING_DISTANCE)..at;
        let heading = above.rev().take_while(|&at| !kept[at]).find(|&at| is_heading(&outline.blocks[at]));
        if let Some(heading) = heading {
            kept[heading] = true;
        }
    }
}

fn is_signature(outline: &Outline, at: usize, names: &[u32]) -> bool {
    let block = &outline.blocks[at];
    !block.marks.has(NEVER)
        && outline.chain(block.lead).take(MAX_NAME_STEPS).any(|element| {
            let tokens = &outline.tokens[element.first_token as usize..element.end_token as usize];
            tokens.iter().any(|token| names.contains(token))
        })
}

fn is_text(block: &Block) -> bool {
    !block.marks.has(NEVER) && 2 * block.tally.link_words <= block.tally.words
}

fn is_heading(block: &Block) -> bool {
    block.marks.has(Marks::HEADING) && !block.marks.has(NEVER)
}
