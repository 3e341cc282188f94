//! Runs of text with their places, made from the items of the PDF parser.

use pdf_inspector::TextItem;
use pdf_inspector::types::ItemType;

use super::geometry::Bounds;

/// Text of one style on one line, without large gaps inside.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about one piece of text")]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) bounds: Bounds,
    /// Distance of the line that the letters stand on from the top of the page.
    pub(super) baseline: f32,
    pub(super) size: f32,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) monospace: bool,
    pub(super) link: Option<String>,
    /// Ended or began with a space, so the neighbour is another word even where the gap is small.
    pub(super) space_before: bool,
    pub(super) space_after: bool,
}

impl Run {
    /// Rough advance of a character of this run, in thousandths of an em.
    fn advance(&self, c: char) -> f32 {
        if self.monospace { 600.0 } else { char_width(c) }
    }

    pub(super) fn x(&self) -> (f32, f32) {
        (self.bounds.left, self.bounds.right)
    }

    /// The same run with a part of its text, at the place where that part stands.
    fn part(&self, text: &str, left: f32, right: f32) -> Self {
        Self {
            text: text.to_owned(),
            bounds: Bounds { left, right, ..self.bounds },
            space_before: false,
            space_after: false,
            ..self.clone()
        }
    }
}

/// A run from an item, in page coordinates with the origin at the top left. `None` for an item without text.
pub(super) fn run_from_item(item: &TextItem, left: f32, baseline: f32) -> Option<Run> {
    if !matches!(item.item_type, ItemType::Text | ItemType::FormField) {
        return None;
    }
    let text = clean_text(&item.text);
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let size = item.font_size.abs().clamp(1.0, 500.0);
    // The width counts outer spaces of the item; the run must not.
    let (lead, trail) = (text.len() - text.trim_start().len(), text.len() - text.trim_end().len());
    let whole: f32 = text.chars().map(char_width).sum();
    let before: f32 = text[..lead].chars().map(char_width).sum();
    let after: f32 = text[text.len() - trail..].chars().map(char_width).sum();
    let scale = if whole > 0.0 { item.width.max(0.0) / whole } else { 0.0 };
    let (from, to) = (left + before * scale, left + item.width.max(0.0) - after * scale);
    Some(Run {
        text: trimmed.to_owned(),
        bounds: Bounds {
            left: from,
            top: baseline - size * 0.8,
            right: to.max(from + 0.1),
            bottom: baseline + size * 0.2,
        },
        baseline,
        size,
        bold: item.is_bold,
        italic: item.is_italic,
        monospace: item.fixed_pitch == Some(true),
        link: None,
        space_before: lead > 0,
        space_after: trail > 0,
    })
}

/// Ligatures become letters, control characters and odd spaces become spaces.
fn clean_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut previous = ' ';
    for c in text.chars() {
        // The parser joins words of two scripts where the line turns its direction.
        if is_arabic_or_hebrew(c) && previous.is_ascii_alphanumeric()
            || c.is_ascii_alphanumeric() && is_arabic_or_hebrew(previous)
        {
            clean.push(' ');
        }
        previous = c;
        match c {
            '\u{FB00}' => clean.push_str("ff"),
            '\u{FB01}' => clean.push_str("fi"),
            '\u{FB02}' => clean.push_str("fl"),
            '\u{FB03}' => clean.push_str("ffi"),
            '\u{FB04}' => clean.push_str("ffl"),
            '\u{FB05}' | '\u{FB06}' => clean.push_str("st"),
            '\u{AD}' => clean.push('-'),
            '\u{200B}' | '\u{FEFF}' => {}
            c if c.is_control() || c.is_whitespace() => clean.push(' '),
            c => clean.push(c),
        }
    }
    clean
}

fn is_arabic_or_hebrew(c: char) -> bool {
    matches!(unicode_bidi::bidi_class(c), unicode_bidi::BidiClass::R | unicode_bidi::BidiClass::AL)
}

