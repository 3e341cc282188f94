//! The outermost lines of pages, which may be running heads and feet, and what of them repeats from page to page.

use super::lines::{Line, plain_text, spans_of};
use super::page_numbers::{PageNumber, parse_page_number};

/// Share of the page's height at the top and at the bottom where such lines stand.
const MARGIN: f32 = 0.12;
/// How many there are at each edge.
const MAX_DEPTH: usize = 2;
const SAME_PLACE: f32 = 8.0;
/// Words of a running foot that can be the number of the page.
const MAX_WORDS: usize = 40;

/// A line at the edge of a page.
#[derive(Debug)]
pub(super) struct EdgeLine<'a> {
    /// From 0, as all places here.
    pub(super) page: usize,
    pub(super) index: usize,
    pub(super) line: &'a Line,
    pub(super) is_top: bool,
    /// 0 for the outermost line.
    pub(super) depth: usize,
    /// Distance of its baseline from the edge.
    distance: f32,
    /// Where the whole line is the number of the page.
    pub(super) number: Option<PageNumber>,
    pub(super) patterns: Vec<Pattern>,
}

/// What is the same on all pages that have one running head.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) key: String,
    /// The number that grows with the pages. Without it the whole text is the same.
    pub(super) number: Option<PageNumber>,
    /// Whether there is text beside the number.
    pub(super) has_text: bool,
}

/// From the outermost to the innermost, first those at the top.
pub(super) fn find_edge_lines(page: usize, height: f32, lines: &[Line]) -> Vec<EdgeLine<'_>> {
    let edge_line = |is_top: bool, depth: usize| {
        let index = if is_top { depth } else { lines.len() - 1 - depth };
        let line = &lines[index];
        let text = line.text();
        let distance = if is_top { line.baseline } else { height - line.baseline };
        let patterns = find_patterns(line, &text, page, is_top);
        EdgeLine { page, index, line, is_top, depth, distance, number: parse_page_number(&text), patterns }
    };
    let depths = 0..lines.len().min(MAX_DEPTH);
    let top = depths.clone().map(|depth| edge_line(true, depth));
    let bottom = depths.map(|depth| edge_line(false, depth));
    top.take_while(|edge| edge.line.bounds.bottom < height * MARGIN)
        .chain(bottom.take_while(|edge| edge.line.bounds.top > height * (1.0 - MARGIN)))
        .collect()
}

impl EdgeLine<'_> {
    /// How far the number of a page is from its place in the file: the same for all pages that are numbered as one.
    pub(super) fn offset(&self, number: PageNumber) -> i64 {
        page_offset(number, self.page)
    }

    pub(super) fn is_at_same_place(&self, other: &Self) -> bool {
        let near = |a: f32, b: f32| (a - b).abs() <= SAME_PLACE;
        let (one, two) = (self.line.bounds, other.line.bounds);
        self.is_top == other.is_top
            && near(self.distance, other.distance)
            && (near(one.left, two.left)
                || near(one.right, two.right)
                || near(one.center_x(), two.center_x()))
    }
}

fn page_offset(number: PageNumber, page: usize) -> i64 {
    i64::from(number.value) - i64::try_from(page).unwrap_or(0)
}

/// The text as it is, and for each part that can be the number of the page the text without it.
fn find_patterns(line: &Line, text: &str, page: usize, is_top: bool) -> Vec<Pattern> {
    let edge = if is_top { '^' } else { '_' };
    let parts = split_parts(line);
    let mut numbered: Vec<(&str, String)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
        let others: Vec<&str> = others.map(|(_, part)| part.as_str()).collect();
        numbered.push((part, others.join(" | ")));
    }
    // Chapters begin at the top: `Chapter 3` is a heading also on the third page.
    let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
    for (at, word) in words.iter().enumerate().filter(|_| !is_top) {
        let others = words.iter().enumerate().filter(|(other, _)| *other != at);
        numbered.push((word, others.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")));
    }
    let key = format!("{edge}{}", squeeze(text));
    let mut patterns = vec![Pattern { key, number: None, has_text: true }];
    for (part, rest) in numbered {
        if let Some(number) = parse_page_number(part) {
            let key = format!("{edge}{}\n{}", page_offset(number, page), squeeze(&rest));
            if patterns.iter().all(|known| known.key != key) {
                patterns.push(Pattern { key, number: Some(number), has_text: !rest.is_empty() });
            }
        }
    }
    patterns
}

/// Pieces of a line with wide gaps or signs between them.
fn split_parts(line: &Line) -> Vec<String> {
    let mut parts = Vec::new();
    for (first, past) in line.segments(1.0) {
        let text = plain_text(&spans_of(&line.runs[first..past])).replace(" – ", "|").replace(" — ", "|");
        let pieces = text.split(['|', '·', '•']).map(str::trim).filter(|piece| !piece.is_empty());
        parts.extend(pieces.map(str::to_owned));
    }
    parts
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}
