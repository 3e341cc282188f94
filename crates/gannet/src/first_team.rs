//! The first team and its key: created at the first start, and left in a file of the data directory.

use crate::settings::Settings;
use access::audit_log::{Actor, ActorKind};
use access::keys::{Secret, new_key};
use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use store::KeyStore;
use store::keys::NewTeam;
use uuid::Uuid;
use wire::Scope;

const FIRST_KEY: &str = "first-key";

/// The key that the first start created.
#[derive(Debug)]
pub struct FirstKey {
    pub secret: Secret,
    pub file: PathBuf,
}

/// Creates the first team and key if there is none. Returns `None` on every later start.
pub async fn create_first_team(settings: &Settings, store: &dyn KeyStore) -> Result<Option<FirstKey>> {
    let secret = match &settings.api_key {
        Some(chosen) => chosen.clone(),
        None => Secret::random().context("no system randomness for a new key")?,
    };
    let team = NewTeam {
        id: Uuid::now_v7(),
        name: "default".to_owned(),
        plan: settings.plan.clone(),
        zero_data_retention: false,
    };
    let key = new_key(team.id, "first", Scope::ALL, None, &secret);
    if !store.teams().await?.is_empty() {
        return Ok(None);
    }
    // Write the file before the key exists, so that a crash in between cannot lose the only key.
    let file = first_key_file(&settings.data_dir);
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    write_secret(&draft, secret.reveal()).with_context(|| format!("cannot write {}", draft.display()))?;
    if store.create_first_team(team, key).await?.is_some() {
        std::fs::rename(&draft, &file).with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(Some(FirstKey { secret, file }));
    }
    std::fs::remove_file(&draft)?;
    Ok(None)
}

pub fn first_key_file(data_dir: &Path) -> PathBuf {
    data_dir.join(FIRST_KEY)
}

/// What a server needs at its start: the first team and key, or on later starts the key of the settings.
pub async fn prepare_keys(settings: &Settings, store: &dyn KeyStore) -> Result<Option<FirstKey>> {
    let first = create_first_team(settings, store).await?;
    if first.is_none() {
        accept_configured_key(settings, store).await?;
    }
    Ok(first)
}

/// Adds the `api_key` of the settings to the existing keys on later starts, unless it was revoked.
async fn accept_configured_key(settings: &Settings, store: &dyn KeyStore) -> Result<()> {
    let Some(chosen) = &settings.api_key else { return Ok(()) };
    match store.key_by_hash(&chosen.hash()).await? {
        Some((key, _)) if key.revoked_at.is_some() => {
            tracing::warn!("the configured api_key has been revoked and stays revoked");
        }
        Some(_) => {}
        None => {
            let team = store.teams().await?.into_iter().next().context("there is no team")?;
            let by = Actor::new(ActorKind::Server, "the setting api_key", None);
            let created =
                access::keys::create(store, team.id, "configured", Scope::ALL, None, chosen, &by).await;
            // Another server that started at the same time may have created it.
            if let Err(error) = created
                && store.key_by_hash(&chosen.hash()).await?.is_none()
            {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Writes the file, readable by its owner only.
pub fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}