/// Rough advance of a character in thousandths of an em, to guess where the words of a run stand.
fn char_width(c: char) -> f32 {
    match c {
        ' ' | 'f' | 't' | 'I' | '.' | ',' | ':' | ';' | '!' | '/' | '\\' | '[' | ']' => 278.0,
        'i' | 'j' | 'l' | '|' | '\'' => 222.0,
        '(' | ')' | 'r' | '-' | '*' | '`' => 333.0,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | 'J' => 500.0,
        'm' | 'M' => 833.0,
        'w' | 'C' | 'D' | 'H' | 'N' | 'R' | 'U' => 722.0,
        'G' | 'O' | 'Q' => 778.0,
        'W' | '@' | '%' | '—' => 940.0,
        'A'..='Z' | '&' => 667.0,
        c if c.is_ascii() => 556.0,
        c if is_wide(c) => 1000.0,
        _ => 556.0,
    }
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FF60}')
}

/// How wide letters and spaces of a run are, in points for each thousandth of an em. Letters have their natural width
/// where the run is wider than its text: then the spaces were stretched.
fn width_scales(run: &Run) -> (f32, f32) {
    let spaces = run.text.chars().filter(|c| *c == ' ').map(|c| run.advance(c)).sum::<f32>();
    let letters = run.text.chars().filter(|c| *c != ' ').map(|c| run.advance(c)).sum::<f32>();
    let whole = spaces + letters;
    let even = if whole > 0.0 { run.bounds.width() / whole } else { 0.0 };
    let natural = run.size / 1000.0;
    if spaces > 0.0 && even > natural * 1.25 {
        return (natural, (run.bounds.width() - letters * natural).max(0.0) / spaces);
    }
    (even, even)
}

/// The words of a run with the place where each stands, as far as that can be guessed.
pub(super) fn words_of(run: &Run) -> Vec<Run> {
    let (letter, space) = width_scales(run);
    let mut words = Vec::new();
    let (mut x, mut word, mut start) = (run.bounds.left, String::new(), run.bounds.left);
    for c in run.text.chars() {
        let next = x + run.advance(c) * if c == ' ' { space } else { letter };
        if c == ' ' {
            if !word.is_empty() {
                words.push(run.part(&std::mem::take(&mut word), start, x));
            }
            start = next;
        } else {
            if word.is_empty() {
                start = x;
            }
            word.push(c);
        }
        x = next;
    }
    if !word.is_empty() {
        words.push(run.part(&word, start, run.bounds.right));
    }
    if let Some(first) = words.first_mut() {
        first.space_before = run.space_before;
    }
    if let Some(last) = words.last_mut() {
        last.space_after = run.space_after;
    }
    words
}

/// Cuts runs that hold several spaces in a row: producers set table cells that way.
pub(super) fn split_wide_spaces(run: Run) -> Vec<Run> {
    if !run.text.contains("   ") || is_right_to_left(&run.text) {
        return vec![run];
    }
    let whole: f32 = run.text.chars().map(|c| run.advance(c)).sum();
    let scale = if whole > 0.0 { run.bounds.width() / whole } else { 0.0 };
    let mut parts = Vec::new();
    let mut x = run.bounds.left;
    let mut rest = run.text.as_str();
    while !rest.is_empty() {
        let end = rest.find("   ").unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        let width: f32 = piece.chars().map(|c| run.advance(c)).sum::<f32>() * scale;
        if !piece.trim().is_empty() {
            parts.push(run.part(piece.trim(), x, x + width));
        }
        let spaces = tail.len() - tail.trim_start_matches(' ').len();
        let gap = spaces as f32 * run.advance(' ') * scale;
        x += width + gap;
        rest = &tail[spaces..];
    }
    parts
}

/// Cuts a run whose dots lead from a label to a number (`Preface . . . . xi`) into the label and the number.
pub(super) fn split_leaders(run: Run) -> Vec<Run> {
    let Some((start, end)) = find_leaders(&run.text) else { return vec![run] };
    let (label, tail) = (run.text[..start].trim_end(), run.text[end..].trim_start());
    let numbers = tail.split_whitespace().all(is_numeric);
    if label.is_empty() || tail.is_empty() || tail.chars().count() > 12 && !numbers {
        return vec![run];
    }
    let whole: f32 = run.text.chars().map(|c| run.advance(c)).sum();
    let scale = if whole > 0.0 { run.bounds.width() / whole } else { 0.0 };
    let width = |text: &str| text.chars().map(|c| run.advance(c)).sum::<f32>() * scale;
    let (label_end, tail_start) = (run.bounds.left + width(label), run.bounds.right - width(tail));
    vec![
        run.part(label, run.bounds.left, label_end),
        run.part(tail, tail_start.max(label_end), run.bounds.right),
    ]
}

