//! Running heads, running feet and page numbers, which are left out of the text.
//!
//! A row or a heading that is lost is worse than a running head that stays. So a line is taken out only where it is one
//! of the two outermost of its page, stands apart from the text and in no table, says the same at the same place on
//! another page, but for the number of the page, and is no larger than the text.

use std::collections::{HashMap, HashSet};

use super::edge_lines::{EdgeLine, Pattern, find_edge_lines};
use super::geometry::{Rule, overlap};
use super::headings::{MIN_HEADING_RATIO, Sizes};
use super::lines::Line;
use super::page_numbers::PageNumber;
use super::runs::is_numeric;
use crate::block::BlockKind;

/// Occurrences of a pattern that are compared with each other.
const MAX_NEIGHBOURS: usize = 8;
/// Distance to the text, in its own distances from line to line; more where the line may be a row of a table.
const MIN_DISTANCE: f32 = 1.35;
const MIN_DISTANCE_OF_ROW: f32 = 2.5;
/// Pieces of a line that fill more of its width than this are columns of text.
const MAX_FILLED_SHARE: f32 = 0.8;
/// Type that is larger than the text by this is that of a heading, whatever number it has.
const LARGE_RATIO: f32 = 1.4;

/// The lines of a page, and the lines that are drawn down it.
#[derive(Debug)]
pub(super) struct PageLines {
    pub(super) height: f32,
    pub(super) lines: Vec<Line>,
    pub(super) vertical: Vec<Rule>,
}

/// For each line of each page: what kind of furniture it is, or `None` for a line of the text.
pub(super) fn classify(pages: &[PageLines], sizes: &Sizes) -> Vec<Vec<Option<BlockKind>>> {
    let numbered = pages.iter().enumerate();
    let edges =
        numbered.flat_map(|(number, page)| find_edge_lines(number, page.height, &page.lines)).collect();
    let furniture = Furniture::new(pages, sizes, edges);
    let mut kinds: Vec<Vec<Option<BlockKind>>> =
        pages.iter().map(|page| vec![None; page.lines.len()]).collect();
    for (at, edge) in furniture.edges.iter().enumerate() {
        let is_outermost = edge.depth == 0 || {
            let outer = if edge.is_top { edge.index - 1 } else { edge.index + 1 };
            kinds[edge.page][outer].is_some()
        };
        if is_outermost && (furniture.is_running(at) || furniture.is_lone_page_number(at)) {
            kinds[edge.page][edge.index] = Some(match (edge.number, edge.is_top) {
                (Some(_), _) => BlockKind::PageNumber,
                (None, true) => BlockKind::PageHeader,
                (None, false) => BlockKind::PageFooter,
            });
        }
    }
    kinds
}

/// The lines that have a pattern.
#[derive(Debug, Default)]
struct Group {
    members: Vec<usize>,
    /// Those that stand at the same place as another on another page, and how many of them stand apart.
    repeated: usize,
    apart: usize,
    first: Option<usize>,
}

struct Furniture<'a> {
    pages: &'a [PageLines],
    sizes: &'a Sizes,
    edges: Vec<EdgeLine<'a>>,
    groups: HashMap<String, Group>,
    /// Page and index of the lines that repeat.
    repeated: HashSet<(usize, usize)>,
    /// How many page numbers are so far from the place of their page in the file.
    offsets: HashMap<i64, usize>,
}

impl<'a> Furniture<'a> {
    fn new(pages: &'a [PageLines], sizes: &'a Sizes, edges: Vec<EdgeLine<'a>>) -> Self {
        let mut groups: HashMap<String, Group> = HashMap::new();
        let mut offsets: HashMap<i64, usize> = HashMap::new();
        for (at, edge) in edges.iter().enumerate() {
            for pattern in &edge.patterns {
                groups.entry(pattern.key.clone()).or_default().members.push(at);
            }
            if let Some(number) = edge.number {
                *offsets.entry(edge.offset(number)).or_default() += 1;
            }
        }
        let mut furniture = Self { pages, sizes, edges, groups, repeated: HashSet::new(), offsets };
        let repeated = furniture
            .edges
            .iter()
            .enumerate()
            .filter(|(at, edge)| edge.patterns.iter().any(|pattern| furniture.repeats(*at, pattern)));
        furniture.repeated = repeated.map(|(_, edge)| (edge.page, edge.index)).collect();
        furniture.count_repeated();
        furniture
    }

