//! Tables: cells under their column's name, beside their row's name, and by their place.

use super::groups::{Group, Record};
use super::{Fact, How, Reader, text};
use crate::words::Words;
use content::dom::{Attr, Dom, NodeId, Tag};
use std::collections::HashMap;
use std::rc::Rc;

/// Columns looked at in one table.
const WIDEST: usize = 60;
const LONGEST_SPAN: usize = 1_000;
/// Columns of a table that is turned on its side, and its rows.
const WIDEST_TURNED: usize = 40;
const LONGEST_TURNED: usize = 100;
/// The label of a column that has no name.
pub(crate) const COLUMN: &str = "column";

struct Cell {
    id: NodeId,
    text: Rc<str>,
    header: bool,
}

struct Row {
    at: u32,
    cells: Vec<Option<Rc<Cell>>>,
    head: bool,
}

pub(super) fn read(reader: &mut Reader) {
    let dom = reader.dom;
    for table in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Table) {
        if !reader.visible.contains(table) || dom.attr(table, Attr::Role) == Some("presentation") {
            continue;
        }
        let rows = rows(reader, table);
        let names = names(&rows);
        let body = rows.iter().filter(|row| !row.head);
        for row in body {
            let labelled = row.cells.first().and_then(Option::as_ref).is_some_and(|cell| cell.header);
            for (column, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                // A cell that reaches down speaks for every row it stands in.
                let own = dom.contains(NodeId(row.at), cell.id);
                let (at, end) =
                    if own { (cell.id.0, dom.subtree_end(cell.id).0) } else { (row.at, row.at + 1) };
                let name = names.get(column).filter(|name| !name.is_empty());
                if let Some(name) = name {
                    let fact = reader.fact(How::Table, name.clone(), at..end, Rc::clone(&cell.text));
                    reader.add(with_cell(fact, reader, cell));
                }
                let place = Words(vec![COLUMN.to_owned(), column.to_string()]);
                let fact = reader.fact(How::Position, place, at..end, Rc::clone(&cell.text));
                reader.add(with_cell(fact, reader, cell));
            }
            let two = row.cells.iter().flatten().count() == 2;
            if let [Some(label), .., Some(value)] = row.cells.as_slice()
                && two
                && (names.is_empty() || labelled)
                && text::is_label(&label.text)
            {
                reader.add_node(How::Table, &label.text, value.id, &value.text);
            }
        }
    }
}

/// What a cell that stands in an earlier row links to.
fn with_cell(mut fact: Fact, reader: &Reader, cell: &Cell) -> Fact {
    if fact.end == fact.at + 1 {
        (fact.machine, fact.link) = reader.beside(cell.id.0, reader.dom.subtree_end(cell.id).0);
    }
    fact
}

fn rows(reader: &Reader, table: NodeId) -> Vec<Row> {
    let dom = reader.dom;
    let mut rows = Vec::new();
    // Cells of earlier rows that reach down, by column, with the rows left.
    let mut down: HashMap<usize, (usize, Rc<Cell>)> = HashMap::new();
    let mut at = table.0 + 1;
    while at < dom.subtree_end(table).0 {
        let id = NodeId(at);
        at += 1;
        match dom.tag(id) {
            // Tables within tables are read on their own.
            Tag::Table => at = dom.subtree_end(id).0,
            Tag::Tr => rows.push(row(reader, id, &mut down)),
            _ => {}
        }
    }
    rows
}

fn row(reader: &Reader, tr: NodeId, down: &mut HashMap<usize, (usize, Rc<Cell>)>) -> Row {
    let dom = reader.dom;
    let mut cells: Vec<Option<Rc<Cell>>> = Vec::new();
    let mut taken = |cells: &mut Vec<Option<Rc<Cell>>>| {
        while let Some((left, cell)) = down.get_mut(&cells.len()) {
            let column = cells.len();
            cells.push(Some(Rc::clone(cell)));
            *left -= 1;
            if *left == 0 {
                down.remove(&column);
            }
        }
    };
    let mut fresh: Vec<(usize, usize, Rc<Cell>)> = Vec::new();
    for id in dom.children(tr).filter(|&id| matches!(dom.tag(id), Tag::Td | Tag::Th)).take(WIDEST) {
        taken(&mut cells);
        let cell = Rc::new(Cell { id, text: reader.text(id), header: dom.tag(id) == Tag::Th });
        let span = |name| span(dom, id, name);
        let down = span(Attr::Rowspan).min(LONGEST_SPAN);
        for _ in 0..span(Attr::Colspan).min(WIDEST) {
            if down > 1 {
                fresh.push((cells.len(), down - 1, Rc::clone(&cell)));
            }
            cells.push(Some(Rc::clone(&cell)));
        }
        if cells.len() >= WIDEST {
            break;
        }
    }
    taken(&mut cells);
    down.extend(fresh.into_iter().map(|(column, left, cell)| (column, (left, cell))));
    let in_head = dom.parent(tr).is_some_and(|parent| dom.tag(parent) == Tag::Thead);
    let all = !cells.is_empty() && cells.iter().flatten().all(|cell| cell.header);
    Row { at: tr.0, head: (in_head || all) && cells.len() > 1, cells }
}

fn span(dom: &Dom, cell: NodeId, name: Attr) -> usize {
    dom.attr(cell, name).and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}

/// The names of the columns: the last of the header rows at the top, or a first row of labels above rows of figures.
fn names(rows: &[Row]) -> Vec<Words> {
    let heads = rows.iter().take_while(|row| row.head).count();
    let of = |row: &Row| {
        row.cells
            .iter()
            .map(|cell| cell.as_ref().map_or_else(Words::default, |cell| Words::of(&cell.text)))
            .collect()
    };
    heads.checked_sub(1).map(|last| of(&rows[last])).unwrap_or_default()
}

/// Tables whose rows are properties and whose columns are things.
pub(super) fn turned(reader: &mut Reader) -> Vec<Group> {
    let dom = reader.dom;
    let mut groups = Vec::new();
    for table in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Table) {
        if !reader.visible.contains(table) {
            continue;
        }
        let rows = rows(reader, table);
        let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        if !(3..=WIDEST_TURNED).contains(&width) || !(2..=LONGEST_TURNED).contains(&rows.len()) {
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
                    _ if number == 0 && head => Words::of("name"),
                    Some(Some(label)) => Words::of(&label.text),
                    _ => continue,
                };
                let (at, end) = (cell.id.0, dom.subtree_end(cell.id).0);
                // "Model" in the corner says what the columns are.
                if let (0, true, Some(Some(corner))) = (number, head, row.cells.first())
                    && !corner.text.is_empty()
                {
                    facts.push(reader.fact(
                        How::Table,
                        Words::of(&corner.text),
                        at..end,
                        Rc::clone(&cell.text),
                    ));
                }
                if !label.is_empty() && !cell.text.is_empty() {
                    facts.push(reader.fact(How::Table, label, at..end, Rc::clone(&cell.text)));
                }
            }
            records.push(Record::Facts(facts));
        }
        let label = super::groups::label_of(reader, table, table);
        groups.push(Group { label, records, signature: String::new(), stated: true });
    }
    groups
}
