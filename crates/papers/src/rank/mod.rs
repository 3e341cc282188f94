//! Related papers: a pool of candidates around seeds, ranked by how they relate to the seeds *and* to what they are wanted
//! for. Reads an [`Index`](crate::Index), holds no state, and does the same work for the same question every time.

mod accumulator;
mod features;
// Written by a program, and left as it wrote it.
#[rustfmt::skip]
mod learnt;
#[rustfmt::skip]
mod learnt_model;
mod lexical;
mod passages;
mod search;
mod second;
mod similar;
mod structure;
mod weights;

pub use features::{COUNT as FEATURE_COUNT, FEATURES};
pub use learnt::{FIRST, RERANK, SECOND};
pub use learnt_model::MODEL;
pub use passages::Passage;
pub use search::SearchQuery;
pub use second::{MEANING, READING, SECOND_COUNT, SECOND_FEATURES};
pub use similar::{Filter, Mode, Pooled, Ranked, Signals, SimilarAnswer, SimilarQuery};
pub use weights::{Blend, Weights};
