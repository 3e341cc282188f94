//! Tables: the pipe form where every cell is one place of the grid, HTML where a cell covers more than one, because
//! the pipe form cannot say so.

use super::inline;
use crate::block::Table;
use crate::html;

pub(super) fn table(table: &Table) -> String {
    if table.is_blank() {
        String::new()
    } else if table.has_spans() {
        html::table(table)
    } else {
        pipe_table(table)
    }
}

fn pipe_table(table: &Table) -> String {
    let width = table.width();
    let mut out = String::new();
    for (index, row) in table.rows.iter().enumerate() {
        let mut column = 0;
        out.push('|');
        for cell in row {
            while column < cell.column {
                out.push_str("  |");
                column += 1;
            }
            out.push(' ');
            out.push_str(&inline::cell(&cell.text));
            out.push_str(" |");
            column += 1;
        }
        for _ in column..width {
            out.push_str("  |");
        }
        out.push('\n');
        // The form needs a heading row, so the first row is one, also where the file does not say so.
        if index == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}
