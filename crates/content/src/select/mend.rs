//! What belongs together is kept together: the rest of a table that is mostly kept, code between kept texts, the title
//! above the text.
//!
//! The model judges block by block and may drop the one line that makes an example complete. Only adds blocks.

use super::marks::Marks;
use super::outline::{Block, Outline};
use crate::dom::Tag;

/// How far above a row its table is.
const TABLE_STEPS: usize = 4;
/// How far above a title's text its heading is, and how many blocks may stand between a title and its text.
const TITLE_STEPS: usize = 4;
const TITLE_REACH: usize = 40;

/// Adds to `kept` what must not be missing from it.
pub fn mend(outline: &Outline, kept: &mut [bool]) {
    let table_of = |block: &Block| {
        let row = block.marks.has(Marks::TABLE) && outline.elements[block.owner as usize].tag == Tag::Tr;
        let table = || outline.chain(block.owner).take(TABLE_STEPS).find(|element| element.tag == Tag::Table);
        row.then(table).flatten().map(|table| table.node)
    };
    let mut start = 0;
    while start < kept.len() {
        let block = &outline.blocks[start];
        let table = table_of(block);
        let code = block.marks.has(Marks::CODE);
        let mut end = start + 1;
        while end < kept.len() && (table.is_some() || code) {
            let next = &outline.blocks[end];
            if table_of(next) != table || next.marks.has(Marks::CODE) != code {
                break;
            }
            end += 1;
        }
        let whole = table.is_some() && is_mostly_kept(&outline.blocks[start..end], &kept[start..end]);
        let between = code && start > 0 && kept[start - 1] && kept.get(end).copied().unwrap_or(false);
        if whole || between {
            kept[start..end].fill(true);
        }
        start = end;
    }
    if let Some(title) = outline.blocks.iter().position(|block| is_title(outline, block)) {
        kept[title] |= kept.iter().skip(title).take(TITLE_REACH).any(|kept| *kept);
    }
}

/// Whether a block is a first heading of the page's own: not of its frame, and not the site's name as a link home.
fn is_title(outline: &Outline, block: &Block) -> bool {
    let framed = block
        .marks
        .has(Marks::NAV | Marks::FOOTER | Marks::ASIDE | Marks::DIALOG | Marks::HIDDEN | Marks::UNSHOWN);
    let own = block.marks.has(Marks::MAIN | Marks::ARTICLE) || block.tally.link_words * 2 < block.tally.words;
    block.marks.has(Marks::HEADING)
        && !framed
        && own
        && outline.chain(block.lead).take(TITLE_STEPS).any(|element| element.tag == Tag::H1)
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
    use crate::dom::{Dom, Limits};

    fn mended(html: &str, mut kept: Vec<bool>) -> Vec<bool> {
        let outline = Outline::of(&Dom::parse(html, &Limits::default()));
        assert_eq!(outline.blocks.len(), kept.len());
        mend(&outline, &mut kept);
        kept
    }

    #[test]
    fn a_table_mostly_kept_is_kept_whole() {
        let table = "<table><tr><th>Bird<th>Span<tr><td>Gannet<td>1.8 m<tr><td>Puffin<td>0.6 m</table>";
        let html = format!("<p>before</p>{table}{table}");
        assert_eq!(
            mended(&html, vec![true, true, true, false, false, true, false]),
            [true, true, true, true, false, true, false]
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
