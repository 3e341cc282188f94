//! Tables drawn with lines: the lines make a grid, and a missing piece of line joins cells.

use super::super::geometry::Rule;
use super::super::lines::{Line, group_lines};
use super::super::runs::{Run, is_numeric, is_right_to_left, words_of};
use super::FoundTable;
use super::cells::{OpenCell, Piece, TableLine, assemble};
use super::grid::{Grid, find_grids};
use super::rivers::{find_rivers, split_numbers};
use super::rows::group_rows;

/// A band with more runs is not searched for rows.
const MAX_RUNS_PER_BAND: usize = 3_000;

/// The tables of a page and the runs that stand in none of them.
pub(in crate::pdf) fn find_tables(
    runs: Vec<Run>,
    horizontal: &[Rule],
    vertical: &[Rule],
) -> (Vec<FoundTable>, Vec<Run>) {
    let mut tables: Vec<FoundTable> = Vec::new();
    let mut rest = runs;
    for grid in find_grids(horizontal, vertical) {
        let bounds = grid.bounds();
        let (inside, outside): (Vec<Run>, Vec<Run>) = rest
            .into_iter()
            .partition(|run| bounds.contains_point(run.bounds.center_x(), run.bounds.center_y()));
        let total = inside.len() + outside.len();
        rest = outside;
        if let Some(table) = fill_grid(grid, &inside, horizontal, total) {
            tables.push(table);
        } else {
            rest.extend(inside);
        }
    }
    (tables, rest)
}

/// Puts the runs into the cells; `None` where it is a frame, a chart or a drawing rather than a table.
fn fill_grid(mut grid: Grid, runs: &[Run], rules: &[Rule], page_runs: usize) -> Option<FoundTable> {
    if runs.is_empty() {
        return None;
    }
    let bounds = grid.bounds();
    let soft_columns = add_soft_columns(&mut grid, runs);
    grid.find_edges();
    let (columns, bands) = (grid.xs.len() - 1, grid.ys.len() - 1);
    let placed = place_runs(&grid, runs, &soft_columns);
    // Bands whose cells hold several rows each get lines of their own.
    let bands_rows: Vec<Vec<Vec<Run>>> = (0..bands)
        .map(|band| split_band(&placed[band], columns, rules, (bounds.left, bounds.right)))
        .collect();
    let mut cells: Vec<OpenCell> = Vec::new();
    let mut row = 0;
    let mut first_rows = Vec::with_capacity(bands + 1);
    for rows in &bands_rows {
        first_rows.push(row);
        row += rows.len() / columns.max(1);
    }
    first_rows.push(row);
    let mut taken = vec![false; bands * columns];
    for band in 0..bands {
        let rows_here = first_rows[band + 1] - first_rows[band];
        for column in 0..columns {
            if taken[band * columns + column] {
                continue;
            }
            let (last_band, last_column) = if rows_here > 1 {
                (band, column)
            } else {
                merged_reach(&grid, &placed, &soft_columns, &first_rows, &taken, band, column)
            };
            for y in band..=last_band {
                for x in column..=last_column {
                    taken[y * columns + x] = true;
                }
            }
            for part in 0..rows_here {
                let runs: Vec<Run> = if rows_here > 1 {
                    bands_rows[band][part * columns + column].clone()
                } else {
                    (band..=last_band)
                        .flat_map(|y| placed[y][column..=last_column].iter().flatten().cloned())
                        .collect()
                };
                let row = first_rows[band] + part;
                let last_row = if rows_here > 1 { row } else { first_rows[last_band + 1] - 1 };
                cells.push(OpenCell { row, last_row, column, last_column, runs });
            }
        }
    }
    if !is_table(&cells, runs, page_runs) {
        return None;
    }
    let notes = take_outer_text(&mut cells);
    let header_rows = header_rows(&cells);
    Some(FoundTable { bounds, table: assemble(cells, header_rows), before: notes.0, after: notes.1 })
}

/// Columns inside a drawn column that only white space shows. Gives, for each line of `xs`, whether it is such a one.
fn add_soft_columns(grid: &mut Grid, runs: &[Run]) -> Vec<bool> {
    let mut added: Vec<f32> = Vec::new();
    for column in 0..grid.xs.len() - 1 {
        let (from, to) = (grid.xs[column], grid.xs[column + 1]);
        let inside: Vec<Run> = runs
            .iter()
            .filter(|run| run.bounds.left >= from - 1.0 && run.bounds.right <= to + 1.0)
            .cloned()
            .collect();
        let lines: Vec<Line> = group_lines(inside).iter().map(split_numbers).collect();
        let split: Vec<&Line> = lines.iter().filter(|line| line.runs.len() > 1).collect();
        if split.len() < 3 || split.len() * 10 < lines.len() * 6 {
            continue;
        }
        let size = split.iter().map(|line| line.size).fold(0.0, f32::max);
        let all: Vec<&Line> = lines.iter().collect();
        added.extend(find_rivers(&all, size).iter().map(|river| river.middle()));
    }
    let mut lines: Vec<(f32, bool)> = grid.xs.iter().map(|&x| (x, false)).collect();
    lines.extend(added.into_iter().map(|x| (x, true)));
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    grid.xs = lines.iter().map(|line| line.0).collect();
    lines.into_iter().map(|line| line.1).collect()
}

