//! Keeps tables and lists whole: a table of data with blank cells is wrong, not merely shorter.

use super::marks::Marks;
use super::outline::{Block, Element, Outline};
use super::sums::KeptWords;
use html::dom::{NodeId, Tag};
use std::ops::Range;

/// Ancestors of a row searched for its table.
const MAX_TABLE_STEPS: usize = 4;
/// A table with a longer row lays out a page.
const MAX_ROW_WORDS: u32 = 120;
/// A longer term is no term.
const MAX_TERM_WORDS: u32 = 80;
/// Parts of a table or list that are not its data.
const NOT_DATA: u32 = Marks::BUTTON | Marks::SELECT | Marks::HIDDEN | Marks::UNSHOWN;

/// The table that a block is a row or the caption of.
pub fn table_of(outline: &Outline, block: &Block) -> Option<NodeId> {
    let part = block.marks.has(Marks::TABLE)
        && matches!(outline.elements[block.owner as usize].tag, Tag::Tr | Tag::Caption);
    let table = || outline.chain(block.owner).take(MAX_TABLE_STEPS).find(|element| element.tag == Tag::Table);
    part.then(table).flatten().map(|table| table.node)
}

/// A run of plain rows that is mostly kept is kept whole.
pub fn complete_rows(outline: &Outline, kept: &mut [bool]) {
    let counts = KeptWords::new(&outline.blocks, kept);
    let mut start = 0;
    while start < kept.len() {
        let mut end = start + 1;
        if let Some(table) = table_of(outline, &outline.blocks[start]) {
            while end < kept.len() && table_of(outline, &outline.blocks[end]) == Some(table) {
                end += 1;
            }
            if is_share(counts.between(start, end), 1, 2) {
                kept[start..end].fill(true);
            }
        }
        start = end;
    }
}

/// A table of data that is mostly kept is kept whole; of any other, a row is kept or dropped as a whole. The
/// cells of such rows are blocks of their own where they hold pictures, boxes or forms.
pub fn complete_data_tables(outline: &Outline, kept: &mut [bool]) {
    let elements = &outline.elements;
    let counts = KeptWords::new(&outline.blocks, kept);
    let tables: Vec<usize> = (0..elements.len()).filter(|&at| elements[at].tag == Tag::Table).collect();
    for (order, &index) in tables.iter().enumerate() {
        let table = &elements[index];
        let is_nested = tables.get(order + 1).is_some_and(|&next| next < table.end as usize);
        if is_nested || table.marks.has(Marks::NOT_MAIN_CONTENT) {
            continue;
        }
        let inside = &elements[index..table.end as usize];
        let rows: Vec<Range<usize>> = inside
            .iter()
            .filter(|element| element.tag == Tag::Tr && element.end_block > element.first_block)
            .map(blocks_of)
            .collect();
        let cells = inside
            .iter()
            .filter(|element| {
                matches!(element.tag, Tag::Td | Tag::Th) && element.end_block > element.first_block
            })
            .count();
        let is_data = rows.len() >= 2
            && 2 * cells >= 3 * rows.len()
            && rows.iter().all(|row| counts.between(row.start, row.end).1 <= MAX_ROW_WORDS);
        if !is_data {
            continue;
        }
        if is_share(counts.words_in(table), 1, 2) {
            keep(outline, blocks_of(table), kept);
            continue;
        }
        for row in rows {
            let words = counts.between(row.start, row.end);
            if is_share(words, 1, 3) {
                keep(outline, row, kept);
            } else if words.0 > 0 {
                kept[row].fill(false);
            }
        }
    }
}

/// A list that is mostly kept is kept whole, and a term is kept with its definition.
pub fn complete_lists(outline: &Outline, kept: &mut [bool]) {
    let elements = &outline.elements;
    let counts = KeptWords::new(&outline.blocks, kept);
    // Blocks up to this one belong to the list that was filled last: inner lists need no look of their own.
    let mut filled = 0;
    for element in elements {
        let needed = match element.tag {
            Tag::Dl => (1, 2),
            Tag::Ul | Tag::Ol => (2, 3),
            _ => continue,
        };
        if element.first_block >= filled
            && !element.marks.has(Marks::NOT_MAIN_CONTENT | Marks::FORM)
            && is_share(counts.words_in(element), needed.0, needed.1)
        {
            keep(outline, blocks_of(element), kept);
            filled = element.end_block;
        }
    }
    keep_terms(outline, kept);
}

/// A term whose definition is kept, in whole or in part, is kept: a signature, a parameter.
fn keep_terms(outline: &Outline, kept: &mut [bool]) {
    let elements = &outline.elements;
    let counts = KeptWords::new(&outline.blocks, kept);
    let mut is_kept_term = vec![false; elements.len()];
    // From the last to the first: of several terms in a row each goes with the next.
    for (index, element) in elements.iter().enumerate().rev().filter(|(_, element)| element.tag == Tag::Dt) {
        let Some(next) = elements.get(element.end as usize).filter(|next| next.parent == element.parent)
        else {
            continue;
        };
        is_kept_term[index] = match next.tag {
            Tag::Dd => counts.words_in(next).0 > 0,
            Tag::Dt => is_kept_term[element.end as usize],
            _ => false,
        };
        let is_short = counts.words_in(element).1 <= MAX_TERM_WORDS;
        if is_kept_term[index] && is_short && !element.marks.has(Marks::NOT_MAIN_CONTENT) {
            keep(outline, blocks_of(element), kept);
        }
    }
}

fn keep(outline: &Outline, blocks: Range<usize>, kept: &mut [bool]) {
    for at in blocks {
        kept[at] |= !outline.blocks[at].marks.has(NOT_DATA);
    }
}

fn blocks_of(element: &Element) -> Range<usize> {
    element.first_block as usize..element.end_block as usize
}

/// Whether more than `part / whole` of the words are kept.
fn is_share((held, all): (u32, u32), part: u64, whole: u64) -> bool {
    whole * u64::from(held) > part * u64::from(all)
}
