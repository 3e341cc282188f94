//! The local search index: pages that this server has scraped or imported, ranked for a query.
//!
//! The index is a cache of the store: pages arrive as a numbered feed, every commit records the number of the
//! last entry, and a folder that is lost or of another version is filled again from the feed. It knows
//! neither the store nor HTTP.
//!
//! [`Index`] is the entry point. A query is answered in three steps ([`search`]): parse it into words with
//! their forms, and filters; find the best few hundred documents by BM25F over all fields; rank these again
//! by signals that are costly to compute: word proximity, positions, freshness, inbound links, host.

// Scores are `f32` on purpose, and counts of documents and words are far below the limits of any type:
// checking each conversion would hide the arithmetic.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod error;
mod folder;
mod index;
mod limits;
mod options;
mod schema;
mod search;
mod types;
mod url_parts;
mod words;
mod writer;

pub use error::{IndexError, Result};
pub use folder::OpenState;
pub use index::{Index, Status};
pub use limits::{MAX_BODY_BYTES, MAX_URL_BYTES};
pub use options::Options;
pub use search::Weights;
pub use types::*;
pub use url_parts::address_number;
