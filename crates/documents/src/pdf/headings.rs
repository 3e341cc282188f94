//! Headings by size, weight and numbering.

use std::collections::BTreeMap;

use super::lines::Line;

/// What sizes of letters the text of a document has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sizes {
    /// The size most of the text has.
    pub(super) body: f32,
    /// Larger sizes, the largest first: one level of headings each.
    larger: Vec<f32>,
    /// Most of the text is set in a typewriter face, so that face does not mean code.
    pub(super) monospace_body: bool,
    /// Most of the text is in capitals, as on a receipt, so capitals do not mean a heading.
    capitals_body: bool,
}

const MAX_HEADING_CHARS: usize = 200;
const MAX_HEADING_LEVEL: usize = 6;
const MAX_SIZE_LEVELS: usize = 4;
/// A heading's letters are at least this much larger than those of the text.
pub(super) const MIN_HEADING_RATIO: f32 = 1.12;

fn half_points(size: f32) -> u32 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes are clamped to 1..500
    let halves = (size * 2.0).round() as u32;
    halves
}

pub(super) fn measure_sizes<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Sizes {
    let mut letters: BTreeMap<u32, usize> = BTreeMap::new();
    let mut short_lines: BTreeMap<u32, usize> = BTreeMap::new();
    let (mut monospace, mut capitals, mut all) = (0usize, 0usize, 0usize);
    for line in lines {
        for run in &line.runs {
            let count = run.text.chars().filter(|c| c.is_alphabetic()).count();
            *letters.entry(half_points(run.size)).or_default() += count;
            all += count;
            capitals += run.text.chars().filter(|c| c.is_uppercase()).count();
            monospace += if run.monospace { count } else { 0 };
        }
        *short_lines.entry(half_points(line.size)).or_default() += 1;
    }
    let points = |halves: u32| halves as f32 / 2.0;
    let body = letters.iter().max_by_key(|(_, count)| **count).map_or(10.0, |(size, _)| points(*size));
    // Sizes within a tenth of each other are one level; the levels that most lines have are kept.
    let mut levels: Vec<(f32, usize)> = Vec::new();
    for (size, count) in short_lines.iter().rev().map(|(size, count)| (points(*size), *count)) {
        if size < body * MIN_HEADING_RATIO {
            break;
        }
        match levels.last_mut() {
            Some(last) if last.0 <= size * 1.1 => last.1 += count,
            _ => levels.push((size, count)),
        }
    }
    while levels.len() > MAX_SIZE_LEVELS {
        let rarest = levels.iter().enumerate().min_by_key(|(_, level)| level.1).map_or(0, |(index, _)| index);
        levels.remove(rarest);
    }
    let larger = levels.into_iter().map(|level| level.0).collect();
    Sizes { body, larger, monospace_body: monospace * 2 > all, capitals_body: capitals * 2 > all }
}

impl Sizes {
    /// The level of a heading made of `lines`, or `None` for other text.
    pub(super) fn heading_level(&self, lines: &[&Line], followed_by_text: bool) -> Option<u8> {
        let first = lines.first()?;
        let text: String = lines.iter().map(|line| line.text()).collect::<Vec<_>>().join(" ");
        let count = text.chars().count();
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        if lines.len() > 3 || count > MAX_HEADING_CHARS || letters < 2 || letters * 3 < count {
            return None;
        }
        let size = lines.iter().map(|line| line.size).fold(0.0, f32::max);
        if size >= self.body * MIN_HEADING_RATIO {
            let level = self
                .larger
                .iter()
                .position(|larger| (larger - size).abs() <= 0.6)
                .unwrap_or(self.larger.len());
            return u8::try_from(level.min(MAX_HEADING_LEVEL - 1) + 1).ok();
        }
        let bold = lines.iter().all(|line| line.is_bold());
        let numbered = is_numbered(&text);
        let ends_open = text.ends_with(['.', ',', ';', ':']) && !numbered;
        let stands_out = bold && size >= self.body * 0.9 && !ends_open && lines.len() <= 2 && count <= 120;
        let capitals = letters >= 6
            && !self.capitals_body
            && size >= self.body * 0.95
            && lines.len() == 1
            && count <= 80
            && !text.chars().any(char::is_lowercase)
            && first.runs.len() <= 2;
        let italic = lines.len() == 1
            && first.is_italic()
            && count <= 60
            && !ends_open
            && !text.contains([':', '='])
            && text.starts_with(char::is_uppercase)
            && size >= self.body * 0.95;
        let level = u8::try_from(self.larger.len().min(MAX_HEADING_LEVEL - 1) + 1).ok()?;
        (followed_by_text && (stands_out || italic || capitals && bold)).then_some(level)
    }
}

/// `1.2 Something`, `IV. Something`, `Chapter 3`.
pub(super) fn is_numbered(text: &str) -> bool {
    let Some((number, rest)) = text.split_once(' ') else { return false };
    let parts: Vec<&str> = number.trim_end_matches(['.', ')']).split('.').collect();
    let digits = !parts.is_empty()
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.len() <= 3 && part.chars().all(|c| c.is_ascii_digit()));
    let roman = number.len() > 1
        && number.ends_with('.')
        && number.trim_end_matches('.').chars().all(|c| "IVXLC".contains(c));
    (digits || roman) && rest.trim_start().starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::group_lines;
    use crate::pdf::runs::Run;
    use crate::pdf::runs::tests::run;

    fn line(text: &str, size: f32, bold: bool) -> Line {
        let run = Run { size, bold, ..run(text, 0.0, 100.0, 100.0) };
        group_lines(vec![run]).remove(0)
    }

    fn sizes() -> Sizes {
        measure_sizes(&[
            line("Title of it all", 24.0, false),
            line("Section", 14.0, false),
            line("Text text text text text text text text text text", 10.0, false),
        ])
    }

    #[test]
    fn larger_text_is_a_heading_with_its_level() {
        assert_eq!(sizes().heading_level(&[&line("Title of it all", 24.0, false)], true), Some(1));
        assert_eq!(sizes().heading_level(&[&line("Section", 14.0, false)], true), Some(2));
        assert_eq!(sizes().heading_level(&[&line("Ordinary words", 10.0, false)], true), None);
    }

    #[test]
    fn short_bold_line_over_text_is_a_heading() {
        assert_eq!(sizes().heading_level(&[&line("Methods", 10.0, true)], true), Some(3));
        assert_eq!(sizes().heading_level(&[&line("A bold sentence that ends.", 10.0, true)], true), None);
        assert_eq!(sizes().heading_level(&[&line("Methods", 10.0, true)], false), None);
    }

    #[test]
    fn numbers_alone_are_no_heading() {
        assert_eq!(sizes().heading_level(&[&line("1,234.5", 14.0, false)], true), None);
    }

    #[test]
    fn numbering_is_recognised() {
        assert!(is_numbered("1.2 Results") && is_numbered("3. Method") && is_numbered("IV. Discussion"));
        assert!(!is_numbered("12 monkeys") && !is_numbered("Results"));
    }
}
