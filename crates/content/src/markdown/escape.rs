//! Escapes page text so that rendering the markdown gives the same text.
//!
//! Escapes only where markdown would really see markup: most `_`, `*` and `[` in prose stay as they are.

use super::inline::TextPosition;
use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts about the place of a text")]
pub(super) struct EscapeContext {
    pub place: TextPosition,
    pub in_link: bool,
    pub line_start: bool,
    pub before_link: bool,
    /// The block holds a formula: a dollar sign would be read as the edge of one.
    pub beside_formula: bool,
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'[' | b']' | b'<' | b'&' | b'|' | b'!' | b'#' | b'$')
}

static SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = is_special(byte);
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// Writes page text.
pub(super) fn text(text: &str, context: EscapeContext, out: &mut String) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    if context.line_start
        && let Some(at) = line_start_mark(bytes, context.place)
    {
        out.push_str(&text[..at]);
        out.push('\\');
        // The escaped byte itself is ASCII and done with.
        out.push(char::from(bytes[at]));
        copied = at + 1;
    }
    let mut at = copied;
    while at < bytes.len() {
        let byte = bytes[at];
        if SPECIAL[usize::from(byte)] && needs_escape(bytes, at, context) {
            out.push_str(&text[copied..at]);
            out.push('\\');
            copied = at;
        }
        at += 1;
    }
    out.push_str(&text[copied..]);
}

fn needs_escape(bytes: &[u8], at: usize, context: EscapeContext) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(at + 1).copied();
    let space = |byte: Option<u8>| byte.is_some_and(|byte| byte == b' ');
    // Anything beyond the piece may be a mark, so only what is seen to be a word counts as one.
    let word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80);
    match bytes[at] {
        b'\\' => after.is_none_or(|byte| byte.is_ascii_punctuation()),
        b'`' => true,
        b'*' => !(space(before) && space(after)),
        b'_' => !((word(before) && word(after)) || (space(before) && space(after))),
        b'~' => {
            after.is_none_or(|byte| byte == b'~')
                || !(space(before) || (before.is_none() && context.line_start))
        }
        b'[' => context.in_link || after == Some(b'^'),
        b']' => context.in_link || matches!(after, Some(b'(' | b'[' | b':')),
        b'<' => after.is_none_or(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?')),
        b'&' => is_entity(&bytes[at + 1..]),
        b'|' => context.place == TextPosition::Cell,
        b'!' => after.is_none() && context.before_link,
        b'$' => context.beside_formula,
        // A heading's closing run of #s is dropped by readers.
        b'#' => {
            context.place == TextPosition::Heading
                && (before.is_none() || space(before))
                && bytes[at..].iter().all(|byte| *byte == b'#')
        }
        _ => false,
    }
}

/// Where a backslash stops the start of a line from being read as a block.
fn line_start_mark(bytes: &[u8], place: TextPosition) -> Option<usize> {
    let ends = |at: usize| bytes.get(at).is_none_or(|&byte| byte == b' ');
    let first = *bytes.first()?;
    match first {
        b'#' => {
            let run = bytes.iter().take_while(|&&byte| byte == b'#').count();
            (run <= 6 && ends(run)).then_some(0)
        }
        // Some readers see a definition even without a space after the colon.
        b'>' | b':' => Some(0),
        b'+' | b'*' => ends(1).then_some(0),
        b'-' | b'=' | b'|' => {
            let rule = bytes.iter().all(|byte| b"-=|: ".contains(byte));
            (rule || (first == b'-' && ends(1))).then_some(0)
        }
        b'[' => {
            let task = place == TextPosition::Item
                && bytes.get(2) == Some(&b']')
                && matches!(bytes.get(1), Some(b' ' | b'x' | b'X'));
            task.then_some(0)
        }
        b'0'..=b'9' => {
            let run = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (run <= 9 && matches!(bytes.get(run), Some(b'.' | b')')) && ends(run + 1)).then_some(run)
        }
        _ => None,
    }
}

/// Whether what follows an ampersand makes it a character reference.
fn is_entity(bytes: &[u8]) -> bool {
    let name = bytes.strip_prefix(b"#").unwrap_or(bytes);
    let len = name.iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    len > 0 && name.get(len) == Some(&b';')
}

/// Writes finished markdown into a table cell.
pub(super) fn pipes(text: &str, out: &mut String) {
    for (n, part) in text.split('|').enumerate() {
        if n > 0 && !out.ends_with('\\') {
            out.push('\\');
        }
        if n > 0 {
            out.push('|');
        }
        out.push_str(part);
    }
}

/// Writes a formula into a table cell, where a bar would end the cell and a backslash before it would be lost:
/// TeX has names for both.
pub(super) fn formula_pipes(text: &str, out: &mut String) {
    let mut escaped = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '|' {
            if escaped {
                out.pop();
            }
            out.push_str(if escaped { "\\Vert" } else { "\\vert" });
            if chars.peek().is_some_and(|next| next.is_alphanumeric()) {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
}

/// Writes the alternative text of an image.
pub(super) fn alternative(alt: &str, out: &mut String) {
    for (n, word) in alt.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        for c in word.chars() {
            if matches!(c, '[' | ']' | '\\' | '`' | '*' | '_' | '<' | '&' | '~') {
                out.push('\\');
            }
            out.push(c);
        }
    }
}

/// Writes the URL of a link so that it ends where it should, even for simple parsers.
pub(super) fn address(url: &str, out: &mut String) {
    if url.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>\"\\`|[]".contains(&byte)) {
        out.push_str(url);
        return;
    }
    for c in url.chars() {
        if c.is_ascii_whitespace() || c.is_ascii_control() || "()<>\"\\`|[]".contains(c) {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{:02X}", u32::from(c));
        } else if c.is_whitespace() {
            out.push_str("%20");
        } else {
            out.push(c);
        }
    }
}

/// Writes a title after a URL.
pub(super) fn title(title: &str, out: &mut String) {
    out.push_str(" \"");
    for (n, word) in title.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        for c in word.chars() {
            if matches!(c, '"' | '\\' | '<' | '&' | '|') {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out.push('"');
}