    fn count_repeated(&mut self) {
        let pitches: Vec<Option<f32>> = (0..self.pages.len()).map(|page| self.pitch(page)).collect();
        let mut counts: Vec<(String, usize, bool)> = Vec::new();
        for (at, edge) in self.edges.iter().enumerate() {
            let is_apart = self.is_apart(edge, pitches[edge.page]);
            let patterns = edge.patterns.iter().filter(|pattern| self.repeats(at, pattern));
            counts.extend(patterns.map(|pattern| (pattern.key.clone(), at, is_apart)));
        }
        for (key, at, is_apart) in counts {
            let group = self.groups.entry(key).or_default();
            group.repeated += 1;
            group.apart += usize::from(is_apart);
            group.first.get_or_insert(at);
        }
    }

    /// Whether a page near this one has the same pattern at the same place.
    fn repeats(&self, at: usize, pattern: &Pattern) -> bool {
        let Some(group) = self.groups.get(&pattern.key) else { return false };
        let place = group.members.partition_point(|member| *member < at);
        let near = &group.members[place.saturating_sub(MAX_NEIGHBOURS)..];
        near.iter().take(2 * MAX_NEIGHBOURS).map(|member| &self.edges[*member]).any(|other| {
            let edge = &self.edges[at];
            other.page != edge.page && edge.is_at_same_place(other)
        })
    }

    /// The line so many steps from the same edge, with its index.
    fn line_at(&self, edge: &EdgeLine<'_>, steps: usize) -> Option<(usize, &'a Line)> {
        let lines = &self.pages[edge.page].lines;
        let index = if edge.is_top { steps } else { lines.len().checked_sub(1 + steps)? };
        lines.get(index).map(|line| (index, line))
    }

    /// The usual distance from line to line in the text of a page.
    fn pitch(&self, page: usize) -> Option<f32> {
        let lines = &self.pages[page].lines;
        let is_text = |index: usize| !self.repeated.contains(&(page, index));
        let mut distances: Vec<f32> = (1..lines.len())
            .filter(|&index| is_text(index - 1) && is_text(index))
            .map(|index| lines[index].baseline - lines[index - 1].baseline)
            .collect();
        distances.sort_by(f32::total_cmp);
        distances.get(distances.len() / 2).copied()
    }

    /// Whether the line, or the next one where that repeats as well, is farther from the text than the lines of the
    /// text are from each other.
    fn is_apart(&self, edge: &EdgeLine<'_>, pitch: Option<f32>) -> bool {
        let is_wide_gap = |steps: usize| {
            let (Some((_, outer)), Some((_, inner))) =
                (self.line_at(edge, steps), self.line_at(edge, steps + 1))
            else {
                return false;
            };
            let pitch = pitch.unwrap_or(inner.size * 1.2).clamp(inner.size, inner.size * 3.0);
            let needed = if are_rows(outer, inner) { MIN_DISTANCE_OF_ROW } else { MIN_DISTANCE };
            let is_wide = (outer.baseline - inner.baseline).abs() > pitch * needed;
            is_wide && !are_in_grid(outer, inner, &self.pages[edge.page].vertical)
        };
        let next_repeats = edge.depth == 0
            && self.line_at(edge, 1).is_some_and(|(index, _)| self.repeated.contains(&(edge.page, index)));
        is_wide_gap(edge.depth) || next_repeats && is_wide_gap(1)
    }

    fn is_running(&self, at: usize) -> bool {
        self.edges[at].patterns.iter().any(|pattern| {
            let Some(group) = self.groups.get(&pattern.key) else { return false };
            group.apart * 2 > group.repeated
                && self.repeats(at, pattern)
                && self.is_type_of_furniture(at, pattern, group)
        })
    }

    /// Whether the type of a line allows that it is left out. Of a text in the type of a heading the first one stays.
    fn is_type_of_furniture(&self, at: usize, pattern: &Pattern, group: &Group) -> bool {
        let line = self.edges[at].line;
        let ratio = line.size / self.sizes.body;
        let is_later =
            group.repeated >= 3 && group.repeated * 5 >= self.pages.len() * 4 && group.first != Some(at);
        // Headings have text below them.
        let heading_ratio = if self.edges[at].is_top { MIN_HEADING_RATIO } else { LARGE_RATIO };
        match pattern.number {
            None if ratio < heading_ratio => !line.is_bold() || group.repeated >= 3,
            None => is_later,
            Some(number) if !pattern.has_text && is_year(number) => false,
            Some(_) if ratio < heading_ratio => true,
            Some(number) if ratio < LARGE_RATIO => number.is_named || pattern.has_text && is_later,
            Some(_) => false,
        }
    }

