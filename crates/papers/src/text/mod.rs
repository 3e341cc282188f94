//! Splits text into terms: case folding, stop words and a light English stemmer. Linear in its input, and no
//! term is longer than [`MAX_TERM_BYTES`]. All matching in this crate uses it, so that queries and documents
//! agree.

mod stop;

use crate::hash::stable_hash;

/// Longer words are cut: they are base pairs, hashes and other noise.
pub const MAX_TERM_BYTES: usize = 40;

/// Calls `each` with the hash of every term of `text` in order, without stop words. A word with hyphens
/// yields its parts and then the joined word, so that "co-citation" matches both "citation" and "cocitation".
pub fn for_each_term(text: &str, mut each: impl FnMut(u64)) {
    let mut splitter = Splitter::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        // Fast path: nearly all text is ASCII.
        let folded = FOLDED[usize::from(*byte)];
        if folded != 0 {
            splitter.word.push(&[folded]);
            splitter.joins = false;
            at += 1;
            continue;
        }
        let Some(character) = text[at..].chars().next() else { break };
        at += character.len_utf8();
        if !character.is_ascii() && character.is_alphanumeric() {
            for folded in character.to_lowercase() {
                splitter.word.push(folded.encode_utf8(&mut [0; 4]).as_bytes());
            }
            splitter.joins = false;
        } else {
            splitter.end_word(character, &mut each);
        }
    }
    splitter.end_word(' ', &mut each);
}

/// ASCII letters and digits in lower case; zero for all else.
const FOLDED: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// A buffer for one word; letters that do not fit are dropped.
#[derive(Debug)]
struct WordBuffer {
    /// Padded with zeros up to the length of the longest stop word.
    letters: [u8; MAX_TERM_BYTES],
    length: usize,
}

impl Default for WordBuffer {
    fn default() -> Self {
        Self { letters: [0; MAX_TERM_BYTES], length: 0 }
    }
}

impl WordBuffer {
    fn push(&mut self, letters: &[u8]) {
        if let Some(free) = self.letters.get_mut(self.length..self.length + letters.len()) {
            free.copy_from_slice(letters);
            self.length += letters.len();
        }
    }

    fn letters(&self) -> &[u8] {
        &self.letters[..self.length]
    }

    fn clear(&mut self) {
        self.letters[..stop::MAX_BYTES].fill(0);
        self.length = 0;
    }

    fn emit(&self, each: &mut impl FnMut(u64)) {
        let is_stop = self.length <= stop::MAX_BYTES
            && self.letters.first_chunk().is_some_and(|start| stop::is_stop_word(*start));
        if !is_stop {
            each(stable_hash(&[stem(self.letters())]));
        }
    }
}

/// Splits characters into words and joins hyphenated ones.
#[derive(Debug, Default)]
struct Splitter {
    word: WordBuffer,
    joined: WordBuffer,
    /// Words since the last separator other than a hyphen.
    parts: usize,
    /// The last character was a hyphen.
    joins: bool,
}

impl Splitter {
    /// Handles a character that is not part of a word.
    fn end_word(&mut self, character: char, each: &mut impl FnMut(u64)) {
        let is_hyphen = matches!(character, '-' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2019}');
        if self.word.length > 0 {
            self.word.emit(each);
            if is_hyphen || self.parts > 0 {
                self.joined.push(self.word.letters());
            }
            self.parts += 1;
            self.word.clear();
        }
        if is_hyphen && self.parts > 0 && !self.joins {
            self.joins = true;
            return;
        }
        self.joins = false;
        if self.parts > 1 {
            self.joined.emit(each);
        }
        if self.parts > 0 {
            self.parts = 0;
            self.joined.clear();
        }
    }
}

/// Endings by their last letter in the order they are tried, with the minimum length of the rest.
fn endings(last: u8) -> &'static [(&'static [u8], usize)] {
    match last {
        b'c' => &[(b"ic", 4)],
        b'd' => &[(b"ated", 4), (b"ed", 4)],
        b'e' => &[(b"ate", 4), (b"ive", 4), (b"e", 3)],
        b'g' => &[(b"ating", 4), (b"ing", 4)],
        b'l' => &[(b"ational", 4), (b"al", 4)],
        b'n' => &[(b"ization", 4), (b"isation", 4), (b"ation", 4), (b"ion", 4)],
        b'r' => &[(b"ator", 4), (b"er", 4), (b"or", 5)],
        b's' => &[(b"ness", 4)],
        b't' => &[(b"ment", 4)],
        b'y' => &[(b"ingly", 4), (b"edly", 4), (b"ally", 4), (b"ity", 4), (b"ly", 4), (b"y", 3)],
        _ => &[],
    }
}

