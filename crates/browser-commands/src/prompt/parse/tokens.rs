//! A prompt as words, quoted texts and punctuation. Knows nothing of what they mean.

/// More words than these are no prompt for rules.
const MAX_TOKENS: usize = 2_000;
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('\'', '\'')];
const MARKS: &[char] = &[',', '.', ';', ':', '!', '?'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Word,
    Quoted,
    Mark,
}

/// A word with its place in the prompt.
#[derive(Debug, Clone)]
pub(super) struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
    /// A word or mark in lower case; a quoted text as it was, without its quotes.
    text: String,
}

/// The words of a prompt; `None` for one that is too long.
pub(super) fn tokenize(source: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(character) = source[at..].chars().next() {
        let rest = &source[at..];
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let length =
            quoted_length(rest).unwrap_or_else(|| rest.find(char::is_whitespace).unwrap_or(rest.len()));
        let end = at + length;
        if let Some(inner) = quoted_length(rest).and_then(|_| inside_quotes(&source[at..end])) {
            tokens.push(Token { kind: TokenKind::Quoted, start: at, end, text: inner.to_owned() });
        } else {
            push_word(&mut tokens, source, at, end);
        }
        at = end;
        if tokens.len() > MAX_TOKENS {
            return None;
        }
    }
    Some(tokens)
}

/// Marks at the end of a word stand for themselves; a quoted text is followed by them.
fn push_word(tokens: &mut Vec<Token>, source: &str, start: usize, end: usize) {
    let word = source[start..end].trim_end_matches(MARKS);
    if !word.is_empty() {
        let text = word.to_lowercase();
        tokens.push(Token { kind: TokenKind::Word, start, end: start + word.len(), text });
    }
    for (offset, mark) in source[start + word.len()..end].char_indices() {
        let at = start + word.len() + offset;
        tokens.push(Token { kind: TokenKind::Mark, start: at, end: at + 1, text: mark.to_string() });
    }
}

/// The bytes of a quoted text at the beginning. An apostrophe inside of a word ends none.
fn quoted_length(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(known, _)| *known == open)?;
    let inner = &text[open.len_utf8()..];
    let is_end = |(at, _): &(usize, &str)| {
        let next = inner[at + close.len_utf8()..].chars().next();
        *close != '\'' && *close != '’' || next.is_none_or(|next| !next.is_alphanumeric())
    };
    let (at, _) = inner.match_indices(*close).find(is_end)?;
    Some(open.len_utf8() + at + close.len_utf8())
}

fn inside_quotes(quoted: &str) -> Option<&str> {
    let mut characters = quoted.chars();
    characters.next()?;
    characters.next_back()?;
    Some(characters.as_str())
}

/// A part of a prompt.
#[derive(Clone, Copy)]
pub(super) struct Phrase<'a> {
    source: &'a str,
    tokens: &'a [Token],
}

impl<'a> Phrase<'a> {
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        Self { source, tokens }
    }

    pub(super) fn len(self) -> usize {
        self.tokens.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.tokens.is_empty()
    }

    pub(super) fn range(self, from: usize, to: usize) -> Self {
        Self { tokens: &self.tokens[from.min(to)..to], ..self }
    }

    pub(super) fn from(self, from: usize) -> Self {
        self.range(from.min(self.len()), self.len())
    }

    pub(super) fn to(self, to: usize) -> Self {
        self.range(0, to.min(self.len()))
    }

    /// A word in lower case; empty for anything else.
    pub(super) fn word(self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => &token.text,
            _ => "",
        }
    }

    pub(super) fn last_word(self) -> &'a str {
        self.word(self.len().wrapping_sub(1))
    }

    pub(super) fn mark(self, at: usize) -> Option<char> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Mark)?;
        token.text.chars().next()
    }

    pub(super) fn is_capital(self, at: usize) -> bool {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Word);
        token.is_some_and(|token| self.source[token.start..].starts_with(char::is_uppercase))
    }

    pub(super) fn quoted(self, at: usize) -> Option<&'a str> {
        let token = self.tokens.get(at).filter(|token| token.kind == TokenKind::Quoted)?;
        Some(&token.text)
    }

    /// The text when the whole of it is in quotes.
    pub(super) fn only_quoted(self) -> Option<&'a str> {
        self.quoted(0).filter(|_| self.len() == 1)
    }

    /// As it was written; without quotes when the whole of it is in quotes.
    pub(super) fn text(self) -> String {
        if let Some(quoted) = self.only_quoted() {
            return quoted.to_owned();
        }
        match (self.tokens.first(), self.tokens.last()) {
            (Some(first), Some(last)) => super::super::one_line(&self.source[first.start..last.end]),
            _ => String::new(),
        }
    }

    /// Whether these words, which blanks separate, stand at a place.
    pub(super) fn has_words_at(self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(offset, word)| self.word(at + offset) == word)
    }

    pub(super) fn is(self, words: &[&str]) -> bool {
        words.iter().any(|words| words.split(' ').count() == self.len() && self.has_words_at(0, words))
    }

    /// The rest after the longest of some beginnings that fits.
    pub(super) fn strip(self, starts: &[&str]) -> Option<Self> {
        self.longest(0, starts).map(|length| self.from(length))
    }

    /// How many words the longest of some has that stand at a place.
    fn longest(self, at: usize, words: &[&str]) -> Option<usize> {
        let fitting = words.iter().filter(|words| self.has_words_at(at, words));
        fitting.map(|words| words.split(' ').count()).max()
    }

    /// What stands before the longest of some ends that fits.
    pub(super) fn strip_end(self, ends: &[&str]) -> Option<Self> {
        let at = |words: &&str| {
            let at = self.len().checked_sub(words.split(' ').count())?;
            self.has_words_at(at, words).then_some(at)
        };
        ends.iter().filter_map(at).min().map(|at| self.to(at))
    }

    /// What stands before and after the first of some words; of those at the same place the longest counts.
    pub(super) fn split_at(self, words: &[&str]) -> Option<(Self, Self)> {
        (0..self.len()).find_map(|at| self.split_here(at, words))
    }

    /// The same at the last of them.
    pub(super) fn split_at_last(self, words: &[&str]) -> Option<(Self, Self)> {
        (0..self.len()).rev().find_map(|at| self.split_here(at, words))
    }

    /// What stands before and after the longest of some words at a place.
    pub(super) fn split_here(self, at: usize, words: &[&str]) -> Option<(Self, Self)> {
        self.longest(at, words).map(|length| (self.to(at), self.from(at + length)))
    }

    /// Without the marks around it.
    pub(super) fn without_marks(self) -> Self {
        let (mut start, mut end) = (0, self.len());
        while start < end && self.mark(start).is_some() {
            start += 1;
        }
        while end > start && self.mark(end - 1).is_some() {
            end -= 1;
        }
        self.range(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_what_is_inside_and_marks_stand_for_themselves() {
        let source = "Click \"Save, and close.\", then type 'Ann's' in the user's box at a.example/x.";
        let tokens = tokenize(source).unwrap();
        let phrase = Phrase::new(source, &tokens);
        assert_eq!(phrase.quoted(1), Some("Save, and close."));
        assert_eq!(phrase.mark(2), Some(','));
        assert_eq!((phrase.quoted(5), phrase.word(8)), (Some("Ann's"), "user's"));
        assert_eq!((phrase.word(11), phrase.mark(12)), ("a.example/x", Some('.')));
        assert_eq!(phrase.range(3, 6).text(), "then type 'Ann's'");
        assert!(tokenize(&"a ".repeat(5_000)).is_none());
        assert_eq!(tokenize("an \"open quote").unwrap().len(), 3);
    }
}
