//! The local search index: what a server has seen or been given, ranked for a query.
//!
//! The index is a cache of what the store keeps: pages come in as a numbered feed, the number of the last one is part of every
//! commit, and a folder that is lost or of another version is filled again from the feed. It knows neither the store nor HTTP.

mod parts;

pub use parts::*;
