//! `gannet crawls`: crawls and batches of a running server.

use super::{
    Job, JobKind, ListOptions, POLL_INTERVAL, cell, connect, find, list, print_above, print_fields,
    print_json, print_table, say, show_line,
};
use crate::commands::api::{ApiClient, ServerChoice};
use crate::exit_code;
use crate::output::{count, to_line};
use crate::settings::Settings;
use anyhow::Result;
use serde_json::Value;
use std::process::ExitCode;

const KINDS: [JobKind; 2] = [
    JobKind { endpoint: "crawl", path: "/v2/crawl", brief: "?limit=1", shown: "crawl" },
    JobKind { endpoint: "batch_scrape", path: "/v2/batch/scrape", brief: "?limit=1", shown: "batch" },
];
/// Documents of one look.
const DOCUMENTS_AT_ONCE: u32 = 100;
const MAX_URL_CHARS: usize = 200;

#[derive(Debug, clap::Args)]
pub struct Crawls {
    #[command(subcommand)]
    command: CrawlsCommand,
    #[command(flatten)]
    server: ServerChoice,
}

#[derive(Debug, clap::Subcommand)]
enum CrawlsCommand {
    /// List crawls and batches of the last 24 hours, newest first
    List(ListOptions),
    /// Show how a crawl or batch stands
    Show {
        /// Its id, or the start of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a line for each page as it is scraped, until the end
    ///
    /// Exit code 0: it ended with pages, 1: with none, 3: it failed or was cancelled.
    Follow {
        /// Its id, or the start of it
        id: String,
    },
    /// End a crawl or batch; what it has is kept
    #[command(alias = "end")]
    Cancel {
        /// Its id, or the start of it
        id: String,
    },
}

impl Crawls {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let client = connect(self.server, settings)?;
        match self.command {
            CrawlsCommand::List(options) => {
                let found = list(&client, &KINDS, options.limit).await?;
                if options.json { print_json(&found)? } else { print_list(&found) }
            }
            CrawlsCommand::Show { id, json } => {
                let job = find(&client, &KINDS, &id).await?;
                let mut status = client.get(&job.brief_path()).await?;
                if let Some(fields) = status.as_object_mut() {
                    // Its documents are another matter.
                    fields.retain(|name, _| name != "data" && name != "next");
                }
                if json { print_json(&status)? } else { print_status(&job, &status) }
            }
            CrawlsCommand::Follow { id } => {
                let job = find(&client, &KINDS, &id).await?;
                return follow(&client, &job).await;
            }
            CrawlsCommand::Cancel { id } => {
                let job = find(&client, &KINDS, &id).await?;
                client.delete(&job.path()).await?;
                say(&format!("{} {} is cancelled", job.kind.shown, job.id));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_list(found: &[Value]) {
    let row = |entry: &Value| {
        let pages = match entry["failed_pages"].as_i64() {
            Some(failed @ 1..) => format!("{} ({failed} failed)", cell(&entry["pages"])),
            _ => cell(&entry["pages"]),
        };
        let kind = KINDS.iter().find(|kind| entry["endpoint"] == kind.endpoint);
        vec![
            cell(&entry["id"]),
            kind.map_or("-", |kind| kind.shown).to_owned(),
            cell(&entry["status"]),
            pages,
            cell(&entry["credits"]),
            cell(&entry["created_at"]),
            cell(&entry["target"]),
        ]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    print_table(&["ID", "KIND", "STATUS", "PAGES", "CREDITS", "CREATED", "TARGET"], &rows);
}

fn print_status(job: &Job, status: &Value) {
    println!("{:<10} {}", "id", job.id);
    print_fields(
        status,
        &[
            ("status", "status"),
            ("completed", "completed"),
            ("failed", "failed"),
            ("skipped", "skipped"),
            ("queued", "queued"),
            ("credits", "creditsUsed"),
            ("seconds", "duration"),
            ("created", "createdAt"),
            ("ended", "completedAt"),
            ("expires", "expiresAt"),
            ("error", "error"),
            ("warning", "warning"),
        ],
    );
}

async fn follow(client: &ApiClient, job: &Job) -> Result<ExitCode> {
    let mut seen = 0;
    loop {
        let path = format!("{}?skip={seen}&limit={DOCUMENTS_AT_ONCE}", job.path());
        let status = client.get(&path).await?;
        let documents = status["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        seen += documents.len();
        for document in documents {
            let metadata = &document["metadata"];
            let url = to_line(metadata["sourceURL"].as_str().unwrap_or_default(), MAX_URL_CHARS);
            print_above(&format!("{}  {url}", metadata["statusCode"]));
        }
        let number = |name: &str| status[name].as_u64().unwrap_or_default();
        let (completed, failed, total) = (number("completed"), number("failed"), number("total"));
        show_line(&format!("{} of {total} pages found so far  {failed} failed", completed + failed));
        let name = status["status"].as_str().unwrap_or_default();
        // All that there is has been printed where a look brings nothing more.
        if name != "scraping" && documents.is_empty() {
            show_line("");
            let pages = count(completed, "page");
            note!("{name}: {pages}, {failed} failed, {} skipped", number("skipped"));
            return Ok(match (name, completed) {
                (_, 0) => ExitCode::from(exit_code::FAILED),
                ("completed", _) => ExitCode::SUCCESS,
                _ => ExitCode::from(exit_code::SOME_FAILED),
            });
        }
        if documents.is_empty() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
