//! What belongs together is kept together: the rest of a table that is mostly kept, code between kept texts.
//!
//! The model judges block by block and may drop the one line that makes an example complete. Only adds blocks.

use super::marks::Marks;
use super::outline::{Block, Outline};
use crate::dom::Tag;

/// How far above a row its table is.
const TABLE_STEPS: usize = 4;

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
    fn code_between_kept_texts_is_kept() {
        let html =
            "<p>Run this:</p><pre>make</pre><pre>make test</pre><p>Then wait.</p><pre>ad()</pre><p>menu</p>";
        assert_eq!(
            mended(html, vec![true, false, true, true, false, false]),
            [true, true, true, true, false, false]
        );
    }
}
