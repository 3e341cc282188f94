//! `gannet extract`: structured data from pages, without a server: what `POST /v2/extract` does.

use super::local_run::{LocalTask, RunEnd, read_schema, run_task};
use crate::Globals;
use crate::exit_code::{self, usage_error};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wire::extract::{ExtractRequest, ExtractStatus};

/// Extract structured data from pages, without a server
///
/// Exit code 0: success, 1: failed, 2: invalid arguments, 130: interrupted.
#[derive(Debug, clap::Args)]
pub struct Extract {
    /// URLs of the pages, ten at most; `https://example.com/docs/*` means all pages below it
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,
    /// File with a JSON Schema of the result
    #[arg(long, value_name = "FILE", required_unless_present = "prompt")]
    schema: Option<PathBuf>,
    /// What to extract; without a schema it is best with a language model
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Also follow links to other sites
    #[arg(long)]
    external: bool,
    /// Also search the web
    #[arg(long)]
    search: bool,
    /// Output file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the whole status as JSON, with where each field was found, instead of the data alone
    #[arg(long)]
    json: bool,
}

impl Extract {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        if let Some(file) = self.urls.iter().find(|url| !url.contains("://") && Path::new(url).exists()) {
            return Ok(usage_error(&format!(
                "{file} is a file; `gannet parse {file}` converts it to markdown"
            )));
        }
        let schema = match self.schema.as_deref().map(read_schema).transpose() {
            Ok(schema) => schema,
            Err(error) => return Ok(usage_error(&format!("{error:#}"))),
        };
        let asked = ExtractRequest {
            urls: Some(self.urls.clone()),
            prompt: self.prompt.clone(),
            schema,
            allow_external_links: Some(self.external),
            enable_web_search: Some(self.search),
            show_sources: Some(self.json),
            ..ExtractRequest::default()
        };
        match run_task(globals, &LocalTask::Extract(Box::new(asked))).await? {
            RunEnd::Refused(error) => Ok(exit_code::print_refusal(&error)),
            RunEnd::Extract(status) => self.print(&status),
            RunEnd::Stopped | RunEnd::Agent(_) => Ok(ExitCode::from(exit_code::STOPPED)),
        }
    }

    fn print(&self, status: &ExtractStatus) -> Result<ExitCode> {
        let text = match &status.data {
            _ if self.json => Some(serde_json::to_string_pretty(status)?),
            Some(data) => Some(serde_json::to_string_pretty(data)?),
            None => None,
        };
        match (text, &self.out) {
            (Some(text), Some(path)) => crate::output::write_file(path, (text + "\n").as_bytes())?,
            (Some(text), None) => println!("{text}"),
            (None, _) => {}
        }
        if let Some(warning) = &status.warning {
            note!("gannet: {warning}");
        }
        if let Some(error) = &status.error {
            eprintln!("gannet: {error}");
        }
        Ok(if status.status == "completed" { ExitCode::SUCCESS } else { ExitCode::from(exit_code::FAILED) })
    }
}
