//! Tables as grids: tells data tables from layout tables, and places cells with their spans.
//!
//! Every count is bounded, so that `colspan=1000000` costs nothing.

use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::rc::Rc;

/// Spans end at this column; real cells beyond it are kept.
const MAX_COLUMNS: usize = 100;
/// Limit of `rowspan`.
const MAX_SPAN: usize = 1_000;
/// Cells of one table returned as data.
const MAX_DATA_CELLS: usize = 200_000;

/// A cell and the column it starts in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridCell {
    pub id: NodeId,
    pub column: usize,
    pub columns: usize,
    pub rows: usize,
    pub header: bool,
}

#[derive(Debug)]
pub(crate) struct GridRow {
    pub cells: Vec<GridCell>,
    pub in_head: bool,
}

/// A table that holds data.
#[derive(Debug)]
pub(crate) struct Grid {
    pub caption: Option<NodeId>,
    pub rows: Vec<GridRow>,
    pub columns: usize,
}

impl Grid {
    /// Whether the first row names the columns.
    pub fn has_header(&self) -> bool {
        self.rows.first().is_some_and(|row| row.in_head || row.cells.iter().all(|cell| cell.header))
    }
}

/// The grid of a data table; `None` for a layout table.
pub(crate) fn grid(dom: &Dom, table: NodeId, keep: &NodeSet) -> Option<Grid> {
    if matches!(dom.attr(table, Attr::Role), Some("presentation" | "none")) {
        return None;
    }
    let mut rows: Vec<(NodeId, bool)> = Vec::new();
    let mut caption = None;
    let mut text = 0;
    for node in dom.descendants(table) {
        match dom.tag(node) {
            // A table with blocks that do not fit a markdown cell is a layout table.
            Tag::Table
            | Tag::Pre
            | Tag::Form
            | Tag::Iframe
            | Tag::H1
            | Tag::H2
            | Tag::Article
            | Tag::Blockquote => {
                return None;
            }
            Tag::Tr => {
                let in_head = dom.parent(node).is_some_and(|parent| dom.tag(parent) == Tag::Thead);
                rows.push((node, in_head));
            }
            Tag::Caption if caption.is_none() => caption = Some(node),
            Tag::Text => text += dom.text_len(node),
            _ => {}
        }
    }
    let mut grid = Grid { caption, rows: Vec::with_capacity(rows.len()), columns: 0 };
    let mut cells = 0;
    // Rows still covered by `rowspan` of earlier rows, per column.
    let mut covered: Vec<usize> = Vec::new();
    for (row, in_head) in rows {
        let mut column = 0;
        let mut placed = Vec::new();
        for cell in dom.children(row) {
            let tag = dom.tag(cell);
            if !matches!(tag, Tag::Td | Tag::Th) {
                continue;
            }
            while covered.get(column).is_some_and(|&rows| rows > 0) {
                column += 1;
            }
            let columns = span(dom, cell, Attr::Colspan, MAX_COLUMNS.saturating_sub(column).max(1));
            let rows = span(dom, cell, Attr::Rowspan, MAX_SPAN);
            if column + columns <= MAX_COLUMNS {
                if covered.len() < column + columns {
                    covered.resize(column + columns, 0);
                }
                covered[column..column + columns].fill(rows);
            }
            placed.push(GridCell { id: cell, column, columns, rows, header: tag == Tag::Th });
            column += columns;
        }
        for rows in &mut covered {
            *rows = rows.saturating_sub(1);
        }
        if placed.is_empty() || !placed.iter().any(|cell| keep.reaches(dom, cell.id)) {
            continue;
        }
        cells += placed.len();
        grid.columns = grid.columns.max(column);
        grid.rows.push(GridRow { cells: placed, in_head });
    }
    let marked =
        caption.is_some() || grid.rows.iter().any(|row| row.in_head || row.cells.iter().any(|c| c.header));
    let shaped = grid.columns >= 2 && grid.rows.len() >= 2;
    // A table with long prose in every cell is a page layout.
    let prose = cells == 0 || text / cells > 600;
    (!grid.rows.is_empty() && (marked || shaped) && !prose).then_some(grid)
}

