//! `gannet batch`: a list of pages from the command line, without a server.

use super::gather::{Gathering, Job, PageOptions, Place, mistake};
use crate::Globals;
use anyhow::{Context, Result};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wire::batch::BatchRequest;

/// Scrape a list of pages; 1 = none could be had, 2 = mistake, 3 = some could not, 130 = stopped, and the same command goes on
#[derive(Debug, clap::Args)]
pub struct Batch {
    /// A file with one address a line; `-` reads standard input
    file: PathBuf,
    /// A file that ends in .jsonl, one document a line; or a folder, one file a page
    #[arg(long, value_name = "FILE.jsonl|DIR")]
    out: PathBuf,
    /// Write every address, and what became of it, to this file
    #[arg(long, value_name = "FILE.jsonl")]
    ledger: Option<PathBuf>,
    /// The most pages at once
    #[arg(long, value_name = "N")]
    concurrency: Option<i64>,
    #[command(flatten)]
    page: PageOptions,
}

impl Batch {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let options = match self.page.options() {
            Ok(options) => options,
            Err(wrong) => return Ok(mistake(&wrong)),
        };
        let asked = BatchRequest {
            urls: Some(addresses(&self.file)?),
            max_concurrency: self.concurrency,
            formats: options.formats,
            only_main_content: options.only_main_content,
            headers: options.headers,
            fast_mode: options.fast_mode,
            timeout: options.timeout,
            ..BatchRequest::default()
        };
        let place = Place { out: self.out, ledger: self.ledger, form: self.page.form() };
        Gathering { job: Job::Batch(Box::new(asked)), place }.run(globals).await
    }
}

/// The lines of a file that are neither empty nor notes.
fn addresses(file: &Path) -> Result<Vec<String>> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}
