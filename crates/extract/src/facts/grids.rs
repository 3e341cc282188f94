//! Tables without table elements: the cells of all rows stand side by side in one element, those of the header
//! first, and a style sheet breaks them into rows.

use super::groups::{Record, RecordGroup, group_label};
use super::{EvidenceKind, FactCollector};
use html::dom::{Attr, Dom, NodeId, Tag};

/// Columns and cells of one such table.
const MAX_COLUMNS: usize = 8;
const MAX_CELLS: usize = 20_000;

/// Adds the facts of all cells; returns the rows as groups.
pub(super) fn collect(collector: &mut FactCollector) -> Vec<RecordGroup> {
    let dom = collector.dom;
    let mut groups = Vec::new();
    for parent in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if dom.tag(parent) != Tag::Div || !collector.visible.contains(parent) {
            continue;
        }
        let cells = || dom.children(parent).filter(|&cell| dom.is_element(cell));
        let columns = cells().take(MAX_COLUMNS + 1).take_while(|&cell| is_header(dom, cell)).count();
        if !(2..=MAX_COLUMNS).contains(&columns) {
            continue;
        }
        let cells: Vec<NodeId> = cells().take(MAX_CELLS).collect();
        let (header, body) = cells.split_at(columns);
        if body.len() < columns || body.len() % columns != 0 || body.iter().any(|&cell| is_header(dom, cell))
        {
            continue;
        }
        let names: Vec<_> = header.iter().map(|&cell| collector.text(cell)).collect();
        let mut records = Vec::new();
        for row in body.chunks(columns) {
            for (column, (&cell, name)) in row.iter().zip(&names).enumerate() {
                let text = collector.text(cell);
                collector.add_node(EvidenceKind::Table, name, cell, &text);
                collector.add_column(column, cell, &text);
            }
            if let (Some(first), Some(&last)) = (row.first(), row.last()) {
                records.push(Record::Nodes(first.0, dom.subtree_end(last).0));
            }
        }
        let label = group_label(collector, parent, header[0]);
        groups.push(RecordGroup { label, records, signature: "grid".to_owned(), stated: true });
    }
    groups
}

/// Whether an element says that it is the header of a column.
fn is_header(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Div
        && (dom.attr(id, Attr::Role) == Some("columnheader")
            || dom.attr(id, Attr::Class).is_some_and(|class| {
                class
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .any(|part| part.eq_ignore_ascii_case("header") || part.eq_ignore_ascii_case("head"))
            }))
}
