//! Data tables as pipe tables; tables that only lay out a page as the blocks they hold.

use super::{Exit, Flow, Gap, MarkdownWriter, code_lines};
use crate::table::{self, Grid, GridCell, GridRow};
use html::dom::{Attr, Dom, NodeId, Tag};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    None,
    Left,
    Center,
    Right,
}

/// Nodes of an empty cell searched for what it means, and the longest such label.
const MAX_LABEL_NODES: usize = 24;
const MAX_LABEL_BYTES: usize = 80;

impl MarkdownWriter<'_> {
    /// Starts a table: a data table is written whole, the blocks of a layout table follow as blocks.
    pub(super) fn enter_table(&mut self, id: NodeId) -> NodeId {
        self.flush();
        let dom = self.dom;
        let grid = if self.flow == Flow::Paragraph { table::grid(dom, id, self.keep) } else { None };
        if let Some(grid) = grid {
            self.write_grid(&grid);
            return dom.subtree_end(id);
        }
        if let Some(listing) = numbered_listing(dom, id) {
            self.code_block(listing);
            return dom.subtree_end(id);
        }
        self.push_frame(id, Exit::Block)
    }

    fn write_grid(&mut self, grid: &Grid) {
        let dom = self.dom;
        if let Some(caption) = grid.caption
            && self.keep.reaches(dom, caption)
        {
            self.run(NodeId(caption.0 + 1), dom.subtree_end(caption));
            self.flush();
        }
        let columns = grid.columns;
        let header = grid.has_header();
        self.widen_gap();
        let start = (self.out.len(), self.lead.clone(), self.gap_prefix, self.gap);
        self.start_line();
        let mut wrote = if header {
            self.write_row(&grid.rows[0], columns)
        } else {
            self.out.push('|');
            self.out.push_str(&"  |".repeat(columns));
            false
        };
        self.new_row();
        self.out.push('|');
        let alignments = alignments(dom, grid);
        for align in alignments {
            self.out.push_str(match align {
                Align::None => " --- |",
                Align::Left => " :--- |",
                Align::Center => " :---: |",
                Align::Right => " ---: |",
            });
        }
        for row in &grid.rows[usize::from(header)..] {
            let before = self.out.len();
            self.new_row();
            if self.write_row(row, 0) {
                wrote = true;
            } else {
                self.out.truncate(before);
            }
        }
        if wrote {
            self.end_block(Gap::Blank, false);
        } else {
            // No cell has visible content: the table is skipped.
            self.out.truncate(start.0);
            (self.lead, self.gap_prefix, self.gap) = (start.1, start.2, start.3);
        }
    }

    fn new_row(&mut self) {
        self.out.push('\n');
        self.out.push_str(&self.prefix);
    }

    /// Writes one row, padded to `least` columns; returns whether any cell had content.
    fn write_row(&mut self, row: &GridRow, least: usize) -> bool {
        self.out.push('|');
        let (mut column, mut content) = (0, false);
        for cell in &row.cells {
            while column < cell.column {
                self.out.push_str("  |");
                column += 1;
            }
            self.out.push(' ');
            content |= self.write_cell(cell);
            self.out.push_str(" |");
            column += 1;
            while column < cell.column + cell.columns {
                self.out.push_str("  |");
                column += 1;
            }
        }
        while column < least {
            self.out.push_str("  |");
            column += 1;
        }
        content
    }

    fn write_cell_label(&mut self, cell: NodeId) {
        if let Some(label) = cell_label(self.dom, cell) {
            self.inline.push_text(label);
            self.flush();
        }
    }

    fn write_cell(&mut self, cell: &GridCell) -> bool {
        let (flow, start) = (self.flow, self.cell_start);
        self.flow = Flow::Cell;
        self.cell_start = self.out.len();
        self.run(NodeId(cell.id.0 + 1), self.dom.subtree_end(cell.id));
        self.flush();
        if self.out.len() == self.cell_start {
            self.write_cell_label(cell.id);
        }
        let content = self.out.len() > self.cell_start;
        (self.flow, self.cell_start) = (flow, start);
        content
    }
}

/// What a cell without text means: a box ticked or not, the name of an icon, the value of a field.
fn cell_label(dom: &Dom, cell: NodeId) -> Option<&str> {
    let mut label = None;
    for node in dom.descendants(cell).take(MAX_LABEL_NODES) {
        match dom.tag(node) {
            // Text that is not written was not selected: the cell is not empty.
            Tag::Text if !dom.text(node).trim().is_empty() => return None,
            Tag::Button | Tag::Select | Tag::Form | Tag::Textarea => return None,
            Tag::Input => {
                let kind = dom.attr(node, Attr::Type).unwrap_or_default();
                label = label.or(match kind.to_ascii_lowercase().as_str() {
                    "checkbox" | "radio" if dom.has_attr(node, Attr::Checked) => Some("[x]"),
                    "checkbox" | "radio" => Some("[ ]"),
                    _ => None,
                });
            }
            Tag::Img => label = label.or(dom.attr(node, Attr::Alt)),
            Tag::A => {}
            _ => label = label.or(dom.attr(node, Attr::AriaLabel)).or(dom.attr(node, Attr::Title)),
        }
    }
    label.map(str::trim).filter(|label| !label.is_empty() && label.len() <= MAX_LABEL_BYTES)
}

/// How each column is aligned, by the first cell in it that says so.
fn alignments(dom: &Dom, grid: &Grid) -> Vec<Align> {
    let mut columns = vec![Align::None; grid.columns];
    for row in grid.rows.iter().take(2) {
        for cell in &row.cells {
            if cell.column < columns.len() && columns[cell.column] == Align::None {
                columns[cell.column] = alignment(dom, cell.id);
            }
        }
    }
    columns
}

fn alignment(dom: &Dom, cell: NodeId) -> Align {
    let style = dom.attr(cell, Attr::Style).and_then(|style| {
        let (_, rest) = style.split_once("text-align")?;
        rest.trim_start().strip_prefix(':')?.trim_start().split([';', ' ', '!']).next()
    });
    match style.or_else(|| dom.attr(cell, Attr::Align)).map(str::trim) {
        Some("left" | "start") => Align::Left,
        Some("center") => Align::Center,
        Some("right" | "end") => Align::Right,
        _ => Align::None,
    }
}

/// The code of a listing in a table with a column of line numbers.
fn numbered_listing(dom: &Dom, table: NodeId) -> Option<NodeId> {
    let mut blocks = dom.descendants(table).filter(|&node| dom.tag(node) == Tag::Pre);
    let (first, second) = (blocks.next()?, blocks.next()?);
    let gutter = dom.ancestors(first).take(3).chain([first]).any(|node| code_lines::is_gutter(dom, node));
    (gutter && blocks.next().is_none()).then_some(second)
}
