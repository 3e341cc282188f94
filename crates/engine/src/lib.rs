//! The capabilities, one module each, and what they share: who calls ([`callers`]), what the caller's
//! plan allows ([`plans`], [`limits`], [`credits`]), and how accepted work is carried
//! to its end ([`work`], [`janitor`]).
//!
//! The HTTP server and the command line both enter here. This crate knows neither axum nor SQL.

pub mod agent;
pub mod callers;
pub mod crawl;
pub mod credits;
pub mod derived;
pub mod error;
pub mod extract;
pub mod files;
mod idempotency;
pub mod janitor;
pub mod keys;
pub mod limits;
pub mod map;
pub mod models;
pub mod plans;
pub mod research;
pub mod scrape;
pub mod search;
pub mod storage;
pub mod time;
pub mod webhooks;
pub mod work;

pub use callers::{Caller, Callers};
pub use error::{Error, from_store};
pub use limits::Limiter;
pub use plans::{Plan, Plans, RateGroup};

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
