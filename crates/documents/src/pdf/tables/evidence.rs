//! Signs that aligned lines are a table: numbers, edges that agree, short pieces.

use super::super::geometry::Bounds;
use super::super::lines::Line;
use super::super::runs::{Run, is_numeric};
use super::rivers::{River, column_range};

/// Whether lines that share strips are a table rather than prose, a list or a chart. `is_bounded` says that rules
/// stand above or below them.
pub(super) fn is_table(members: &[&Line], rivers: &[River], is_bounded: bool) -> bool {
    let mut columns: Vec<Vec<&Run>> = vec![Vec::new(); rivers.len() + 1];
    for run in members.iter().flat_map(|line| &line.runs) {
        let (first, last) = column_range(run, rivers);
        if first == last {
            columns[first].push(run);
        }
    }
    let share = |part: usize, whole: usize| part as f32 / whole.max(1) as f32;
    let others: usize = columns[1..].iter().map(Vec::len).sum();
    let numbers: usize = columns[1..].iter().flatten().filter(|run| is_numeric(&run.text)).count();
    if is_list_marker(&columns[0]) && columns.len() == 2 {
        return false;
    }
    let letters: usize = columns.iter().flatten().map(|run| run.text.chars().count()).sum();
    let runs: usize = columns.iter().map(Vec::len).sum();
    let mean = share(letters, runs);
    if is_prose(&columns) || is_chart(&columns) {
        return false;
    }
    if share(numbers, others) >= 0.4 {
        return mean <= 45.0;
    }
    let aligned = columns[1..].iter().filter(|column| is_aligned(column)).count();
    let ordered = share(aligned, columns.len() - 1) >= 0.6;
    if is_bounded {
        return mean <= 60.0 && ordered;
    }
    // Words only and no rules: be sure.
    ordered && members.len() >= 4 && (mean <= 32.0 && columns.len() >= 3 || mean <= 24.0)
}

/// Columns whose pieces are long and end at about the same place: text in columns.
fn is_prose(columns: &[Vec<&Run>]) -> bool {
    let prose = columns
        .iter()
        .filter(|column| {
            let widest = column.iter().map(|run| run.bounds.width()).fold(0.0, f32::max);
            let full = column.iter().filter(|run| run.bounds.width() >= widest * 0.75).count();
            let letters: usize = column.iter().map(|run| run.text.chars().count()).sum();
            column.len() >= 3 && letters >= column.len() * 22 && full * 10 >= column.len() * 6
        })
        .count();
    prose >= 2
}

/// The axes of a chart: every column of numbers goes up or down in equal steps.
fn is_chart(columns: &[Vec<&Run>]) -> bool {
    let mut axes = 0;
    for column in columns {
        let numbers: Vec<f32> = column
            .iter()
            .filter(|run| is_numeric(&run.text))
            .filter_map(|run| run.text.replace([',', '%', '$', ' '], "").parse().ok())
            .collect();
        if numbers.len() < 3 {
            continue;
        }
        let step = numbers[1] - numbers[0];
        let even = numbers.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= step.abs() * 0.05);
        if !even || step == 0.0 {
            return false;
        }
        axes += 1;
    }
    axes > 0 && columns.len() <= 3
}

fn is_list_marker(column: &[&Run]) -> bool {
    let markers = column
        .iter()
        .filter(|run| {
            let text = run.text.trim();
            text.chars().count() <= 4
                && (text.ends_with(['.', ')']) || text.chars().all(|c| !c.is_alphanumeric()))
        })
        .count();
    markers * 10 >= column.len() * 7
}

/// Most pieces share their left edge, right edge or centre.
fn is_aligned(column: &[&Run]) -> bool {
    let share_of_mode = |edge: fn(&Bounds) -> f32| {
        let mut edges: Vec<f32> = column.iter().map(|run| edge(&run.bounds)).collect();
        edges.sort_by(f32::total_cmp);
        let mut best = 0;
        let mut start = 0;
        for end in 0..edges.len() {
            while edges[end] - edges[start] > 4.0 {
                start += 1;
            }
            best = best.max(end - start + 1);
        }
        best
    };
    let best = [share_of_mode(|b| b.left), share_of_mode(|b| b.right), share_of_mode(Bounds::center_x)];
    best.iter().max().is_some_and(|best| best * 10 >= column.len() * 6)
}
