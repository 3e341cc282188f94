//! Tables without a drawn grid: lines of text whose pieces stand in the same columns.

use super::super::geometry::{Rule, union_all};
use super::super::lines::Line;
use super::super::runs::is_numeric;
use super::FoundTable;
use super::cells::{OpenCell, Piece, TableLine, assemble};
use super::evidence::is_table;
use super::header::build_header;
use super::rivers::{River, column_range, cut_at_rivers, find_rivers, split_numbers};
use super::rows::group_rows;

/// Lines of a zone and the tables among them, from top to bottom.
#[derive(Debug)]
pub(in crate::pdf) enum ZonePart {
    Line(Line),
    Table(FoundTable),
}

/// Gap between two cells of a line, in ems.
const CELL_GAP_EM: f32 = 1.0;
/// Narrowest strip between two columns, in ems.
const MIN_RIVER_EM: f32 = 0.3;
const MAX_HEADER_LINES: usize = 12;
/// Lines back that a further line of a table is compared with.
const MAX_LINES_COMPARED: usize = 64;

pub(in crate::pdf) fn find_tables(lines: &[Line], rules: &[Rule]) -> Vec<ZonePart> {
    let cut: Vec<Line> = lines.iter().map(split_numbers).collect();
    let mut parts = Vec::new();
    let mut next = 0;
    while next < lines.len() {
        match find_region(&cut, next, rules) {
            Some(region) => {
                parts.extend(lines[next..region.start].iter().cloned().map(ZonePart::Line));
                next = region.end;
                parts.push(ZonePart::Table(build(&cut, &region, rules)));
            }
            None => break,
        }
    }
    parts.extend(lines[next..].iter().cloned().map(ZonePart::Line));
    parts
}

#[derive(Debug)]
struct Region {
    /// First line, one past the last, and first line of the body.
    start: usize,
    end: usize,
    body: usize,
    rivers: Vec<River>,
    extent: (f32, f32),
}

fn is_tabular(line: &Line) -> bool {
    line.segments(CELL_GAP_EM).len() > 1
        || line.runs.len() > 2 && line.runs.iter().filter(|run| is_numeric(&run.text)).count() > 1
}

/// Strips by the lines with the most pieces: headings that span columns, and rows with empty cells, hide them.
fn rivers_of(lines: &[&Line]) -> Vec<River> {
    let size = lines.iter().map(|line| line.size).fold(0.0, f32::max);
    let most = lines.iter().map(|line| line.runs.len()).max().unwrap_or(0);
    let full: Vec<&Line> = lines.iter().filter(|line| line.runs.len() * 10 >= most * 6).copied().collect();
    let used = if full.len() >= 3 { &full } else { lines };
    find_rivers(used, (size * MIN_RIVER_EM).max(2.0))
}

/// The first table at or after line `from`.
fn find_region(lines: &[Line], from: usize, rules: &[Rule]) -> Option<Region> {
    let mut seed = from;
    while seed < lines.len() {
        if !is_tabular(&lines[seed]) {
            seed += 1;
            continue;
        }
        let end = grow(lines, seed);
        if let Some(region) = judge(lines, from, seed, end, rules) {
            return Some(region);
        }
        // A table may begin inside of lines that are none as a whole; not every line of many is tried.
        seed += ((end - seed) / 4).max(1);
    }
    None
}

/// One past the last line that fits to the table that begins at `seed`.
fn grow(lines: &[Line], seed: usize) -> usize {
    let mut members: Vec<&Line> = vec![&lines[seed]];
    let mut rivers = 0;
    let mut end = seed + 1;
    let mut at = end;
    while at < lines.len() {
        let line = &lines[at];
        let gap = line.bounds.top - lines[at - 1].bounds.bottom;
        if gap > line.size.max(lines[at - 1].size) * 2.5 {
            break;
        }
        if is_tabular(line) {
            members.push(line);
            let found = rivers_of(&members[members.len().saturating_sub(MAX_LINES_COMPARED)..]);
            let columns = line.runs.iter().map(|run| column_range(run, &found)).collect::<Vec<_>>();
            let spread = columns.iter().any(|range| *range != columns[0]);
            if found.is_empty() || found.len() * 2 < rivers || !spread {
                members.pop();
                break;
            }
            rivers = found.len().max(rivers);
            end = at + 1;
        } else if !may_stand_between(line, &members) || at - end >= 3 {
            break;
        }
        at += 1;
    }
    end
}

