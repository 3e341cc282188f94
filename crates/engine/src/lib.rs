//! The capabilities, one module each, and what they share ([`services`]): who calls ([`callers`]), what the
//! caller's plan allows ([`plans`], [`limits`], [`credits`]), what pages are worked on with ([`cpu_pool`],
//! [`page_memory`]), and how accepted work is carried to its end ([`work`], [`janitor`]).
//!
//! Modules use each other in one direction only; `tools/crate-map` has the test.
//!
//! The HTTP server and the command line both enter here. This crate knows neither axum nor SQL.

pub mod agent;
pub mod allowed_urls;
pub mod attempts;
pub mod authorization;
pub mod callers;
mod compression;
pub mod cpu_pool;
pub mod crawl;
pub mod credits;
pub mod error;
pub mod extract;
pub mod files;
mod hashed_keys;
pub mod host_rules;
mod http_post;
mod idempotency;
pub mod interact;
pub mod janitor;
pub mod keyless;
pub mod keys;
pub mod limits;
pub mod map;
pub mod messages;
pub mod models;
pub mod monitor;
pub mod page_memory;
pub mod parse;
pub mod plans;
pub mod records;
pub mod registration;
pub mod research;
pub mod scrape;
pub mod search;
pub mod search_page;
pub mod services;
pub mod sign_ins;
pub mod storage;
mod stored_json;
pub mod teams;
pub mod time;
pub mod wall;
pub mod watchers;
pub mod webhooks;
pub mod work;

pub use callers::{Caller, Callers};
pub use error::{Error, from_store};
pub use limits::Limiter;
pub use plans::{Plan, Plans, RateGroup};
pub use services::Services;

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
