//! Benchmarks of the local search index.
//!
//! ```text
//! gannet-bench-search quality PAGES      MRR and recall beside plain tantivy, by several rules, with and without addresses
//! gannet-bench-search read PAGES OUT     pages as they are read, to be given to the others instead of PAGES
//! gannet-bench-search misses PAGES RULE  queries whose page does not come first
//! gannet-bench-search learn PAGES        weights, learnt on the half of the queries that quality does not report
//! gannet-bench-search speed PAGES [N]    indexing, size and latency with N documents of words as frequent as in the pages
//! ```
//! `PAGES` has one JSON object with `url` and `html` in each line, plain or compressed (`.zst`).

// Statistics over counts that are far from the limits of any type.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod learn;
mod made_up;
mod pages;
mod plain;
mod quality;
mod rules;
mod speed;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// The allocator of the service: what is measured here is what it does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(about = "Benchmarks of the local search index")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Retrieval quality beside plain tantivy.
    Quality { pages: PathBuf },
    /// Reads pages once, for the other commands.
    Read { pages: PathBuf, out: PathBuf },
    /// Queries of a rule, of the learning half, whose page does not come first, and what does.
    Misses { pages: PathBuf, rule: String },
    /// Learns weights on half of the queries.
    Learn { pages: PathBuf },
    /// Speed and size with made-up documents.
    Speed {
        pages: PathBuf,
        #[arg(default_value_t = 100_000)]
        documents: usize,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Quality { pages } => quality::report(&pages::read(&pages)?),
        Command::Read { pages, out } => pages::write(&pages::read(&pages)?, &out),
        Command::Misses { pages, rule } => quality::misses(&pages::read(&pages)?, &rule),
        Command::Learn { pages } => learn::learn(&pages::read(&pages)?),
        Command::Speed { pages, documents } => speed::report(&pages::read(&pages)?, documents),
    }
}
