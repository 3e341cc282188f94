//! The tokens of a text: what goes into the index, and what a query and a passage are compared by.

use super::{LONGEST_WORD, Language, STEM, Stems, fold, is_han, lower, pieces};
use crate::words::pieces::Pieces;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Name of the tokenizer in the schema.
pub(crate) const TOKENIZER: &str = "words";

/// Ends the tag of a language in front of a text; no text holds it.
const END_OF_TAG: char = '\u{1}';

/// A text with its language in front, as [`Words`] wants it: a schema gives a tokenizer nothing but the text.
pub(crate) fn tagged(language: Option<Language>, text: &str) -> String {
    let tag = language.map_or("", Language::code);
    let mut whole = String::with_capacity(tag.len() + 1 + text.len());
    whole.push_str(tag);
    whole.push(END_OF_TAG);
    whole.push_str(text);
    whole
}

/// Cuts texts into tokens, for tantivy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    stems: Stems,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        let (tag, text) = text.split_once(END_OF_TAG).unwrap_or(("", text));
        self.stems.speak(Language::tagged(tag));
        Tokens::new(text, &mut self.stems)
    }
}

/// Tokens one after the other.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    pieces: Pieces<'a>,
    stems: &'a mut Stems,
    /// Position of the next piece.
    position: usize,
    token: Token,
    /// A stem that follows its word.
    stem: String,
    /// What is left of a run of wide characters.
    run: Run<'a>,
    lower: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Run<'a> {
    rest: &'a str,
    from: usize,
    /// The run is a single character.
    alone: bool,
    /// The pair at its start has been given.
    paired: bool,
}

impl<'a> Tokens<'a> {
    /// Tokens of a text in the language that `stems` speak.
    pub(crate) fn new(text: &'a str, stems: &'a mut Stems) -> Self {
        let token = Token::default();
        let (stem, lower) = (String::new(), String::new());
        Self { pieces: pieces(text), stems, position: 0, token, stem, run: Run::default(), lower }
    }

    fn set(&mut self, from: usize, len: usize, position: usize) {
        self.token.offset_from = from;
        self.token.offset_to = from + len;
        self.token.position = position;
    }

    /// The next token of a run: pairs of neighbours; characters that are words by themselves also alone.
    fn next_of_run(&mut self) -> bool {
        while let Some(first) = self.run.rest.chars().next() {
            let run = self.run;
            let second = run.rest[first.len_utf8()..].chars().next();
            if !run.paired {
                self.run.paired = true;
                if let Some(second) = second {
                    let len = first.len_utf8() + second.len_utf8();
                    fold(&run.rest[..len], &mut self.token.text);
                    self.set(run.from, len, self.position);
                    return true;
                }
            }
            let len = first.len_utf8();
            let position = self.position;
            self.run.rest = &run.rest[len..];
            self.run.from += len;
            self.run.paired = false;
            self.position += 1;
            if run.alone || is_han(first) {
                fold(&run.rest[..len], &mut self.token.text);
                self.set(run.from, len, position);
                return true;
            }
        }
        false
    }
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        if !self.stem.is_empty() {
            std::mem::swap(&mut self.token.text, &mut self.stem);
            self.stem.clear();
            return true;
        }
        if self.next_of_run() {
            return true;
        }
        while let Some(piece) = self.pieces.next() {
            if piece.wide {
                let alone = piece.text.chars().nth(1).is_none();
                self.run = Run { rest: piece.text, from: piece.from, alone, paired: false };
                return self.next_of_run();
            }
            let position = self.position;
            self.position += 1;
            if piece.text.len() > LONGEST_WORD && piece.text.chars().nth(LONGEST_WORD).is_some() {
                continue;
            }
            lower(piece.text, &mut self.token.text);
            // What is plain already is its own small form.
            let small = if self.token.text.is_ascii() {
                &self.token.text
            } else {
                std::mem::swap(&mut self.lower, &mut self.token.text);
                fold(&self.lower, &mut self.token.text);
                &self.lower
            };
            if let Some(stem) = self.stems.of(small) {
                self.stem.push(STEM);
                self.stem.push_str(stem);
            }
            self.set(piece.from, piece.text.len(), position);
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(language: &str, text: &str) -> Vec<String> {
        let mut words = Words::default();
        let text = tagged(Language::tagged(language), text);
        let mut stream = words.token_stream(&text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push(format!("{}{}", stream.token().position, stream.token().text));
        }
        found
    }

    #[test]
    fn words_come_with_their_stems_at_one_position() {
        assert_eq!(tokens("en", "Running the cats"), ["0running", "0~run", "1the", "2cats", "2~cat"]);
        assert_eq!(tokens("", "Running"), ["0running"]);
        let long = "x".repeat(65);
        assert_eq!(tokens("en", &format!("a {long} b")), ["0a", "2b"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(tokens("", "東京タ a"), ["0東京", "0東", "1京タ", "1京", "3a"]);
        assert_eq!(tokens("", "か"), ["0か"]);
    }
}
