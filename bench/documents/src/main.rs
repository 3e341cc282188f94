//! `gannet-bench-documents FOLDER [ROUNDS]`
//!
//! Prints the CPU time per PDF of the folder of our reader (blocks and markdown) and of the markdown that pdf-inspector,
//! which parses the file for both, writes by itself: mean, p50, p95, the slowest files and the ratio. Each figure is
//! the minimum of the rounds, file by file, so that other load on the machine has little effect.
//!
//! A last line says what a file costs when a sandboxed process is started for each of them, as for the first file that
//! a server is given: its start, the work, and handing the answer over.

mod processes;

use documents::pdf::{PdfOptions, StopSignal, read_pdf};
use documents::{MarkdownOptions, to_markdown};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, error, fs};

/// As in `gannet`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files that are named because they cost most.
const SLOWEST_SHOWN: usize = 3;

struct FileCost {
    name: String,
    pages: u32,
    /// CPU milliseconds.
    ours: f64,
    library: f64,
}

fn main() -> ExitCode {
    // The sandboxed processes are this program too.
    if let Some(code) = sandbox::run_if_sandboxed(processes::prepare) {
        return code;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn error::Error>> {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next() else {
        return Err("usage: gannet-bench-documents FOLDER [ROUNDS]".into());
    };
    let rounds: usize = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let paths = pdf_files(Path::new(&folder))?;
    let mut costs = Vec::new();
    for path in &paths {
        costs.push(measure_file(path, rounds)?);
    }
    if costs.is_empty() {
        return Err("no PDF files".into());
    }
    let pages: u32 = costs.iter().map(|cost| cost.pages).sum();
    println!("{} files of {pages} pages, least of {rounds} rounds", costs.len());
    println!("{:<30} {:>9} {:>9} {:>9}", "CPU ms per file", "mean", "p50", "p95");
    print_row("blocks and markdown", costs.iter().map(|cost| cost.ours).collect());
    print_row("pdf-inspector's markdown", costs.iter().map(|cost| cost.library).collect());
    let ours: f64 = costs.iter().map(|cost| cost.ours).sum();
    let library: f64 = costs.iter().map(|cost| cost.library).sum();
    let with_start = processes::measure(&paths, rounds)?;
    println!("{:<30} {with_start:>9.2}", "in a process, with its start");
    println!("ratio of means: {:.2} × pdf-inspector", ours / library);
    costs.sort_by(|a, b| b.ours.total_cmp(&a.ours));
    for FileCost { name, pages, ours, library } in costs.iter().take(SLOWEST_SHOWN) {
        println!("  {name}: {pages} pages, {ours:.1} ms, pdf-inspector {library:.1} ms");
    }
    Ok(())
}

fn print_row(name: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let at = |share: usize| values[(values.len() * share / 100).min(values.len() - 1)];
    println!("{name:<30} {mean:>9.2} {:>9.2} {:>9.2}", at(50), at(95));
}

fn pdf_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn error::Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn measure_file(path: &Path, rounds: usize) -> Result<FileCost, Box<dyn error::Error>> {
    let bytes = fs::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut cost = FileCost { name, pages: 0, ours: f64::MAX, library: f64::MAX };
    for _ in 0..rounds.max(1) {
        let start = cpu_ms();
        let read = read_pdf(&bytes, &PdfOptions::default(), &StopSignal::default())?;
        black_box(to_markdown(&read.document, MarkdownOptions::default()).text.len());
        cost.ours = cost.ours.min(cpu_ms() - start);
        cost.pages = read.document.total_pages;
        let start = cpu_ms();
        black_box(pdf_inspector::process_pdf_mem(&bytes)?.markdown.map_or(0, |text| text.len()));
        cost.library = cost.library.min(cpu_ms() - start);
    }
    Ok(cost)
}

/// CPU milliseconds of this process, whatever thread it spends them on.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
