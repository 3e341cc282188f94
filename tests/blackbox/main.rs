//! Black box: the real binary, started and stopped by the tests, seen only through what a user sees.
//! One file per subject; `server.rs` starts and kills servers, `http.rs` asks them.

mod clients;
mod command_line;
mod documents;
mod errors;
mod http;
mod keys;
mod kill;
mod limits;
mod research;
mod server;
mod shutdown;
mod team;
