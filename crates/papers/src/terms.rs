//! The terms of a text: words in lower case, without stop words, stemmed as English. Linear in its input, and
//! no term is longer than [`MAX_TERM_BYTES`]. All matching in this crate uses it, so that queries and
//! documents agree.

use crate::hash::stable_hash;
use text::sentences::SentenceRules;
use text::{stem, stop_words};

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
        self.letters[..stop_words::MAX_BYTES].fill(0);
        self.length = 0;
    }

    fn emit(&self, each: &mut impl FnMut(u64)) {
        let is_stop = self.length <= stop_words::MAX_BYTES
            && self.letters.first_chunk().is_some_and(|start| stop_words::ABSTRACTS.contains_padded(*start));
        if !is_stop {
            each(stable_hash(&[stem::english(self.letters())]));
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

/// The sentences of an abstract.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(MAX_SENTENCE_INPUT_BYTES)];
    text::sentences::sentences(text, &SentenceRules::PLAIN)
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
}
