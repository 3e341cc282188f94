//! Items of lists by their markers.

/// The mark at the start of an item and the text after it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Marker {
    /// Of an ordered item.
    pub(super) number: Option<u32>,
    /// Length of the mark in bytes, with the space after it.
    pub(super) length: usize,
}

const BULLETS: &[char] = &[
    '•', '●', '○', '◦', '▪', '▫', '■', '□', '‣', '⁃', '∙', '·', '➢', '➤', '►', '▶', '❖', '✓', '✔',
    '\u{F0B7}', '\u{F0A7}',
];

pub(super) fn find_marker(text: &str) -> Option<Marker> {
    let first = text.chars().next()?;
    if BULLETS.contains(&first) {
        let rest = text[first.len_utf8()..].trim_start();
        return (!rest.is_empty()).then(|| Marker { number: None, length: text.len() - rest.len() });
    }
    let (mark, rest) = text.split_once(' ')?;
    let rest = rest.trim_start();
    if rest.is_empty() {
        return None;
    }
    let length = text.len() - rest.len();
    if matches!(mark, "-" | "–" | "—" | "*" | "o") && rest.starts_with(char::is_alphanumeric) {
        return Some(Marker { number: None, length });
    }
    let inner = mark.strip_prefix('(').unwrap_or(mark);
    let body = inner.strip_suffix([')', '.'])?;
    if body.is_empty() || body.len() > 3 {
        return None;
    }
    if body.chars().all(|c| c.is_ascii_digit()) {
        return body.parse().ok().map(|number| Marker { number: Some(number), length });
    }
    let lettered = body.len() == 1 && body.chars().all(|c| c.is_ascii_lowercase())
        || body.chars().all(|c| "ivx".contains(c));
    // The letter is kept in the text: the model has numbers only.
    lettered.then_some(Marker { number: None, length: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_items_are_found() {
        assert_eq!(find_marker("• One thing"), Some(Marker { number: None, length: 4 }));
        assert_eq!(find_marker("2. Second"), Some(Marker { number: Some(2), length: 3 }));
        assert_eq!(find_marker("(3) Third"), Some(Marker { number: Some(3), length: 4 }));
        assert_eq!(find_marker("– dash"), Some(Marker { number: None, length: 4 }));
    }

    #[test]
    fn ordinary_text_has_no_mark() {
        for text in ["One thing", "2010 was good", "1.5 percent", "-5 degrees", "•", "U.S. figures"] {
            assert_eq!(find_marker(text), None, "{text}");
        }
    }
}
