//! Tables that go on over a page break: the rows of the later page join the table of the earlier one.
//!
//! Two tables are one where nothing but running heads and feet stands between them, they have the same columns at the
//! same places, and either the later one repeats the headings of the earlier, or has no headings and goes on where the
//! earlier one reached the foot of its page.

use crate::block::{BlockKind, Cell, Content, Document, Page, Table};

/// How far the edges of both parts may be apart, as a share of the page's width.
const MAX_EDGE_SHIFT: f32 = 0.02;
/// A part without headings goes on only from a table that ends below this share of its page, …
const MIN_END_OF_FIRST: f32 = 0.75;
/// … and begins above this one.
const MAX_START_OF_SECOND: f32 = 0.25;

pub(super) fn join_continued_tables(document: &mut Document) {
    // The page and block of the table that is still open at the end of the page before.
    let mut open: Option<(usize, usize)> = None;
    for index in 0..document.pages.len() {
        let first = first_block(&document.pages[index]);
        let joined = match (open, first) {
            (Some((page, block)), Some(next)) => {
                let repeated = repeated_rows(&document.pages, (page, block), (index, next));
                if let Some(repeated) = repeated {
                    move_rows(document, (page, block), (index, next), repeated);
                }
                repeated.is_some()
            }
            _ => false,
        };
        let page = &document.pages[index];
        let last = last_block(page).filter(|block| is_table(page, *block));
        open = match (joined, last) {
            (_, Some(block)) => Some((index, block)),
            // A page that held nothing but rows of the table: the next page may go on with it.
            (true, None) if first_block(page).is_none() => open,
            _ => None,
        };
    }
}

fn is_table(page: &Page, block: usize) -> bool {
    page.blocks.get(block).is_some_and(|block| block.kind == BlockKind::Table)
}

fn first_block(page: &Page) -> Option<usize> {
    page.blocks.iter().position(|block| !block.is_running())
}

fn last_block(page: &Page) -> Option<usize> {
    page.blocks.iter().rposition(|block| !block.is_running())
}

/// How many rows of the second table repeat headings of the first; `None` when they are two tables.
fn repeated_rows(pages: &[Page], first: (usize, usize), second: (usize, usize)) -> Option<usize> {
    let (first, second) = (&pages[first.0].blocks[first.1], &pages[second.0].blocks[second.1]);
    let (Content::Table(head), Content::Table(tail)) = (&first.content, &second.content) else { return None };
    let (above, below) = (first.bbox?, second.bbox?);
    let edges_agree = (above.left - below.left).abs() <= MAX_EDGE_SHIFT
        && (above.right - below.right).abs() <= MAX_EDGE_SHIFT;
    if !edges_agree || head.width() != tail.width() {
        return None;
    }
    // Rows that are all the same have no heading that could be repeated.
    let has_heading = !same_text(head.rows.first(), head.rows.get(head.header_rows.max(1)));
    let most = if has_heading { head.header_rows.max(1).min(tail.rows.len()) } else { 0 };
    let repeated =
        (1..=most).take_while(|rows| same_text(head.rows.get(rows - 1), tail.rows.get(rows - 1))).count();
    if repeated > 0 && repeated < tail.rows.len() {
        return Some(repeated);
    }
    let goes_on =
        tail.header_rows == 0 && above.bottom >= MIN_END_OF_FIRST && below.top <= MAX_START_OF_SECOND;
    goes_on.then_some(0)
}

fn same_text(first: Option<&Vec<Cell>>, second: Option<&Vec<Cell>>) -> bool {
    let (Some(first), Some(second)) = (first, second) else { return false };
    let shape = |row: &[Cell]| row.iter().map(|cell| (cell.column, cell.column_span)).collect::<Vec<_>>();
    let text = |row: &[Cell]| {
        let spans = row.iter().flat_map(|cell| &cell.text);
        spans.map(|span| span.text.split_whitespace().collect::<String>()).collect::<String>()
    };
    shape(first) == shape(second)
        && text(first) == text(second)
        && text(first).chars().any(char::is_alphabetic)
}

fn move_rows(document: &mut Document, first: (usize, usize), second: (usize, usize), repeated: usize) {
    let later = document.pages[second.0].blocks.remove(second.1);
    let Content::Table(Table { rows, .. }) = later.content else { return };
    if let Content::Table(table) = &mut document.pages[first.0].blocks[first.1].content {
        table.rows.extend(rows.into_iter().skip(repeated));
    }
}

#[cfg(test)]
mod tests {
    use super::join_continued_tables;
    use crate::block::{Block, BlockKind, Cell, Content, Document, Page, Rect, Span, Table};

    fn table(rows: &[[&str; 2]], header_rows: usize, top: f32, bottom: f32) -> Block {
        let cells = |row: &[&str; 2]| {
            row.iter().enumerate().map(|(at, text)| Cell::new(at, vec![Span::plain(*text)])).collect()
        };
        let content = Content::Table(Table { rows: rows.iter().map(cells).collect(), header_rows });
        let bbox = Some(Rect { left: 0.1, top, right: 0.9, bottom });
        Block { bbox, ..Block::native(BlockKind::Table, content) }
    }

    fn footer() -> Block {
        Block::native(BlockKind::PageFooter, Content::Paragraph(vec![Span::plain("Page 1")]))
    }

    /// The rows of the tables that are left.
    fn joined(pages: Vec<Vec<Block>>) -> Vec<usize> {
        let pages = pages.into_iter().map(Page::whole).collect();
        let mut document = Document { pages, ..Document::default() };
        join_continued_tables(&mut document);
        let blocks = document.pages.iter().flat_map(|page| &page.blocks);
        let rows = |block: &Block| match &block.content {
            Content::Table(table) => Some(table.rows.len()),
            _ => None,
        };
        blocks.filter_map(rows).collect()
    }

    #[test]
    fn rows_below_a_repeated_heading_join_the_table_before_the_page_break() {
        let page = || vec![table(&[["Name", "Sum"], ["a", "1"], ["b", "2"]], 1, 0.1, 0.9), footer()];
        assert_eq!(joined(vec![page(), page(), page()]), [7]);
    }

    #[test]
    fn a_table_without_headings_goes_on_only_across_the_break() {
        let head = |bottom| table(&[["Name", "Sum"], ["a", "1"]], 1, 0.1, bottom);
        let tail = |top| table(&[["b", "2"], ["c", "3"]], 0, top, 0.5);
        assert_eq!(joined(vec![vec![head(0.9)], vec![tail(0.1)]]), [4]);
        assert_eq!(joined(vec![vec![head(0.4)], vec![tail(0.1)]]), [2, 2]);
        assert_eq!(joined(vec![vec![head(0.9)], vec![tail(0.4)]]), [2, 2]);
    }

    #[test]
    fn tables_with_other_headings_or_text_between_them_stay_apart() {
        let first = || table(&[["Name", "Sum"], ["a", "1"]], 1, 0.5, 0.9);
        let other = table(&[["City", "People"], ["b", "2"]], 1, 0.1, 0.5);
        assert_eq!(joined(vec![vec![first()], vec![other]]), [2, 2]);
        let text = Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain("Text")]));
        assert_eq!(joined(vec![vec![first(), text], vec![first()]]), [2, 2]);
    }
}
