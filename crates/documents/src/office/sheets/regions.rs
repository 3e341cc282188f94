//! The tables of a sheet: groups of cells with empty rows or columns around them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::block::{Block, BlockKind, Cell, Content, Span, Table};
use crate::table::MAX_COLUMNS;

type Cells = BTreeMap<(u32, u32), String>;

/// Above this number of groups the sheet is cut at empty rows only: comparing each group with each would take long.
const MAX_GROUPS: usize = 1000;
/// Places of merged cells that count as filled while groups are looked for.
const MAX_MERGED_PLACES: usize = 200_000;
/// A table with more places than this, most of them empty, is written without its empty places.
const MAX_PLACES: usize = 2_000_000;

/// First and last row and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Area {
    top: u32,
    left: u32,
    bottom: u32,
    right: u32,
}

impl Area {
    fn of_place(row: u32, column: u32) -> Self {
        Self { top: row, left: column, bottom: row, right: column }
    }

    fn join(self, other: Self) -> Self {
        Self {
            top: self.top.min(other.top),
            left: self.left.min(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.max(other.right),
        }
    }

    fn overlaps(self, other: Self) -> bool {
        self.top <= other.bottom
            && other.top <= self.bottom
            && self.left <= other.right
            && other.left <= self.right
    }

    /// Whether a merged cell begins in it. Those of a file may also end before they begin.
    fn holds_start(self, &[top, left, bottom, right]: &[u32; 4]) -> bool {
        (self.top..=self.bottom.min(bottom)).contains(&top)
            && (self.left..=self.right.min(right)).contains(&left)
    }
}

pub(super) fn sheet_blocks(cells: &Cells, merged: &[[u32; 4]]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for area in find_areas(cells, merged) {
        write_area(area, cells, merged, &mut blocks);
    }
    blocks
}

fn find_areas(cells: &Cells, merged: &[[u32; 4]]) -> Vec<Area> {
    let filled = filled_places(cells, merged);
    let mut groups = connected(&filled);
    if groups.len() > MAX_GROUPS {
        groups = bands(&filled);
    }
    // A group inside of the rectangle of another is a part of it.
    let mut index = 0;
    while index < groups.len() {
        let found = (0..groups.len()).find(|other| *other != index && groups[index].overlaps(groups[*other]));
        match found {
            Some(other) => {
                groups[index] = groups[index].join(groups[other]);
                groups.swap_remove(other);
                index = 0;
            }
            None => index += 1,
        }
    }
    groups.sort_by_key(|area| (area.top, area.left));
    groups
}

/// Cells with text, and the places that merged cells cover between them.
fn filled_places(cells: &Cells, merged: &[[u32; 4]]) -> BTreeSet<(u32, u32)> {
    let mut filled: BTreeSet<(u32, u32)> = cells.keys().copied().collect();
    let last_row = cells.keys().next_back().map_or(0, |place| place.0);
    let last_column = cells.keys().map(|place| place.1).max().unwrap_or(0);
    let mut left = MAX_MERGED_PLACES;
    for &[top, first, bottom, last] in merged {
        if !cells.contains_key(&(top, first)) {
            continue;
        }
        for row in top..=bottom.min(last_row) {
            for column in first..=last.min(last_column) {
                if left == 0 {
                    return filled;
                }
                left -= 1;
                filled.insert((row, column));
            }
        }
    }
    filled
}

/// Groups of places that touch, also at their corners.
fn connected(filled: &BTreeSet<(u32, u32)>) -> Vec<Area> {
    let mut parents: Vec<usize> = Vec::with_capacity(filled.len());
    let mut indexes: HashMap<(u32, u32), usize> = HashMap::with_capacity(filled.len());
    for (index, &(row, column)) in filled.iter().enumerate() {
        parents.push(index);
        indexes.insert((row, column), index);
        let above = row.checked_sub(1);
        let before = column.checked_sub(1);
        let neighbours = [
            before.map(|column| (row, column)),
            above.zip(before),
            above.map(|row| (row, column)),
            above.map(|row| (row, column.saturating_add(1))),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            if let Some(&other) = indexes.get(&neighbour) {
                let (a, b) = (find_root(&mut parents, index), find_root(&mut parents, other));
                parents[a.max(b)] = a.min(b);
            }
        }
    }
    let mut areas: HashMap<usize, Area> = HashMap::new();
    for (index, &(row, column)) in filled.iter().enumerate() {
        let place = Area::of_place(row, column);
        let root = find_root(&mut parents, index);
        areas.entry(root).and_modify(|area| *area = area.join(place)).or_insert(place);
    }
    areas.into_values().collect()
}

fn find_root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

/// Groups of rows without an empty row between them.
fn bands(filled: &BTreeSet<(u32, u32)>) -> Vec<Area> {
    let mut areas: Vec<Area> = Vec::new();
    for &(row, column) in filled {
        let place = Area::of_place(row, column);
        match areas.last_mut() {
            Some(last) if row <= last.bottom.saturating_add(1) => *last = last.join(place),
            _ => areas.push(place),
        }
    }
    areas
}

fn write_area(area: Area, cells: &Cells, merged: &[[u32; 4]], blocks: &mut Vec<Block>) {
    let mut rows: BTreeMap<u32, Vec<(u32, &str)>> = BTreeMap::new();
    for (&(row, column), text) in cells.range((area.top, 0)..=(area.bottom, u32::MAX)) {
        if (area.left..=area.right).contains(&column) {
            rows.entry(row).or_default().push((column, text));
        }
    }
    // A line of its own above a table of several columns is its title.
    while let Some((&row, line)) = rows.first_key_value() {
        let wider_below = rows.values().nth(1).is_none_or(|next| next.len() > 1);
        let ([(column, text)], true) = (line.as_slice(), wider_below || rows.len() == 1) else { break };
        let tall = merged.iter().any(|&[top, left, bottom, _]| (top, left) == (row, *column) && bottom > top);
        if tall {
            break;
        }
        blocks.push(Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain(*text)])));
        rows.pop_first();
    }
    if !rows.is_empty() {
        let table = area_table(area, &rows, merged);
        blocks.push(Block::native(BlockKind::Table, Content::Table(table)));
    }
}

fn area_table(area: Area, rows: &BTreeMap<u32, Vec<(u32, &str)>>, merged: &[[u32; 4]]) -> Table {
    let width = (area.right - area.left) as usize + 1;
    let filled: usize = rows.values().map(Vec::len).sum();
    let places = rows.len().saturating_mul(width);
    let sparse = width > MAX_COLUMNS || (places > MAX_PLACES && places / filled.max(1) > 20);
    let spans: HashMap<(u32, u32), (usize, usize)> = merged
        .iter()
        .filter(|cell| area.holds_start(cell))
        .map(|&[top, left, bottom, right]| {
            let rows_below = rows.range(top..=bottom.min(area.bottom)).count();
            let columns = (right.min(area.right) - left) as usize + 1;
            ((top, left), (rows_below.max(1), columns))
        })
        .collect();
    let written = rows.iter().map(|(row, line)| {
        let cells = line.iter().enumerate().map(|(index, (column, text))| {
            let text = vec![Span::plain(*text)];
            if sparse {
                return Cell::new(index, text);
            }
            let (row_span, column_span) = spans.get(&(*row, *column)).copied().unwrap_or((1, 1));
            Cell { text, column: (*column - area.left) as usize, row_span, column_span }
        });
        cells.collect()
    });
    Table { rows: written.collect(), header_rows: 1 }
}
