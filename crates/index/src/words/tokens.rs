//! The tokens of a text, used for indexing, queries and passages.

use super::{MAX_WORD_CHARS, STEM_PREFIX};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use text::language::StemCache;
use text::pieces::TextPieces;
use text::{Language, fold, is_han, lower, pieces};

/// Name of the tokenizer in the schema.
pub(crate) const TOKENIZER: &str = "words";

/// Ends the language tag in front of a text; no text contains it.
const END_OF_TAG: char = '\u{1}';

/// A text with its language tag in front, as [`WordTokenizer`] expects it: tantivy passes a tokenizer nothing
/// but the text.
pub(crate) fn with_language_tag(language: Option<Language>, text: &str) -> String {
    let tag = language.map_or("", Language::code);
    let mut whole = String::with_capacity(tag.len() + 1 + text.len());
    whole.push_str(tag);
    whole.push(END_OF_TAG);
    whole.push_str(text);
    whole
}

/// The tokenizer for tantivy.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordTokenizer {
    stems: StemCache,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordTokens<'a> {
        let (tag, text) = text.split_once(END_OF_TAG).unwrap_or(("", text));
        self.stems.set_language(Language::from_tag(tag));
        WordTokens::new(text, &mut self.stems)
    }
}

/// The stream of tokens of a text.
#[derive(Debug)]
pub(crate) struct WordTokens<'a> {
    pieces: TextPieces<'a>,
    stems: &'a mut StemCache,
    /// Position of the next piece.
    position: usize,
    token: Token,
    /// The stem to return after its word.
    stem: String,
    /// The rest of a run of wide characters.
    run: WideRun<'a>,
    lower: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct WideRun<'a> {
    rest: &'a str,
    from: usize,
    /// The run is a single character.
    alone: bool,
    /// The pair at its start has been returned.
    paired: bool,
}

impl<'a> WordTokens<'a> {
    /// The tokens of a text in the current language of `stems`.
    pub(crate) fn new(text: &'a str, stems: &'a mut StemCache) -> Self {
        let token = Token::default();
        let (stem, lower) = (String::new(), String::new());
        Self { pieces: pieces(text), stems, position: 0, token, stem, run: WideRun::default(), lower }
    }

    fn set_span(&mut self, from: usize, len: usize, position: usize) {
        self.token.offset_from = from;
        self.token.offset_to = from + len;
        self.token.position = position;
    }

    /// The next token of a run: pairs of neighbours, and Chinese characters also alone.
    fn next_in_run(&mut self) -> bool {
        while let Some(first) = self.run.rest.chars().next() {
            let run = self.run;
            let second = run.rest[first.len_utf8()..].chars().next();
            if !run.paired {
                self.run.paired = true;
                if let Some(second) = second {
                    let len = first.len_utf8() + second.len_utf8();
                    fold(&run.rest[..len], &mut self.token.text);
                    self.set_span(run.from, len, self.position);
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
                self.set_span(run.from, len, position);
                return true;
            }
        }
        false
    }
}

impl TokenStream for WordTokens<'_> {
    fn advance(&mut self) -> bool {
        if !self.stem.is_empty() {
            std::mem::swap(&mut self.token.text, &mut self.stem);
            self.stem.clear();
            return true;
        }
        if self.next_in_run() {
            return true;
        }
        while let Some(piece) = self.pieces.next() {
            if piece.wide {
                let alone = piece.text.chars().nth(1).is_none();
                self.run = WideRun { rest: piece.text, from: piece.from, alone, paired: false };
                return self.next_in_run();
            }
            let position = self.position;
            self.position += 1;
            if piece.text.len() > MAX_WORD_CHARS && piece.text.chars().nth(MAX_WORD_CHARS).is_some() {
                continue;
            }
            lower(piece.text, &mut self.token.text);
            // ASCII text needs no folding.
            let lowered = if self.token.text.is_ascii() {
                &self.token.text
            } else {
                std::mem::swap(&mut self.lower, &mut self.token.text);
                fold(&self.lower, &mut self.token.text);
                &self.lower
            };
            if let Some(stem) = self.stems.stem(lowered) {
                self.stem.push(STEM_PREFIX);
                self.stem.push_str(stem);
            }
            self.set_span(piece.from, piece.text.len(), position);
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
        let mut words = WordTokenizer::default();
        let text = with_language_tag(Language::from_tag(language), text);
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
