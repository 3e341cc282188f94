//! What people read of a line of markdown: its words, without the marks of headings, lists, emphasis, code and
//! tables, and without the targets of links.

const MAX_CUT_TAG_BYTES: usize = 80;

/// The text of a line whose white space is single spaces. Empty for lines that only draw something: rules,
/// fences, pictures without a text.
pub(super) fn read_words(line: &str, with_targets: bool) -> String {
    let (ordinal, text) = strip_line_marks(line);
    let is_row = text.starts_with('|');
    if text.chars().all(|c| matches!(c, '|' | '-' | ':' | '*' | '_' | '=' | ' ')) || is_fence(text) {
        return String::new();
    }
    let mut words = String::with_capacity(text.len());
    if !ordinal.is_empty() {
        words.push_str(ordinal);
        words.push_str(". ");
    }
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' if rest.starts_with(|c: char| c.is_ascii_punctuation()) => {
                words.push_str(&rest[..1]);
                rest = &rest[1..];
            }
            ']' if rest.starts_with('(') => {
                let (target, tail) = split_target(&rest[1..]);
                if with_targets {
                    words.push_str(" (");
                    words.push_str(target);
                    words.push(')');
                }
                rest = tail;
            }
            // The mark of a picture.
            '!' if rest.starts_with('[') => {}
            '<' if rest.starts_with("http") || rest.starts_with("mailto:") => {
                let (address, tail) = rest.split_once('>').unwrap_or((rest, ""));
                words.push_str(address);
                rest = tail;
            }
            '[' | ']' | '*' | '`' | '~' => {}
            '_' if !(words.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)) => {}
            // The end of a row, and cells without a text.
            '|' if is_row && (rest.is_empty() || words.trim_end().ends_with('|')) => {}
            c => words.push(c),
        }
    }
    words.truncate(words.trim_end().len());
    words
}

/// The words as they are compared: without white space, which other markup sets otherwise (`**Fee:** 5` and
/// `**Fee:**5`), and with plain quotes and dashes. Two numbers stay two.
pub(super) fn join_words(words: &str) -> String {
    let mut joined = String::with_capacity(words.len());
    let mut after_space = false;
    for c in words.chars() {
        if c.is_whitespace() {
            after_space = true;
            continue;
        }
        if after_space && c.is_ascii_digit() && joined.ends_with(|last: char| last.is_ascii_digit()) {
            joined.push(' ');
        }
        after_space = false;
        joined.push(match c {
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
            '‘' | '’' | '‚' | '‛' | '′' => '\'',
            '\u{2010}'..='\u{2015}' | '−' => '-',
            c => c,
        });
    }
    joined
}

/// Words without the full stop or colon that ends them: "Variables" and "Variables:" read the same.
pub(super) fn without_last_mark(words: &str) -> &str {
    let shorter = words.strip_suffix(['.', ':']).unwrap_or(words);
    if shorter.ends_with(char::is_alphabetic) { shorter } else { words }
}

/// The form of the number that an entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberForm {
    None,
    /// Numbers with dots between them: how many.
    Digits(usize),
    /// "a)", "iv."
    Letters,
}

/// The form of the number before joined words, and the words.
pub(super) fn split_number(words: &str) -> (NumberForm, &str) {
    let text = words.strip_prefix('(').unwrap_or(words);
    let ends = |tail: &str| tail.starts_with(['.', ')']);
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text[..text.len() - after_digits.len()].trim_end_matches('.');
    let parts = number.split('.').filter(|part| !part.is_empty()).count();
    let tail = &text[number.len()..];
    if parts > 1 || (parts == 1 && ends(tail)) {
        return (NumberForm::Digits(parts), tail.trim_start_matches(['.', ')']));
    }
    let letters = text.bytes().take_while(u8::is_ascii_lowercase).count();
    let is_roman = |letters: &str| letters.bytes().all(|letter| b"ivxlc".contains(&letter));
    if (letters == 1 || (2..=5).contains(&letters) && is_roman(&text[..letters])) && ends(&text[letters..]) {
        return (NumberForm::Letters, &text[letters + 1..]);
    }
    (NumberForm::None, words)
}

/// The targets of the links and pictures of a line.
pub(super) fn targets(line: &str) -> Vec<&str> {
    let starts = line.match_indices("](").map(|(at, mark)| at + mark.len());
    starts.map(|at| split_target(&line[at..]).0).collect()
}

