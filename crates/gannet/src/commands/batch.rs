//! `gannet batch`: scrape a list of pages without a server.

use super::local_crawl::{LocalCrawl, LocalJob, OutputTarget, PageOptions};
use crate::Globals;
use crate::exit_code::{Mistake, usage_error};
use anyhow::{Context, Result};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wire::batch::BatchRequest;

/// Scrape a list of pages without a server
///
/// Exit code 0: success, 1: no page could be scraped, 2: invalid arguments, 3: some pages failed,
/// 130: interrupted (run the same command again to continue).
#[derive(Debug, clap::Args)]
pub struct Batch {
    /// File with one URL per line; `-` reads standard input
    file: PathBuf,
    /// Output: a .jsonl file with one document per line, or a folder with one file per page
    #[arg(long, value_name = "FILE.jsonl|DIR")]
    out: PathBuf,
    /// Write every URL and its result to this file
    #[arg(long, value_name = "FILE.jsonl")]
    ledger: Option<PathBuf>,
    /// Maximum number of concurrent pages
    #[arg(long, value_name = "N")]
    concurrency: Option<i64>,
    /// Print how it ended as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    page: PageOptions,
}

impl Batch {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let options = match self.page.options() {
            Ok(options) => options,
            Err(message) => return Ok(usage_error(&message)),
        };
        let asked = BatchRequest {
            urls: Some(read_urls(&self.file).map_err(Mistake)?),
            max_concurrency: self.concurrency,
            formats: options.formats,
            only_main_content: options.only_main_content,
            headers: options.headers,
            fast_mode: options.fast_mode,
            timeout: options.timeout,
            ..BatchRequest::default()
        };
        let target =
            OutputTarget { out: self.out, ledger: self.ledger, format: self.page.format(), json: self.json };
        LocalCrawl { job: LocalJob::Batch(Box::new(asked)), target }.run(globals).await
    }
}

/// The lines of a file, without empty lines and comments.
fn read_urls(file: &Path) -> Result<Vec<String>> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}
