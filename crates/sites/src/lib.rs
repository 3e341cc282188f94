//! What a crawl or a map decides without asking anybody: when two addresses are one page, which of them belong to
//! the job, which lead nowhere, what a site's robots rules and sitemaps say, which pages are alike, which fit a search.
//!
//! Everything here is a pure function of its input: no I/O, no clock, no recursion over input, and a bound on whatever
//! a site can make large. The caller fetches, keeps the ledger and hands the counters of [`traps`] back in.

pub mod address;
pub mod fingerprint;
mod hash;
pub mod rank;
pub mod robots;
pub mod scope;
pub mod sitemap;
pub mod traps;

pub use address::{Address, Sameness};
pub use fingerprint::Fingerprint;
pub use robots::Robots;
pub use scope::{Decision, Found, Reason, Rules, Scope};
pub use traps::{Trap, TrapState};

/// A number for a text that never changes: it may be stored, and compared by other processes.
pub fn hash_of(text: &str) -> u64 {
    hash::Hash::new().text(text).value()
}