/// Runs by band and column. A run that crosses a drawn line is cut between its words.
fn place_runs(grid: &Grid, runs: &[Run], soft: &[bool]) -> Vec<Vec<Vec<Run>>> {
    let (columns, bands) = (grid.xs.len() - 1, grid.ys.len() - 1);
    let mut placed = vec![vec![Vec::new(); columns]; bands];
    let slot =
        |lines: &[f32], at: f32| lines[1..lines.len() - 1].iter().take_while(|line| **line < at).count();
    for run in runs {
        let band = slot(&grid.ys, run.bounds.center_y());
        let (first, last) = (slot(&grid.xs, run.bounds.left + 1.0), slot(&grid.xs, run.bounds.right - 1.0));
        let crosses = (first + 1..=last).any(|x| !soft[x] && grid.has_vertical(band, x));
        let numbers = last > first && run.text.split_whitespace().skip(1).all(is_numeric);
        if last > first && (crosses || numbers) && run.text.contains(' ') && !is_right_to_left(&run.text) {
            let mut parts: Vec<(usize, Run)> = Vec::new();
            for word in words_of(run) {
                let column = slot(&grid.xs, word.bounds.center_x());
                match parts.last_mut() {
                    Some((at, part)) if *at == column => {
                        part.text.push(' ');
                        part.text.push_str(&word.text);
                        part.bounds = part.bounds.union(&word.bounds);
                    }
                    _ => parts.push((column, word)),
                }
            }
            for (column, part) in parts {
                placed[band][column].push(part);
            }
        } else {
            let column = if crosses { slot(&grid.xs, run.bounds.center_x()) } else { first };
            placed[band][column].push(run.clone());
        }
    }
    placed
}

/// How far the cell that begins at (band, column) reaches, by the lines that are missing.
fn merged_reach(
    grid: &Grid,
    placed: &[Vec<Vec<Run>>],
    soft: &[bool],
    first_rows: &[usize],
    taken: &[bool],
    band: usize,
    column: usize,
) -> (usize, usize) {
    let (columns, bands) = (grid.xs.len() - 1, grid.ys.len() - 1);
    let mut last_column = column;
    while last_column + 1 < columns {
        let x = last_column + 1;
        let open = if soft[x] {
            placed[band][column..x].iter().flatten().any(|run| run.bounds.right > grid.xs[x] + 2.0)
        } else {
            !grid.has_vertical(band, x) && !is_separated(grid, &placed[band], soft, band, x)
        };
        if !open || taken[band * columns + x] {
            break;
        }
        last_column += 1;
    }
    let mut last_band = band;
    while last_band + 1 < bands {
        let y = last_band + 1;
        let single = first_rows[y + 1] - first_rows[y] == 1;
        let closed = (column..=last_column).any(|x| grid.has_horizontal(y, x));
        let walled = (column + 1..=last_column).any(|x| !soft[x] && grid.has_vertical(y, x));
        let free = (column..=last_column).all(|x| !taken[y * columns + x]);
        if closed || walled || !single || !free {
            break;
        }
        last_band += 1;
    }
    (last_band, last_column)
}

/// No line is drawn at `x` in this band, but its text stands apart on both sides of it: tables often draw the lines
/// between columns in their headings only.
fn is_separated(grid: &Grid, placed: &[Vec<Run>], soft: &[bool], band: usize, x: usize) -> bool {
    let drawn = |x: &usize| !soft[*x] && grid.has_vertical(band, *x);
    let from = (1..x).rev().find(|x| drawn(x)).unwrap_or(0);
    let to = (x + 1..grid.xs.len() - 1).find(|x| drawn(x)).unwrap_or(grid.xs.len() - 1);
    let runs: Vec<Run> = placed[from..to].iter().flatten().cloned().collect();
    let at = grid.xs[x];
    let (mut left, mut right) = (false, false);
    for line in group_lines(runs) {
        for (first, past) in line.segments(0.45) {
            let (start, end) = (line.runs[first].bounds.left, line.runs[past - 1].bounds.right);
            if start < at - 1.0 && end > at + 1.0 {
                return false;
            }
            left |= end <= at + 1.0;
            right |= start >= at - 1.0;
        }
    }
    left && right
}

