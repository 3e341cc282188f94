//! What a table says about itself, and the grid on which the readers of formats build one.

use std::collections::HashMap;

use crate::block::{Block, Cell, Content, Span, Table};
use crate::flatten::blocks_to_spans;
use crate::limit::cost_of;

/// More columns than a table on a page can have; a file that says more is wrong or hostile.
pub(crate) const MAX_COLUMNS: usize = 1024;
/// Cells of one table, with those that a repetition makes.
pub(crate) const MAX_TABLE_CELLS: usize = 500_000;

impl Table {
    /// Columns of the grid.
    pub fn width(&self) -> usize {
        let ends = self.rows.iter().flatten().map(|cell| cell.column.saturating_add(cell.column_span.max(1)));
        ends.max().unwrap_or(0).min(MAX_COLUMNS)
    }

    /// Whether a cell covers more than one place.
    pub fn has_spans(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.row_span > 1 || cell.column_span > 1)
    }

    /// Whether no cell has any text.
    pub fn is_blank(&self) -> bool {
        self.rows.iter().flatten().flat_map(|cell| &cell.text).all(|span| span.text.trim().is_empty())
    }
}

impl Cell {
    /// A cell of one place.
    pub fn new(column: usize, text: Vec<Span>) -> Self {
        Self { text, column, row_span: 1, column_span: 1 }
    }
}

/// A table while it is read: cells are placed from left to right, around those that reach down from above.
#[derive(Debug, Default)]
pub(crate) struct TableBuilder {
    rows: Vec<Vec<GridCell>>,
    /// For each column: how many rows below the current one are still covered by a cell from above.
    covered: Vec<usize>,
    /// The cell that covers each column, for formats that say so in every row.
    above: HashMap<usize, (usize, usize)>,
    column: usize,
    cells: usize,
    pub(crate) header_rows: usize,
}

#[derive(Debug)]
struct GridCell {
    column: usize,
    column_span: usize,
    row_span: usize,
    blocks: Vec<Block>,
}

impl TableBuilder {
    pub(crate) fn with_header_rows(header_rows: usize) -> Self {
        Self { header_rows, ..Self::default() }
    }

    pub(crate) fn start_row(&mut self) {
        for rows in &mut self.covered {
            *rows = rows.saturating_sub(1);
        }
        self.column = 0;
        self.rows.push(Vec::new());
    }

    /// Whether no cell so far shows anything.
    pub(crate) fn is_blank(&self) -> bool {
        self.rows.iter().flatten().all(|cell| !cell.blocks.iter().any(has_content))
    }

    /// Whether there is no place for more cells; the rest of the table is then left out.
    pub(crate) fn is_full(&self) -> bool {
        self.cells >= MAX_TABLE_CELLS
    }

    /// Leaves places of the current row empty.
    pub(crate) fn skip_columns(&mut self, count: usize) {
        self.column = self.column.saturating_add(count).min(MAX_COLUMNS);
    }

    /// Places a cell that the format gives with the size it covers.
    pub(crate) fn push(&mut self, blocks: Vec<Block>, column_span: usize, row_span: usize) {
        while self.covered.get(self.column).is_some_and(|rows| *rows > 0) {
            self.column += 1;
        }
        let start = self.column;
        let column_span = column_span.max(1).min(MAX_COLUMNS.saturating_sub(start));
        let Some(row) = self.rows.last_mut() else { return };
        if column_span == 0 || self.cells >= MAX_TABLE_CELLS {
            return;
        }
        self.cells += 1;
        let row_span = row_span.max(1);
        if self.covered.len() < start + column_span {
            self.covered.resize(start + column_span, 0);
        }
        self.covered[start..start + column_span].fill(row_span);
        row.push(GridCell { column: start, column_span, row_span, blocks });
        self.column = start + column_span;
    }

    /// Places a cell of a format that gives every place its own cell and marks those that belong to the cell above.
    pub(crate) fn push_merged(&mut self, blocks: Vec<Block>, column_span: usize, continues_above: bool) {
        let start = self.column;
        let place = self.above.get(&start).copied();
        if let (true, Some((row, cell))) = (continues_above, place) {
            let cell = &mut self.rows[row][cell];
            cell.row_span += 1;
            // Text in a covered cell is not shown, but it is in the file.
            cell.blocks.extend(blocks);
            self.column = start + cell.column_span;
            return;
        }
        self.push(blocks, column_span, 1);
        let row = self.rows.len().saturating_sub(1);
        let cells = self.rows.last().map_or(0, Vec::len);
        if cells > 0 {
            self.above.insert(start, (row, cells - 1));
        }
    }

    /// Cells of the last row, and what their content costs.
    pub(crate) fn size_of_last_row(&self) -> (usize, usize) {
        let row = self.rows.last().map_or(&[][..], Vec::as_slice);
        (row.len(), row.iter().map(|cell| cost_of(&cell.blocks)).sum())
    }

