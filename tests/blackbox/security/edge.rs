//! The HTTP server and the command line: slow readers, foreign web pages, keys in logs, locks, private files.

mod bodies;
mod commands;
mod connections;
mod data_folder;
mod imports;
mod requests;
mod responses;

use crate::server::{ServerConfig, run};

/// The config with a setting, if the version under test knows it. An older version, which is expected to fail
/// the test, would otherwise refuse to start.
fn set_if_known(config: ServerConfig, name: &str, value: &str) -> ServerConfig {
    let (_, listed, _) = run(config.command(&["doctor"]));
    if listed.contains(name) { config.set(name, value) } else { config }
}
