//! The v2 contract as types: what callers send, what they get back, and how errors look.
//!
//! Nothing here does I/O or knows an HTTP library. Requests are what was *asked*: plain data, read by
//! [`read`]. What a request *means* (defaults filled in, conflicts refused) is decided in `engine`.

pub mod admin;
pub mod agent;
pub mod batch;
pub mod crawl;
pub mod drill;
pub mod error;
pub mod extract;
mod headers;
pub mod issue;
pub mod map;
pub mod read;
pub mod research;
pub mod scope;
pub mod scrape;
pub mod search;
pub mod search_collections;
pub mod team;
pub mod webhook;

pub use error::{ErrorBody, Kind, Retry, WireError};
pub use headers::SecretHeaders;
pub use issue::{Issue, Issues, PathPart};
pub use scope::Scope;

/// The name of the current agent generation, the only one with traces and snapshots.
pub const AGENT_GENERATION: &str = "Plunge 1";
