//! Tables drawn with lines: the lines make a grid, and a missing piece of line joins cells.

use super::super::geometry::{Bounds, Rule};
use super::super::lines::{Line, group_lines};
use super::super::runs::{Run, is_numeric, is_right_to_left, words_of};
use super::FoundTable;
use super::cells::{OpenCell, Piece, TableLine, assemble};
use super::rivers::{find_rivers, split_numbers};
use super::rows::group_rows;

/// Lines this near are the same line of the grid.
const SNAP: f32 = 3.0;
/// Pairs of lines that are compared at most: a page with more is a drawing.
const MAX_PAIRS: usize = 4_000_000;
const MAX_GRID_CELLS: usize = 20_000;
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

/// Lines of a grid: `xs` from left to right, `ys` from top to bottom.
#[derive(Debug, Default)]
struct Grid {
    xs: Vec<f32>,
    ys: Vec<f32>,
    horizontal: Vec<Rule>,
    vertical: Vec<Rule>,
    /// For each line of `ys` and `xs`: drawn down from there, drawn to the right from there.
    walls: Vec<bool>,
    floors: Vec<bool>,
}

impl Grid {
    fn bounds(&self) -> Bounds {
        Bounds {
            left: self.xs[0],
            top: self.ys[0],
            right: self.xs[self.xs.len() - 1],
            bottom: self.ys[self.ys.len() - 1],
        }
    }

    /// A line is drawn between the cells left and right of line `x` in the band `row`.
    fn has_vertical(&self, row: usize, x: usize) -> bool {
        self.walls[row * self.xs.len() + x]
    }

    /// A line is drawn above the band `y` in this column.
    fn has_horizontal(&self, y: usize, column: usize) -> bool {
        self.floors[y * self.xs.len() + column]
    }

    /// Looks up once, for every edge between two cells, whether a line is drawn there.
    fn find_edges(&mut self) {
        let (width, height) = (self.xs.len(), self.ys.len());
        self.walls = vec![false; width * height];
        self.floors = vec![false; width * height];
        for y in 0..height {
            for x in 0..width {
                if y + 1 < height {
                    self.walls[y * width + x] =
                        is_drawn(&self.vertical, self.xs[x], self.ys[y], self.ys[y + 1]);
                }
                if x + 1 < width {
                    self.floors[y * width + x] =
                        is_drawn(&self.horizontal, self.ys[y], self.xs[x], self.xs[x + 1]);
                }
            }
        }
    }
}

fn is_drawn(rules: &[Rule], at: f32, from: f32, to: f32) -> bool {
    let covered: f32 = rules
        .iter()
        .filter(|rule| (rule.at - at).abs() <= SNAP)
        .map(|rule| super::super::geometry::overlap((rule.start, rule.end), (from, to)))
        .sum();
    covered >= (to - from) * 0.6
}

/// Lines that touch each other, gathered into grids with at least two lines each way.
fn find_grids(horizontal: &[Rule], vertical: &[Rule]) -> Vec<Grid> {
    let horizontal: Vec<Rule> = horizontal.iter().filter(|rule| rule.length() >= 8.0).copied().collect();
    let vertical: Vec<Rule> = vertical.iter().filter(|rule| rule.length() >= 5.0).copied().collect();
    if horizontal.len() * vertical.len() > MAX_PAIRS {
        return Vec::new();
    }
    let count = horizontal.len();
    let mut parents: Vec<usize> = (0..count + vertical.len()).collect();
    for (h, flat) in horizontal.iter().enumerate() {
        for (v, upright) in vertical.iter().enumerate() {
            let meet = upright.at >= flat.start - SNAP
                && upright.at <= flat.end + SNAP
                && flat.at >= upright.start - SNAP
                && flat.at <= upright.end + SNAP;
            if meet {
                let (a, b) = (root(&mut parents, h), root(&mut parents, count + v));
                parents[a] = b;
            }
        }
    }
    let mut groups: std::collections::BTreeMap<usize, (Vec<Rule>, Vec<Rule>)> =
        std::collections::BTreeMap::new();
    for index in 0..parents.len() {
        let group = groups.entry(root(&mut parents, index)).or_default();
        if index < count {
            group.0.push(horizontal[index]);
        } else {
            group.1.push(vertical[index - count]);
        }
    }
    let mut grids: Vec<Grid> = groups.into_values().filter_map(|(h, v)| build_grid(h, v)).collect();
    grids.sort_by(|a, b| a.ys[0].total_cmp(&b.ys[0]));
    grids
}

