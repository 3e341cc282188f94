//! The local search index: quality on real pages compared with plain tantivy, speed and size with generated documents.
//! Pages have one JSON object with `url` and `html` in each line, plain or compressed (`.zst`).

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
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Command {
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

pub fn run(command: Command) -> Result<()> {
    match command {
        Command::Quality { pages } => quality::report(&pages::read_pages(&pages)?),
        Command::Read { pages, out } => pages::write(&pages::read_pages(&pages)?, &out),
        Command::Misses { pages, rule } => quality::misses(&pages::read_pages(&pages)?, &rule),
        Command::Learn { pages } => learn::learn(&pages::read_pages(&pages)?),
        Command::Speed { pages, documents } => speed::report(&pages::read_pages(&pages)?, documents),
        Command::Sites { index, questions, all } => sites::report(&index, &questions, all),
        Command::Tune { index, questions } => sites::tune(&index, &questions),
    }
}
