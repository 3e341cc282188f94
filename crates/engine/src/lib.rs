//! The capabilities, one module each, and what they share ([`services`]): what pages are worked on with
//! ([`cpu_pool`], [`page_memory`]), language models ([`models`]), stored files ([`files`]), and what is ended
//! and deleted by time ([`janitor`]). Who calls and what they may is decided in the crate `access`; accepted
//! work is carried to its end by the lease worker of `work`, and what it has to tell is sent by `outbox`.
//!
//! Modules use each other in one direction only; `tools/crate-map` has the test.
//!
//! The HTTP server and the command line both enter here. This crate knows neither axum nor SQL.

pub mod agent;
pub mod allowed_urls;
pub mod cpu_pool;
pub mod crawl;
pub mod error;
pub mod extract;
pub mod files;
pub mod host_rules;
pub mod interact;
pub mod janitor;
pub mod map;
pub mod models;
pub mod monitor;
pub mod page_memory;
pub mod parse;
pub mod records;
pub mod research;
mod robots_cache;
pub mod scrape;
pub mod search;
pub mod services;
pub mod storage;
pub mod teams;
pub mod wall;
pub mod watchers;

pub use error::{Error, from_store};
pub use services::Services;
