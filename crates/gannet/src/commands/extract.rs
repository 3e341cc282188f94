//! `gannet extract`: converts an HTML page from a file or standard input. No server, no network.

use crate::output;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use content::{ContentScope, Limits, Page, PageSource};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use url::Url;

/// Larger rows and pages are rejected.
const MAX_INPUT_BYTES: u64 = 256 << 20;

/// Convert an HTML page to markdown, without server and network
#[derive(Debug, clap::Args)]
pub struct Extract {
    /// File with the page; `-` or nothing reads standard input
    file: Option<PathBuf>,
    /// URL of the page, to resolve relative links
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// The whole page instead of its main content
    #[arg(long)]
    whole: bool,
    /// Read rows {"id","url","html"} and write rows {"id","ms","markdown","title","verdict"} as they are done
    #[arg(long)]
    jsonl: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Html,
    Json,
}

#[derive(Deserialize)]
struct HtmlRow {
    id: Value,
    url: Option<String>,
    html: String,
}

impl Extract {
    pub fn run(self) -> Result<ExitCode> {
        let input: Box<dyn Read + Send> = match &self.file {
            Some(path) if path.as_os_str() != "-" => {
                Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
            }
            _ => Box::new(io::stdin()),
        };
        if self.jsonl {
            return self.convert_rows(BufReader::with_capacity(1 << 20, input));
        }
        let mut bytes = Vec::new();
        input.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes).context("cannot read the page")?;
        if bytes.len() as u64 > MAX_INPUT_BYTES {
            bail!("the page is larger than {} MB", MAX_INPUT_BYTES >> 20);
        }
        let page = Page::parse(
            &PageSource { bytes: &bytes, url: self.url.as_ref(), ..PageSource::default() },
            &Limits::default(),
        );
        let selection = page.select(&self.wanted())?;
        match self.format {
            Format::Markdown => output::print(format_args!("{}", page.markdown(&selection, true))),
            Format::Html => println!("{}", page.html(&selection)),
            Format::Json => {
                let verdict = page.verdict();
                let links: Vec<String> = page.links().into_iter().map(|link| link.url).collect();
                let document = json!({
                    "markdown": page.markdown(&selection, true),
                    "html": page.html(&selection),
                    "links": links,
                    "images": page.images(),
                    "tables": page.tables(&selection),
                    "metadata": page.metadata().to_wire(),
                    "verdict": verdict.kind,
                    "evidence": verdict.evidence,
                    "encoding": page.encoding().0,
                    "truncated": page.truncated(),
                    "widened": selection.widened,
                });
                println!("{document:#}");
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn wanted(&self) -> ContentScope<'static> {
        ContentScope { only_main_content: !self.whole, ..ContentScope::default() }
    }

    /// Converts rows on all cores. Rows are written as they are finished; their ids identify them.
    fn convert_rows(&self, input: impl BufRead + Send) -> Result<ExitCode> {
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
                                let answer = self.convert_row(&line)?;
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

    fn convert_row(&self, line: &[u8]) -> Result<Value> {
        let row: HtmlRow = serde_json::from_slice(line).context("a row is not {\"id\",\"url\",\"html\"}")?;
        let start = thread_ms();
        let url = row.url.as_deref().and_then(|url| Url::parse(url).ok());
        // The row was JSON, so the page is already decoded.
        let content_type = Some("text/html; charset=utf-8");
        let source = PageSource { bytes: row.html.as_bytes(), content_type, url: url.as_ref(), status: None };
        let page = Page::parse(&source, &Limits::default());
        let selection = page.select(&self.wanted())?;
        let markdown = page.markdown(&selection, true);
        let title = page.metadata().title;
        let verdict = page.verdict().kind;
        let ms = thread_ms() - start;
        Ok(json!({"id": row.id, "ms": ms, "markdown": markdown, "title": title, "verdict": verdict}))
    }
}

/// The next line that is not blank.
fn next_row(input: &Mutex<impl BufRead>) -> Result<Option<Vec<u8>>> {
    let mut input = input.lock();
    loop {
        let mut line = Vec::new();
        let read =
            input.by_ref().take(MAX_INPUT_BYTES).read_until(b'\n', &mut line).context("cannot read rows")?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == MAX_INPUT_BYTES {
            bail!("a row is larger than {} MB", MAX_INPUT_BYTES >> 20);
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
            progress: io::stderr().is_terminal(),
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
