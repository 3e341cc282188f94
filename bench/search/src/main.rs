//! Benchmarks of the local search index.
//!
//! ```text
//! gannet-bench-search quality PAGES      MRR and recall against plain tantivy, with and without URLs
//! gannet-bench-search read PAGES OUT     parsed pages, for the other commands instead of PAGES
//! gannet-bench-search misses PAGES RULE  queries whose page does not come first
//! gannet-bench-search learn PAGES        weights, learnt on the queries that quality does not report
//! gannet-bench-search speed PAGES [N]    indexing, size and latency with N generated documents
//! gannet-bench-search sites INDEX QUESTIONS   natural questions over an index that the product filled
//! gannet-bench-search tune INDEX QUESTIONS    weights, learnt on every other question
//! ```
//! `PAGES` has one JSON object with `url` and `html` in each line, plain or compressed (`.zst`).

// Statistics over counts that are far from the limits of any type.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod generated;
mod learn;
mod pages;
mod plain_tantivy;
mod quality;
mod rules;
mod sites;
mod speed;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// The allocator of the service, so that the measurement matches it.
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
    /// Retrieval quality compared with plain tantivy.
    Quality { pages: PathBuf },
    /// Reads pages once, for the other commands.
    Read { pages: PathBuf, out: PathBuf },
    /// Queries of a rule, of the learning half, whose page does not come first, and what does.
    Misses { pages: PathBuf, rule: String },
    /// Learns weights on half of the queries.
    Learn { pages: PathBuf },
    /// Speed and size with generated documents.
    Speed {
        pages: PathBuf,
        #[arg(default_value_t = 100_000)]
        documents: usize,
    },
    /// Natural questions over an index that the product filled, against plain BM25 over the same documents.
    Sites {
        index: PathBuf,
        questions: PathBuf,
        /// Print the rank of every question.
        #[arg(long)]
        all: bool,
    },
    /// Learns weights on every other question.
    Tune { index: PathBuf, questions: PathBuf },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Quality { pages } => quality::report(&pages::read_pages(&pages)?),
        Command::Read { pages, out } => pages::write(&pages::read_pages(&pages)?, &out),
        Command::Misses { pages, rule } => quality::misses(&pages::read_pages(&pages)?, &rule),
        Command::Learn { pages } => learn::learn(&pages::read_pages(&pages)?),
        Command::Speed { pages, documents } => speed::report(&pages::read_pages(&pages)?, documents),
        Command::Sites { index, questions, all } => sites::report(&index, &questions, all),
        Command::Tune { index, questions } => sites::tune(&index, &questions),
    }
}
