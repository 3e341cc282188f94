//! Hostile and mutated files of every format: each ends in a document or an error, soon and in little memory, and what
//! comes out is well formed. One test, because it measures what the whole process uses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use gannet_documents::pdf::StopSignal;
use gannet_documents::{
    Document, DocumentError, FileHint, Markdown, MarkdownOptions, ParseOptions, parse, to_html, to_markdown,
    to_plain_text,
};
use rustix::time::{ClockId, clock_gettime};
use testkit::document_files::{SampleFile, hostile_files, mutated_files, valid_files};

/// What a caller would give; the parser of PDFs cannot be stopped inside of one page.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// CPU time of one file. Without optimisation everything takes many times as long.
const MAX_CPU: Duration = Duration::from_secs(if cfg!(debug_assertions) { 40 } else { 2 });
/// Files with all their text at one place: the parser of PDFs compares every piece with every other. Pages are cut
/// to 30,000 pieces before, and whoever reads files for others ends a process that takes too long.
const SLOW_FILES: [&str; 2] = ["content-bomb-of-text.pdf", "content-same-place.pdf"];
/// Of the whole test process, with all files in memory.
const MAX_MEMORY_KB: u64 = 1024 * 1024;

/// Every file, or without optimisation every so many, unless `GANNET_TEST_SOAK=1`.
fn files() -> Vec<SampleFile> {
    let is_long = !cfg!(debug_assertions) || std::env::var_os("GANNET_TEST_SOAK").is_some();
    let hostile = hostile_files();
    assert!(hostile.len() >= 100, "only {} hostile files", hostile.len());
    let (step, mutated) = if is_long { (1, 500) } else { (5, 100) };
    let hostile = hostile.into_iter().filter(|file| is_long || !SLOW_FILES.contains(&file.name.as_str()));
    hostile.step_by(step).chain(mutated_files(mutated)).collect()
}

#[test]
fn hostile_and_mutated_files_end_soon_and_in_little_memory() {
    for file in valid_files() {
        assert!(parse_file(&file).is_ok(), "{} is valid", file.name);
    }
    let files = files();
    let mut costs: Vec<(Duration, &str)> = Vec::new();
    for file in &files {
        let start = cpu_time();
        let result = catch_unwind(AssertUnwindSafe(|| parse_file(file)));
        costs.push((cpu_time().saturating_sub(start), &file.name));
        assert!(result.is_ok(), "{} makes the reader panic", file.name);
        if let Ok(Ok((document, markdown))) = result {
            check_document(&document, &markdown, &file.name);
        }
    }
    costs.sort();
    costs.reverse();
    let total: Duration = costs.iter().map(|(cost, _)| cost).sum();
    println!(
        "{} files in {total:?}; slowest: {:?}; {} KB of memory",
        files.len(),
        &costs[..6],
        peak_memory_kb()
    );
    let is_slow = |(cost, name): &&(Duration, &str)| *cost > MAX_CPU && !SLOW_FILES.contains(name);
    let slow: Vec<_> = costs.iter().filter(is_slow).collect();
    assert!(slow.is_empty(), "more than {MAX_CPU:?} of CPU time: {slow:?}");
    assert!(peak_memory_kb() <= MAX_MEMORY_KB, "{} KB of memory", peak_memory_kb());
}

fn parse_file(file: &SampleFile) -> Result<(Document, Markdown), DocumentError> {
    let hint = FileHint { name: Some(&file.name), content_type: None };
    let stop = StopSignal { deadline: Some(Instant::now() + TIME_LIMIT), flag: None };
    let document = parse(&file.bytes, hint, &ParseOptions { stop, ..ParseOptions::default() })?;
    let markdown = to_markdown(&document, MarkdownOptions { page_markers: true });
    Ok((document, markdown))
}

/// Every block's part of the markdown is its content, parts follow each other, and every box lies inside its page.
fn check_document(document: &Document, markdown: &Markdown, name: &str) {
    let mut rest = markdown.text.chars();
    let mut place = 0;
    for block in markdown.pages.iter().flat_map(|page| &page.blocks) {
        let Some((start, end)) = block.span else { continue };
        assert!(place <= start && start < end, "{name}: spans {place}, {start}, {end} are out of order");
        let part: String = rest.by_ref().skip(start - place).take(end - start).collect();
        assert!(part == block.content, "{name}: the span {start}..{end} is not its block");
        place = end;
    }
    for page in &document.pages {
        for bbox in page.blocks.iter().filter_map(|block| block.bbox) {
            let edges = [0.0, bbox.left, bbox.right, 1.0];
            assert!(edges.is_sorted(), "{name}: {bbox:?} leaves the page");
            let edges = [0.0, bbox.top, bbox.bottom, 1.0];
            assert!(edges.is_sorted(), "{name}: {bbox:?} leaves the page");
        }
    }
    let _ = (to_html(document).len(), to_plain_text(document).len());
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}
