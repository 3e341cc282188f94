//! Tables: cells by column header, by row header, and by position.

use super::groups::{Record, RecordGroup};
use super::{EvidenceKind, Fact, FactCollector, text};
use crate::words::NameWords;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::HashMap;
use std::rc::Rc;

/// Columns examined of one table.
const MAX_COLUMNS: usize = 60;
const MAX_SPAN: usize = 1_000;
/// Columns and rows of a transposed table.
const MAX_TRANSPOSED_COLUMNS: usize = 40;
const MAX_TRANSPOSED_ROWS: usize = 100;
/// The label of a column that has no name.
pub(crate) const COLUMN: &str = "column";

struct TableCell {
    id: NodeId,
    text: Rc<str>,
    header: bool,
}

struct TableRow {
    at: u32,
    cells: Vec<Option<Rc<TableCell>>>,
    head: bool,
    /// All its cells are in bold.
    bold: bool,
}

pub(super) fn collect(collector: &mut FactCollector) {
    let dom = collector.dom;
    for table in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Table) {
        if !collector.visible.contains(table) || dom.attr(table, Attr::Role) == Some("presentation") {
            continue;
        }
        let rows = rows(collector, table);
        let names = names(&rows);
        let bold_head = rows.first().is_some_and(|row| row.bold) && rows.iter().any(|row| !row.bold);
        let body = rows.iter().enumerate().filter(|(_, row)| !row.head);
        for (number, row) in body {
            let labelled = row.cells.first().and_then(Option::as_ref).is_some_and(|cell| cell.header);
            for (column, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                // A cell with `rowspan` counts for every row that it covers.
                let own = dom.contains(NodeId(row.at), cell.id);
                let (at, end) =
                    if own { (cell.id.0, dom.subtree_end(cell.id).0) } else { (row.at, row.at + 1) };
                let name = names.get(column).filter(|name| !name.is_empty());
                if let Some(name) = name {
                    let fact =
                        collector.fact(EvidenceKind::Table, name.clone(), at..end, Rc::clone(&cell.text));
                    collector.add(with_cell(fact, collector, cell));
                }
                let column_words = NameWords(vec![COLUMN.to_owned(), column.to_string()]);
                let fact =
                    collector.fact(EvidenceKind::Position, column_words, at..end, Rc::clone(&cell.text));
                collector.add(with_cell(fact, collector, cell));
            }
            // Two names of columns are no name and its value.
            let two = row.cells.iter().flatten().count() == 2 && !(number == 0 && bold_head);
            if let [Some(label), .., Some(value)] = row.cells.as_slice()
                && two
                && (names.is_empty() || labelled)
                && text::is_label(&label.text)
            {
                collector.add_node(EvidenceKind::Table, &label.text, value.id, &value.text);
            }
        }
    }
}

/// Adds the link of a cell that comes from an earlier row.
fn with_cell(mut fact: Fact, collector: &FactCollector, cell: &TableCell) -> Fact {
    if fact.end == fact.at + 1 {
        (fact.machine, fact.link) =
            collector.machine_value_and_link(cell.id.0, collector.dom.subtree_end(cell.id).0);
    }
    fact
}

fn rows(collector: &FactCollector, table: NodeId) -> Vec<TableRow> {
    let dom = collector.dom;
    let mut rows = Vec::new();
    // Cells of earlier rows with `rowspan`, by column, with the number of rows left.
    let mut down: HashMap<usize, (usize, Rc<TableCell>)> = HashMap::new();
    let mut at = table.0 + 1;
    while at < dom.subtree_end(table).0 {
        let id = NodeId(at);
        at += 1;
        match dom.tag(id) {
            // Nested tables are read separately.
            Tag::Table => at = dom.subtree_end(id).0,
            Tag::Tr => rows.push(row(collector, id, &mut down)),
            _ => {}
        }
    }
    rows
}

