//! `gannet sessions`: browser sessions of a running server. `gannet browser` opens and uses them.

use super::{POLL_INTERVAL, cell, connect, print_fields, print_json, print_table, say, show_line};
use crate::commands::api::{ApiClient, ServerChoice};
use crate::settings::Settings;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Sessions {
    #[command(subcommand)]
    command: SessionsCommand,
    #[command(flatten)]
    server: ServerChoice,
}

#[derive(Debug, clap::Subcommand)]
enum SessionsCommand {
    /// List sessions, newest first
    List {
        /// Ended ones too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a session with its links
    Show {
        /// Its id, or the start of it [default: the only active one]
        id: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the link to look at a session, and wait for its end
    Follow {
        /// Its id, or the start of it [default: the only active one]
        id: Option<String>,
    },
    /// End a session
    #[command(alias = "cancel")]
    End {
        /// Its id, or the start of it [default: the only active one]
        id: Option<String>,
    },
}

impl Sessions {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let client = connect(self.server, settings)?;
        match self.command {
            SessionsCommand::List { all, json } => {
                let found = sessions(&client, !all).await?;
                if json { print_json(&found)? } else { print_list(&found) }
            }
            SessionsCommand::Show { id, json } => {
                let session = find(&client, id.as_deref()).await?;
                if json { print_json(&session)? } else { print_session(&session) }
            }
            SessionsCommand::Follow { id } => follow(&client, find(&client, id.as_deref()).await?).await?,
            SessionsCommand::End { id } => {
                let session = find(&client, id.as_deref()).await?;
                let id = session["id"].as_str().context("the server gave no id")?;
                let ended = client.delete(&format!("/v2/browser/{id}")).await?;
                let seconds = ended["sessionDurationMs"].as_i64().unwrap_or_default() / 1000;
                say(&format!("session {id} ended after {seconds} s, {} credits", ended["creditsBilled"]));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn sessions(client: &ApiClient, is_active: bool) -> Result<Vec<Value>> {
    let path = if is_active { "/v2/browser?status=active" } else { "/v2/browser" };
    let mut listed = client.get(path).await?;
    Ok(listed["sessions"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

/// The session whose id begins so, also an ended one; without an id the only active one.
async fn find(client: &ApiClient, wanted: Option<&str>) -> Result<Value> {
    let mut found = sessions(client, wanted.is_none()).await?;
    found.retain(|session| {
        session["id"].as_str().is_some_and(|id| id.starts_with(wanted.unwrap_or_default()))
    });
    match (found.len(), wanted) {
        (1, _) => found.pop().context("no session"),
        (0, None) => bail!("there is no active session; `gannet browser open` begins one"),
        (0, Some(wanted)) => bail!("no session has an id that starts with `{wanted}`"),
        (many, _) => {
            bail!("there are {many} such sessions; give more of the id, as `gannet sessions list` shows it")
        }
    }
}

fn print_list(found: &[Value]) {
    let row = |session: &Value| {
        let is_active = session["status"] == "active";
        let end = if is_active { &session["expiresAt"] } else { &session["destroyedReason"] };
        vec![cell(&session["id"]), cell(&session["status"]), cell(&session["createdAt"]), cell(end)]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    print_table(&["ID", "STATUS", "CREATED", "UNTIL, OR WHY IT ENDED"], &rows);
}

fn print_session(session: &Value) {
    print_fields(session, &[("id", "id"), ("status", "status")]);
    // Links are longer than a cell of a table.
    for (label, field) in
        [("live view", "interactiveLiveViewUrl"), ("read only", "liveViewUrl"), ("CDP", "cdpUrl")]
    {
        if let Some(link) = session[field].as_str() {
            println!("{label:<10} {link}");
        }
    }
    let rest = [
        ("created", "createdAt"),
        ("until", "expiresAt"),
        ("ended", "destroyedAt"),
        ("reason", "destroyedReason"),
        ("credits", "creditsBilled"),
    ];
    print_fields(session, &rest);
}

async fn follow(client: &ApiClient, mut session: Value) -> Result<()> {
    let id = session["id"].as_str().context("the server gave no id")?.to_owned();
    if session["status"] == "active" {
        println!("{}", session["liveViewUrl"].as_str().unwrap_or_default());
    }
    while session["status"] == "active" {
        show_line(&format!("active; last used {}", cell(&session["lastActivity"])));
        tokio::time::sleep(POLL_INTERVAL).await;
        session = find(client, Some(&id)).await?;
    }
    show_line("");
    println!("ended: {}, {} credits", cell(&session["destroyedReason"]), cell(&session["creditsBilled"]));
    Ok(())
}
