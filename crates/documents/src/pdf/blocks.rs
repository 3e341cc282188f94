//! Lines of a zone gathered into paragraphs, headings, lists, code and captions.

use super::geometry::{Bounds, union_all};
use super::headings::Sizes;
use super::lines::{Line, append_line, plain_text};
use super::lists::find_marker;
use crate::block::{BlockKind, Content, ListItem, Span};

/// A block with its place in points.
#[derive(Debug, Clone)]
pub(super) struct PlacedBlock {
    pub(super) kind: BlockKind,
    pub(super) bounds: Bounds,
    pub(super) content: Content,
}

/// The blocks of neighbouring lines; `followed` says that something comes after them in the zone.
pub(super) fn build_blocks(lines: &[Line], sizes: &Sizes, followed: bool) -> Vec<PlacedBlock> {
    let right = lines.iter().map(|line| line.bounds.right).fold(f32::MIN, f32::max);
    let mut groups: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        match groups.last_mut() {
            Some(group) if continues(group, line, sizes, right) => group.push(line),
            _ => groups.push(vec![line]),
        }
    }
    let mut blocks: Vec<PlacedBlock> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let has_next = followed || index + 1 < groups.len();
        let block = build_block(group, sizes, has_next);
        match blocks.last_mut() {
            Some(last) if joins(last, &block) => append_block(last, block),
            _ => blocks.push(block),
        }
    }
    indent_lists(&mut blocks);
    blocks
}

/// Whether `line` belongs to the same paragraph as the lines before it.
fn continues(group: &[&Line], line: &Line, sizes: &Sizes, right: f32) -> bool {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return false };
    let pitch = line.baseline - last.baseline;
    let size = last.size.max(line.size);
    if pitch < 0.0 || pitch > size * 1.9 || (last.size - line.size).abs() > size * 0.12 {
        return false;
    }
    if group.len() > 1 && pitch > (last.baseline - group[group.len() - 2].baseline) * 1.3 + 0.5 {
        return false;
    }
    if find_marker(&line.text()).is_some() {
        return false;
    }
    if group.len() < 4 && pitch <= size * 1.4 && is_caption(&first.text()) {
        // A caption may begin in another face than it goes on.
        let style = |line: &Line| line.runs.last().map(|run| (run.bold, run.italic));
        if style(last) == style(line) && style(line) != Some((false, false)) {
            return true;
        }
    }
    if last.is_monospace() != line.is_monospace() {
        return false;
    }
    if last.is_bold() != line.is_bold() || group.len() == 1 && first.is_italic() && !line.is_italic() {
        return false;
    }
    let is_heading = last.is_bold() || last.size >= sizes.body * 1.12;
    if is_heading {
        // The parts of a heading stand close together and begin at the same place or share a centre.
        let aligned = (first.bounds.left - line.bounds.left).abs() < size * 2.5
            || (first.bounds.center_x() - line.bounds.center_x()).abs() < size * 1.5;
        return pitch <= size * 1.5 && aligned;
    }
    let indented = if line.is_right_to_left() {
        line.bounds.right < last.bounds.right - size * 0.9
    } else {
        line.bounds.left > last.bounds.left + size * 0.9
    };
    let is_item = find_marker(&first.text()).is_some();
    if indented && !is_item {
        return false;
    }
    if is_item && group.len() > 1 && line.bounds.left < last.bounds.left - size * 0.5 {
        return false;
    }
    if is_item && group.len() == 1 && line.bounds.left < first.bounds.left - size * 0.2 {
        return false;
    }
    let ended = !line.is_right_to_left()
        && last.text().ends_with(['.', ':', '?', '!'])
        && last.bounds.right < right - (right - first.bounds.left) * 0.2;
    !(ended && line.text().starts_with(|c: char| c.is_uppercase()) && pitch > size * 1.35)
}

fn build_block(group: &[&Line], sizes: &Sizes, has_next: bool) -> PlacedBlock {
    let bounds = union_all(group.iter().map(|line| &line.bounds)).unwrap_or_default();
    let mut text: Vec<Span> = Vec::new();
    for line in group {
        append_line(&mut text, line.spans());
    }
    let plain = plain_text(&text);
    if !sizes.monospace_body
        && group.iter().all(|line| line.is_monospace())
        && plain.len() > 1
        && group[0].runs.iter().any(|run| run.monospace)
    {
        let left = bounds.left;
        let code: Vec<String> = group.iter().map(|line| indented_text(line, left)).collect();
        return PlacedBlock {
            kind: BlockKind::Text,
            bounds,
            content: Content::Code { language: None, text: code.join("\n") },
        };
    }
    if is_caption(&plain) && group.len() <= 4 {
        return PlacedBlock { kind: BlockKind::Caption, bounds, content: Content::Paragraph(text) };
    }
    let marker = find_marker(&plain);
    if let Some(level) = sizes.heading_level(group, has_next)
        && marker.as_ref().is_none_or(|marker| marker.number.is_some())
    {
        for span in &mut text {
            span.bold = false;
        }
        return PlacedBlock {
            kind: BlockKind::SectionHeader,
            bounds,
            content: Content::Heading { level, text },
        };
    }
    if let Some(marker) = marker {
        cut_start(&mut text, marker.length);
        let item = ListItem { depth: 0, number: marker.number, text };
        return PlacedBlock { kind: BlockKind::Text, bounds, content: Content::List(vec![item]) };
    }
    PlacedBlock { kind: BlockKind::Text, bounds, content: Content::Paragraph(text) }
}

