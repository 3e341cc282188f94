//! Keeps together what belongs together: the rest of a table that is mostly kept, code, tables and captions
//! between kept texts, a paragraph among kept ones, the title above the text.
//!
//! The model classifies block by block and may drop a single line of an example. This only adds blocks.

use super::marks::Marks;
use super::outline::{Block, Outline};
use html::dom::{NodeId, Tag};

/// Ancestors of a row searched for its table.
const MAX_TABLE_STEPS: usize = 4;
/// Ancestors of a title's text searched for the heading, and blocks allowed between a title and its text.
const MAX_TITLE_STEPS: usize = 4;
const MAX_TITLE_DISTANCE: usize = 40;
/// Parts of a page around its main content.
const NOT_MAIN_CONTENT: u32 =
    Marks::NAV | Marks::FOOTER | Marks::ASIDE | Marks::DIALOG | Marks::HIDDEN | Marks::UNSHOWN;

/// Adds the blocks to `kept` that belong to kept ones.
pub fn keep_together(outline: &Outline, kept: &mut [bool]) {
    complete_tables(outline, kept);
    join_sibling_paragraphs(outline, kept);
    fill_gaps(outline, kept);
    if let Some(title) = outline.blocks.iter().position(|block| is_title(outline, block)) {
        kept[title] |= kept.iter().skip(title).take(MAX_TITLE_DISTANCE).any(|kept| *kept);
    }
}

/// The table that a block is a row or the caption of.
fn table_of(outline: &Outline, block: &Block) -> Option<NodeId> {
    let part = block.marks.has(Marks::TABLE)
        && matches!(outline.elements[block.owner as usize].tag, Tag::Tr | Tag::Caption);
    let table = || outline.chain(block.owner).take(MAX_TABLE_STEPS).find(|element| element.tag == Tag::Table);
    part.then(table).flatten().map(|table| table.node)
}

/// A table that is mostly kept is kept whole.
fn complete_tables(outline: &Outline, kept: &mut [bool]) {
    let mut start = 0;
    while start < kept.len() {
        let mut end = start + 1;
        if let Some(table) = table_of(outline, &outline.blocks[start]) {
            while end < kept.len() && table_of(outline, &outline.blocks[end]) == Some(table) {
                end += 1;
            }
            if is_mostly_kept(&outline.blocks[start..end], &kept[start..end]) {
                kept[start..end].fill(true);
            }
        }
        start = end;
    }
}

/// Keeps prose whose sibling paragraphs are nearly all kept.
fn join_sibling_paragraphs(outline: &Outline, kept: &mut [bool]) {
    let parent_of = |block: &Block| {
        let owner = &outline.elements[block.owner as usize];
        (owner.tag == Tag::P).then_some(owner.parent as usize)
    };
    // Words of the paragraphs directly below each element, and how many of them are kept.
    let mut words = vec![(0u64, 0u64); outline.elements.len()];
    for (block, &kept) in outline.blocks.iter().zip(&*kept) {
        if let Some(parent) = parent_of(block) {
            words[parent].0 += u64::from(block.tally.words);
            words[parent].1 += if kept { u64::from(block.tally.words) } else { 0 };
        }
    }
    for (block, kept) in outline.blocks.iter().zip(kept).filter(|(_, kept)| !**kept) {
        let tally = &block.tally;
        let prose = 2 * tally.long_sentence_words >= tally.words && 4 * tally.link_words < tally.words;
        if prose
            && !block.marks.has(NOT_MAIN_CONTENT | Marks::FORM)
            && let Some(parent) = parent_of(block)
        {
            let (all, held) = words[parent];
            *kept = 5 * held > 4 * all;
        }
    }
}

/// Keeps code, tables and captions between kept texts.
fn fill_gaps(outline: &Outline, kept: &mut [bool]) {
    let goes_along = |block: &Block| {
        (block.marks.has(Marks::CODE | Marks::FIGURE) || table_of(outline, block).is_some())
            && !block.marks.has(NOT_MAIN_CONTENT | Marks::FORM)
            && 2 * block.tally.link_words <= block.tally.words
    };
    // Where the stretch of blocks that may be filled begins; none while it does not follow a kept one.
    let mut start = None;
    for at in 0..kept.len() {
        if kept[at] {
            if let Some(start) = start {
                kept[start..at].fill(true);
            }
            start = Some(at + 1);
        } else if !goes_along(&outline.blocks[at]) {
            start = None;
        }
    }
}

