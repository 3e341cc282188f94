//! The commands, one file each.

pub mod agent;
mod api;
pub mod banner;
pub mod batch;
pub mod browser;
pub mod crawl;
pub mod doctor;
mod file_change;
pub mod index;
pub mod keys;
mod local_crawl;
pub mod map;
pub mod mcp;
mod mcp_install;
pub mod migrate;
pub mod models;
pub mod monitor;
pub mod openapi;
pub mod parse;
pub mod research;
pub mod scrape;
pub mod search;
pub mod secrets;
pub mod serve;
mod server_process;
pub mod skills;
pub mod web_bot_auth;
