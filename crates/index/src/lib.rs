//! The local search index: what a server has seen or been given, ranked for a query.
//!
//! The index is a cache of what the store keeps: pages come in as a numbered feed, the number of the last one is part of every
//! commit, and a folder that is lost or of another version is filled again from the feed. It knows neither the store nor HTTP.
//!
//! [`Index`] is the front door. A query is taken in three steps: words with their forms, filters apart ([`search`]); the best few
//! hundred documents by BM25F over all fields; then those by what only a closer look tells: words side by side, where they stand,
//! how fresh, how linked to, from which host.

// Scores are `f32` on purpose, and counts of documents and words are far from the limits of any type: checking each conversion again
// would hide the arithmetic.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod bounded;
mod error;
mod folder;
mod index;
mod parts;
mod place;
mod schema;
mod search;
mod words;
mod writer;

pub use bounded::{LONGEST_BODY, LONGEST_URL};
pub use error::{Error, Result};
pub use folder::Opened;
pub use index::{Index, Options, Status};
pub use parts::*;
pub use place::address_number;
pub use search::Weights;