fn span(dom: &Dom, cell: NodeId, name: Attr, most: usize) -> usize {
    dom.attr(cell, name).and_then(|value| value.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, most)
}

/// A table as data: spans filled in, every row as long as the widest.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// The caption, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// Names of the columns; empty where the table names none.
    pub headers: Vec<String>,
    /// The rows below the header.
    pub rows: Vec<Vec<String>>,
}

/// All data tables among the kept nodes.
pub fn find_tables(dom: &Dom, keep: &NodeSet) -> Vec<Table> {
    let mut budget = MAX_DATA_CELLS;
    let mut found = Vec::new();
    for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Table && keep.reaches(dom, id)) {
        let Some(grid) = grid(dom, id, keep) else { continue };
        let size = grid.rows.len() * grid.columns;
        if size > budget {
            break;
        }
        budget -= size;
        found.push(data(dom, keep, &grid));
    }
    found
}

fn data(dom: &Dom, keep: &NodeSet, grid: &Grid) -> Table {
    let mut rows = Vec::with_capacity(grid.rows.len());
    // What stands in each column now, and in how many more rows.
    let mut columns: Vec<(Rc<str>, usize)> = vec![("".into(), 0); grid.columns];
    for row in &grid.rows {
        for cell in &row.cells {
            let text: Rc<str> = cell_text(dom, keep, cell.id).into();
            for column in columns.iter_mut().skip(cell.column).take(cell.columns) {
                *column = (Rc::clone(&text), cell.rows);
            }
        }
        let fields = columns.iter_mut().map(|(text, left)| {
            let field = if *left > 0 { text.to_string() } else { String::new() };
            *left = left.saturating_sub(1);
            field
        });
        rows.push(fields.collect::<Vec<_>>());
    }
    let headers = if grid.has_header() { rows.remove(0) } else { Vec::new() };
    Table {
        caption: grid.caption.map(|id| cell_text(dom, keep, id)).filter(|text| !text.is_empty()),
        headers,
        rows,
    }
}

fn cell_text(dom: &Dom, keep: &NodeSet, id: NodeId) -> String {
    let mut text = String::new();
    for node in dom.descendants(id) {
        if dom.is_text(node) {
            if keep.contains(node) {
                text.push_str(dom.text(node));
            }
        } else if dom.tag(node).is_block() || dom.tag(node) == Tag::Br {
            text.push(' ');
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    fn all(html: &str) -> Vec<Table> {
        let dom = Dom::parse(html, &Limits::default());
        find_tables(&dom, &NodeSet::all(&dom))
    }

    #[test]
    fn spans_are_filled_in() {
        let html = "<table><caption>C</caption><tr><th>A<th colspan=2>B</tr><tr><td rowspan=2>r<td>1<td>2</tr>\
                    <tr><td>3<td>4</tr></table>";
        let table = &all(html)[0];
        assert_eq!(table.caption.as_deref(), Some("C"));
        assert_eq!(table.headers, ["A", "B", "B"]);
        assert_eq!(table.rows, [["r", "1", "2"], ["r", "3", "4"]]);
    }

    #[test]
    fn layout_is_not_data() {
        assert!(all("<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>").len() == 1);
        assert!(all("<table role=presentation><tr><th>a<td>b</table>").is_empty());
        assert!(all("<table><tr><td>one cell</table>").is_empty());
    }

    #[test]
    fn absurd_spans_are_bounded() {
        let html = format!(
            "<table>{}</table>",
            "<tr><td colspan=99999999 rowspan=99999999>x</td><td>y</td></tr>".repeat(500)
        );
        let table = &all(&html)[0];
        assert!(table.rows.iter().map(Vec::len).max().unwrap() <= MAX_COLUMNS + 2);
    }
}