    /// One more row like the last one.
    pub(crate) fn repeat_last_row(&mut self) {
        let Some(row) = self.rows.last() else { return };
        let cells: Vec<_> =
            row.iter().map(|cell| (cell.blocks.clone(), cell.column_span, cell.row_span)).collect();
        self.start_row();
        for (blocks, column_span, row_span) in cells {
            self.push(blocks, column_span, row_span);
        }
    }

    /// The content of the one cell of a table that is only a frame around text.
    pub(crate) fn take_single_cell(&mut self) -> Option<Vec<Block>> {
        match self.rows.as_mut_slice() {
            [row] if row.len() == 1 => row.pop().map(|cell| cell.blocks),
            _ => None,
        }
    }

    /// The table without rows and columns that no cell begins in, and without empty rows at its end.
    pub(crate) fn finish(mut self) -> Table {
        let is_blank_row = |row: &Vec<GridCell>| row.iter().all(|cell| !cell.blocks.iter().any(has_content));
        while self.rows.len() > 1 && self.rows.last().is_some_and(is_blank_row) {
            self.rows.pop();
        }
        let height = self.rows.len();
        let mut starts = vec![false; MAX_COLUMNS + 1];
        for cell in self.rows.iter().flatten() {
            starts[cell.column.min(MAX_COLUMNS)] = true;
        }
        // For each old column, how many of the kept ones lie to the left.
        let mut kept = Vec::with_capacity(MAX_COLUMNS + 2);
        kept.push(0);
        for column in 0..=MAX_COLUMNS {
            // Columns before the first cell are kept: they are empty on purpose.
            kept.push(kept[column] + usize::from(starts[column]));
        }
        let filled: Vec<bool> = self.rows.iter().map(|row| !row.is_empty()).collect();
        let mut kept_rows = Vec::with_capacity(height + 1);
        kept_rows.push(0);
        for row in 0..height {
            kept_rows.push(kept_rows[row] + usize::from(filled[row]));
        }
        let mut rows = Vec::with_capacity(height);
        for (index, row) in self.rows.into_iter().enumerate() {
            if row.is_empty() {
                continue;
            }
            let cell = |cell: GridCell| {
                let end = (cell.column + cell.column_span).min(MAX_COLUMNS + 1);
                let bottom = index.saturating_add(cell.row_span).min(height);
                Cell {
                    text: blocks_to_spans(cell.blocks),
                    column: kept[cell.column],
                    row_span: (kept_rows[bottom] - kept_rows[index]).max(1),
                    column_span: (kept[end] - kept[cell.column]).max(1),
                }
            };
            rows.push(row.into_iter().map(cell).collect());
        }
        Table { rows, header_rows: self.header_rows }
    }

    pub(crate) fn into_content(self) -> Content {
        Content::Table(self.finish())
    }
}

/// Whether a block shows anything in a cell.
fn has_content(block: &Block) -> bool {
    let shown = |text: &[Span]| text.iter().any(|span| !span.text.trim().is_empty());
    match &block.content {
        Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => shown(text),
        Content::List(items) => items.iter().any(|item| shown(&item.text)),
        Content::Table(table) => !table.is_blank(),
        Content::Code { text, .. } | Content::Formula(text) | Content::Markdown(text) => {
            !text.trim().is_empty()
        }
        Content::Figure { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_COLUMNS, TableBuilder};
    use crate::block::{Block, BlockKind, Content, Span};

    fn text(of: &str) -> Vec<Block> {
        vec![Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain(of)]))]
    }

    #[test]
    fn cells_go_around_those_from_above() {
        let mut table = TableBuilder::default();
        table.start_row();
        table.push(text("tall"), 1, 2);
        table.push(text("a"), 1, 1);
        table.start_row();
        table.push(text("b"), 1, 1);
        let table = table.finish();
        assert_eq!(table.rows[0][0].row_span, 2);
        assert_eq!((table.rows[1][0].column, table.rows[1][0].text[0].text.as_str()), (1, "b"));
    }

    #[test]
    fn a_span_that_covers_only_itself_is_no_span() {
        let mut table = TableBuilder::default();
        for name in ["a", "b"] {
            table.start_row();
            table.push(text(name), 3, 1);
            table.push(text("x"), 1, 1);
        }
        assert!(!table.finish().has_spans());
    }

    #[test]
    fn huge_spans_stay_inside_of_the_grid() {
        let mut table = TableBuilder::default();
        table.start_row();
        table.push(text("a"), usize::MAX, usize::MAX);
        table.push(text("b"), usize::MAX, 1);
        let table = table.finish();
        assert!(table.width() <= MAX_COLUMNS);
        assert_eq!(table.rows[0][0].row_span, 1);
    }

    #[test]
    fn a_huge_span_ends_with_the_table() {
        let mut table = TableBuilder::default();
        for (name, rows) in [("a", 1), ("b", usize::MAX), ("", 1)] {
            table.start_row();
            if !name.is_empty() {
                table.push(text(name), 1, rows);
            }
            table.push(text("x"), 1, 1);
        }
        assert_eq!(table.finish().rows[1][0].row_span, 2);
    }
}
