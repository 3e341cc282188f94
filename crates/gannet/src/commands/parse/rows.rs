//! Rows of HTML pages, on every core: `{"id","url","html"}` in, `{"id","ms","markdown","title","verdict"}` out. The
//! pages are somebody's data set; they are converted in this process, as the service converts web pages.

use super::html::content_scope;
use super::is_standard_input;
use crate::output::{self, shows_progress};
use anyhow::{Context, Result, bail};
use content::{Limits, Page, PageSource};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use url::Url;

/// Larger rows are rejected.
const MAX_ROW_BYTES: u64 = 256 << 20;

#[derive(Deserialize)]
struct HtmlRow {
    id: Value,
    url: Option<String>,
    html: String,
}

/// Converts the rows of a file or of standard input.
pub fn convert_rows(file: &Path, whole: bool) -> Result<ExitCode> {
    let input: Box<dyn Read + Send> = if is_standard_input(file) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot open {}", file.display()))?)
    };
    convert_all(BufReader::with_capacity(1 << 20, input), whole)
}

/// Converts rows on all cores. Rows are written as they are finished; their ids identify them.
fn convert_all(input: impl BufRead + Send, whole: bool) -> Result<ExitCode> {
    let input = Mutex::new(input);
    let rows = Mutex::new(RowWriter::new());
    let failure = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let step = next_row(&input).and_then(|line| match line {
                        Some(line) => {
                            let answer = convert_row(&line, whole)?;
                            rows.lock().write(&answer)?;
                            Ok(true)
                        }
                        None => Ok(false),
                    });
                    match step {
                        Ok(true) => {}
                        Ok(false) => return,
                        Err(error) => {
                            *failure.lock() = Some(error);
                            return;
                        }
                    }
                    if failure.lock().is_some() {
                        return;
                    }
                }
            });
        }
    });
    let written = rows.into_inner().finish();
    let failed = failure.into_inner();
    match failed.or_else(|| written.err()) {
        // Nobody reads the rest.
        Some(error) if error.downcast_ref().is_some_and(output::is_closed_pipe) => Ok(ExitCode::SUCCESS),
        Some(error) => Err(error),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn convert_row(line: &[u8], whole: bool) -> Result<Value> {
    let row: HtmlRow = serde_json::from_slice(line).context("a row is not {\"id\",\"url\",\"html\"}")?;
    let start = thread_ms();
    let url = row.url.as_deref().and_then(|url| Url::parse(url).ok());
    // The row was JSON, so the page is already decoded.
    let content_type = Some("text/html; charset=utf-8");
    let source = PageSource { bytes: row.html.as_bytes(), content_type, url: url.as_ref(), status: None };
    let page = Page::parse(&source, &Limits::default());
    let selection = page.select(&content_scope(whole))?;
    let markdown = page.markdown(&selection, true);
    let title = page.metadata().title;
    let verdict = page.verdict().kind;
    let ms = thread_ms() - start;
    Ok(json!({"id": row.id, "ms": ms, "markdown": markdown, "title": title, "verdict": verdict}))
}

/// The next line that is not blank.
fn next_row(input: &Mutex<impl BufRead>) -> Result<Option<Vec<u8>>> {
    let mut input = input.lock();
    loop {
        let mut line = Vec::new();
        let read =
            input.by_ref().take(MAX_ROW_BYTES).read_until(b'\n', &mut line).context("cannot read rows")?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == MAX_ROW_BYTES {
            bail!("a row is larger than {} MB", MAX_ROW_BYTES >> 20);
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

/// CPU milliseconds of this thread.
fn thread_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Writes rows to standard output, and progress to standard error if it is a terminal.
struct RowWriter {
    out: io::BufWriter<io::Stdout>,
    done: u64,
    started: Instant,
    shown: Option<Instant>,
    progress: bool,
}

impl RowWriter {
    fn new() -> Self {
        Self {
            out: io::BufWriter::new(io::stdout()),
            done: 0,
            started: Instant::now(),
            shown: None,
            progress: shows_progress(),
        }
    }

    fn write(&mut self, answer: &Value) -> Result<()> {
        writeln!(self.out, "{answer}").context("cannot write rows")?;
        self.done += 1;
        if self.progress && self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200)) {
            self.shown = Some(Instant::now());
            self.show("\r");
        }
        Ok(())
    }

    fn show(&self, start: &str) {
        let seconds = self.started.elapsed().as_secs().max(1);
        output::print_message(format_args!("{start}{} pages, {} a second ", self.done, self.done / seconds));
    }

    fn finish(mut self) -> Result<()> {
        if self.progress {
            self.show("\r");
            eprintln!();
        }
        self.out.flush().context("cannot write rows")
    }
}
