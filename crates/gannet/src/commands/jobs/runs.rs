//! `gannet runs`: agent runs and extractions of a running server.

use super::{
    Job, JobKind, ListOptions, POLL_INTERVAL, cell, connect, find, list, print_fields, print_json,
    print_table, say,
};
use crate::commands::api::{ApiClient, ServerChoice};
use crate::commands::local_run::RunProgress;
use crate::exit_code;
use crate::settings::Settings;
use anyhow::Result;
use serde_json::Value;
use std::process::ExitCode;

const AGENT: JobKind = JobKind { endpoint: "agent", path: "/v2/agent", brief: "", shown: "agent run" };
const EXTRACT: JobKind = JobKind { endpoint: "extract", path: "/v2/extract", brief: "", shown: "extraction" };

#[derive(Debug, clap::Args)]
pub struct Runs {
    #[command(subcommand)]
    command: RunsCommand,
    #[command(flatten)]
    server: ServerChoice,
}

#[derive(Debug, clap::Subcommand)]
enum RunsCommand {
    /// List agent runs and extractions of the last 24 hours, newest first
    List(ListOptions),
    /// Show a run and its result
    Show {
        /// Its id, or the start of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the steps of a run until its end, and its result
    Follow {
        /// Its id, or the start of it
        id: String,
    },
    /// End an agent run
    #[command(alias = "end")]
    Cancel {
        /// Its id, or the start of it
        id: String,
    },
}

impl Runs {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let client = connect(self.server, settings)?;
        match self.command {
            RunsCommand::List(options) => {
                let found = list(&client, &[AGENT, EXTRACT], options.limit).await?;
                if options.json { print_json(&found)? } else { print_list(&found) }
            }
            RunsCommand::Show { id, json } => {
                let job = find(&client, &[AGENT, EXTRACT], &id).await?;
                let status = client.get(&job.path()).await?;
                if json { print_json(&status)? } else { print_status(&job, &status)? }
            }
            RunsCommand::Follow { id } => {
                let job = find(&client, &[AGENT, EXTRACT], &id).await?;
                return follow(&client, &job).await;
            }
            RunsCommand::Cancel { id } => {
                let job = find(&client, &[AGENT], &id).await?;
                client.delete(&job.path()).await?;
                say(&format!("agent run {} is cancelled", job.id));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_list(found: &[Value]) {
    let row = |entry: &Value| {
        let fields = ["id", "endpoint", "status", "credits", "created_at", "target"];
        fields.map(|name| cell(&entry[name])).to_vec()
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    print_table(&["ID", "KIND", "STATUS", "CREDITS", "CREATED", "TASK"], &rows);
}

fn print_status(job: &Job, status: &Value) -> Result<()> {
    println!("{:<10} {}", "id", job.id);
    let fields =
        [("status", "status"), ("credits", "creditsUsed"), ("expires", "expiresAt"), ("error", "error")];
    print_fields(status, &fields);
    print_fields(status, &[("warning", "warning")]);
    print_result(status)
}

fn print_result(status: &Value) -> Result<()> {
    match (status["message"].as_str(), &status["data"]) {
        (Some(message), _) => println!("{message}"),
        (None, Value::Null) => {}
        (None, data) => println!("{}", serde_json::to_string_pretty(data)?),
    }
    Ok(())
}

async fn follow(client: &ApiClient, job: &Job) -> Result<ExitCode> {
    let mut progress = RunProgress::start();
    let mut after = String::new();
    let status = loop {
        // The state first: events that come before it are read below.
        let status = client.get(&job.path()).await?;
        if job.kind.endpoint == AGENT.endpoint {
            let trace = client.get(&format!("{}/trace{after}", job.path())).await?;
            for event in trace["events"].as_array().into_iter().flatten() {
                progress.show(&event.to_string());
                if let Some(id) = event["eventId"].as_str() {
                    after = format!("?after={id}");
                }
            }
        }
        if status["status"] != "processing" {
            break status;
        }
        progress.tick();
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    progress.end();
    print_result(&status)?;
    if let Some(error) = status["error"].as_str() {
        eprintln!("gannet: {error}");
    }
    let is_completed = status["status"] == "completed";
    Ok(if is_completed { ExitCode::SUCCESS } else { ExitCode::from(exit_code::FAILED) })
}
