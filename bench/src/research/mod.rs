//! The research index: ranking quality, learnt weights, latency and import speed. A PACK is a folder with a judged
//! collection of papers.

// Statistics over counts that are far from the limits of any type.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap
)]

mod collection;
mod encoding;
mod generated_corpus;
mod generated_queries;
mod judged_collection;
mod latency;
mod measure;
mod quality;
mod rankings;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Subcommand;
use collection::ModelVectors;
use gannet_bench::processes::print_own_memory;
use gannet_bench::timing::process_cpu;
use papers::{BuildOptions, Library, PaperSource};

#[derive(Debug, Subcommand)]
pub enum Command {
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
        /// Folder of the ranker (`crates/papers/src/weights`), to which the weights are written as source files;
        /// those of the ranker with a model only when a model is given.
        #[arg(long)]
        weights: Option<PathBuf>,
        /// Strength of the regularisation towards the weights learnt from generated queries.
        #[arg(long, default_value_t = 50.0)]
        pull: f64,
        #[command(flatten)]
        meaning: ModelFiles,
    },
    /// Ranks the queries by the compiled-in weights.
    Rank {
        pack: PathBuf,
        ranked: PathBuf,
        #[arg(long)]
        rerank: bool,
        /// Learn the collection's weights at import, instead of those that are compiled in.
        #[arg(long)]
        learn: bool,
        #[command(flatten)]
        meaning: ModelFiles,
    },
    /// Ranks the queries through a running server that has the collection.
    Endpoint {
        pack: PathBuf,
        #[command(flatten)]
        server: latency::Server,
        ranked: PathBuf,
        #[arg(long)]
        rerank: bool,
    },
    /// Writes a generated corpus.
    Generate {
        works: u64,
        out: PathBuf,
        #[arg(long, default_value_t = 10)]
        references: u64,
        /// Words of an abstract.
        #[arg(long, default_value_t = 60)]
        words: u64,
        /// Bytes of each record that no importer needs.
        #[arg(long, default_value_t = 2_000)]
        ballast: usize,
    },
    /// Imports a file into a library and prints how fast it was.
    Import { source: String, file: PathBuf, library: PathBuf },
    /// Response times of a running server, including the most cited papers.
    Http {
        /// The library that the server serves.
        library: PathBuf,
        #[command(flatten)]
        server: latency::Server,
        #[arg(long, default_value_t = 1_000)]
        questions: usize,
        #[arg(long)]
        rerank: bool,
    },
    /// Processor time of encoding texts.
    Encode {
        pack: PathBuf,
        /// Folder of the model.
        model: PathBuf,
        #[arg(default_value_t = 200)]
        works: usize,
    },
    /// Sizes of an index, and response times.
    Latency {
        library: PathBuf,
        #[arg(long, default_value_t = 2_000)]
        questions: usize,
        #[arg(long)]
        rerank: bool,
    },
}

/// What a model adds: vectors that `gannet research vectors` made of the collection, and the model that made
/// them.
#[derive(Debug, clap::Args)]
pub struct ModelFiles {
    #[arg(long, requires = "model")]
    vectors: Option<PathBuf>,
    /// Folder of the model.
    #[arg(long, requires = "vectors")]
    model: Option<PathBuf>,
}

impl ModelFiles {
    fn open(&self) -> Result<Option<ModelVectors>> {
        self.vectors
            .as_ref()
            .zip(self.model.as_ref())
            .map(|(vectors, model)| ModelVectors::open(vectors, model))
            .transpose()
    }
}

pub fn run(command: Command) -> Result<()> {
    match command {
        Command::Convert { pack, out, shared_only } => {
            let mut out = zstd::Encoder::new(BufWriter::new(File::create(out)?), 19)?;
            out.long_distance_matching(true)?;
            judged_collection::JudgedCollection::read_folder(&pack)?.to_jsonl(
                judged_collection::Graph::Whole,
                shared_only,
                &mut out,
            )?;
            out.finish()?;
            Ok(())
        }
        Command::Learn { pack, ranked, weights, pull, meaning } => {
            quality::learn(&pack, &quality::OutputPaths { ranked, weights }, pull, meaning.open()?.as_ref())
        }
        Command::Rank { pack, ranked, rerank, learn, meaning } => {
            rankings::rank(&pack, &ranked, (rerank, learn), meaning.open()?.as_ref())
        }
        Command::Endpoint { pack, server, ranked, rerank } => {
            rankings::endpoint(&pack, &server, &ranked, rerank)
        }
        Command::Generate { works, out, references, words, ballast } => {
            let mut out = BufWriter::with_capacity(1 << 20, File::create(out)?);
            generated_corpus::write(generated_corpus::Shape { works, references, words, ballast }, &mut out)?;
            Ok(out.flush()?)
        }
        Command::Encode { pack, model, works } => encoding::report(&pack, &model, works),
        Command::Import { source, file, library } => import(&source, &file, &library),
        Command::Http { library, server, questions, rerank } => {
            latency::through_http(&library, &server, questions, rerank)
        }
        Command::Latency { library, questions, rerank } => latency::in_process(&library, questions, rerank),
    }
}

fn import(source: &str, file: &Path, library: &Path) -> Result<()> {
    let source = PaperSource::from_name(source).context("a source")?;
    let library = Library::open(library)?;
    let started = Instant::now();
    let facts =
        library.import(source, &[file.to_owned()], &BuildOptions::default(), &|stage, done, total| {
            println!("{:7.1} s  {stage} {done}/{total}", started.elapsed().as_secs_f64());
        })?;
    let seconds = started.elapsed().as_secs_f64();
    let bytes: u64 = library.status()?.imports.iter().map(|(_, _, bytes)| bytes).sum();
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{} works, {} edges, {megabytes:.0} MB in {seconds:.1} s: {:.1} MB/s",
        facts.works,
        facts.edges,
        megabytes / seconds
    );
    let cpu = process_cpu().as_secs_f64();
    println!("{cpu:.1} s of processor time: {:.1} MB for each", megabytes / cpu);
    print_own_memory(&["VmHWM", "RssAnon"]);
    Ok(())
}
