//! Columns of a table from the strips without text between them.

use super::super::geometry::overlap;
use super::super::lines::Line;
use super::super::runs::{Run, is_numeric, words_of};

/// A strip between two columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct River {
    pub(super) left: f32,
    pub(super) right: f32,
}

impl River {
    pub(super) fn middle(self) -> f32 {
        f32::midpoint(self.left, self.right)
    }
}

const STEPS_PER_POINT: f32 = 2.0;
const MAX_STEPS: usize = 8000;

/// The columns' strips over `lines`. A strip may be crossed by a few lines of many (headings that span columns).
pub(super) fn find_rivers(lines: &[&Line], min_width: f32) -> Vec<River> {
    let Some((left, right)) = extent(lines) else { return Vec::new() };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded by MAX_STEPS
    let step = |x: f32| (((x - left) * STEPS_PER_POINT).max(0.0) as usize).min(MAX_STEPS);
    let mut covered = vec![0u32; step(right) + 2];
    for line in lines {
        // Each place counts once for a line, also where its pieces stand over each other.
        let mut reached = 0;
        for run in &line.runs {
            let from = step(run.bounds.left + 0.4);
            let to = step(run.bounds.right - 0.4).max(from);
            for slot in covered.iter_mut().take(to + 1).skip(from.max(reached)) {
                *slot += 1;
            }
            reached = reached.max(to + 1);
        }
    }
    let allowed = u32::try_from(lines.len() / 10).unwrap_or(0);
    let mut rivers = Vec::new();
    let mut start = None;
    for (index, &count) in covered.iter().enumerate() {
        if count <= allowed {
            start.get_or_insert(index);
        } else if let Some(from) = start.take() {
            let x = |index: usize| left + index as f32 / STEPS_PER_POINT;
            let river = River { left: x(from), right: x(index) };
            if from > 0 && river.right - river.left >= min_width {
                rivers.push(river);
            }
        }
    }
    drop_thin_columns(lines, rivers)
}

fn extent(lines: &[&Line]) -> Option<(f32, f32)> {
    let left = lines.iter().map(|line| line.bounds.left).reduce(f32::min)?;
    let right = lines.iter().map(|line| line.bounds.right).reduce(f32::max)?;
    (right > left && left.is_finite() && right.is_finite()).then_some((left, right))
}

/// A column needs text in at least two lines; else one of its strips goes.
fn drop_thin_columns(lines: &[&Line], mut rivers: Vec<River>) -> Vec<River> {
    let needed = (lines.len() / 12).max(2);
    let mut column = 0;
    while column <= rivers.len() && !rivers.is_empty() {
        let filled = lines
            .iter()
            .filter(|line| line.runs.iter().any(|run| column_range(run, &rivers) == (column, column)))
            .count();
        if filled >= needed.min(lines.len()) {
            column += 1;
            continue;
        }
        // The narrower of the two strips beside it is the accidental one.
        let width = |index: usize| rivers[index].right - rivers[index].left;
        let drop = if column == 0 {
            0
        } else if column == rivers.len() || width(column - 1) <= width(column) {
            column - 1
        } else {
            column
        };
        rivers.remove(drop);
        column = column.saturating_sub(1);
    }
    rivers
}

/// First and last column that a run stands in.
pub(super) fn column_range(run: &Run, rivers: &[River]) -> (usize, usize) {
    let home = rivers.iter().take_while(|river| river.middle() < run.bounds.center_x()).count();
    let crosses = |river: &River| {
        run.bounds.left < river.left + 0.5 && run.bounds.right > river.right - 0.5
            // A label that only just reaches the next column does not stand in it.
            && run.bounds.right - river.right > -0.5
    };
    let (mut first, mut last) = (home, home);
    while first > 0 && crosses(&rivers[first - 1]) {
        first -= 1;
    }
    while last < rivers.len() && crosses(&rivers[last]) {
        last += 1;
    }
    (first, last)
}

/// Several numbers in one run are several cells, unless the space groups the digits of one number.
pub(super) fn split_numbers(line: &Line) -> Line {
    let mut runs = Vec::with_capacity(line.runs.len());
    for run in &line.runs {
        if run.text.contains(' ') && run.text.len() < 400 {
            let words = words_of(run);
            if words.len() > 1 && words.iter().all(|word| is_cell_number(&word.text)) && !is_grouped(&words) {
                runs.extend(words);
                continue;
            }
        }
        runs.push(run.clone());
    }
    Line { runs, ..line.clone() }
}

