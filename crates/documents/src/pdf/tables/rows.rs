//! Which lines of text make one row of a table.

use super::super::geometry::Rule;
use super::super::runs::is_numeric;
use super::cells::TableLine;

/// Groups of neighbouring lines, one group a row. `rules` are the horizontal lines of the page.
pub(super) fn group_rows(lines: &[TableLine], rules: &[Rule], left: f32, right: f32) -> Vec<Vec<usize>> {
    if lines.is_empty() {
        return Vec::new();
    }
    let ruled: Vec<bool> = (1..lines.len()).map(|at| is_ruled(lines, at, rules, left, right)).collect();
    let rule_count = ruled.iter().filter(|ruled| **ruled).count();
    let labelled = lines.iter().filter(|line| line.columns().len() > 1).count();
    if rule_count >= 2 && (rule_count + 1) * 2 >= labelled {
        return split_at(lines.len(), |at| ruled[at - 1]);
    }
    let joined: Vec<bool> = (1..lines.len())
        .map(|at| !ruled[at - 1] && (belongs_above(lines, at) || belongs_below(lines, at - 1)))
        .collect();
    split_at(lines.len(), |at| !joined[at - 1])
}

fn split_at(count: usize, starts: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = vec![vec![0]];
    for at in 1..count {
        if starts(at) {
            rows.push(vec![at]);
        } else if let Some(row) = rows.last_mut() {
            row.push(at);
        }
    }
    rows
}

fn is_ruled(lines: &[TableLine], at: usize, rules: &[Rule], left: f32, right: f32) -> bool {
    let (above, below) = (&lines[at - 1], &lines[at]);
    rules.iter().any(|rule| {
        rule.at > above.baseline - above.size * 0.2
            && rule.at < below.baseline - below.size * 0.3
            && rule.covers(left, right, 0.6)
    })
}

/// The line continues the cells of the row above it.
fn belongs_above(lines: &[TableLine], at: usize) -> bool {
    let (above, line) = (&lines[at - 1], &lines[at]);
    let pitch = line.baseline - above.baseline;
    let size = line.size.max(1.0);
    let columns = line.columns();
    if pitch < size * 0.7 {
        // Closer than a line of text: parts of one row that are set at different heights.
        return columns.iter().all(|&column| !above.has_column(column));
    }
    if pitch > size * 1.5 {
        return false;
    }
    if line.pieces.iter().any(|piece| is_numeric(&piece.run.text)) {
        return false;
    }
    if line.has_column(0) {
        let label_only = columns == [0];
        return label_only && above.columns().len() > 1 && starts_lower(&line.text_of(0));
    }
    columns.iter().all(|&column| above.has_column(column))
}

/// The line is the first part of a label that goes on in the line below it.
fn belongs_below(lines: &[TableLine], at: usize) -> bool {
    let (line, below) = (&lines[at], &lines[at + 1]);
    let pitch = below.baseline - line.baseline;
    if pitch > line.size * 1.5 || line.columns() != [0] || !below.has_column(0) {
        return false;
    }
    let (text, next) = (line.text_of(0), below.text_of(0));
    let goes_on = text.ends_with([',', '-', '&', '/'])
        || text
            .rsplit(' ')
            .next()
            .is_some_and(|word| matches!(word, "and" | "of" | "the" | "or" | "in" | "for" | "to" | "with"));
    below.columns().len() > 1 && (starts_lower(&next) || goes_on)
}

fn starts_lower(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_lowercase() || c == '(')
}

#[cfg(test)]
mod tests {
    use super::super::cells::Piece;
    use super::*;
    use crate::pdf::runs::tests::run;

    fn line(baseline: f32, cells: &[(usize, &str)]) -> TableLine {
        let pieces: Vec<Piece> = cells
            .iter()
            .map(|&(column, text)| Piece { run: run(text, 0.0, baseline, 20.0), first: column, last: column })
            .collect();
        TableLine { pieces, baseline, size: 10.0 }
    }

    #[test]
    fn wrapped_text_stays_in_its_row() {
        let lines = [
            line(100.0, &[(0, "Apples"), (1, "A fruit of the")]),
            line(112.0, &[(1, "temperate zone")]),
            line(130.0, &[(0, "Pears"), (1, "Another")]),
        ];
        assert_eq!(group_rows(&lines, &[], 0.0, 100.0), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn numbers_always_start_a_row() {
        let lines = [line(100.0, &[(0, "Apples"), (1, "12")]), line(112.0, &[(1, "13")])];
        assert_eq!(group_rows(&lines, &[], 0.0, 100.0).len(), 2);
    }

    #[test]
    fn lines_between_rules_are_one_row() {
        let lines = [
            line(100.0, &[(0, "A"), (1, "b")]),
            line(112.0, &[(0, "Other"), (1, "c")]),
            line(130.0, &[(0, "D"), (1, "e")]),
            line(150.0, &[(0, "F"), (1, "g")]),
        ];
        let rule = |at: f32| Rule { at, start: 0.0, end: 100.0 };
        assert_eq!(
            group_rows(&lines, &[rule(118.0), rule(138.0)], 0.0, 100.0),
            [vec![0, 1], vec![2], vec![3]]
        );
    }

    #[test]
    fn label_cut_before_a_small_word_is_joined() {
        let lines = [line(100.0, &[(0, "Elementary and")]), line(112.0, &[(0, "secondary"), (1, "5")])];
        assert_eq!(group_rows(&lines, &[], 0.0, 100.0).len(), 1);
    }
}