fn row(collector: &FactCollector, tr: NodeId, down: &mut HashMap<usize, (usize, Rc<TableCell>)>) -> TableRow {
    let dom = collector.dom;
    let mut cells: Vec<Option<Rc<TableCell>>> = Vec::new();
    let mut taken = |cells: &mut Vec<Option<Rc<TableCell>>>| {
        while let Some((left, cell)) = down.get_mut(&cells.len()) {
            let column = cells.len();
            cells.push(Some(Rc::clone(cell)));
            *left -= 1;
            if *left == 0 {
                down.remove(&column);
            }
        }
    };
    let mut fresh: Vec<(usize, usize, Rc<TableCell>)> = Vec::new();
    for id in dom.children(tr).filter(|&id| matches!(dom.tag(id), Tag::Td | Tag::Th)) {
        taken(&mut cells);
        let free = MAX_COLUMNS.saturating_sub(cells.len());
        if free == 0 {
            break;
        }
        let cell = Rc::new(TableCell { id, text: collector.text(id), header: dom.tag(id) == Tag::Th });
        let span = |name| span(dom, id, name);
        let down = span(Attr::Rowspan).min(MAX_SPAN);
        for _ in 0..span(Attr::Colspan).min(free) {
            if down > 1 {
                fresh.push((cells.len(), down - 1, Rc::clone(&cell)));
            }
            cells.push(Some(Rc::clone(&cell)));
        }
    }
    taken(&mut cells);
    down.extend(fresh.into_iter().map(|(column, left, cell)| (column, (left, cell))));
    let in_head = dom.parent(tr).is_some_and(|parent| dom.tag(parent) == Tag::Thead);
    let all = !cells.is_empty() && cells.iter().flatten().all(|cell| cell.header);
    let several = cells.len() > 1;
    let bold = several && cells.iter().flatten().all(|cell| is_bold(dom, cell.id));
    TableRow { at: tr.0, head: (in_head || all) && several, bold, cells }
}

/// Whether all text of a cell is in bold. Empty cells say nothing.
fn is_bold(dom: &Dom, cell: NodeId) -> bool {
    let mut texts = dom.descendants(cell).filter(|&id| !dom.text(id).trim().is_empty());
    texts.all(|id| {
        let mut above = dom.ancestors(id).take_while(|&above| above != cell);
        above.any(|above| matches!(dom.tag(above), Tag::B | Tag::Strong))
    })
}

fn span(dom: &Dom, cell: NodeId, name: Attr) -> usize {
    dom.attr(cell, name).and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}

/// The column names: the last header row at the top, or a first row of labels above rows of numbers.
fn names(rows: &[TableRow]) -> Vec<NameWords> {
    let heads = rows.iter().take_while(|row| row.head).count();
    let of = |row: &TableRow| {
        row.cells
            .iter()
            .map(|cell| {
                cell.as_ref().map_or_else(NameWords::default, |cell| NameWords::from_name(&cell.text))
            })
            .collect()
    };
    heads.checked_sub(1).map(|last| of(&rows[last])).unwrap_or_default()
}

/// Groups of transposed tables, whose rows are properties and whose columns are records.
pub(super) fn transposed_groups(collector: &mut FactCollector) -> Vec<RecordGroup> {
    let dom = collector.dom;
    let mut groups = Vec::new();
    for table in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Table) {
        if !collector.visible.contains(table) {
            continue;
        }
        let rows = rows(collector, table);
        let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        if !(3..=MAX_TRANSPOSED_COLUMNS).contains(&width) || !(2..=MAX_TRANSPOSED_ROWS).contains(&rows.len())
        {
            continue;
        }
        let named = rows.iter().filter(|row| {
            row.cells.first().and_then(Option::as_ref).is_some_and(|cell| text::is_label(&cell.text))
        });
        if named.count() * 3 < rows.len() * 2 {
            continue;
        }
        let head = rows.first().is_some_and(|row| row.head);
        let mut records = Vec::new();
        for column in 1..width {
            let mut facts = Vec::new();
            for (number, row) in rows.iter().enumerate() {
                let Some(Some(cell)) = row.cells.get(column) else { continue };
                let label = match row.cells.first() {
                    _ if number == 0 && head => NameWords::from_name("name"),
                    Some(Some(label)) => NameWords::from_name(&label.text),
                    _ => continue,
                };
                let (at, end) = (cell.id.0, dom.subtree_end(cell.id).0);
                // "Model" in the corner names the columns.
                if let (0, true, Some(Some(corner))) = (number, head, row.cells.first())
                    && !corner.text.is_empty()
                {
                    facts.push(collector.fact(
                        EvidenceKind::Table,
                        NameWords::from_name(&corner.text),
                        at..end,
                        Rc::clone(&cell.text),
                    ));
                }
                if !label.is_empty() && !cell.text.is_empty() {
                    facts.push(collector.fact(EvidenceKind::Table, label, at..end, Rc::clone(&cell.text)));
                }
            }
            records.push(Record::Facts(facts));
        }
        let label = super::groups::group_label(collector, table, table);
        groups.push(RecordGroup { label, records, signature: String::new(), stated: true });
    }
    groups
}
