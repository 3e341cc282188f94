//! Reading order: a page is cut into zones along the gutters between columns of prose.
//!
//! A gutter is a strip without text, over a part of the page's height, that has prose on both sides. The part above it
//! is read first, then the left side, the right side, and the part below. The parts are cut again with a list of work.

use super::geometry::Bounds;
use super::lines::{Line, group_lines};
use super::runs::{Run, is_numeric, is_right_to_left};

const MAX_CUTS: usize = 200;
/// Edges that are tried as the side of a column, and the height in points that a gutter has at least.
const MAX_EDGES: usize = 40;
const MIN_BAND_HEIGHT: f32 = 20.0;
/// A strip this wide, in points, parts texts that do not fill their lines.
const WIDE_GUTTER: f32 = 24.0;

/// A run or something that stands in the page like one (a table that is already found).
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) bounds: Bounds,
    pub(super) content: ElementContent,
}

#[derive(Debug, Clone)]
pub(super) enum ElementContent {
    Run(Run),
    /// Index of a table found by its ruling lines.
    Table(usize),
}

/// The zones of a page in reading order; every element is in exactly one.
pub(super) fn order_zones(elements: Vec<Element>) -> Vec<Vec<Element>> {
    let text: String = elements
        .iter()
        .filter_map(|element| match &element.content {
            ElementContent::Run(run) => Some(run.text.as_str()),
            ElementContent::Table(_) => None,
        })
        .take(2000)
        .collect();
    let right_to_left = is_right_to_left(&text);
    let mut zones = Vec::new();
    let mut waiting = vec![elements];
    let mut cuts = 0;
    while let Some(part) = waiting.pop() {
        let gutter = if cuts < MAX_CUTS { find_gutter(&part) } else { None };
        let Some(gutter) = gutter else {
            if !part.is_empty() {
                zones.push(part);
            }
            continue;
        };
        cuts += 1;
        let [mut above, mut left, mut right, mut below] = [const { Vec::new() }; 4];
        for element in part {
            let y = element.bounds.center_y();
            if y < gutter.top {
                above.push(element);
            } else if y > gutter.bottom {
                below.push(element);
            } else if element.bounds.center_x() < gutter.x {
                left.push(element);
            } else {
                right.push(element);
            }
        }
        let (first, second) = if right_to_left { (right, left) } else { (left, right) };
        waiting.extend([below, second, first, above]);
    }
    zones
}

struct Gutter {
    x: f32,
    top: f32,
    bottom: f32,
}

fn find_gutter(elements: &[Element]) -> Option<Gutter> {
    if elements.len() < 8 {
        return None;
    }
    let mut best: Option<(usize, Gutter)> = None;
    for x in candidate_edges(elements) {
        let x = x - 1.5;
        let mut crossing: Vec<(f32, f32)> = elements
            .iter()
            .filter(|e| e.bounds.left < x - 1.0 && e.bounds.right > x + 1.0)
            .map(|e| (e.bounds.top, e.bounds.bottom))
            .collect();
        crossing.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut top = f32::MIN;
        for limit in crossing.into_iter().chain([(f32::MAX, f32::MAX)]) {
            if limit.0 - top > MIN_BAND_HEIGHT
                && let Some((score, gutter)) = judge_band(elements, x, top, limit.0)
                && best.as_ref().is_none_or(|(other, _)| score > *other)
            {
                best = Some((score, gutter));
            }
            top = top.max(limit.1);
        }
    }
    best.map(|(_, gutter)| gutter)
}

/// Left edges that several elements share.
fn candidate_edges<'a>(elements: impl IntoIterator<Item = &'a Element>) -> Vec<f32> {
    let mut edges: Vec<f32> = elements.into_iter().map(|element| element.bounds.left).collect();
    edges.sort_by(f32::total_cmp);
    let Some(&smallest) = edges.first() else { return Vec::new() };
    let mut candidates: Vec<(usize, f32)> = Vec::new();
    let mut start = 0;
    for index in 1..=edges.len() {
        if index == edges.len() || edges[index] - edges[index - 1] > 2.0 {
            if index - start >= 3 && edges[start] > smallest + 60.0 {
                candidates.push((index - start, edges[start]));
            }
            start = index;
        }
    }
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.0));
    candidates.into_iter().take(MAX_EDGES).map(|candidate| candidate.1).collect()
}

fn judge_band(elements: &[Element], x: f32, top: f32, bottom: f32) -> Option<(usize, Gutter)> {
    let inside = |e: &&Element| e.bounds.center_y() > top && e.bounds.center_y() < bottom;
    let (left, right): (Vec<&Element>, Vec<&Element>) =
        elements.iter().filter(inside).partition(|element| element.bounds.center_x() < x);
    if left.len() < 3 || right.len() < 3 {
        return None;
    }
    let reach = |side: &[&Element]| {
        let top = side.iter().map(|e| e.bounds.top).fold(f32::MAX, f32::min);
        let bottom = side.iter().map(|e| e.bounds.bottom).fold(f32::MIN, f32::max);
        (top, bottom)
    };
    let (left_reach, right_reach) = (reach(&left), reach(&right));
    let shared = super::geometry::overlap(left_reach, right_reach);
    let shorter = (left_reach.1 - left_reach.0).min(right_reach.1 - right_reach.0);
    if shared < shorter * 0.4 {
        return None;
    }
    let left_edge = left.iter().map(|e| e.bounds.right).fold(f32::MIN, f32::max);
    let right_edge = right.iter().map(|e| e.bounds.left).fold(f32::MAX, f32::min);
    if right_edge - left_edge < 4.0 {
        return None;
    }
    let is_wide = right_edge - left_edge >= WIDE_GUTTER && are_independent(&left, &right);
    if !is_wide && (!is_prose(&left) || !is_prose(&right)) {
        return None;
    }
    let gutter = Gutter { x: f32::midpoint(left_edge, right_edge), top, bottom };
    Some((left.len() + right.len(), gutter))
}