/// A line with one piece inside a table: a label over several rows, the rest of a cell.
fn may_stand_between(line: &Line, members: &[&Line]) -> bool {
    let left = members.iter().map(|line| line.bounds.left).fold(f32::MAX, f32::min);
    let right = members.iter().map(|line| line.bounds.right).fold(f32::MIN, f32::max);
    let inside = line.bounds.left >= left - line.size * 2.0 && line.bounds.right <= right + line.size * 2.0;
    inside && line.bounds.width() <= (right - left) * 0.7
}

fn judge(lines: &[Line], from: usize, seed: usize, end: usize, rules: &[Rule]) -> Option<Region> {
    let members: Vec<&Line> = lines[seed..end].iter().filter(|line| is_tabular(line)).collect();
    if members.len() < 2 {
        return None;
    }
    let rivers = rivers_of(&members);
    if rivers.is_empty() {
        return None;
    }
    let left = members.iter().map(|line| line.bounds.left).fold(f32::MAX, f32::min);
    let right = members.iter().map(|line| line.bounds.right).fold(f32::MIN, f32::max);
    let extent = (left, right);
    let (start, end) = extend(lines, from, seed, end, &rivers, extent, rules);
    let is_bounded = rules.iter().filter(|rule| touches(rule, &lines[start..end], extent)).count() >= 2;
    if members.len() < 3 && !is_bounded {
        return None;
    }
    if !is_table(&members, &rivers, is_bounded) {
        return None;
    }
    let body = body_start(lines, start, end, &rivers, extent, rules);
    Some(Region { start, end, body, rivers, extent })
}

fn touches(rule: &Rule, lines: &[Line], extent: (f32, f32)) -> bool {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
    rule.covers(extent.0, extent.1, 0.7)
        && rule.at > first.bounds.top - first.size * 1.5
        && rule.at < last.bounds.bottom + last.size * 1.5
}

/// Takes the headings above the first line, and what is left before the closing rule below the last.
fn extend(
    lines: &[Line],
    from: usize,
    seed: usize,
    end: usize,
    rivers: &[River],
    extent: (f32, f32),
    rules: &[Rule],
) -> (usize, usize) {
    let wide: Vec<&Rule> = rules.iter().filter(|rule| rule.covers(extent.0, extent.1, 0.7)).collect();
    let mut start = seed;
    // Down from the highest wide rule that has only short lines between it and the table.
    for above in (from..seed).rev().take(MAX_HEADER_LINES) {
        let line = &lines[above];
        let gap = lines[above + 1].bounds.top - line.bounds.bottom;
        if gap > line.size * 2.5 || is_sentence(line, extent) {
            break;
        }
        let rule_above = wide.iter().any(|rule| {
            let ceiling =
                if above > 0 { lines[above - 1].baseline - lines[above - 1].size * 0.3 } else { f32::MIN };
            rule.at < line.baseline - line.size * 0.4
                && rule.at > ceiling.max(line.bounds.top - line.size * 2.5)
        });
        if rule_above {
            start = above;
        }
    }
    // Without a rule: headings that stand over the columns after the first.
    while start > from {
        let line = &lines[start - 1];
        let gap = lines[start].bounds.top - line.bounds.bottom;
        let crossed = wide.iter().any(|rule| {
            rule.at > line.baseline - line.size * 0.2 && rule.at < lines[start].bounds.center_y()
        });
        let over_columns =
            line.bounds.left >= rivers[0].left && line.bounds.right <= extent.1 + line.size * 2.0;
        let own_rule_above = wide.iter().any(|rule| {
            rule.at > lines[start].bounds.top - lines[start].size * 1.5
                && rule.at < lines[start].bounds.center_y()
        });
        if gap > line.size * 1.2 || crossed || own_rule_above || !over_columns || is_sentence(line, extent) {
            break;
        }
        start -= 1;
    }
    let mut stop = end;
    for below in end..lines.len().min(end + 3) {
        let line = &lines[below];
        let gap = line.bounds.top - lines[below - 1].bounds.bottom;
        let inside = line.bounds.left >= extent.0 - line.size && line.bounds.right <= extent.1 + line.size;
        if gap > line.size * 1.5 || !inside || is_sentence(line, extent) {
            break;
        }
        let closed =
            wide.iter().any(|rule| rule.at > line.baseline && rule.at < line.bounds.bottom + line.size);
        let opened = wide
            .iter()
            .any(|rule| rule.at < line.bounds.center_y() && rule.at > lines[below - 1].bounds.center_y());
        if opened {
            break;
        }
        if closed {
            stop = below + 1;
            break;
        }
    }
    (start, stop)
}

/// Prose or a title: one long piece over most of the table.
fn is_sentence(line: &Line, extent: (f32, f32)) -> bool {
    let segments = line.segments(1.5);
    let widest = segments
        .iter()
        .map(|&(from, to)| line.runs[to - 1].bounds.right - line.runs[from].bounds.left)
        .fold(0.0, f32::max);
    segments.len() == 1 && widest > (extent.1 - extent.0) * 0.6 && line.text().split(' ').count() > 5
}