    /// A number that stands alone at the edge of a page and can be the number of that page.
    fn is_lone_page_number(&self, at: usize) -> bool {
        let edge = &self.edges[at];
        let Some(number) = edge.number else { return false };
        let offset = edge.offset(number);
        if is_year(number) {
            return false;
        }
        let is_likely = number.is_named
            || offset == 1
            || self.offsets.get(&offset).is_some_and(|pages| *pages > 1)
            || self.pages.len() == 1 && !edge.is_top
            || self.grows(at, number.value);
        is_likely
            && edge.line.size < self.sizes.body * LARGE_RATIO
            && is_isolated(edge.line, &self.pages[edge.page].lines)
            && !self.is_in_column(edge)
    }

    /// Whether the numbers at the same place of pages before and after are smaller and larger.
    fn grows(&self, at: usize, value: u32) -> bool {
        let edge = &self.edges[at];
        let from = at.saturating_sub(MAX_NEIGHBOURS);
        let near = self.edges[from..].iter().take(2 * MAX_NEIGHBOURS);
        let mut others =
            near.filter(|other| other.page != edge.page && edge.is_at_same_place(other)).peekable();
        others.peek().is_some()
            && others.all(|other| {
                let ordered = |number: u32| (other.page < edge.page) == (number < value) && number != value;
                other.number.is_some_and(|number| ordered(number.value))
            })
    }

    /// Whether the next lines have a number in the same column.
    fn is_in_column(&self, edge: &EdgeLine<'_>) -> bool {
        let near = |a: f32, b: f32| (a - b).abs() <= 3.0;
        let own = edge.line.bounds;
        (1..=3).filter_map(|steps| self.line_at(edge, edge.depth + steps)).any(|(_, line)| {
            line.runs.iter().filter(|run| is_numeric(&run.text)).any(|run| {
                near(run.bounds.left, own.left)
                    || near(run.bounds.right, own.right)
                    || near(run.bounds.center_x(), own.center_x())
            })
        })
    }
}

/// What stands alone above a text is then its heading.
fn is_year(number: PageNumber) -> bool {
    !number.is_named && (1900..2100).contains(&number.value)
}

/// Whether lines are drawn beside and between both, as in a table.
fn are_in_grid(outer: &Line, inner: &Line, vertical: &[Rule]) -> bool {
    let (a, b) = (outer.bounds.center_y(), inner.bounds.center_y());
    vertical.iter().filter(|rule| rule.start <= a.min(b) && rule.end >= a.max(b)).count() > 2
}

/// Whether the pieces of both lines stand above each other, as in a table. Those of two columns of text fill them.
fn are_rows(outer: &Line, inner: &Line) -> bool {
    let pieces = |line: &Line| -> Vec<(f32, f32)> {
        let segments = line.segments(1.0).into_iter();
        segments
            .map(|(first, past)| (line.runs[first].bounds.left, line.runs[past - 1].bounds.right))
            .collect()
    };
    let (outer, pieces) = (pieces(outer), pieces(inner));
    let filled: f32 = pieces.iter().map(|(left, right)| right - left).sum();
    let covered = |piece: &(f32, f32)| pieces.iter().any(|other| overlap(*piece, *other) > 0.0);
    outer.len() > 1
        && pieces.len() > 1
        && (outer.len() == pieces.len() || outer.len() > 2)
        && filled < inner.bounds.width() * MAX_FILLED_SHARE
        && outer.iter().all(covered)
}

/// No other line stands within two of its heights.
fn is_isolated(line: &Line, lines: &[Line]) -> bool {
    lines.iter().filter(|other| *other != line).all(|other| {
        other.bounds.top > line.bounds.bottom + line.size * 1.2
            || other.bounds.bottom < line.bounds.top - line.size * 1.2
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::headings::measure_sizes;
    use crate::pdf::lines::group_lines;
    use crate::pdf::runs::tests::run;

    fn page(number: u32) -> PageLines {
        let lines = group_lines(vec![
            run("Annual report", 50.0, 30.0, 100.0),
            run(&format!("Text of page {number} begins here"), 50.0, 200.0, 200.0),
            run(&format!("{number}"), 300.0, 780.0, 10.0),
        ]);
        PageLines { height: 800.0, lines, vertical: Vec::new() }
    }

    fn kinds(pages: &[PageLines]) -> Vec<Vec<Option<BlockKind>>> {
        classify(pages, &measure_sizes(pages.iter().flat_map(|page| &page.lines)))
    }

    #[test]
    fn running_header_and_page_number_are_found() {
        let kinds = kinds(&[page(1), page(2), page(3)]);
        assert_eq!(kinds[1], [Some(BlockKind::PageHeader), None, Some(BlockKind::PageNumber)]);
    }

    #[test]
    fn one_page_keeps_its_first_line() {
        let kinds = kinds(&[page(1)]);
        assert_eq!(kinds[0], [None, None, Some(BlockKind::PageNumber)]);
    }
}
