//! Cells from the runs that stand in them, and tables from cells.

use super::super::lines::{append_line, group_lines};
use super::super::runs::Run;
use crate::block::{Cell, Span, Table};

/// One line of text of a table: each run with its first and last column.
#[derive(Debug, Clone, Default)]
pub(super) struct TableLine {
    pub(super) pieces: Vec<Piece>,
    pub(super) baseline: f32,
    pub(super) size: f32,
}

#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) run: Run,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl TableLine {
    pub(super) fn has_column(&self, column: usize) -> bool {
        self.pieces.iter().any(|piece| piece.first <= column && column <= piece.last)
    }

    pub(super) fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.pieces.iter().flat_map(|piece| piece.first..=piece.last).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    pub(super) fn text_of(&self, column: usize) -> String {
        let texts: Vec<&str> = self
            .pieces
            .iter()
            .filter(|piece| piece.first == column)
            .map(|piece| piece.run.text.as_str())
            .collect();
        texts.join(" ")
    }
}

/// A cell before it is written: its place in the grid and its runs.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCell {
    pub(super) row: usize,
    pub(super) last_row: usize,
    pub(super) column: usize,
    pub(super) last_column: usize,
    pub(super) runs: Vec<Run>,
}

pub(super) fn cell_text(runs: Vec<Run>) -> Vec<Span> {
    let mut text: Vec<Span> = Vec::new();
    for line in group_lines(runs) {
        let spans = line.spans();
        let dots = spans.iter().all(|span| span.text.chars().all(|c| ". …·".contains(c)));
        if !dots {
            append_line(&mut text, spans);
        }
    }
    for span in &mut text {
        // Dots that lead to the next column are no part of the label.
        let kept = span.text.trim_end_matches(['.', ' ', '…', '·']);
        let leaders = span.text[kept.len()..].chars().filter(|c| *c != ' ').count();
        if leaders >= 3 || span.text[kept.len()..].contains(". .") {
            span.text.truncate(kept.len());
        }
    }
    text.retain(|span| !span.text.is_empty());
    text
}

/// Writes the cells as rows, without the rows and columns that hold nothing.
pub(super) fn assemble(cells: Vec<OpenCell>, header_rows: usize) -> Table {
    let rows = cells.iter().map(|cell| cell.last_row + 1).max().unwrap_or(0);
    let columns = cells.iter().map(|cell| cell.last_column + 1).max().unwrap_or(0);
    let starts = |used: &mut Vec<bool>, at: usize| {
        if let Some(slot) = used.get_mut(at) {
            *slot = true;
        }
    };
    let (mut used_rows, mut used_columns) = (vec![false; rows], vec![false; columns]);
    for cell in cells.iter().filter(|cell| !cell.runs.is_empty()) {
        starts(&mut used_rows, cell.row);
        starts(&mut used_columns, cell.column);
    }
    let renumber = |used: &[bool]| -> Vec<usize> {
        used.iter()
            .scan(0, |next, &used| {
                let at = *next;
                *next += usize::from(used);
                Some(at)
            })
            .collect()
    };
    let (row_at, column_at) = (renumber(&used_rows), renumber(&used_columns));
    let count = |used: &[bool], from: usize, to: usize| used[from..=to].iter().filter(|used| **used).count();
    let mut table = Table {
        rows: vec![Vec::new(); used_rows.iter().filter(|used| **used).count()],
        header_rows: used_rows.iter().take(header_rows).filter(|used| **used).count(),
    };
    for cell in cells {
        let row_span = count(&used_rows, cell.row, cell.last_row);
        let column_span = count(&used_columns, cell.column, cell.last_column);
        if row_span == 0 || column_span == 0 {
            continue;
        }
        let (row, column) = (row_at[cell.row], column_at[cell.column]);
        table.rows[row].push(Cell { text: cell_text(cell.runs), column, row_span, column_span });
    }
    for row in &mut table.rows {
        row.sort_by_key(|cell| cell.column);
    }
    fill_gaps(&mut table);
    table
}

/// Every place of the grid that no cell covers gets an empty cell.
fn fill_gaps(table: &mut Table) {
    let columns = table.rows.iter().flatten().map(|cell| cell.column + cell.column_span).max().unwrap_or(0);
    let rows = table.rows.len();
    let mut taken = vec![false; rows * columns];
    for (row, cells) in table.rows.iter().enumerate() {
        for cell in cells {
            for y in row..(row + cell.row_span).min(rows) {
                for x in cell.column..(cell.column + cell.column_span).min(columns) {
                    taken[y * columns + x] = true;
                }
            }
        }
    }
    for (row, cells) in table.rows.iter_mut().enumerate() {
        for column in 0..columns {
            if !taken[row * columns + column] {
                cells.push(Cell { text: Vec::new(), column, row_span: 1, column_span: 1 });
            }
        }
        cells.sort_by_key(|cell| cell.column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::plain_text;
    use crate::pdf::runs::tests::run;

    fn cell(row: usize, column: usize, last_column: usize, text: &str) -> OpenCell {
        let runs = if text.is_empty() { Vec::new() } else { vec![run(text, 0.0, 10.0, 20.0)] };
        OpenCell { row, last_row: row, column, last_column, runs }
    }

    #[test]
    fn empty_columns_go_and_gaps_are_filled() {
        let table =
            assemble(vec![cell(0, 0, 0, "a"), cell(0, 1, 1, ""), cell(0, 2, 2, "b"), cell(1, 0, 0, "c")], 1);
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0].len(), 2);
        assert_eq!(table.rows[1].len(), 2);
        assert!(table.rows[1][1].text.is_empty());
    }

    #[test]
    fn leader_dots_are_left_out() {
        assert_eq!(plain_text(&cell_text(vec![run("All ages . . . . . .", 0.0, 10.0, 90.0)])), "All ages");
        assert_eq!(plain_text(&cell_text(vec![run("etc.", 0.0, 10.0, 90.0)])), "etc.");
    }

    #[test]
    fn spans_shrink_with_dropped_columns() {
        let table = assemble(vec![cell(0, 0, 2, "head"), cell(1, 0, 0, "a"), cell(1, 2, 2, "b")], 1);
        assert_eq!(table.rows[0][0].column_span, 2);
    }
}