fn lines_of(side: &[&Element]) -> Vec<Line> {
    group_lines(
        side.iter()
            .filter_map(|element| match &element.content {
                ElementContent::Run(run) => Some(run.clone()),
                ElementContent::Table(_) => None,
            })
            .collect(),
    )
}

/// Two texts side by side, such as the pages of a spread: many lines with words on both sides, and few of them on the
/// same height.
fn are_independent(left: &[&Element], right: &[&Element]) -> bool {
    let (left, right) = (lines_of(left), lines_of(right));
    let wordy = |lines: &[Line]| {
        let count = lines
            .iter()
            .filter(|line| line.text().split(' ').filter(|word| !is_numeric(word)).count() >= 3)
            .count();
        lines.len() >= 8 && count * 2 >= lines.len()
    };
    if !wordy(&left) || !wordy(&right) {
        return false;
    }
    let (fewer, more) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let level = fewer
        .iter()
        .filter(|line| more.iter().any(|other| (other.baseline - line.baseline).abs() < 1.0))
        .count();
    level * 2 < fewer.len()
}

/// One column of prose, or two beside each other.
fn is_prose(side: &[&Element]) -> bool {
    is_prose_column(side)
        || candidate_edges(side.iter().copied()).into_iter().take(4).any(|x| {
            let (left, right): (Vec<&Element>, Vec<&Element>) =
                side.iter().partition(|element| element.bounds.center_x() < x);
            let crossing = left.iter().filter(|element| element.bounds.right > x).count();
            crossing == 0 && !right.is_empty() && is_prose_column(&left) && is_prose_column(&right)
        })
}

/// Lines that mostly fill their column and hold words: a column of prose and not one of a table.
fn is_prose_column(side: &[&Element]) -> bool {
    let lines = lines_of(side);
    if lines.is_empty() {
        return true;
    }
    if lines.len() < 3 {
        return false;
    }
    let mut widths: Vec<f32> = lines.iter().map(|line| line.bounds.width()).collect();
    widths.sort_by(f32::total_cmp);
    let full = widths[widths.len() * 9 / 10];
    let share = |count: usize| count as f32 / lines.len() as f32;
    let filled = lines.iter().filter(|line| line.bounds.width() >= full * 0.7).count();
    let gaps = lines.iter().filter(|line| line.segments(1.5).len() > 1).count();
    let wordy = lines
        .iter()
        .filter(|line| {
            let text = line.text();
            text.chars().count() >= 12 && text.split(' ').filter(|word| !is_numeric(word)).count() >= 2
        })
        .count();
    share(filled) >= 0.45 && share(gaps) <= 0.25 && share(wordy) >= 0.6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::runs::tests::run;

    fn element(run: Run) -> Element {
        Element { bounds: run.bounds, content: ElementContent::Run(run) }
    }

    fn texts(zones: &[Vec<Element>]) -> Vec<String> {
        zones
            .iter()
            .flatten()
            .filter_map(|element| match &element.content {
                ElementContent::Run(run) => Some(run.text.clone()),
                ElementContent::Table(_) => None,
            })
            .collect()
    }

    fn column(name: &str, left: f32, lines: u8) -> Vec<Element> {
        (0..lines)
            .map(|line| {
                element(run(
                    &format!("{name} line number {line} of prose"),
                    left,
                    100.0 + f32::from(line) * 12.0,
                    200.0,
                ))
            })
            .collect()
    }

    #[test]
    fn two_columns_are_read_one_after_the_other() {
        let mut elements = vec![element(run("A title over both of the columns here", 50.0, 60.0, 400.0))];
        let (left, right) = (column("left", 50.0, 6), column("right", 270.0, 6));
        elements.extend(left.into_iter().zip(right).flat_map(|(a, b)| [a, b]));
        let order = texts(&order_zones(elements));
        assert!(order[0].starts_with("A title"));
        assert!(order[1..7].iter().all(|text| text.starts_with("left")));
        assert!(order[7..].iter().all(|text| text.starts_with("right")));
    }

    #[test]
    fn three_columns_are_read_in_order() {
        let mut elements = column("a", 20.0, 6);
        elements.extend(column("b", 240.0, 6));
        elements.extend(column("c", 460.0, 6));
        elements.reverse();
        let zones = order_zones(elements);
        let firsts: Vec<char> =
            zones.iter().map(|zone| texts(std::slice::from_ref(zone))[0].chars().next().unwrap()).collect();
        assert_eq!(firsts, ['a', 'b', 'c']);
    }

    #[test]
    fn columns_of_numbers_are_not_cut() {
        let elements: Vec<Element> = (0..8u8)
            .flat_map(|row| {
                let y = 100.0 + f32::from(row) * 12.0;
                [
                    element(run("Label of row", 50.0, y, 60.0)),
                    element(run("1,234", 200.0, y, 30.0)),
                    element(run("56.7", 300.0, y, 20.0)),
                ]
            })
            .collect();
        assert_eq!(order_zones(elements).len(), 1);
    }
}
