//! `gannet crawls`, `gannet runs` and `gannet sessions`: the jobs of a running server, listed, followed and ended
//! through its API.

mod crawls;
mod runs;
mod sessions;

use super::api::{ApiClient, ServerChoice};
use crate::exit_code::ApiRefusal;
use crate::output::{is_quiet, print_message, shows_progress, to_line};
use crate::settings::Settings;
use anyhow::{Result, bail};
pub use crawls::Crawls;
use net::StatusCode;
pub use runs::Runs;
use serde_json::Value;
pub use sessions::Sessions;
use std::time::Duration;
use uuid::Uuid;

/// Entries of the activity log that are read at once, the most there are.
const READ_AT_ONCE: usize = 100;
const MAX_CELL_CHARS: usize = 70;
const MAX_LINE_CHARS: usize = 500;
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A kind of job: how the activity log names it, and its path in the API.
#[derive(Debug, Clone, Copy)]
struct JobKind {
    endpoint: &'static str,
    path: &'static str,
    /// What is added to the path of a job for little of it.
    brief: &'static str,
    shown: &'static str,
}

/// A job that was chosen.
struct Job {
    kind: JobKind,
    id: String,
}

impl Job {
    fn path(&self) -> String {
        format!("{}/{}", self.kind.path, self.id)
    }

    fn brief_path(&self) -> String {
        format!("{}{}", self.path(), self.kind.brief)
    }
}

#[derive(Debug, clap::Args)]
struct ListOptions {
    /// The newest so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Jobs of these kinds, newest first, as the activity log of the last 24 hours has them.
async fn list(client: &ApiClient, kinds: &[JobKind], limit: usize) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for kind in kinds {
        let mut cursor = String::new();
        loop {
            let path = format!("/v2/team/activity?endpoint={}&limit={READ_AT_ONCE}{cursor}", kind.endpoint);
            let mut page = client.get(&path).await?;
            let entries = page["data"].as_array_mut().map(std::mem::take).unwrap_or_default();
            found.extend(entries);
            match page["cursor"].as_str() {
                Some(next) if page["has_more"] == true && found.len() < limit => {
                    cursor = format!("&cursor={next}");
                }
                _ => break,
            }
        }
    }
    found.sort_by(|one, other| other["created_at"].as_str().cmp(&one["created_at"].as_str()));
    found.truncate(limit);
    Ok(found)
}

/// The job of this id, or the one whose id begins so.
async fn find(client: &ApiClient, kinds: &[JobKind], wanted: &str) -> Result<Job> {
    if Uuid::try_parse(wanted).is_ok() {
        for &kind in kinds {
            let job = Job { kind, id: wanted.to_owned() };
            match client.get(&job.brief_path()).await {
                Ok(_) => return Ok(job),
                Err(error) if !is_missing(&error) => return Err(error),
                Err(_) => {}
            }
        }
        bail!("the server has no {} {wanted}", shown_kinds(kinds));
    }
    let listed = list(client, kinds, usize::MAX).await?;
    let matching = |entry: &&Value| entry["id"].as_str().is_some_and(|id| id.starts_with(wanted));
    let found: Vec<&Value> = listed.iter().filter(matching).collect();
    let entry = match found[..] {
        [entry] => entry,
        [] => bail!("no {} of the last 24 hours has an id that starts with `{wanted}`", shown_kinds(kinds)),
        _ => bail!("{} have an id that starts with `{wanted}`; give more of it", found.len()),
    };
    let kind = kinds.iter().copied().find(|kind| entry["endpoint"] == kind.endpoint);
    let Some(kind) = kind else { bail!("the server lists a job of another kind") };
    Ok(Job { kind, id: entry["id"].as_str().unwrap_or_default().to_owned() })
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ApiRefusal>().is_some_and(|refusal| refusal.status == StatusCode::NOT_FOUND)
}

fn shown_kinds(kinds: &[JobKind]) -> String {
    kinds.iter().map(|kind| kind.shown).collect::<Vec<_>>().join(" or ")
}

fn print_json(value: &impl serde::Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// A field of an answer as one line.
fn cell(value: &Value) -> String {
    line(value, MAX_CELL_CHARS)
}

fn line(value: &Value, max: usize) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => to_line(text, max),
        other => to_line(&other.to_string(), max),
    }
}

/// Rows below each other, the last column as wide as it is.
fn print_table(header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let print = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        println!("{}", padded.collect::<Vec<_>>().join("  ").trim_end());
    };
    print(header.to_vec());
    for row in rows {
        print(row.iter().map(String::as_str).collect());
    }
}

/// Names the fields that there are.
fn print_fields(value: &Value, fields: &[(&str, &str)]) {
    for (label, field) in fields {
        if !value[*field].is_null() {
            println!("{label:<10} {}", line(&value[*field], MAX_LINE_CHARS));
        }
    }
}

/// One line on the terminal that is overwritten; an empty one removes it.
fn show_line(text: &str) {
    if shows_progress() {
        print_message(format_args!("\r{}\x1b[K", to_line(text, MAX_CELL_CHARS + 40)));
    }
}

/// A line that stays, above the one that is overwritten.
fn print_above(text: &str) {
    show_line("");
    println!("{text}");
}

fn connect(server: ServerChoice, settings: &Settings) -> Result<ApiClient> {
    server.connect(settings)
}

/// Says what was done, where there is somebody who wants to hear it.
fn say(text: &str) {
    if !is_quiet() {
        println!("{text}");
    }
}