/// The stem of a word. Words with digits are names and stay unchanged.
fn stem(word: &[u8]) -> &[u8] {
    if word.len() <= 3 || !word.iter().all(u8::is_ascii_lowercase) {
        return word;
    }
    let mut stem = word;
    if stem.len() > 4 && stem.ends_with(b"ies") {
        // "studies" and "study" must have the same stem; the "y" is removed below.
        stem = &stem[..stem.len() - 3];
    } else if stem.ends_with(b"sses") {
        stem = &stem[..stem.len() - 2];
    } else if stem.ends_with(b"s")
        && !(stem.ends_with(b"ss") || stem.ends_with(b"us") || stem.ends_with(b"is"))
    {
        stem = &stem[..stem.len() - 1];
    }
    let ending = stem.last().and_then(|last| {
        endings(*last)
            .iter()
            .find(|(ending, least)| stem.len() >= ending.len() + least && stem.ends_with(ending))
    });
    if let Some((ending, _)) = ending {
        stem = &stem[..stem.len() - ending.len()];
        let last = stem[stem.len() - 1];
        if stem.len() > 3 && last == stem[stem.len() - 2] && !matches!(last, b'l' | b's') {
            stem = &stem[..stem.len() - 1];
        }
        if stem.len() > 4 {
            // "studied" leaves "studi" and "studying" leaves "study".
            stem = stem
                .strip_suffix(b"e")
                .or(stem.strip_suffix(b"i"))
                .or(stem.strip_suffix(b"y"))
                .unwrap_or(stem);
        }
    }
    stem
}

/// A title reduced to letters and digits, to recognise the same work in two sources; `None` if it is too
/// short.
pub fn title_key(title: &str) -> Option<String> {
    const MIN_LETTERS: usize = 25;
    let key: String = title
        .chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(300)
        .collect();
    (key.chars().count() >= MIN_LETTERS).then_some(key)
}

/// Bytes of a text that are split into sentences.
const MAX_SENTENCE_INPUT_BYTES: usize = 8 << 10;

/// Approximate sentences: split at a full stop, question or exclamation mark before a space.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(MAX_SENTENCE_INPUT_BYTES)];
    text.split_inclusive(['.', '?', '!'])
        .scan(0_usize, move |start, piece| {
            let begin = *start;
            *start += piece.len();
            Some((begin, *start))
        })
        .scan(0_usize, move |open, (_, end)| {
            let ends = text[end..].chars().next().is_none_or(char::is_whitespace);
            if ends {
                let sentence = text[*open..end].trim();
                *open = end;
                Some(Some(sentence))
            } else {
                Some(None)
            }
        })
        .flatten()
        .filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<u64> {
        let mut out = Vec::new();
        for_each_term(text, |term| out.push(term));
        out
    }

    #[test]
    fn forms_of_a_word_meet() {
        for (one, other) in [
            ("neurons", "neuron"),
            ("studied", "studying"),
            ("mutations", "mutation"),
            ("imaging", "images"),
            ("binding", "binds"),
            ("bodies", "body"),
            ("running", "runs"),
            ("Glucose", "glucose"),
            ("regulation", "regulates"),
        ] {
            assert_eq!(terms(one), terms(other), "{one} {other}");
        }
        assert_ne!(terms("virus"), terms("viru"));
        assert_ne!(terms("CD4"), terms("CD8"));
    }

    #[test]
    fn hyphens_give_parts_and_whole() {
        assert_eq!(terms("co-citation").len(), 3);
        assert_eq!(terms("co-citation")[2], terms("cocitation")[0]);
        assert_eq!(terms("PAM-α1 neurons").len(), 4);
        assert_eq!(terms("- -- word-- -cell").len(), 2);
    }

    #[test]
    fn noise_is_bounded() {
        assert_eq!(terms(&"acgt".repeat(10_000)).len(), 1);
        assert!(terms("the of and").is_empty());
        assert!(terms("\u{0}\u{feff}…— !").is_empty());
    }

    #[test]
    fn sentences_end_before_a_space() {
        let found: Vec<_> = sentences("First, 3.5 mg. Second? Third e.g.this. Tail").collect();
        assert_eq!(found, ["First, 3.5 mg.", "Second?", "Third e.g.this.", "Tail"]);
        assert_eq!(sentences("").count(), 0);
        assert_eq!(sentences("...").count(), 1);
    }
}
