//! `gannet keys`: creates, lists and revokes API keys of a team, with or without a running server.

use crate::data_dir::{self, IfMissing};
use crate::first_team;
use crate::settings::Settings;
use access::keys::{self, Secret};
use anyhow::{Context, Result, bail, ensure};
use std::process::ExitCode;
use store::KeyStore;
use store::keys::{ApiKey, Team};
use stored_data::time::{iso, now};
use uuid::Uuid;
use wire::Scope;

#[derive(Debug, clap::Subcommand)]
pub enum Keys {
    /// Create a key and print it; it is shown only once
    Create {
        /// Name of the key
        name: String,
        /// Scopes of the key, comma-separated [default: all but admin]
        #[arg(long, value_delimiter = ',')]
        scopes: Option<Vec<Scope>>,
        /// Days until it expires [default: never]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_in_days: Option<u32>,
        #[command(flatten)]
        team: TeamChoice,
    },
    /// List keys; the keys themselves are not stored and cannot be shown
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        team: TeamChoice,
    },
    /// Revoke a key permanently
    Revoke {
        /// Id of the key, or the start of it
        id: String,
        #[command(flatten)]
        team: TeamChoice,
    },
}

#[derive(Debug, clap::Args)]
pub struct TeamChoice {
    /// Name or id of the team [default: the first one]
    #[arg(long)]
    team: Option<String>,
}

impl Keys {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let is_create = matches!(self, Self::Create { .. });
        let if_missing = if is_create { IfMissing::Create } else { IfMissing::Fail };
        let opened = data_dir::open_for_command(settings, if_missing).await?;
        let store = opened.store.clone();
        if is_create && let Some(first) = first_team::create_first_team(settings, store.as_ref()).await? {
            eprintln!("created the first team and its API key; the key is in {}", first.file.display());
        }
        let outcome = match self {
            Self::Create { name, scopes, expires_in_days, team } => {
                let team = team.find(store.as_ref()).await?;
                create(store.as_ref(), &team, &name, scopes, expires_in_days).await
            }
            Self::List { json, team } => {
                let team = team.find(store.as_ref()).await?;
                list(store.as_ref(), &team, json).await
            }
            Self::Revoke { id, team } => {
                let team = team.find(store.as_ref()).await?;
                revoke(store.as_ref(), &team, &id).await
            }
        };
        store.shut_down().await;
        outcome.map(|()| ExitCode::SUCCESS)
    }
}

impl TeamChoice {
    pub async fn find(&self, store: &dyn KeyStore) -> Result<Team> {
        let teams = store.teams().await?;
        ensure!(
            !teams.is_empty(),
            "there is no team yet; create one with `gannet serve` or `gannet keys create NAME`"
        );
        let wanted = |team: &Team| match &self.team {
            Some(text) => team.name == *text || team.id.to_string() == *text,
            None => true,
        };
        let names: Vec<_> = teams.iter().map(|team| team.name.clone()).collect();
        let found = teams.into_iter().find(wanted);
        found.with_context(|| format!("unknown team; use one of: {}", names.join(", ")))
    }
}

async fn create(
    store: &dyn KeyStore,
    team: &Team,
    name: &str,
    scopes: Option<Vec<Scope>>,
    days: Option<u32>,
) -> Result<()> {
    let length = name.chars().count();
    if length == 0 || length > 100 {
        bail!("a name must have 1 to 100 characters");
    }
    let scopes = scopes.unwrap_or_else(keys::ordinary_scopes);
    let expires_at = days.map(|days| now() + i64::from(days) * 24 * 3600 * 1000);
    let secret = Secret::random().context("no system randomness for a new key")?;
    let key = keys::create(store, team.id, name, &scopes, expires_at, &secret).await?;
    eprintln!("key {} for team {}; it is not shown again:", key.id, team.name);
    println!("{}", secret.reveal());
    Ok(())
}

async fn list(store: &dyn KeyStore, team: &Team, json: bool) -> Result<()> {
    let keys = store.keys(team.id).await?;
    if json {
        let rows: Vec<_> = keys.iter().map(row).collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{:<36}  {:<8}  {:<9}  {:<20}  {:<24}  SCOPES", "ID", "STATUS", "KEY", "NAME", "LAST USED");
    for key in &keys {
        println!(
            "{:<36}  {:<8}  {:<9}  {:<20}  {:<24}  {}",
            key.id,
            keys::status(key, now()),
            key.hint,
            key.name,
            key.last_used_at.map_or_else(|| "never".to_owned(), iso),
            key.scopes.join(",")
        );
    }
    Ok(())
}

fn row(key: &ApiKey) -> serde_json::Value {
    serde_json::json!({
        "id": key.id, "name": key.name, "hint": key.hint, "status": keys::status(key, now()),
        "scopes": key.scopes, "createdAt": iso(key.created_at), "expiresAt": key.expires_at.map(iso),
        "lastUsedAt": key.last_used_at.map(iso), "revokedAt": key.revoked_at.map(iso),
    })
}

async fn revoke(store: &dyn KeyStore, team: &Team, text: &str) -> Result<()> {
    let keys = store.keys(team.id).await?;
    let matching: Vec<Uuid> =
        keys.iter().map(|key| key.id).filter(|id| id.to_string().starts_with(text)).collect();
    let [id] = matching[..] else {
        bail!("{} keys have an id that starts with `{text}`; give more of the id", matching.len());
    };
    store.revoke_key(team.id, id).await?;
    println!("revoked {id}; running servers notice within two seconds");
    Ok(())
}
