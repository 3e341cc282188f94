//! What plain text needs so that markdown reads it as plain text, and nothing more: a backslash too many is noise
//! for every reader.

/// The longest run of `wanted` in the text.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Escapes inline syntax. `before` and `after` are the characters around the text in its paragraph.
pub(super) fn escape_text(text: &str, before: Option<char>, after: Option<char>, in_table: bool) -> String {
    let many_tildes = text.matches('~').count() > 1;
    let mut out = String::with_capacity(text.len() + 8);
    let mut previous = before;
    // Tags that were escaped and not closed yet.
    let mut open_tags = 0_usize;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let next = rest.chars().next().or(after);
        match c {
            '\\' if next.is_some_and(|n| n.is_ascii_punctuation()) => out.push_str("\\\\"),
            '`' => out.push_str("\\`"),
            '*' if !(is_gap(previous) && is_gap(next)) => out.push_str("\\*"),
            '_' if !(is_gap(previous) && is_gap(next) || is_word(previous) && is_word(next)) => {
                out.push_str("\\_");
            }
            '~' if many_tildes => out.push_str("\\~"),
            // Without this bracket there is no link, no image, no footnote and no definition.
            ']' if matches!(next, Some('(' | '[' | ':')) => out.push_str("\\]"),
            '<' if next.is_some_and(|n| n.is_ascii_alphabetic() || "/!?".contains(n)) => {
                open_tags += 1;
                out.push_str("&lt;");
            }
            '>' if open_tags > 0 => {
                open_tags -= 1;
                out.push_str("&gt;");
            }
            '&' if starts_entity(rest) => out.push_str("&amp;"),
            '|' if in_table => out.push_str("\\|"),
            _ => out.push(c),
        }
        previous = Some(c);
    }
    out
}

fn is_gap(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Whether `&` before this text begins a character reference.
fn starts_entity(rest: &str) -> bool {
    const MAX_NAME_BYTES: usize = 32;
    let name =
        rest.bytes().take(MAX_NAME_BYTES).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    name > 0 && rest.as_bytes().get(name) == Some(&b';')
}

/// Escapes what would make a line a heading, a list item, a quote, a rule or a table.
pub(super) fn escape_line_start(line: &str) -> String {
    let line = line.trim_start_matches([' ', '\t']);
    let bytes = line.as_bytes();
    let ends_or_gap = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let run = |wanted: u8| bytes.iter().take_while(|b| **b == wanted).count();
    let escaped_at = |at: usize| format!("{}\\{}", &line[..at], &line[at..]);
    match bytes.first() {
        Some(b'#') if run(b'#') <= 6 && ends_or_gap(run(b'#')) => escaped_at(0),
        Some(b'>' | b'|') => escaped_at(0),
        Some(b'+' | b'*') if ends_or_gap(1) => escaped_at(0),
        // A list item, a rule, or the line that makes the one above it a heading.
        Some(b'-') if ends_or_gap(1) || is_rule(line, '-') => escaped_at(0),
        Some(b'=') if is_rule(line, '=') => escaped_at(0),
        Some(b'~') if run(b'~') >= 3 => escaped_at(0),
        Some(b'0'..=b'9') => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let marker = matches!(bytes.get(digits), Some(b'.' | b')'));
            if digits <= 9 && marker && ends_or_gap(digits + 1) {
                escaped_at(digits)
            } else {
                line.to_owned()
            }
        }
        _ => line.to_owned(),
    }
}

fn is_rule(line: &str, mark: char) -> bool {
    line.chars().all(|c| c == mark || c.is_whitespace())
}

/// The text of a link or the alternative text of an image: brackets may not close it early.
pub(super) fn link_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '\\' | '`' | '<') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Brackets of a text that is already escaped: only those that are not escaped yet.
pub(super) fn close_brackets(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut after_backslash = false;
    for c in escaped.chars() {
        if matches!(c, '[' | ']') && !after_backslash {
            out.push('\\');
        }
        after_backslash = c == '\\' && !after_backslash;
        out.push(c);
    }
    out
}
