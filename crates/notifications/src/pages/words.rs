//! Which words of a changed line differ.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::time::Instant;

/// Longer lines are marked as a whole.
const MAX_TOKENS: usize = 1_500;
/// Lines that share less than this part of their characters are marked as a whole: a line of confetti says
/// less.
const MIN_SHARED_PART: f64 = 0.35;

/// A part of a line, and whether it differs from the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinePart<'a> {
    pub(super) text: &'a str,
    pub(super) is_changed: bool,
}

/// Both sides of a changed line in parts. Past the deadline the lines are marked as a whole.
pub(super) fn changed_words<'a>(
    before: &'a str,
    after: &'a str,
    deadline: Instant,
) -> (Vec<LinePart<'a>>, Vec<LinePart<'a>>) {
    let whole = |text| vec![LinePart { text, is_changed: true }];
    let (old, new) = (tokens(before), tokens(after));
    if old.len() > MAX_TOKENS || new.len() > MAX_TOKENS || Instant::now() > deadline {
        return (whole(before), whole(after));
    }
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let mut is_changed = (vec![true; old.len()], vec![true; new.len()]);
    let mut shared = 0;
    for operation in operations {
        let DiffOp::Equal { old_index, new_index, len } = operation else { continue };
        is_changed.0[old_index..old_index + len].fill(false);
        is_changed.1[new_index..new_index + len].fill(false);
        shared += old[old_index..old_index + len]
            .iter()
            .filter(|token| !is_space(token))
            .map(|token| token.len())
            .sum::<usize>();
    }
    let letters = |tokens: &[&str]| {
        tokens.iter().filter(|token| !is_space(token)).map(|token| token.len()).sum::<usize>()
    };
    let longest = letters(&old).max(letters(&new)).max(1);
    if (shared as f64) < MIN_SHARED_PART * longest as f64 {
        return (whole(before), whole(after));
    }
    (parts(before, &old, &is_changed.0), parts(after, &new, &is_changed.1))
}

/// Words, white space, and marks at the edges of words; numbers with their points and signs are one token.
/// Characters of scripts without spaces are tokens by themselves.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last: Option<Class> = None;
    for (at, character) in line.char_indices() {
        let class = class(character);
        if last.is_some_and(|last| last != class || class == Class::Single) {
            tokens.push(&line[start..at]);
            start = at;
        }
        last = Some(class);
    }
    tokens.push(&line[start..]);
    tokens.retain(|token| !token.is_empty());
    join_numbers(line, tokens)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    /// A mark or a wide character.
    Single,
}

fn class(character: char) -> Class {
    if character.is_whitespace() {
        Class::Space
    } else if character.is_alphanumeric() && !text::is_wide(character) {
        Class::Word
    } else {
        Class::Single
    }
}

/// `12`, `.`, `50` → `12.50`
fn join_numbers<'a>(line: &'a str, tokens: Vec<&'a str>) -> Vec<&'a str> {
    let ends_in_digit = |token: &str| token.ends_with(|c: char| c.is_ascii_digit());
    let starts_with_digit = |token: &str| token.starts_with(|c: char| c.is_ascii_digit());
    let mut joined: Vec<&str> = Vec::with_capacity(tokens.len());
    let mut offset = 0;
    let mut starts: Vec<usize> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let end = offset + token.len();
        let joins = starts_with_digit(token)
            && joined.len() >= 2
            && matches!(joined[joined.len() - 1], "." | "," | ":" | "-" | "/")
            && ends_in_digit(joined[joined.len() - 2]);
        if joins {
            joined.pop();
            joined.pop();
            starts.pop();
            let start = starts.pop().unwrap_or(offset);
            joined.push(&line[start..end]);
            starts.push(start);
        } else {
            joined.push(token);
            starts.push(offset);
        }
        offset = end;
    }
    joined
}

fn is_space(token: &str) -> bool {
    token.chars().all(char::is_whitespace)
}

/// Tokens joined into parts. White space between two changed tokens is changed too.
fn parts<'a>(line: &'a str, tokens: &[&str], is_changed: &[bool]) -> Vec<LinePart<'a>> {
    let mut parts: Vec<LinePart> = Vec::new();
    let mut offset = 0;
    for (at, token) in tokens.iter().enumerate() {
        let between =
            at > 0 && is_space(token) && is_changed[at - 1] && is_changed.get(at + 1) == Some(&true);
        let changed = is_changed[at] || between;
        let end = offset + token.len();
        match parts.last_mut() {
            Some(last) if last.is_changed == changed => {
                last.text = &line[end - token.len() - last.text.len()..end];
            }
            _ => parts.push(LinePart { text: &line[offset..end], is_changed: changed }),
        }
        offset = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn marked(before: &str, after: &str) -> (String, String) {
        let side = |parts: Vec<LinePart>| -> String {
            parts
                .iter()
                .map(|part| if part.is_changed { format!("[{}]", part.text) } else { part.text.to_owned() })
                .collect()
        };
        let (old, new) = changed_words(before, after, Instant::now() + Duration::from_secs(5));
        (side(old), side(new))
    }

    #[test]
    fn the_words_that_differ_are_marked() {
        let case = |before, after, old: &str, new: &str| {
            assert_eq!(marked(before, after), (old.to_owned(), new.to_owned()));
        };
        case(
            "Basic costs $12.50 a month",
            "Basic costs $13.50 a month",
            "Basic costs $[12.50] a month",
            "Basic costs $[13.50] a month",
        );
        case(
            "Ships in two weeks from here",
            "Ships in four days from here",
            "Ships in [two weeks] from here",
            "Ships in [four days] from here",
        );
        case("价格是十二元人民币", "价格是十三元人民币", "价格是十[二]元人民币", "价格是十[三]元人民币");
        case("all other words", "nothing in common here", "[all other words]", "[nothing in common here]");
        case("", "x", "[]", "[x]");
    }

    #[test]
    fn parts_are_the_whole_line() {
        for (before, after) in [("a  b\tc é", "a b c d é"), ("1.2.3-4", "1.2.3-5 "), ("🎈🎈", "🎈")] {
            let (old, new) = changed_words(before, after, Instant::now() + Duration::from_secs(5));
            assert_eq!(old.iter().map(|part| part.text).collect::<String>(), before);
            assert_eq!(new.iter().map(|part| part.text).collect::<String>(), after);
        }
        let long = "word ".repeat(5_000);
        let (old, _) = changed_words(&long, "x", Instant::now() + Duration::from_secs(5));
        assert_eq!(old.len(), 1);
    }
}
