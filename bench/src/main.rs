//! The benchmarks of Gannet, each a sub-command: `gannet-bench NAME …`. Figures are printed as ratios against a named
//! floor; what they share is in the library beside this program.

mod agent;
mod content;
mod documents;
mod fidelity;
mod http;
mod monitor;
mod net;
mod research;
mod scrape;
mod search;
mod store;

use anyhow::Result;
use clap::Parser;
use std::process::ExitCode;

/// The allocator of the service, so that measurements match it; floors in this program have it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "gannet-bench", about = "Speed and quality, each as a ratio against a named floor")]
enum Benchmark {
    /// The built-in agent over task sites: correct fields, and values that are found in their sources.
    Agent(agent::Arguments),
    /// CPU time of reading pages, compared with building their trees alone.
    Content(content::Arguments),
    /// CPU time of reading PDFs, compared with the library that parses them.
    Documents(documents::Arguments),
    /// Compares the markdown of HTML files with the files: code, titles, table cells and lists.
    Fidelity(fidelity::Arguments),
    /// Start, idle memory, and an authenticated request compared with a bare axum handler.
    Http(http::Arguments),
    /// Changes of real pages told from noise: timelines with labels, and two releases of documentation.
    #[command(subcommand)]
    Monitor(monitor::Command),
    /// A fetch compared with a blocking loop over one kept connection.
    Net(net::Arguments),
    /// The research index: ranking quality, learnt weights, latency and import speed.
    #[command(subcommand)]
    Research(research::Command),
    /// A scrape through the API, compared with fetching the page and building its tree alone.
    Scrape(scrape::Arguments),
    /// The local search index, compared with plain tantivy.
    #[command(subcommand)]
    Search(search::Command),
    /// CPU time of a store; see `bench/store/README.md`. Use an empty database.
    #[command(subcommand)]
    Store(store::Command),
}

fn main() -> Result<ExitCode> {
    // The sandboxed processes that read documents are this program too.
    if let Some(code) = sandbox::run_if_sandboxed(documents::prepare_sandboxed) {
        return Ok(code);
    }
    match Benchmark::parse() {
        Benchmark::Agent(arguments) => agent::run(&arguments)?,
        Benchmark::Content(arguments) => content::run(&arguments)?,
        Benchmark::Documents(arguments) => documents::run(&arguments)?,
        Benchmark::Fidelity(arguments) => fidelity::run(&arguments)?,
        Benchmark::Http(arguments) => http::run(&arguments)?,
        Benchmark::Monitor(command) => monitor::run(&command)?,
        Benchmark::Net(arguments) => net::run(&arguments)?,
        Benchmark::Research(command) => research::run(command)?,
        Benchmark::Scrape(arguments) => scrape::run(&arguments)?,
        Benchmark::Search(command) => search::run(command)?,
        Benchmark::Store(command) => store::run(&command)?,
    }
    Ok(ExitCode::SUCCESS)
}
