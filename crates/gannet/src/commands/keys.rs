//! `gannet keys`: creates, lists, changes and revokes API keys of a team, with or without a running server.

use crate::data_dir::{self, IfMissing};
use crate::first_team;
use crate::settings::Settings;
use access::audit_log::Actor;
use access::keys::{self, ApiKey, KeyChange, KeyHosts, ReplacedSecret, Secret};
use anyhow::{Context, Result, bail, ensure};
use std::process::ExitCode;
use std::time::Duration;
use store::KeyStore;
use store::keys::Team;
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
        /// Days until it expires [default: the setting `key_days`, which is never unless it is set]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_in_days: Option<u32>,
        /// The only hosts that it may reach, comma-separated: example.org,*.example.org [default: all]
        #[arg(long, value_delimiter = ',')]
        hosts: Option<Vec<String>>,
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
    /// Give a key a new secret and print it; the one before goes on working for a while
    Rotate {
        /// Id of the key, or the start of it
        id: String,
        /// Hours that the secret before goes on working; 0 if it was leaked
        #[arg(long, default_value_t = keys::DEFAULT_PHASE_OUT_HOURS,
            value_parser = clap::value_parser!(u32).range(0..=i64::from(keys::MAX_PHASE_OUT_HOURS)))]
        phase_out_hours: u32,
        /// Days until the key expires, from now [default: when it did before]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3650))]
        expires_in_days: Option<u32>,
        #[command(flatten)]
        team: TeamChoice,
    },
    /// Hold a key to other hosts, or to none
    Hosts {
        /// Id of the key, or the start of it
        id: String,
        /// The only hosts that it may reach from now on, comma-separated: example.org,*.example.org
        #[arg(value_delimiter = ',', required_unless_present = "all")]
        hosts: Vec<String>,
        /// It may reach all hosts
        #[arg(long, conflicts_with = "hosts")]
        all: bool,
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
            Self::Create { name, scopes, expires_in_days, hosts, team } => {
                let team = team.find(store.as_ref()).await?;
                let days = expires_in_days.or(settings.key_days);
                create(store.as_ref(), &team, &name, scopes, days, hosts).await
            }
            Self::List { json, team } => {
                let team = team.find(store.as_ref()).await?;
                list(store.as_ref(), &team, json).await
            }
            Self::Rotate { id, phase_out_hours, expires_in_days, team } => {
                let team = team.find(store.as_ref()).await?;
                rotate(store.as_ref(), &team, &id, phase_out_hours, expires_in_days).await
            }
            Self::Hosts { id, hosts, all: _, team } => {
                let team = team.find(store.as_ref()).await?;
                set_hosts(store.as_ref(), &team, &id, &hosts).await
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
    hosts: Option<Vec<String>>,
) -> Result<()> {
    let length = name.chars().count();
    if length == 0 || length > 100 {
        bail!("a name must have 1 to 100 characters");
    }
    let default = if hosts.is_some() { keys::held_scopes } else { keys::ordinary_scopes };
    let scopes = scopes.unwrap_or_else(default);
    let hosts = hosts.map_or(Ok(Vec::new()), |hosts| keys::parse_hosts(&hosts, &scopes));
    let hosts = hosts.map_err(|why| anyhow::anyhow!("--hosts {why}"))?;
    let expires_at = days.map(in_days);
    let secret = Secret::random().context("no system randomness for a new key")?;
    let key = keys::new_key(team.id, name, &scopes, expires_at, &secret);
    let key = keys::create_held(store, key, hosts, &Actor::command_line()).await?;
    eprintln!("key {} for team {}; it is not shown again:", key.id, team.name);
    println!("{}", secret.reveal());
    Ok(())
}

fn in_days(days: u32) -> i64 {
    now() + i64::from(days) * 24 * 3600 * 1000
}

async fn rotate(
    store: &dyn KeyStore,
    team: &Team,
    text: &str,
    phase_out_hours: u32,
    days: Option<u32>,
) -> Result<()> {
    let id = find_key(store, team, text).await?;
    let secret = Secret::random().context("no system randomness for a new secret")?;
    let phase_out = Duration::from_hours(phase_out_hours.into());
    let by = Actor::command_line();
    changed(keys::rotate(store, team.id, id, phase_out, days.map(in_days), &secret, &by).await?)?;
    let replaced = store.replaced_secrets(team.id).await?;
    let until = replaced.iter().rfind(|secret| secret.key == id && phase_out_hours > 0);
    let until = until.map(|secret| iso(secret.expires_at));
    let until =
        until.map_or_else(|| "does not work any more".to_owned(), |until| format!("works until {until}"));
    eprintln!("the new secret of key {id}, which is not shown again; the one before {until}:");
    println!("{}", secret.reveal());
    Ok(())
}

fn changed(change: KeyChange) -> Result<ApiKey> {
    match change {
        KeyChange::Key(key) => Ok(key),
        KeyChange::Missing => bail!("there is no such key"),
        KeyChange::Ended => bail!(keys::ENDED),
        KeyChange::OfClient => bail!(keys::OF_CLIENT),
    }
}

/// All where there are none.
async fn set_hosts(store: &dyn KeyStore, team: &Team, text: &str, hosts: &[String]) -> Result<()> {
    let id = find_key(store, team, text).await?;
    let listed = store.keys(team.id).await?;
    let key = listed.iter().find(|key| key.id == id).context("there is no such key")?;
    let hosts = if hosts.is_empty() {
        Vec::new()
    } else {
        let parsed = keys::parse_hosts(hosts, &keys::scopes_of(key));
        parsed.map_err(|why| anyhow::anyhow!("the hosts {why}"))?
    };
    changed(keys::set_hosts(store, team.id, id, &hosts, &Actor::command_line()).await?)?;
    let reaches =
        if hosts.is_empty() { "all hosts".to_owned() } else { format!("{} only", hosts.join(", ")) };
    println!("{id} reaches {reaches}; running servers notice within two seconds");
    Ok(())
}

async fn list(store: &dyn KeyStore, team: &Team, json: bool) -> Result<()> {
    let keys = store.keys(team.id).await?;
    let replaced = store.replaced_secrets(team.id).await?;
    let hosts = store.hosts_of_keys(team.id).await?;
    if json {
        let rows: Vec<_> = keys.iter().map(|key| row(key, &replaced, &hosts)).collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!(
        "{:<36}  {:<8}  {:<9}  {:<20}  {:<24}  {:<24}  SCOPES",
        "ID", "STATUS", "KEY", "NAME", "LAST USED", "EXPIRES"
    );
    for key in &keys {
        println!(
            "{:<36}  {:<8}  {:<9}  {:<20}  {:<24}  {:<24}  {}",
            key.id,
            keys::status(key, now()),
            key.hint,
            key.name,
            key.last_used_at.map_or_else(|| "never".to_owned(), iso),
            key.expires_at.map_or_else(|| "never".to_owned(), iso),
            key.scopes.join(",")
        );
        if let Some(held) = hosts.iter().find(|held| held.key == key.id) {
            println!("{:<36}  {:<8}  reaches {} only", "", "hosts", held.hosts.join(", "));
        }
        for secret in replaced.iter().filter(|secret| secret.key == key.id) {
            println!(
                "{:<36}  {:<8}  {:<9}  works until {}",
                "",
                "replaced",
                secret.hint,
                iso(secret.expires_at)
            );
        }
    }
    Ok(())
}

fn row(key: &ApiKey, replaced: &[ReplacedSecret], hosts: &[KeyHosts]) -> serde_json::Value {
    let hosts = hosts.iter().find(|held| held.key == key.id).map(|held| &held.hosts);
    let replaced: Vec<_> = replaced
        .iter()
        .filter(|secret| secret.key == key.id)
        .map(|secret| serde_json::json!({ "hint": secret.hint, "expiresAt": iso(secret.expires_at) }))
        .collect();
    serde_json::json!({
        "id": key.id, "name": key.name, "hint": key.hint, "status": keys::status(key, now()),
        "scopes": key.scopes, "createdAt": iso(key.created_at), "expiresAt": key.expires_at.map(iso),
        "lastUsedAt": key.last_used_at.map(iso), "revokedAt": key.revoked_at.map(iso),
        "hosts": hosts, "replaced": replaced,
    })
}

/// The key whose id begins so.
async fn find_key(store: &dyn KeyStore, team: &Team, text: &str) -> Result<Uuid> {
    let keys = store.keys(team.id).await?;
    let matching: Vec<Uuid> =
        keys.iter().map(|key| key.id).filter(|id| id.to_string().starts_with(text)).collect();
    match matching[..] {
        [id] => Ok(id),
        [] => bail!("no key has an id that starts with `{text}`; `gannet keys list` shows them"),
        _ => bail!("{} keys have an id that starts with `{text}`; give more of the id", matching.len()),
    }
}

async fn revoke(store: &dyn KeyStore, team: &Team, text: &str) -> Result<()> {
    let id = find_key(store, team, text).await?;
    store.revoke_key(team.id, id, &Actor::command_line()).await?;
    println!("revoked {id}; running servers notice within two seconds");
    Ok(())
}
