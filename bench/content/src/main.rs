//! `gannet-bench-content PAGES.jsonl [ROUNDS]` or `gannet-bench-content SITE_DIR [ROUNDS]`
//!
//! Prints the CPU time per page of building html5ever's `RcDom` and of all our work (parse, main content,
//! markdown, metadata), with the parts, on the same pages in the same run: mean, p50, p95 and the ratio.
//! Pages are rows `{"url","html"}`, or the files a `urls.txt` in the folder names. Each figure is the
//! minimum of the rounds, page by page, so that other load on the machine has little effect.

use content::{ContentScope, Limits, Page, PageSource};
use html5ever::tendril::TendrilSink;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::{env, error, fs};
use url::Url;

#[derive(Deserialize)]
struct Row {
    url: String,
    html: String,
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut arguments = env::args().skip(1);
    let Some(path) = arguments.next() else {
        return Err("usage: gannet-bench-content PAGES.jsonl|SITE_DIR [ROUNDS]".into());
    };
    let rounds: usize = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let mut costs: Vec<[f64; 6]> = Vec::new();
    let mut bytes = 0;
    for_each_page(Path::new(&path), |row| {
        let url = Url::parse(&row.url).ok();
        let mut least = [f64::MAX; 6];
        for _ in 0..rounds {
            for (best, cost) in least.iter_mut().zip(measure(&row.html, url.as_ref())) {
                *best = best.min(cost);
            }
        }
        bytes += row.html.len();
        costs.push(least);
    })?;
    if costs.is_empty() {
        return Err("no pages".into());
    }
    println!(
        "{} pages, {:.1} KB on average, least of {rounds} rounds",
        costs.len(),
        mean_bytes(bytes, costs.len())
    );
    println!("{:<22} {:>9} {:>9} {:>9}", "CPU ms per page", "mean", "p50", "p95");
    let names = ["RcDom alone", "whole way", "  parse", "  main content", "  markdown", "  metadata"];
    for (at, name) in names.iter().enumerate() {
        let mut column: Vec<f64> = costs.iter().map(|cost| cost[at]).collect();
        column.sort_by(f64::total_cmp);
        let at = |share: usize| column[(column.len() * share / 100).min(column.len() - 1)];
        println!("{name:<22} {:>9.3} {:>9.3} {:>9.3}", mean(&column), at(50), at(95));
    }
    let total = |at: usize| costs.iter().map(|cost| cost[at]).sum::<f64>();
    println!("ratio of means: {:.2} × RcDom", total(1) / total(0));
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_bytes(bytes: usize, pages: usize) -> f64 {
    bytes as f64 / 1024.0 / pages as f64
}

/// CPU milliseconds of this thread.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// `RcDom` alone; everything; then its parts.
fn measure(html: &str, url: Option<&Url>) -> [f64; 6] {
    let start = cpu_ms();
    {
        let dom =
            html5ever::parse_document(markup5ever_rcdom::RcDom::default(), html5ever::ParseOpts::default())
                .from_utf8()
                .one(html.as_bytes());
        black_box(dom.document.children.borrow().len());
    }
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

/// Reads pages one at a time, so that a large set needs no memory.
fn for_each_page(path: &Path, mut visit: impl FnMut(&Row)) -> Result<(), Box<dyn error::Error>> {
    if path.is_dir() {
        for url in fs::read_to_string(path.join("urls.txt"))?.lines() {
            let file = url.splitn(4, '/').nth(3).unwrap_or_default();
            let file = if file.is_empty() || file.ends_with('/') {
                format!("{file}index.html")
            } else {
                file.to_owned()
            };
            visit(&Row { url: url.to_owned(), html: fs::read_to_string(path.join(file))? });
        }
        return Ok(());
    }
    for line in BufReader::new(fs::File::open(path)?).lines() {
        visit(&serde_json::from_str(&line?)?);
    }
    Ok(())
}
