//! Text of pages and callers, made safe to show: one line, of bounded length, without characters that hide or
//! reorder others.

use std::fmt::Write;

const ZERO_WIDTH_SPACE: char = '\u{200B}';

/// One line of at most `max_chars` characters. White space is collapsed, control characters and marks of
/// writing direction are left out, and an ellipsis stands for what was cut off.
pub fn one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    let mut space = false;
    for character in text.chars().filter(|character| is_shown(*character) || character.is_whitespace()) {
        if character.is_whitespace() {
            space = !line.is_empty();
            continue;
        }
        if chars + usize::from(space) + 1 > max_chars {
            return with_ellipsis(&line, max_chars);
        }
        if space {
            line.push(' ');
            chars += 1;
            space = false;
        }
        line.push(character);
        chars += 1;
    }
    line
}

fn with_ellipsis(line: &str, max_chars: usize) -> String {
    let mut kept: String = line.chars().take(max_chars.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// Whether a character is shown as itself. Control characters are not, nor are marks that turn the direction
/// of the text after them (such a mark in a page could make one address look like another), nor invisible
/// tags.
fn is_shown(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{FEFF}' | '\u{2028}' | '\u{2029}'
            | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}' | '\u{E0000}'..='\u{E007F}'
            | '\u{FFFE}' | '\u{FFFF}'
        )
}

/// The text without what is never shown, with its lines and spaces.
pub fn without_hidden(text: &str) -> String {
    text.chars().filter(|character| is_shown(*character) || matches!(character, '\n' | '\t')).collect()
}

/// The text with a zero-width space after each `@`, so that `@everyone`, `@channel` or a name calls nobody.
pub fn without_mentions(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        output.push(character);
        if matches!(character, '@' | '＠') {
            output.push(ZERO_WIDTH_SPACE);
        }
    }
    output
}

/// A backslash before every character that Markdown gives a meaning to.
pub fn escape_markdown(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(
            character,
            '\\' | '*'
                | '_'
                | '~'
                | '`'
                | '|'
                | '>'
                | '<'
                | '#'
                | '-'
                | '+'
                | '['
                | ']'
                | '('
                | ')'
                | '!'
                | ':'
                | '='
        ) {
            output.push('\\');
        }
        output.push(character);
    }
    output
}

/// `1 page`, `2 pages`.
pub fn count(number: usize, singular: &str, plural: &str) -> String {
    let mut output = String::new();
    let _ = write!(output, "{number} {}", if number == 1 { singular } else { plural });
    output
}

/// An http or https address that can stand in a link, in its normal form; others are shown but never linked.
pub fn safe_url(url: &str) -> Option<String> {
    let mut url = url::Url::parse(url).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.as_str().len() > net::MAX_URL_BYTES {
        return None;
    }
    net::take_login(&mut url);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_of_bounded_length() {
        assert_eq!(one_line("  a\r\n\tb\u{0}\u{202E}c  ", 10), "a bc");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("ab cdefg", 3), "ab…");
        assert_eq!(one_line("é".repeat(9).as_str(), 4), "ééé…");
        assert_eq!(one_line("", 3), "");
    }

    #[test]
    fn nobody_is_mentioned() {
        assert_eq!(without_mentions("hi @everyone"), "hi @\u{200B}everyone");
    }

    #[test]
    fn only_web_addresses_are_linked() {
        assert_eq!(safe_url("https://user:pass@a.example/x").as_deref(), Some("https://a.example/x"));
        for wrong in ["javascript:alert(1)", "data:text/html,x", "//a.example", "", "ftp://a.example"] {
            assert_eq!(safe_url(wrong), None, "{wrong}");
        }
        assert_eq!(safe_url("https://a.example/\"><b>").as_deref(), Some("https://a.example/%22%3E%3Cb%3E"));
    }
}
