//! Words made comparable: text cut into words, folded, stemmed by its language.
//!
//! A text becomes tokens with positions. Every word gives itself, in small letters and without accents; where its stem is another
//! word it gives that too, marked, at the same position. So one field answers for exact words and for all their forms, and exact
//! words weigh more. Scripts that write words together give overlapping pairs of characters.

mod fold;
mod language;
mod pieces;
mod tokens;

pub(crate) use fold::{fold, lower};
pub(crate) use language::{Language, Stems, languages};
pub(crate) use pieces::{is_han, is_wide, pieces};
pub(crate) use tokens::{TOKENIZER, Tokens, Words, tagged};

/// Stands before a stem; no word begins with it.
pub(crate) const STEM: char = '~';
/// Longest word in characters; longer ones are data and only keep their place.
pub(crate) const LONGEST_WORD: usize = 64;
