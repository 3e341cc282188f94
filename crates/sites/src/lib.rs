//! The decisions of crawls and maps that need no I/O: when two URLs are the same page, which URLs belong to
//! the job, which are crawler traps, what robots.txt and sitemaps say, which pages are near-duplicates, and
//! which match a search.
//!
//! Everything here is a pure function of its input: no I/O, no clock, no recursion over input, and a limit on
//! everything a site can make large. The caller fetches, keeps the ledger and passes the state of [`traps`]
//! back in.

pub mod fingerprint;
mod hash;
pub mod page_url;
pub mod public_suffix;
pub mod robots;
pub mod scope;
pub mod search_rank;
pub mod sitemap;
pub mod traps;

pub use fingerprint::Fingerprint;
pub use page_url::{PageUrl, UrlEquivalence, find_hash_route};
pub use robots::Robots;
pub use scope::{Decision, Discovery, Scope, ScopeRules, SkipReason};
pub use traps::{Trap, TrapState};

/// A hash of a text that never changes: it may be stored and compared by other processes.
pub fn stable_hash(text: &str) -> u64 {
    hash::Hash::new().text(text).value()
}
