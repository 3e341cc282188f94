//! `gannet agent`: an agent run without a server. Progress is printed to standard error, the result to standard
//! output.

use super::local_run::{LocalTask, RunEnd, read_schema, run_task};
use crate::Globals;
use crate::exit_code;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use wire::agent::{AgentRequest, AgentStatus};

/// Answer a question or collect data from the web with an agent, without a server
///
/// Exit code 0: success, 1: failed, 2: invalid arguments, 130: interrupted.
#[derive(Debug, clap::Args)]
pub struct Agent {
    /// What to find or answer
    prompt: String,
    /// URL to start from; may be repeated
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,
    /// Visit only the given URLs
    #[arg(long)]
    strict: bool,
    /// File with a JSON Schema of the result
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Maximum credits
    #[arg(long, value_name = "N")]
    max_credits: Option<i64>,
    /// Effort: low, medium or high
    #[arg(long, value_name = "HOW")]
    effort: Option<String>,
    /// Answer in text instead of data
    #[arg(long)]
    chat: bool,
    /// Print the whole status as JSON instead of the data alone
    #[arg(long)]
    json: bool,
}

impl Agent {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let asked = match self.request() {
            Ok(asked) => asked,
            Err(error) => return Ok(exit_code::usage_error(&format!("{error:#}"))),
        };
        match run_task(globals, &LocalTask::Agent(Box::new(asked))).await? {
            RunEnd::Refused(error) => Ok(exit_code::print_refusal(&error)),
            RunEnd::Agent(status) => self.print(&status),
            RunEnd::Stopped | RunEnd::Extract(_) => Ok(ExitCode::from(exit_code::STOPPED)),
        }
    }

    fn request(&self) -> Result<AgentRequest> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        Ok(AgentRequest {
            prompt: Some(self.prompt.clone()),
            urls: (!self.urls.is_empty()).then(|| self.urls.clone()),
            schema,
            max_credits: self.max_credits,
            strict_constrain_to_urls: self.strict.then_some(true),
            effort: self.effort.clone(),
            mode: self.chat.then(|| "chat".to_owned()),
            origin: Some("command".to_owned()),
            ..AgentRequest::default()
        })
    }

    fn print(&self, status: &AgentStatus) -> Result<ExitCode> {
        let text = if self.json {
            Some(serde_json::to_string_pretty(status)?)
        } else if let Some(message) = &status.message {
            Some(message.clone())
        } else {
            status.data.as_ref().map(serde_json::to_string_pretty).transpose()?
        };
        if let Some(text) = text {
            println!("{text}");
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
