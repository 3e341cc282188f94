//! Prints the CPU time per PDF of a folder of our reader (blocks and markdown) and of the markdown that pdf-inspector,
//! which parses the file for both, writes by itself: mean, p50, p95, the slowest files and the ratio. Each figure is
//! the minimum of the rounds, file by file, so that other load on the machine has little effect.
//!
//! A line says what a file costs when a sandboxed process is started for each of them, as for the first file that
//! a server is given: its start, the work, and handing the answer over.

mod processes;

pub use processes::prepare_sandboxed;

use anyhow::{Result, ensure};
use documents::pdf::{PdfOptions, StopSignal, read_pdf};
use documents::{MarkdownOptions, to_markdown};
use gannet_bench::timing::{Figures, Stopwatch, print_heading};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

/// Files that are named because they cost most.
const SLOWEST_SHOWN: usize = 3;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A folder with PDF files.
    folder: PathBuf,
    #[arg(default_value_t = 5)]
    rounds: usize,
}

struct FileCost {
    name: String,
    pages: u32,
    /// CPU milliseconds.
    ours: f64,
    library: f64,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let rounds = arguments.rounds.max(1);
    let paths = pdf_files(&arguments.folder)?;
    let mut costs = paths.iter().map(|path| measure_file(path, rounds)).collect::<Result<Vec<_>>>()?;
    ensure!(!costs.is_empty(), "no PDF files");
    let pages: u32 = costs.iter().map(|cost| cost.pages).sum();
    println!("{} files of {pages} pages, least of {rounds} rounds", costs.len());
    print_heading("CPU ms per file", 30);
    let ours: Figures = costs.iter().map(|cost| cost.ours).collect();
    let library: Figures = costs.iter().map(|cost| cost.library).collect();
    ours.print_row("blocks and markdown", 30, 2);
    library.print_row("pdf-inspector's markdown", 30, 2);
    println!("{:<30} {:>9.2}", "in a process, with its start", processes::measure(&paths, rounds)?);
    println!("ratio of means: {:.2} × pdf-inspector", ours.mean() / library.mean());
    costs.sort_by(|one, other| other.ours.total_cmp(&one.ours));
    for FileCost { name, pages, ours, library } in costs.iter().take(SLOWEST_SHOWN) {
        println!("  {name}: {pages} pages, {ours:.1} ms, pdf-inspector {library:.1} ms");
    }
    Ok(())
}

fn pdf_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")));
    paths.sort();
    Ok(paths)
}

fn measure_file(path: &Path, rounds: usize) -> Result<FileCost> {
    let bytes = fs::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut cost = FileCost { name, pages: 0, ours: f64::MAX, library: f64::MAX };
    for _ in 0..rounds {
        let watch = Stopwatch::for_process();
        let content = read_pdf(&bytes, &PdfOptions::default(), &StopSignal::default())?;
        black_box(to_markdown(&content.document, MarkdownOptions::default()).text.len());
        cost.ours = cost.ours.min(watch.cost().cpu);
        cost.pages = content.document.total_pages;
        let watch = Stopwatch::for_process();
        black_box(pdf_inspector::process_pdf_mem(&bytes)?.markdown.map_or(0, |text| text.len()));
        cost.library = cost.library.min(watch.cost().cpu);
    }
    Ok(cost)
}