fn root(parents: &mut [usize], mut index: usize) -> usize {
    while parents[index] != index {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    index
}

fn build_grid(horizontal: Vec<Rule>, vertical: Vec<Rule>) -> Option<Grid> {
    if horizontal.len() < 2 || vertical.is_empty() {
        return None;
    }
    let left = horizontal.iter().map(|rule| rule.start).fold(f32::MAX, f32::min);
    let right = horizontal.iter().map(|rule| rule.end).fold(f32::MIN, f32::max);
    let top = vertical.iter().map(|rule| rule.start).fold(f32::MAX, f32::min);
    let bottom = vertical.iter().map(|rule| rule.end).fold(f32::MIN, f32::max);
    // A table may be open at its sides: the lines across say how far it reaches.
    let mut xs: Vec<f32> = vertical.iter().map(|rule| rule.at).collect();
    let mut ys: Vec<f32> = horizontal.iter().map(|rule| rule.at).collect();
    add_edge(&mut xs, left);
    add_edge(&mut xs, right);
    add_edge(&mut ys, top);
    add_edge(&mut ys, bottom);
    let (xs, ys) = (snap(xs), snap(ys));
    let cells = xs.len().saturating_sub(1) * ys.len().saturating_sub(1);
    if !(2..=MAX_GRID_CELLS).contains(&cells) {
        return None;
    }
    Some(Grid { xs, ys, horizontal, vertical, ..Grid::default() })
}

fn add_edge(lines: &mut Vec<f32>, edge: f32) {
    if lines.iter().all(|line| (line - edge).abs() > 8.0) {
        lines.push(edge);
    }
}

fn snap(mut lines: Vec<f32>) -> Vec<f32> {
    lines.sort_by(f32::total_cmp);
    let mut snapped: Vec<f32> = Vec::new();
    for line in lines {
        match snapped.last() {
            Some(last) if line - last <= SNAP => {}
            _ => snapped.push(line),
        }
    }
    snapped
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
mod tests {
    use super::*;
    use crate::pdf::lines::plain_text;
    use crate::pdf::runs::tests::run;

    fn flat(at: f32, start: f32, end: f32) -> Rule {
        Rule { at, start, end }
    }

    fn grid_rules() -> (Vec<Rule>, Vec<Rule>) {
        let horizontal = [0.0, 20.0, 40.0, 60.0].map(|y| flat(y, 0.0, 300.0)).to_vec();
        let vertical = vec![
            flat(0.0, 0.0, 60.0),
            flat(100.0, 20.0, 60.0),
            flat(200.0, 0.0, 60.0),
            flat(300.0, 0.0, 60.0),
        ];
        (horizontal, vertical)
    }

    #[test]
    fn missing_line_makes_a_cell_that_spans() {
        let (horizontal, vertical) = grid_rules();
        let mut runs = vec![run("Both", 80.0, 14.0, 30.0), run("Last", 220.0, 14.0, 30.0)];
        for row in 1..3u8 {
            for column in 0..3u8 {
                runs.push(run("x", 20.0 + f32::from(column) * 100.0, 14.0 + f32::from(row) * 20.0, 10.0));
            }
        }
        let (tables, rest) = find_tables(runs, &horizontal, &vertical);
        assert!(rest.is_empty());
        let table = &tables[0].table;
        assert_eq!(table.rows.len(), 3);
        assert_eq!(
            (table.rows[0][0].column_span, plain_text(&table.rows[0][0].text)),
            (2, "Both".to_owned())
        );
        assert_eq!(table.rows[1].len(), 3);
    }

    #[test]
    fn frame_around_text_is_no_table() {
        let horizontal = vec![flat(0.0, 0.0, 300.0), flat(100.0, 0.0, 300.0)];
        let vertical = vec![flat(0.0, 0.0, 100.0), flat(300.0, 0.0, 100.0)];
        let (tables, rest) =
            find_tables(vec![run("Some words in a box", 20.0, 50.0, 100.0)], &horizontal, &vertical);
        assert!(tables.is_empty());
        assert_eq!(rest.len(), 1);
    }

    #[test]
    fn stacked_numbers_between_column_lines_become_rows() {
        let horizontal = vec![flat(0.0, 0.0, 200.0), flat(20.0, 0.0, 200.0), flat(80.0, 0.0, 200.0)];
        let vertical = vec![flat(100.0, 0.0, 80.0)];
        let mut runs = vec![run("Name", 10.0, 14.0, 30.0), run("Count", 120.0, 14.0, 30.0)];
        for row in 0..4u8 {
            let y = 32.0 + f32::from(row) * 12.0;
            runs.extend([run(&format!("Row {row}"), 10.0, y, 40.0), run(&format!("{row}1"), 150.0, y, 12.0)]);
        }
        let (tables, _) = find_tables(runs, &horizontal, &vertical);
        assert_eq!(tables[0].table.rows.len(), 5);
    }

    #[test]
    fn text_of_several_lines_stays_in_one_cell() {
        let (horizontal, vertical) = grid_rules();
        let tall: Vec<Rule> = vertical.iter().map(|rule| flat(rule.at, 0.0, 60.0)).collect();
        let mut runs: Vec<Run> = Vec::new();
        for row in 0..3u8 {
            for column in 0..3u8 {
                let (x, y) = (10.0 + f32::from(column) * 100.0, f32::from(row) * 20.0);
                runs.extend([run("first words", x, y + 9.0, 50.0), run("second words", x, y + 18.0, 50.0)]);
            }
        }
        let (tables, _) = find_tables(runs, &horizontal, &tall);
        assert_eq!(tables[0].table.rows.len(), 3);
        assert_eq!(plain_text(&tables[0].table.rows[0][0].text), "first words second words");
    }
}