/// Whether a block is a main heading of the page: not in its navigation, and not the site's name with a link
/// to the home page.
fn is_title(outline: &Outline, block: &Block) -> bool {
    let own = block.marks.has(Marks::MAIN | Marks::ARTICLE) || block.tally.link_words * 2 < block.tally.words;
    block.marks.has(Marks::HEADING)
        && !block.marks.has(NOT_MAIN_CONTENT)
        && own
        && outline.chain(block.lead).take(MAX_TITLE_STEPS).any(|element| element.tag == Tag::H1)
}

fn is_mostly_kept(blocks: &[Block], kept: &[bool]) -> bool {
    let words = |block: &Block| u64::from(block.tally.words);
    let all: u64 = blocks.iter().map(words).sum();
    let held: u64 = blocks.iter().zip(kept).filter(|(_, kept)| **kept).map(|(block, _)| words(block)).sum();
    2 * held > all
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::{Dom, Limits};

    fn mended(html: &str, mut kept: Vec<bool>) -> Vec<bool> {
        let outline = Outline::from_dom(&Dom::parse(html, &Limits::default()));
        assert_eq!(outline.blocks.len(), kept.len());
        keep_together(&outline, &mut kept);
        kept
    }

    #[test]
    fn a_table_mostly_kept_is_kept_whole() {
        let table = "<table><tr><th>Bird<th>Span<tr><td>Gannet<td>1.8 m<tr><td>Puffin<td>0.6 m</table>";
        let html = format!("<p>before</p>{table}<p>between</p>{table}");
        assert_eq!(
            mended(&html, vec![true, true, true, false, false, false, true, false]),
            [true, true, true, true, false, false, true, false]
        );
    }

    #[test]
    fn a_table_or_a_caption_between_kept_texts_is_kept() {
        let html = "<p>See:</p><table><caption>Span</caption><tr><td>Gannet<td>1.8 m</table><p>And:</p>\
                    <figure><img src=a><figcaption>A dive</figcaption></figure><p>End.</p><figure><figcaption>x</figure>";
        let expected = [true, true, true, true, true, true, false];
        assert_eq!(mended(html, vec![true, false, false, true, false, true, false]), expected);
        let menu = "<p>See:</p><table><tr><td><a href=a>Home</a><td><a href=b>Shop</a></table><p>And:</p>";
        assert_eq!(mended(menu, vec![true, false, true]), [true, false, true], "a row of links is a menu");
    }

    #[test]
    fn a_paragraph_is_kept_with_its_fellows() {
        let prose = |words: &str| {
            format!("<p>The birds dive from thirty metres into the sea {words} and come up again.</p>")
        };
        let five: String = ["here", "there", "at dawn", "at noon", "at dusk", "at night"].map(prose).concat();
        let html = format!("<article>{five}<p>Read more</p></article><div>{}</div>", prose("elsewhere"));
        let mut kept = vec![true; 8];
        (kept[5], kept[6], kept[7]) = (false, false, false);
        let expected = [true, true, true, true, true, true, false, false];
        assert_eq!(
            mended(&html, kept),
            expected,
            "prose of the same piece, no short line and no other piece"
        );
    }

    #[test]
    fn the_title_comes_with_its_text() {
        let html = "<h1><a href=/>Site</a></h1><nav><h1>Menu</h1></nav><h1>Gannets</h1><p>By Ann</p><p>They dive.</p>";
        assert_eq!(
            mended(html, vec![false, false, false, false, true]),
            [false, false, true, false, true],
            "neither the site's name nor the menu"
        );
        assert_eq!(mended(html, vec![false; 5]), [false; 5], "no text, no title");
    }

    #[test]
    fn code_between_kept_texts_is_kept() {
        let html =
            "<p>Run this:</p><pre>make</pre><pre>make test</pre><p>Then wait.</p><pre>ad()</pre><p>menu</p>";
        assert_eq!(
            mended(html, vec![true, false, true, true, false, false]),
            [true, true, true, true, false, false]
        );
    }
}
