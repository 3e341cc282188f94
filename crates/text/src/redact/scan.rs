//! Examines the text around a position, within a bounded distance.

/// How far before a number a word that describes it may be.
const MAX_CUE_DISTANCE_BYTES: usize = 28;

/// The text just before a place on its own line, in lower case.
pub(super) fn before(text: &str, at: usize, reach: usize) -> String {
    let from = text.floor_char_boundary(at.saturating_sub(reach));
    let near = &text[from..at];
    near.rsplit('\n').next().unwrap_or_default().to_lowercase()
}

/// Whether one of the words is just before a position.
pub(super) fn follows(text: &str, at: usize, words: &[&str]) -> bool {
    let near = before(text, at, MAX_CUE_DISTANCE_BYTES);
    words.iter().any(|word| has_word(&near, word))
}

/// Whether a text has a word that does not go on in front of it: `tel` is in "tel.: 5", not in "hotel 5".
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let starts = !text[..at].ends_with(char::is_alphanumeric);
        let ends = word.len() > 4 || !text[at + word.len()..].starts_with(char::is_alphabetic);
        // In scripts without spaces a word may follow another directly.
        (starts && ends) || !word.is_ascii()
    })
}

/// Whether a letter or digit is before a position.
pub(super) fn joined_before(text: &str, at: usize) -> bool {
    text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a letter or digit is after a position.
pub(super) fn joined_after(text: &str, at: usize) -> bool {
    text[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Runs of ASCII letters and digits: start and end.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        (start < at).then_some((start, at))
    })
}

/// A word of a line: letters and digits with the hyphens and apostrophes inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineWord<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: &'a str,
}

impl LineWord<'_> {
    /// Whether it begins with a capital and goes on with letters.
    pub(super) fn is_name(&self) -> bool {
        let mut chars = self.text.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.clone().next().is_some_and(|c| c.is_lowercase() || matches!(c, '\'' | '’' | 'c'))
            && chars.all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
    }

    /// Whether it is a single capital.
    pub(super) fn is_initial(&self) -> bool {
        self.text.chars().count() == 1 && self.text.chars().all(char::is_uppercase)
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The words of a line that starts at `offset` of the text.
pub(super) fn words(line: &str, offset: usize) -> Vec<LineWord<'_>> {
    let mut words = Vec::new();
    let mut start: Option<usize> = None;
    let mut end = 0;
    let inner = |c: char| matches!(c, '\'' | '’' | '-');
    for (at, c) in line.char_indices() {
        if c.is_alphanumeric() {
            start.get_or_insert(at);
            end = at + c.len_utf8();
        } else if let Some(from) = start
            && !(inner(c) && at == end)
        {
            budget::spend(1);
            words.push(LineWord { start: offset + from, end: offset + end, text: &line[from..end] });
            start = None;
        }
    }
    if let Some(from) = start {
        words.push(LineWord { start: offset + from, end: offset + end, text: &line[from..end] });
    }
    words
}

/// Lines with where they start.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}
