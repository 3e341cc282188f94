//! What is done with text alone: no pages, no markup trees, no I/O.
//!
//! The tools: [`pieces`] (words of any script), [`names`] (words of `camelCase` names), [`fold`] (case and
//! accents), [`language`], [`stem`], [`stop_words`], [`sentences`]. What is made of them for callers:
//! [`highlights`], [`diff`], [`redact`].
//!
//! Callers whose words are stored (the two indexes) or trained on depend on every detail here: a change of a
//! rule changes what they find, so rules that differ have names of their own.

pub mod diff;
pub mod fold;
pub mod highlights;
pub mod language;
pub mod names;
pub mod pieces;
pub mod redact;
pub mod sentences;
pub mod stem;
pub mod stop_words;

pub use fold::{fold, lower};
pub use language::Language;
pub use pieces::{is_han, is_wide, pieces};
