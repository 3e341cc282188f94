//! What repeats at the edges of pages: running headers, footers and page numbers.

use std::collections::HashMap;

use super::lines::Line;
use crate::block::BlockKind;

/// Share of the page's height at the top and at the bottom where such lines stand.
const MARGIN: f32 = 0.12;
const SAME_PLACE: f32 = 8.0;

/// For each line of each page: what kind of furniture it is, or `None` for a line of the text.
pub(super) fn classify(pages: &[(f32, Vec<Line>)]) -> Vec<Vec<Option<BlockKind>>> {
    let mut places: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
    for (page, (height, lines)) in pages.iter().enumerate() {
        for line in lines.iter().filter(|line| margin_of(line, *height).is_some()) {
            places.entry(pattern_of(&line.text())).or_default().push((page, line.baseline));
        }
    }
    pages
        .iter()
        .enumerate()
        .map(|(page, (height, lines))| {
            let mut kinds: Vec<Option<BlockKind>> = lines
                .iter()
                .map(|line| {
                    let kind = margin_of(line, *height)?;
                    let text = line.text();
                    let repeats = places.get(&pattern_of(&text)).is_some_and(|seen| {
                        seen.iter()
                            .any(|(other, y)| *other != page && (y - line.baseline).abs() <= SAME_PLACE)
                    });
                    if is_page_number(&text) && (repeats || is_isolated(line, lines)) {
                        Some(BlockKind::PageNumber)
                    } else {
                        repeats.then_some(kind)
                    }
                })
                .collect();
            keep_some_text(lines, &mut kinds, *height);
            kinds
        })
        .collect()
}

fn margin_of(line: &Line, height: f32) -> Option<BlockKind> {
    if line.bounds.bottom < height * MARGIN {
        Some(BlockKind::PageHeader)
    } else if line.bounds.top > height * (1.0 - MARGIN) {
        Some(BlockKind::PageFooter)
    } else {
        None
    }
}

/// The text with its numbers made equal, so that `Page 3` and `Page 4` are the same line.
fn pattern_of(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        if c.is_ascii_digit() {
            if !pattern.ends_with('#') {
                pattern.push('#');
            }
        } else {
            pattern.extend(c.to_lowercase());
        }
    }
    pattern
}

fn is_page_number(text: &str) -> bool {
    let text = text.trim().trim_matches(['-', '–', '—', '|', ' ', '[', ']']).to_lowercase();
    let bare = text.strip_prefix("page").unwrap_or(&text).trim();
    let number = |text: &str| !text.is_empty() && text.len() <= 4 && text.chars().all(|c| c.is_ascii_digit());
    let roman = !bare.is_empty() && bare.len() <= 6 && bare.chars().all(|c| "ivxlc".contains(c));
    let of = bare.split_once(" of ").or_else(|| bare.split_once('/'));
    let chapter = bare.split_once(['-', '–', '.']);
    let chaptered = chapter
        .is_some_and(|(chapter, page)| chapter.len() <= 2 && !chapter.is_empty() && number(page))
        && bare.chars().filter(|c| c.is_alphabetic()).count() <= 1;
    number(bare)
        || roman
        || chaptered
        || of.is_some_and(|(page, total)| number(page.trim()) && number(total.trim()))
}

/// No other line stands within two of its heights.
fn is_isolated(line: &Line, lines: &[Line]) -> bool {
    lines.iter().filter(|other| *other != line).all(|other| {
        other.bounds.top > line.bounds.bottom + line.size * 1.2
            || other.bounds.bottom < line.bounds.top - line.size * 1.2
    })
}

/// A run of table rows may reach into the margin and look alike on two pages: numbers in a block of text stay.
fn keep_some_text(lines: &[Line], kinds: &mut [Option<BlockKind>], height: f32) {
    let marked = kinds.iter().filter(|kind| kind.is_some()).count();
    // More than a handful of lines is not furniture, wherever it stands.
    let header = lines
        .iter()
        .zip(kinds.iter())
        .filter(|(line, kind)| kind.is_some() && line.bounds.bottom < height / 2.0)
        .count();
    if header > 5 || marked - header > 5 || marked == lines.len() && marked > 2 {
        kinds.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::group_lines;
    use crate::pdf::runs::tests::run;

    fn page(number: u32) -> (f32, Vec<Line>) {
        let lines = group_lines(vec![
            run("Annual report", 50.0, 30.0, 100.0),
            run(&format!("Text of page {number} begins here"), 50.0, 200.0, 200.0),
            run(&format!("{number}"), 300.0, 780.0, 10.0),
        ]);
        (800.0, lines)
    }

    #[test]
    fn running_header_and_page_number_are_found() {
        let kinds = classify(&[page(1), page(2), page(3)]);
        assert_eq!(kinds[1], [Some(BlockKind::PageHeader), None, Some(BlockKind::PageNumber)]);
    }

    #[test]
    fn one_page_keeps_its_first_line() {
        let kinds = classify(&[page(1)]);
        assert_eq!(kinds[0], [None, None, Some(BlockKind::PageNumber)]);
    }

    #[test]
    fn page_numbers_have_many_forms() {
        for text in ["12", "- 3 -", "xiv", "Page 4 of 20", "5 / 9", "7-45", "A-2"] {
            assert!(is_page_number(text), "{text}");
        }
        for text in ["Chapter 3", "2,400", "12345", "Total"] {
            assert!(!is_page_number(text), "{text}");
        }
    }
}
