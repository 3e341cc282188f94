//! `gannet secrets`: rotates the encryption key of stored secrets, and deletes secrets whose key is lost.

use crate::data_dir;
use crate::private_files::create_data_folder;
use crate::secret_keys;
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use std::process::ExitCode;
use store::secrets::{SecretKey, SecretKeys};

#[derive(Debug, clap::Subcommand)]
pub enum Secrets {
    /// Encrypt all stored secrets with a new key; the old key is not needed afterwards
    ///
    /// If the key is in the data directory, a new one is created. With the setting `secret_key`, that key is
    /// used; `previous_secret_keys` must contain the previous ones, and every server of the database must
    /// have been started with both settings.
    Rekey,
    /// Delete stored secrets whose key is lost, so that a server can start without it
    Reset {
        /// Confirm: webhook secrets, browser profiles and the requests of crawls and runs cannot be recovered
        #[arg(long)]
        yes: bool,
    },
}

impl Secrets {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let _lock = data_dir::lock_database(settings).context("stop the server first")?;
        create_data_folder(&settings.data_dir)?;
        match self {
            Self::Rekey => rekey(settings).await,
            Self::Reset { yes } => reset(settings, yes).await,
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn rekey(settings: &Settings) -> Result<()> {
    let keys = secret_keys::find(settings)?;
    let keys = keys.context("there is no secret key yet; the first start creates it")?;
    if settings.secret_key.is_some() {
        reencrypt(settings, keys).await?;
        println!("previous_secret_keys can be removed from the settings of all servers");
        let file = secret_keys::key_file(settings);
        if file.exists() {
            println!("{} is no longer needed", file.display());
        }
        return Ok(());
    }
    ensure!(
        settings.database_url.starts_with("sqlite:"),
        "on PostgreSQL the key in the data directory cannot be rotated, because other servers need the same one: set the new key as \
         secret_key and this one in previous_secret_keys on all servers, restart them, and run this command again"
    );
    let next = SecretKey::random().context("no system randomness for a new key")?;
    let old: Vec<SecretKey> = keys.all().cloned().collect();
    let all = SecretKeys { current: next.clone(), previous: old };
    // Keep both until nothing is encrypted with the old key, so that an interruption loses nothing.
    secret_keys::replace(settings, &all.all().cloned().collect::<Vec<_>>())?;
    reencrypt(settings, all).await?;
    secret_keys::replace(settings, &[next])?;
    println!("the new key is in {}; back it up", secret_keys::key_file(settings).display());
    Ok(())
}

async fn reencrypt(settings: &Settings, keys: SecretKeys) -> Result<()> {
    let id = keys.current.id();
    let options = settings.store_options().with_secret_keys(keys);
    let done = store::rekey_secrets(&options).await.context("could not encrypt with the new key")?;
    println!("encrypted {} secrets with the key {id}", done.sealed);
    if done.unreadable > 0 {
        println!(
            "{} secrets could not be decrypted with any key; delete them with `gannet secrets reset`",
            done.unreadable
        );
    }
    Ok(())
}

async fn reset(settings: &Settings, yes: bool) -> Result<()> {
    ensure!(
        yes,
        "this deletes all stored secrets that the current key cannot decrypt: webhook secrets (receivers need new ones), browser \
         profiles (log in again), running crawls and runs (they fail). If you still have the key, put it into \
         previous_secret_keys instead. To continue, add --yes"
    );
    let keys = match secret_keys::find(settings)? {
        Some(keys) => keys,
        None => secret_keys::create(settings)?,
    };
    let options = settings.store_options().with_secret_keys(keys);
    let done = store::reset_secrets(&options).await.context("could not delete stored secrets")?;
    println!("deleted {} stored secrets that could not be decrypted; servers can start", done.unreadable);
    Ok(())
}
