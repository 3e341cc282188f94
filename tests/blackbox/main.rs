//! Black box: the real binary, started and stopped by the tests, seen only through what a user sees.
//! One file per subject; `server.rs` starts and kills servers, `http.rs` asks them, `site.rs` is a web to scrape.

mod agent;
mod browser;
mod cache;
mod clients;
mod command_line;
mod crawl;
mod documents;
mod errors;
mod extract;
mod hostile;
mod http;
mod index;
mod keys;
mod kill;
mod limits;
mod log;
mod map;
mod maze;
mod mixed_soak;
mod models;
mod processes;
mod proxy;
mod research;
mod scrape;
mod search;
mod security;
mod server;
mod shutdown;
mod site;
mod soak;
mod ssrf;
mod stand;
mod team;
mod upgrade;
mod webhooks;