/// The last stretch of four or more dots, with or without spaces between them, as (start, end) in bytes.
fn find_leaders(text: &str) -> Option<(usize, usize)> {
    let mut found = None;
    let (mut start, mut dots) = (None, 0);
    for (at, c) in text.char_indices().chain([(text.len(), 'x')]) {
        match c {
            '.' | '…' | '·' => {
                start.get_or_insert(at);
                dots += if c == '…' { 3 } else { 1 };
            }
            ' ' if dots > 0 => {}
            _ => {
                if let Some(from) = start.take().filter(|_| dots >= 4) {
                    found = Some((from, at));
                }
                dots = 0;
            }
        }
    }
    found
}

/// A line drawn with characters: `-----`, `=====`. Underscores are blanks to fill in, which are text.
pub(super) fn is_drawn_line(text: &str) -> bool {
    text.chars().count() >= 8 && text.chars().all(|c| "-=—–―─ ".contains(c))
}

pub(super) fn is_right_to_left(text: &str) -> bool {
    let (mut rtl, mut ltr) = (0usize, 0usize);
    for c in text.chars() {
        match unicode_bidi::bidi_class(c) {
            unicode_bidi::BidiClass::R | unicode_bidi::BidiClass::AL => rtl += 1,
            unicode_bidi::BidiClass::L => ltr += 1,
            _ => {}
        }
    }
    rtl > ltr
}

/// A number as it stands in a table cell: digits with signs, separators, units of currency, marks of notes.
pub(super) fn is_numeric(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 24 {
        return false;
    }
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if digits == 0 {
        return matches!(
            text,
            "-" | "–"
                | "—"
                | "−"
                | "*"
                | "**"
                | "n/a"
                | "N/A"
                | "NA"
                | "n.a."
                | "..."
                | "…"
                | ":"
                | "(X)"
                | "†"
                | "‡"
                | "#"
                | "•••"
        ) || text.chars().all(|c| "-–—−.*†‡".contains(c));
    }
    letters <= 2 && digits * 3 >= text.chars().filter(|c| !c.is_whitespace()).count()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::pdf) fn run(text: &str, left: f32, baseline: f32, width: f32) -> Run {
        Run {
            text: text.to_owned(),
            bounds: Bounds { left, top: baseline - 8.0, right: left + width, bottom: baseline + 2.0 },
            baseline,
            size: 10.0,
            ..Run::default()
        }
    }

    #[test]
    fn words_stand_inside_their_run_in_order() {
        let words = words_of(&run("one two  three", 100.0, 50.0, 70.0));
        assert_eq!(words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert!(words.windows(2).all(|pair| pair[0].bounds.right < pair[1].bounds.left));
        assert!((words[2].bounds.right - 170.0).abs() < 0.01);
    }

    #[test]
    fn cells_set_with_spaces_are_cut() {
        let parts = split_wide_spaces(run("Total      12      13", 0.0, 0.0, 100.0));
        assert_eq!(parts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["Total", "12", "13"]);
    }

    #[test]
    fn leader_dots_cut_the_label_from_the_number() {
        let parts = split_leaders(run("Preface . . . . . . . xi", 0.0, 0.0, 100.0));
        assert_eq!(parts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["Preface", "xi"]);
        assert_eq!(split_leaders(run("and so on... then", 0.0, 0.0, 100.0)).len(), 1);
    }

    #[test]
    fn numbers_of_tables_are_numeric() {
        for text in ["1,234", "-5.3", "(12.0)", "45%", "$ 1,200", "–", "10.4**", "2003–04", "<0.01"] {
            assert!(is_numeric(text), "{text}");
        }
        for text in ["Total", "Table 4", "Northeast", "", "a1b2c3d4"] {
            assert!(!is_numeric(text), "{text}");
        }
    }

    #[test]
    fn ligatures_become_letters() {
        assert_eq!(clean_text("e\u{FB03}cient \u{FB01}le"), "efficient file");
    }
}