/// Whether a line begins or ends a block of code.
pub(super) fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a line is the beginning of another one, with what there is of a tag that was cut.
pub(super) fn is_cut_from(line: &str, old: &str) -> bool {
    let before_tag = line.rfind('<').filter(|at| line.len() - at <= MAX_CUT_TAG_BYTES).map(|at| &line[..at]);
    old.starts_with(line) || before_tag.is_some_and(|text| old.starts_with(text))
}

/// A line without the marks of quotes, entries and headings, and its number where it has one: "2) Fees" and
/// "## 2. Fees" are the same.
fn strip_line_marks(line: &str) -> (&str, &str) {
    let mut text = line.trim_start_matches(['>', ' ']);
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "+ "] {
        if let Some(entry) = text.strip_prefix(mark) {
            text = entry;
            break;
        }
    }
    let text = strip_heading_marks(text).trim_start_matches(['*', '_']);
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - after_digits.len()];
    let tail = after_digits.trim_start_matches('\\');
    match tail.strip_prefix(['.', ')']).and_then(|tail| tail.strip_prefix(' ')) {
        Some(entry) if !digits.is_empty() => (digits, strip_heading_marks(entry)),
        _ => ("", text),
    }
}

fn strip_heading_marks(text: &str) -> &str {
    let without_marks = text.trim_start_matches('#');
    match without_marks.strip_prefix(' ') {
        Some(heading) if without_marks.len() < text.len() => heading,
        _ => text,
    }
}

/// The target of a link, and what follows its closing bracket; a target may hold pairs of brackets.
fn split_target(text: &str) -> (&str, &str) {
    let mut open = 0_usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => open += 1,
            ')' if open == 0 => return (&text[..at], &text[at + 1..]),
            ')' => open -= 1,
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        join_words(&read_words(line, false))
    }

    #[test]
    fn markup_around_the_same_words_reads_the_same() {
        let same = [
            ("## The fee", "**The fee**"),
            ("- Mail [us](https://e.org/a)", "* Mail [us](/cdn-cgi/l/email-protection#9f3a)"),
            ("Mail us", "Mail [us](https://e.org/?x=(1))"),
            ("**Fee:** 5", "**Fee:**5"),
            ("use `snake_case` here", "use snake\\_case here"),
            ("![A chair](/a.png) Chair", "![A chair](/b.png) Chair"),
            ("| a | b |", "| **a** | b |"),
            ("See https://e.org/x", "See <https://e.org/x>"),
            ("*“Yes”*", "“Yes”"),
            ("| --- | :-: |", "---"),
            ("2) **Fees**", "## 2. Fees"),
            ("1. ## Fees", "**1\\. Fees**"),
            ("|  | a | | b |", "| a | b |"),
            ("the “Fees” – ours’", "the \"Fees\" - ours'"),
            ("```js", "~~~"),
        ];
        for (one, other) in same {
            assert_eq!(words(one), words(other), "{one}");
        }
    }

    #[test]
    fn entries_are_split_from_their_numbers() {
        use NumberForm::{Digits, Letters, None};
        for (line, form, rest) in [
            ("1.Fees", Digits(1), "Fees"),
            ("1.2.1Fees", Digits(3), "Fees"),
            ("(12)Fees", Digits(1), "Fees"),
            ("a.Fees", Letters, "Fees"),
            ("(iv)Fees", Letters, "Fees"),
            ("15%off", None, "15%off"),
            ("Fees", None, "Fees"),
            ("", None, ""),
        ] {
            assert_eq!(split_number(line), (form, rest), "{line}");
        }
    }

    #[test]
    fn other_words_read_otherwise() {
        let other = [
            ("1. First", "2. First"),
            ("10 20", "1020"),
            ("| 1 | 20 |", "| 12 | 0 |"),
            ("\\# 5", "\\# 6"),
            ("snake_case", "snakecase"),
            ("[Terms](/a)", "[Privacy](/a)"),
        ];
        for (one, other) in other {
            assert_ne!(words(one), words(other), "{one}");
        }
        assert_ne!(read_words("[a](/x)", true), read_words("[a](/y)", true), "where targets count");
        assert_eq!(without_last_mark("Variables:"), "Variables");
        assert_eq!((without_last_mark("1."), without_last_mark("a::")), ("1.", "a::"));
        assert_eq!(targets("[a](/x) and ![b](/y.png)"), ["/x", "/y.png"]);
    }
}