fn is_cell_number(text: &str) -> bool {
    is_numeric(text) && text.chars().any(|c| c.is_ascii_digit())
}

/// `1 234 567`: one number written with spaces.
fn is_grouped(words: &[Run]) -> bool {
    words[0].text.trim_start_matches(['-', '–', '+', '(']).len() <= 3
        && words[1..].iter().all(|word| {
            let digits = word.text.chars().take_while(char::is_ascii_digit).count();
            digits == 3 && !word.text[3..].starts_with(|c: char| c.is_ascii_digit())
        })
}

/// Cuts runs that cross a strip, where their words allow it.
pub(super) fn cut_at_rivers(run: Run, rivers: &[River]) -> Vec<(usize, Run)> {
    let (first, last) = column_range(&run, rivers);
    if first == last || !run.text.contains(' ') {
        return vec![(first, run)];
    }
    let mut parts: Vec<(usize, Run)> = Vec::new();
    for word in words_of(&run) {
        let column = rivers.iter().take_while(|river| river.middle() < word.bounds.center_x()).count();
        match parts.last_mut() {
            Some((at, part)) if *at == column => {
                part.text.push(' ');
                part.text.push_str(&word.text);
                part.bounds = part.bounds.union(&word.bounds);
            }
            _ => parts.push((column, word)),
        }
    }
    let numbers = parts.iter().skip(1).filter(|(_, part)| is_numeric(&part.text)).count();
    if parts.len() > 1 && numbers + 1 >= parts.len() { parts } else { vec![(first, run)] }
}

/// Share of `run` that lies in the strip-bounded column.
pub(super) fn column_bounds(column: usize, rivers: &[River], left: f32, right: f32) -> (f32, f32) {
    let from = if column == 0 { left } else { rivers[column - 1].middle() };
    let to = rivers.get(column).map_or(right, |river| river.middle());
    (from, to)
}

pub(super) fn covers_column(rule: (f32, f32), column: (f32, f32)) -> bool {
    overlap(rule, column) >= (column.1 - column.0) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::group_lines;
    use crate::pdf::runs::tests::run;

    fn rows() -> Vec<Line> {
        let mut runs = Vec::new();
        for row in 0..5u8 {
            let y = 100.0 + f32::from(row) * 12.0;
            runs.extend([run("Label", 50.0, y, 40.0), run("12", 150.0, y, 20.0), run("345", 200.0, y, 20.0)]);
        }
        group_lines(runs)
    }

    #[test]
    fn strips_between_columns_are_found() {
        let lines = rows();
        let rivers = find_rivers(&lines.iter().collect::<Vec<_>>(), 3.0);
        assert_eq!(rivers.len(), 2);
        assert!(rivers[0].left >= 89.0 && rivers[0].right <= 151.0);
    }

    #[test]
    fn pieces_over_each_other_at_the_right_edge_make_one_column() {
        let mut lines = rows();
        for line in &mut lines {
            line.runs.extend([run("345", 204.0, line.baseline, 6.0), run("3", 214.0, line.baseline, 2.0)]);
        }
        let rivers = find_rivers(&lines.iter().collect::<Vec<_>>(), 3.0);
        assert_eq!(rivers.len(), 2);
    }

    #[test]
    fn numbers_in_one_run_become_cells() {
        let line = &group_lines(vec![run("2,753,438 2,799,250", 0.0, 10.0, 100.0)])[0];
        assert_eq!(split_numbers(line).runs.len(), 2);
        let grouped = &group_lines(vec![run("2 753 438", 0.0, 10.0, 60.0)])[0];
        assert_eq!(split_numbers(grouped).runs.len(), 1);
    }

    #[test]
    fn run_across_a_strip_spans_both_columns() {
        let rivers = [River { left: 90.0, right: 150.0 }, River { left: 170.0, right: 200.0 }];
        assert_eq!(column_range(&run("Over both numbers", 148.0, 10.0, 70.0), &rivers), (1, 2));
        assert_eq!(column_range(&run("12", 150.0, 10.0, 20.0), &rivers), (1, 1));
    }
}