/// Rows of a band as cells (row after row). One row, unless a column stacks numbers in it.
fn split_band(placed: &[Vec<Run>], columns: usize, rules: &[Rule], extent: (f32, f32)) -> Vec<Vec<Run>> {
    let whole = || placed.to_vec();
    let stacked = placed
        .iter()
        .filter(|runs| {
            let lines = group_lines((*runs).clone());
            let numbers =
                lines.iter().filter(|line| line.runs.iter().all(|run| is_numeric(&run.text))).count();
            numbers >= 2 && numbers * 10 >= lines.len() * 7
        })
        .count();
    let filled = placed.iter().filter(|runs| !runs.is_empty()).count();
    let count: usize = placed.iter().map(Vec::len).sum();
    if stacked == 0 || filled < 2 || count > MAX_RUNS_PER_BAND {
        return whole();
    }
    let tagged: Vec<Run> = placed.iter().flatten().cloned().collect();
    let column_of = |run: &Run| placed.iter().position(|runs| runs.contains(run)).unwrap_or(0);
    let lines: Vec<TableLine> = group_lines(tagged)
        .into_iter()
        .map(|line| TableLine {
            pieces: line
                .runs
                .iter()
                .map(|run| {
                    let column = column_of(run);
                    Piece { run: run.clone(), first: column, last: column }
                })
                .collect(),
            baseline: line.baseline,
            size: line.size,
        })
        .collect();
    let inner: Vec<Rule> =
        rules.iter().filter(|rule| rule.length() < (extent.1 - extent.0) * 0.5).copied().collect();
    let rows = group_rows(&lines, &inner, extent.0, extent.1);
    let mut cells = vec![Vec::new(); rows.len() * columns];
    for (row, group) in rows.iter().enumerate() {
        for piece in group.iter().flat_map(|&line| &lines[line].pieces) {
            cells[row * columns + piece.first].push(piece.run.clone());
        }
    }
    cells
}

fn is_table(cells: &[OpenCell], runs: &[Run], page_runs: usize) -> bool {
    let filled: Vec<&OpenCell> = cells.iter().filter(|cell| !cell.runs.is_empty()).collect();
    let mut columns: Vec<usize> = filled.iter().map(|cell| cell.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut rows: Vec<usize> = filled.iter().map(|cell| cell.row).collect();
    rows.sort_unstable();
    rows.dedup();
    if filled.len() < 3 || columns.len() < 2 || rows.len() < 2 {
        return false;
    }
    // The grid of a chart is mostly empty.
    if filled.len() * 8 < cells.len() {
        return false;
    }
    let letters = |cell: &OpenCell| -> usize { cell.runs.iter().map(|run| run.text.chars().count()).sum() };
    let all: usize = runs.iter().map(|run| run.text.chars().count()).sum();
    let largest = filled.iter().map(|cell| letters(cell)).max().unwrap_or(0);
    // A frame around the page with the text in one part of it.
    !(largest > 600 && largest * 10 > all * 6 && runs.len() * 2 > page_runs)
}

/// Takes out the caption in the first row and the notes in the last ones: one cell over all columns with a sentence.
fn take_outer_text(cells: &mut Vec<OpenCell>) -> (Vec<Run>, Vec<Run>) {
    let last_column = cells.iter().map(|cell| cell.last_column).max().unwrap_or(0);
    let text_of = |cells: &[OpenCell], row: usize| -> Option<String> {
        let filled: Vec<&OpenCell> =
            cells.iter().filter(|cell| cell.row == row && !cell.runs.is_empty()).collect();
        let [cell] = filled[..] else { return None };
        (cell.column == 0 && cell.last_column == last_column)
            .then(|| super::super::lines::plain_text(&super::cells::cell_text(cell.runs.clone())))
    };
    let mut taken = (Vec::new(), Vec::new());
    let remove = |cells: &mut Vec<OpenCell>, row: usize, into: &mut Vec<Run>| {
        for cell in cells.iter().filter(|cell| cell.row == row) {
            into.extend(cell.runs.iter().cloned());
        }
        cells.retain(|cell| cell.row != row);
    };
    let first = cells.iter().map(|cell| cell.row).min().unwrap_or(0);
    if text_of(cells, first).is_some_and(|text| super::super::blocks::is_caption(&text)) {
        remove(cells, first, &mut taken.0);
    }
    for _ in 0..3 {
        let last = cells.iter().filter(|cell| !cell.runs.is_empty()).map(|cell| cell.row).max().unwrap_or(0);
        if text_of(cells, last).is_none_or(|text| text.chars().count() <= 60) {
            break;
        }
        remove(cells, last, &mut taken.1);
    }
    taken
}

/// The rows above the first row that has numbers and no cell reaching over columns; one where that says nothing.
fn header_rows(cells: &[OpenCell]) -> usize {
    let rows = cells.iter().map(|cell| cell.last_row + 1).max().unwrap_or(0);
    let spans = |row: usize| {
        cells.iter().any(|cell| {
            cell.row <= row && row <= cell.last_row && cell.last_column > cell.column && !cell.runs.is_empty()
        })
    };
    let mut count = 0;
    while count + 1 < rows && count < 4 && spans(count) {
        count += 1;
    }
    count + 1
}

#[cfg(test)]
mod tests;
