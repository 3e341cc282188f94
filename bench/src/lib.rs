//! What the benchmarks share: measuring, processes, connections, pages, a floor for parsing, and the task sites of the
//! agent. It prints nothing but the rows of [`timing::Figures`]; every benchmark is a module of the program.

pub mod connection;
pub mod pages;
pub mod plain_tree;
pub mod processes;
pub mod task_sites;
pub mod timing;