fn indented_text(line: &Line, left: f32) -> String {
    let advance = line.size * 0.6;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded below
    let spaces = ((line.bounds.left - left) / advance).round().clamp(0.0, 200.0) as usize;
    format!("{}{}", " ".repeat(spaces), line.text())
}

fn cut_start(text: &mut Vec<Span>, mut length: usize) {
    while length > 0 && !text.is_empty() {
        let first = &mut text[0];
        if first.text.len() <= length {
            length -= first.text.len();
            text.remove(0);
        } else {
            first.text = first.text.get(length..).unwrap_or_default().to_owned();
            length = 0;
        }
    }
    if let Some(first) = text.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
}

/// `Table 3. …`, `Figure 2: …`.
pub(super) fn is_caption(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(word), Some(number)) = (words.next(), words.next()) else { return false };
    let name = matches!(
        word.to_lowercase().as_str(),
        "table" | "figure" | "fig." | "exhibit" | "chart" | "abbildung" | "tabelle" | "tableau"
    );
    name && number.trim_end_matches(['.', ':', '-', '–']).chars().any(|c| c.is_ascii_digit())
        && number.chars().count() <= 8
        && words.next().is_some()
}

fn joins(last: &PlacedBlock, next: &PlacedBlock) -> bool {
    let gap = next.bounds.top - last.bounds.bottom;
    match (&last.content, &next.content) {
        (Content::List(_), Content::List(_)) => gap < 20.0,
        (Content::Code { .. }, Content::Code { .. }) => gap < 14.0,
        _ => false,
    }
}

fn append_block(last: &mut PlacedBlock, next: PlacedBlock) {
    last.bounds = last.bounds.union(&next.bounds);
    match (&mut last.content, next.content) {
        (Content::List(items), Content::List(more)) => {
            // Where each item begins is kept in its depth until the list is complete.
            items.extend(more);
        }
        (Content::Code { text, .. }, Content::Code { text: more, .. }) => {
            text.push('\n');
            text.push_str(&more);
        }
        _ => {}
    }
}

/// Items are all of one depth here; numbering that begins again below a bullet is left as it is.
fn indent_lists(blocks: &mut [PlacedBlock]) {
    for block in blocks {
        if let Content::List(items) = &mut block.content {
            let numbered = items.iter().any(|item| item.number.is_some());
            let bulleted = items.iter().any(|item| item.number.is_none());
            if numbered && bulleted && items[0].number.is_some() {
                for item in items.iter_mut().filter(|item| item.number.is_none()) {
                    item.depth = 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::headings::measure_sizes;
    use crate::pdf::lines::group_lines;
    use crate::pdf::runs::Run;
    use crate::pdf::runs::tests::run;

    fn blocks(runs: Vec<Run>) -> Vec<PlacedBlock> {
        let lines = group_lines(runs);
        let sizes = measure_sizes(&lines);
        build_blocks(&lines, &sizes, false)
    }

    #[test]
    fn lines_become_paragraphs_at_the_gaps() {
        let found = blocks(vec![
            run("The first line of a paragraph that", 50.0, 100.0, 200.0),
            run("goes on here.", 50.0, 112.0, 80.0),
            run("Another paragraph.", 50.0, 140.0, 100.0),
        ]);
        assert_eq!(found.len(), 2);
        assert!(
            matches!(&found[0].content, Content::Paragraph(text) if plain_text(text).ends_with("that goes on here."))
        );
    }

    #[test]
    fn items_of_a_list_are_one_block() {
        let found = blocks(vec![
            run("• First item of the list", 50.0, 100.0, 120.0),
            run("• Second item which is longer", 50.0, 112.0, 140.0),
            run("and goes on", 60.0, 124.0, 60.0),
        ]);
        assert_eq!(found.len(), 1);
        let Content::List(items) = &found[0].content else { panic!("no list") };
        assert_eq!(items.len(), 2);
        assert_eq!(plain_text(&items[1].text), "Second item which is longer and goes on");
    }

    #[test]
    fn caption_is_known_by_its_first_words() {
        let found = blocks(vec![run("Table 1. Numbers of things", 50.0, 100.0, 120.0)]);
        assert_eq!(found[0].kind, BlockKind::Caption);
        assert!(!is_caption("Table salt is white"));
    }

    #[test]
    fn monospace_lines_are_code() {
        let code = |text: &str, y: f32| Run { monospace: true, ..run(text, 50.0, y, 100.0) };
        let text = run("Text that is not code and has more letters than it", 50.0, 60.0, 250.0);
        let found = blocks(vec![text, code("fn main() {", 100.0), code("}", 112.0)]);
        assert!(matches!(&found[1].content, Content::Code { text, .. } if text == "fn main() {\n}"));
    }
}
