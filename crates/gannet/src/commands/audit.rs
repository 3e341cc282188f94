//! `gannet audit`: the audit log of a team, with or without a running server.

use super::keys::TeamChoice;
use crate::data_dir::{self, IfMissing};
use crate::settings::Settings;
use anyhow::{Result, ensure};
use std::process::ExitCode;
use store::audit_log::{AuditEntry, AuditFilter};
use store::{AuditStore, Store};
use stored_data::time::{iso, parse_iso};
use uuid::Uuid;

/// Rows that are read at once.
const PAGE: u32 = 500;

#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Only an action such as `key.rotated`, or a group of them such as `key`
    #[arg(long)]
    action: Option<String>,
    /// Only what a key with this id did and what happened to it
    #[arg(long)]
    id: Option<Uuid>,
    /// From this time on: a date or a time in ISO 8601
    #[arg(long)]
    from: Option<String>,
    /// Before this time
    #[arg(long)]
    until: Option<String>,
    /// The newest so many rows; 0 = all
    #[arg(long, default_value_t = 100)]
    limit: u32,
    /// Print a line of JSON for each row
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    team: TeamChoice,
}

impl Audit {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let opened = data_dir::open_for_command(settings, IfMissing::Fail).await?;
        let store = opened.store.clone();
        let outcome = self.print(store.as_ref()).await;
        store.shut_down().await;
        outcome.map(|()| ExitCode::SUCCESS)
    }

    async fn print(&self, store: &dyn Store) -> Result<()> {
        let team = self.team.find(store).await?;
        let time = |text: Option<&str>| -> Result<Option<i64>> {
            let Some(text) = text else { return Ok(None) };
            let parsed = parse_iso(text);
            ensure!(parsed.is_some(), "`{text}` is no date and no time in ISO 8601");
            Ok(parsed)
        };
        let filter = AuditFilter {
            action: self.action.as_deref(),
            id: self.id,
            from: time(self.from.as_deref())?,
            until: time(self.until.as_deref())?,
        };
        let (mut before, mut left) = (None, if self.limit == 0 { u32::MAX } else { self.limit });
        while left > 0 {
            let limit = left.min(PAGE);
            let entries = AuditStore::audit_entries(store, team.id, filter, before, limit).await?;
            for entry in &entries {
                println!("{}", if self.json { json(entry) } else { line(entry) });
            }
            before = entries.last().map(|entry| entry.id);
            left -= limit;
            if entries.len() < limit as usize {
                break;
            }
        }
        Ok(())
    }
}

/// The same fields as the API has.
fn json(entry: &AuditEntry) -> String {
    serde_json::json!({
        "id": entry.id, "createdAt": iso(entry.created_at), "action": entry.action,
        "actor": { "kind": entry.actor_kind, "key": entry.actor_key, "name": entry.actor_name },
        "address": entry.address, "subject": entry.subject, "details": entry.details,
    })
    .to_string()
}

fn line(entry: &AuditEntry) -> String {
    format!(
        "{}  {:<22}  {:<12}  {:<20}  {:<15}  {}",
        iso(entry.created_at),
        entry.action,
        entry.actor_kind,
        plain(&entry.actor_name),
        entry.address.as_deref().unwrap_or("-"),
        plain(&entry.details.to_string())
    )
}

/// Names are chosen by others: what would move the cursor of a terminal is written as text.
fn plain(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
