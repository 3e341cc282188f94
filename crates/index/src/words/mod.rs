//! Tokenization: text is split into words, folded, and stemmed by its language.
//!
//! A text becomes tokens with positions. Every word yields itself, lower-cased and without accents; if its
//! stem differs, the stem is added with a mark in front, at the same position. So one field serves exact
//! words and all their forms, and exact words count more. Scripts without spaces yield overlapping pairs of
//! characters.

mod tokens;

pub(crate) use tokens::{TOKENIZER, WordTokenizer, WordTokens, with_language_tag};

/// Put in front of a stem; no word begins with it.
pub(crate) const STEM_PREFIX: char = '~';
/// Longer words are data: they take a position but are not indexed.
pub(crate) const MAX_WORD_CHARS: usize = 64;
