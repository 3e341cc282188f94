//! Prints the CPU time per page of building a plain tree with html5ever and of all our work (parse, main content,
//! markdown, metadata), with the parts, on the same pages in the same run: mean, p50, p95 and the ratio.
//! Each figure is the minimum of the rounds, page by page, so that other load on the machine has little effect.

use anyhow::{Result, ensure};
use content::{ContentScope, Limits, Page, PageSource};
use gannet_bench::timing::{Figures, milliseconds, print_heading, thread_cpu};
use gannet_bench::{pages, plain_tree};
use std::hint::black_box;
use std::path::PathBuf;
use url::Url;

const NAMES: [&str; 6] =
    ["plain tree alone", "whole way", "  parse", "  main content", "  markdown", "  metadata"];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Rows `{"url","html"}`, or a folder with the files that its `urls.txt` names.
    pages: PathBuf,
    #[arg(default_value_t = 3)]
    rounds: usize,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let (mut costs, mut bytes) = (Vec::new(), 0);
    pages::for_each_page(&arguments.pages, |page| {
        let url = Url::parse(&page.url).ok();
        let mut least = [f64::MAX; NAMES.len()];
        for _ in 0..arguments.rounds {
            for (best, cost) in least.iter_mut().zip(measure(&page.html, url.as_ref())) {
                *best = best.min(cost);
            }
        }
        bytes += page.html.len();
        costs.push(least);
    })?;
    ensure!(!costs.is_empty(), "no pages");
    let kilobytes = bytes as f64 / 1024.0 / costs.len() as f64;
    println!("{} pages, {kilobytes:.1} KB on average, least of {} rounds", costs.len(), arguments.rounds);
    print_heading("CPU ms per page", 22);
    let columns: Vec<Figures> =
        (0..NAMES.len()).map(|at| costs.iter().map(|cost| cost[at]).collect()).collect();
    for (name, column) in NAMES.iter().zip(&columns) {
        column.print_row(name, 22, 3);
    }
    println!("ratio of means: {:.2} × the plain tree", columns[1].mean() / columns[0].mean());
    Ok(())
}

/// CPU milliseconds of the tree alone; of everything; then of its parts.
fn measure(html: &str, url: Option<&Url>) -> [f64; NAMES.len()] {
    let cpu_ms = || milliseconds(thread_cpu());
    let start = cpu_ms();
    black_box(plain_tree::parse(html.as_bytes()).children.borrow().len());
    let tree = cpu_ms() - start;
    let start = cpu_ms();
    let source = PageSource {
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url,
        status: Some(200),
    };
    let page = Page::parse(&source, &Limits::default());
    let parsed = cpu_ms();
    let selection = page.select(&ContentScope::default());
    let selected = cpu_ms();
    if let Ok(selection) = &selection {
        black_box(page.markdown(selection, true).len());
    }
    let written = cpu_ms();
    black_box(page.metadata().tags.len());
    let described = cpu_ms();
    drop((page, selection));
    let end = cpu_ms();
    [tree, end - start, parsed - start, selected - parsed, written - selected, described - written]
}
