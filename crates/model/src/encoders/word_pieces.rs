//! The `WordPiece` tokenizer of uncased BERT models: text is lower-cased, stripped of accents, split at spaces
//! and punctuation, and each word is split into the longest pieces of the word list.

use std::collections::HashMap;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{Error, Result};

/// Longer words are data such as hashes; the model has one piece for all of them.
const MAX_WORD_CHARS: usize = 100;

/// The word list of a model.
#[derive(Debug)]
pub struct Vocabulary {
    pieces: HashMap<String, u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl Vocabulary {
    /// Parses a list with one piece on each line; the line number is its id.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let pieces: HashMap<String, u32> =
            text.lines().zip(0_u32..).map(|(piece, number)| (piece.trim_end().to_owned(), number)).collect();
        let special = |name: &str| {
            pieces.get(name).copied().ok_or_else(|| Error::unusable(path, format!("{name} is missing")))
        };
        let (unknown, begin, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(Self { pieces, unknown, begin, end })
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The pieces of a text between the begin and end marks, at most `max` in total.
    pub fn tokenize(&self, text: &str, max: usize) -> Vec<u32> {
        let mut out = vec![self.begin];
        let mut word = String::new();
        // A piece has at least one character and words are limited to `MAX_WORD_CHARS`, so more of the text
        // cannot matter.
        for character in text.nfd().take(max * MAX_WORD_CHARS) {
            if out.len() >= max {
                break;
            }
            if character == '\u{0}' || character == '\u{fffd}' || is_combining_mark(character) {
                continue;
            }
            if character.is_whitespace() || character.is_control() {
                self.add_word(&mut word, &mut out);
            } else if is_punctuation(character) || is_ideograph(character) {
                self.add_word(&mut word, &mut out);
                word.push(character);
                self.add_word(&mut word, &mut out);
            } else {
                word.extend(character.to_lowercase());
            }
        }
        self.add_word(&mut word, &mut out);
        out.truncate(max.max(2) - 1);
        out.push(self.end);
        out
    }

    fn add_word(&self, word: &mut String, out: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = out.len();
        let mut piece = String::new();
        let mut start = 0;
        while start < word.len() && word.len() <= MAX_WORD_CHARS * 4 {
            let ends = (start + 1..=word.len()).rev().filter(|end| word.is_char_boundary(*end));
            let found = ends.map(|end| {
                piece.clear();
                piece.push_str(if start == 0 { "" } else { "##" });
                piece.push_str(&word[start..end]);
                (self.pieces.get(&piece).copied(), end)
            });
            let Some((Some(number), end)) = { found }.find(|(number, _)| number.is_some()) else { break };
            out.push(number);
            start = end;
        }
        if start < word.len() || word.chars().count() > MAX_WORD_CHARS {
            // A word with any unknown part counts as unknown as a whole.
            out.truncate(before);
            out.push(self.unknown);
        }
        word.clear();
    }
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}')
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let list = "[UNK]\n[CLS]\n[SEP]\ncell\n##s\nnaive\n-\n.\ncd\n##4";
        Vocabulary::parse(Path::new("vocab.txt"), list).unwrap()
    }

    #[test]
    fn words_are_split_into_the_longest_pieces() {
        assert_eq!(vocabulary().tokenize("Naïve CD4-cells.", 20), [1, 5, 8, 9, 6, 3, 4, 7, 2]);
        assert_eq!(vocabulary().tokenize("cells xyz", 20), [1, 3, 4, 0, 2], "unknown as a whole");
        assert_eq!(vocabulary().tokenize("", 20), [1, 2]);
    }

    #[test]
    fn long_texts_are_cut_and_keep_the_end_mark() {
        let cut = vocabulary().tokenize(&"cell ".repeat(100_000), 16);
        assert_eq!((cut.len(), cut[15]), (16, 2));
        assert_eq!(vocabulary().tokenize(&"cell".repeat(100_000), 16), [1, 0, 2]);
    }

    #[test]
    fn a_list_without_special_pieces_is_rejected() {
        assert!(Vocabulary::parse(Path::new("vocab.txt"), "a\nb").is_err());
    }
}
