//! Headings of columns: lines above the body, some of which span several columns.

use super::super::geometry::{Bounds, Rule};
use super::cells::{OpenCell, TableLine};
use super::rivers::{River, column_bounds, covers_column};

struct HeaderCell {
    first: usize,
    last: usize,
    bounds: Bounds,
    size: f32,
    runs: Vec<super::super::runs::Run>,
    level: usize,
}

/// Cells of the heading rows, and how many rows they make.
pub(super) fn build_header(
    lines: &[TableLine],
    rules: &[Rule],
    rivers: &[River],
    extent: (f32, f32),
) -> (Vec<OpenCell>, usize) {
    let mut cells: Vec<HeaderCell> = Vec::new();
    for line in lines {
        for piece in &line.pieces {
            let (first, last) = span_by_rule(
                &piece.run.bounds,
                piece.run.size,
                (piece.first, piece.last),
                rules,
                rivers,
                extent,
            );
            let home = cells.iter_mut().rev().find(|cell| {
                let gap = piece.run.bounds.top - cell.bounds.bottom;
                let same_line =
                    (piece.run.bounds.center_y() - cell.bounds.center_y()).abs() < piece.run.size * 0.5;
                cell.first == first
                    && cell.last == last
                    && (same_line || gap < piece.run.size.max(cell.size) * 0.9)
                    && !rules.iter().any(|rule| {
                        rule.at > cell.bounds.center_y()
                            && rule.at < piece.run.bounds.center_y()
                            && rule.start < piece.run.bounds.center_x()
                            && rule.end > piece.run.bounds.center_x()
                    })
            });
            match home {
                Some(cell) => {
                    cell.bounds = cell.bounds.union(&piece.run.bounds);
                    cell.runs.push(piece.run.clone());
                }
                None => cells.push(HeaderCell {
                    first,
                    last,
                    bounds: piece.run.bounds,
                    size: piece.run.size,
                    runs: vec![piece.run.clone()],
                    level: 0,
                }),
            }
        }
    }
    join_narrow_below_wide(&mut cells);
    place(cells)
}

/// Pieces of one heading that stand in neighbouring columns' widths under the same wider line are one cell: a heading
/// of three lines may cross a strip in its longest line only.
fn join_narrow_below_wide(cells: &mut Vec<HeaderCell>) {
    let mut index = 0;
    while index < cells.len() {
        let host = (0..cells.len()).find(|&other| {
            let (cell, host) = (&cells[index], &cells[other]);
            let gap = (cell.bounds.top - host.bounds.bottom).max(host.bounds.top - cell.bounds.bottom);
            let alone = cells.iter().enumerate().all(|(at, c)| {
                at == index
                    || at == other
                    || c.last < host.first
                    || c.first > host.last
                    || c.bounds.bottom < host.bounds.top
            });
            other != index
                && host.first <= cell.first
                && cell.last <= host.last
                && host.last > host.first
                && alone
                && gap < cell.size * 0.6
        });
        match host {
            Some(host) => {
                let cell = cells.remove(index);
                let host = if host > index { host - 1 } else { host };
                cells[host].bounds = cells[host].bounds.union(&cell.bounds);
                cells[host].runs.extend(cell.runs);
            }
            None => index += 1,
        }
    }
}

/// A line drawn under a heading says which columns it spans.
fn span_by_rule(
    bounds: &Bounds,
    size: f32,
    range: (usize, usize),
    rules: &[Rule],
    rivers: &[River],
    extent: (f32, f32),
) -> (usize, usize) {
    let whole = extent.1 - extent.0;
    let under = rules
        .iter()
        .filter(|rule| {
            rule.at > bounds.center_y()
                && rule.at - bounds.bottom < size * 1.3
                && rule.start <= bounds.left + size * 0.5
                && rule.end >= bounds.right - size * 0.5
                && rule.length() < whole * 0.9
        })
        .min_by(|a, b| a.at.total_cmp(&b.at));
    let Some(rule) = under else { return range };
    let covered: Vec<usize> = (0..=rivers.len())
        .filter(|&column| {
            covers_column((rule.start, rule.end), column_bounds(column, rivers, extent.0, extent.1))
        })
        .collect();
    match (covered.first(), covered.last()) {
        (Some(&first), Some(&last)) if first <= range.0 && range.1 <= last => (first, last),
        _ => range,
    }
}

/// Levels from the top; a heading with nothing below it reaches down to the body, one with nothing above starts at the
/// top.
fn place(mut cells: Vec<HeaderCell>) -> (Vec<OpenCell>, usize) {
    cells.sort_by(|a, b| a.bounds.center_y().total_cmp(&b.bounds.center_y()));
    let over = |a: &HeaderCell, b: &HeaderCell| a.first <= b.last && b.first <= a.last;
    for index in 0..cells.len() {
        let level = (0..index)
            .filter(|&above| over(&cells[above], &cells[index]))
            .map(|above| cells[above].level + 1)
            .max()
            .unwrap_or(0);
        cells[index].level = level;
    }
    let rows = cells.iter().map(|cell| cell.level + 1).max().unwrap_or(0);
    let mut open = Vec::new();
    for index in 0..cells.len() {
        let below = (index + 1..cells.len())
            .filter(|&below| over(&cells[index], &cells[below]))
            .map(|below| cells[below].level)
            .min();
        let cell = &cells[index];
        open.push(OpenCell {
            row: cell.level,
            last_row: below.map_or(rows - 1, |below| below - 1).max(cell.level),
            column: cell.first,
            last_column: cell.last,
            runs: cell.runs.clone(),
        });
    }
    (open, rows)
}

#[cfg(test)]
mod tests {
    use super::super::cells::Piece;
    use super::*;
    use crate::pdf::runs::tests::run;

    fn line(baseline: f32, pieces: Vec<(f32, f32, usize, &str)>) -> TableLine {
        let pieces: Vec<Piece> = pieces
            .into_iter()
            .map(|(left, width, column, text)| Piece {
                run: run(text, left, baseline, width),
                first: column,
                last: column,
            })
            .collect();
        TableLine { pieces, baseline, size: 10.0 }
    }

    #[test]
    fn rule_under_a_heading_makes_it_span() {
        let rivers = [River { left: 90.0, right: 100.0 }, River { left: 140.0, right: 150.0 }];
        let lines = [
            line(100.0, vec![(130.0, 30.0, 1, "Total")]),
            line(120.0, vec![(0.0, 30.0, 0, "Year"), (100.0, 40.0, 1, "Men"), (150.0, 40.0, 2, "Women")]),
        ];
        let rules = [Rule { at: 105.0, start: 98.0, end: 195.0 }];
        let (cells, rows) = build_header(&lines, &rules, &rivers, (0.0, 195.0));
        assert_eq!(rows, 2);
        let total = cells.iter().find(|cell| cell.runs[0].text == "Total").unwrap();
        assert_eq!((total.column, total.last_column, total.row, total.last_row), (1, 2, 0, 0));
        let year = cells.iter().find(|cell| cell.runs[0].text == "Year").unwrap();
        assert_eq!((year.row, year.last_row), (0, 1));
    }

    #[test]
    fn lines_of_one_heading_are_one_cell() {
        let lines =
            [line(100.0, vec![(100.0, 40.0, 1, "Body")]), line(111.0, vec![(100.0, 40.0, 1, "weight")])];
        let (cells, rows) = build_header(&lines, &[], &[River { left: 50.0, right: 90.0 }], (0.0, 140.0));
        assert_eq!((cells.len(), rows), (1, 1));
    }
}