/// Index of the first line of the body: below the rule that ends the headings, or the first line of numbers.
fn body_start(
    lines: &[Line],
    start: usize,
    end: usize,
    rivers: &[River],
    extent: (f32, f32),
    rules: &[Rule],
) -> usize {
    let half = start + (end - start).div_ceil(2);
    let ruled = (start + 1..half.max(start + 2).min(end)).find(|&at| {
        rules.iter().any(|rule| {
            rule.at > lines[at - 1].baseline - lines[at - 1].size * 0.2
                && rule.at < lines[at].baseline - lines[at].size * 0.3
                && rule.covers(extent.0, extent.1, 0.85)
        })
    });
    if let Some(at) = ruled {
        return at;
    }
    let numeric = (start..end).find(|&at| {
        let others: Vec<_> = lines[at].runs.iter().filter(|run| column_range(run, rivers).0 > 0).collect();
        let numbers = others.iter().filter(|run| is_numeric(&run.text) && !is_year(&run.text)).count();
        !others.is_empty() && numbers * 2 >= others.len()
    });
    match numeric {
        Some(at) if at > start && at < half.max(start + 2) => at,
        Some(at) if at == start => start,
        _ => (start + 1).min(end),
    }
}

fn is_year(text: &str) -> bool {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.len() == 4 && matches!(&digits[..2], "19" | "20") && text.len() <= 9
}

fn build(lines: &[Line], region: &Region, rules: &[Rule]) -> FoundTable {
    let table_lines: Vec<TableLine> = lines[region.start..region.end]
        .iter()
        .enumerate()
        .map(|(index, line)| table_line(line, &region.rivers, index + region.start >= region.body))
        .collect();
    let head = region.body - region.start;
    let (left, right) = region.extent;
    let inside: Vec<Rule> =
        rules.iter().filter(|rule| rule.end > left && rule.start < right).copied().collect();
    let (mut cells, header_rows) = build_header(&table_lines[..head], &inside, &region.rivers, region.extent);
    let body = &table_lines[head..];
    for (row, group) in group_rows(body, &inside, left, right).into_iter().enumerate() {
        let row = row + header_rows;
        let mut open: Vec<OpenCell> = Vec::new();
        let single = match group[..] {
            [line] if body[line].pieces.len() == 1 => Some(&body[line].pieces[0]),
            _ => None,
        };
        if let Some((piece, first)) = single.and_then(|piece| Some((piece, centred_from(piece, region)?))) {
            cells.push(OpenCell {
                row,
                last_row: row,
                column: first,
                last_column: region.rivers.len(),
                runs: vec![piece.run.clone()],
            });
            continue;
        }
        for piece in group.into_iter().flat_map(|line| &body[line].pieces) {
            match open.iter_mut().find(|cell| cell.column == piece.first) {
                Some(cell) => cell.runs.push(piece.run.clone()),
                None => open.push(OpenCell {
                    row,
                    last_row: row,
                    column: piece.first,
                    last_column: piece.first,
                    runs: vec![piece.run.clone()],
                }),
            }
        }
        cells.extend(open);
    }
    let bounds =
        union_all(lines[region.start..region.end].iter().map(|line| &line.bounds)).unwrap_or_default();
    FoundTable { bounds, table: assemble(cells, header_rows), before: Vec::new(), after: Vec::new() }
}

/// The only piece of a row that stands in the middle of the columns: a heading inside the table. Gives the first
/// column that it spans.
fn centred_from(piece: &Piece, region: &Region) -> Option<usize> {
    let (left, right) = region.extent;
    let bounds = piece.run.bounds;
    let first = region.rivers.first()?;
    let is_centred =
        |from: f32| (bounds.center_x() - f32::midpoint(from, right)).abs() < (right - from) * 0.04;
    if region.rivers.len() >= 2 && bounds.left > first.left && is_centred(first.right) {
        return Some(1);
    }
    (bounds.left > left + piece.run.size * 3.0 && is_centred(left)).then_some(0)
}

fn table_line(line: &Line, rivers: &[River], is_body: bool) -> TableLine {
    let mut pieces = Vec::new();
    for run in &line.runs {
        if is_body {
            for (column, run) in cut_at_rivers(run.clone(), rivers) {
                pieces.push(Piece { run, first: column, last: column });
            }
        } else {
            let (first, last) = column_range(run, rivers);
            pieces.push(Piece { run: run.clone(), first, last });
        }
    }
    TableLine { pieces, baseline: line.baseline, size: line.size }
}

#[cfg(test)]
mod tests;
