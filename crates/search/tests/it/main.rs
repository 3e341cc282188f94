//! Providers against servers on loopback that speak as theirs do, and that fail as theirs might.

mod desk;
mod failures;
mod local;
mod server;
mod shapes;
