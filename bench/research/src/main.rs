//! Benchmarks of the research index.
//!
//! ```text
//! research-bench convert PACK OUT.jsonl.gz        the judged collection in the plain form
//! research-bench learn PACK                       5-fold quality, and weights learnt from all queries
//! research-bench rank PACK RANKED.jsonl           rankings by the weights that are compiled in
//! ```

mod learn;
mod measure;
mod pack;
mod quality;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use flate2::Compression;
use flate2::write::GzEncoder;

#[derive(Debug, Parser)]
#[command(about = "Benchmarks of the research index")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes the judged collection in the plain form.
    Convert {
        pack: PathBuf,
        out: PathBuf,
        /// Leave out works without text that are cited once.
        #[arg(long)]
        shared_only: bool,
    },
    /// Learns weights: quality in five folds, then weights from all queries.
    Learn {
        pack: PathBuf,
        /// Where to write the rankings of the folds.
        #[arg(long)]
        ranked: Option<PathBuf>,
        /// Strength of the pull towards zero.
        #[arg(long, default_value_t = 1.0)]
        pull: f64,
    },
    /// Ranks the queries by the weights that are compiled in.
    Rank {
        pack: PathBuf,
        ranked: PathBuf,
        #[arg(long)]
        rerank: bool,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Convert { pack, out, shared_only } => {
            let mut out = GzEncoder::new(BufWriter::new(File::create(out)?), Compression::best());
            pack::Pack::read(&pack)?.to_jsonl(pack::Graph::Whole, shared_only, &mut out)?;
            out.finish()?;
            Ok(())
        }
        Command::Learn { pack, ranked, pull } => quality::learn(&pack, ranked.as_deref(), pull),
        Command::Rank { pack, ranked, rerank } => quality::rank(&pack, &ranked, rerank),
    }
}
