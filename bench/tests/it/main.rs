//! Floors of the benchmarks that are checked in every run of the tests.

mod agent_floor;
mod plain_tree;
