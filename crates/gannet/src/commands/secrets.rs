//! `gannet secrets`: changes the key that stored secrets are encrypted with, and gives up those whose key is lost.

use crate::home;
use crate::secret_keys;
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use std::process::ExitCode;
use store::secrets::{SecretKey, SecretKeys};

#[derive(Debug, clap::Subcommand)]
pub enum Secrets {
    /// Encrypt everything with a new key, after which the old one is not needed any more
    ///
    /// With the key in the data folder, makes a new one. With the setting `secret_key`, takes that one; `previous_secret_keys`
    /// names the ones before it, and every server of the database must have been started with both settings.
    Rekey,
    /// Give up stored secrets whose key is lost, so that a server can start without it
    Reset {
        /// Do it: webhook secrets, browser profiles and the requests of crawls and runs cannot be brought back
        #[arg(long)]
        yes: bool,
    },
}

impl Secrets {
    pub async fn run(self, settings: &Settings) -> Result<ExitCode> {
        let _lock = home::lock_database(settings).context("stop the server first")?;
        home::make_data_dir(settings)?;
        match self {
            Self::Rekey => rekey(settings).await,
            Self::Reset { yes } => reset(settings, yes).await,
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn rekey(settings: &Settings) -> Result<()> {
    let keys = secret_keys::find(settings)?;
    let keys = keys.context("there is no secret key yet; the first start makes one")?;
    if settings.secret_key.is_some() {
        encrypt_anew(settings, keys).await?;
        println!("previous_secret_keys can be removed from the settings of all servers");
        let file = secret_keys::key_file(settings);
        if file.exists() {
            println!("{} is not needed any more", file.display());
        }
        return Ok(());
    }
    ensure!(
        settings.database_url.starts_with("sqlite:"),
        "on PostgreSQL a key in a data folder is not changed, because other servers need the same one: put the new key into \
         secret_key and this one into previous_secret_keys on all of them, restart them, and run this again"
    );
    let next = SecretKey::random().context("no randomness for a key")?;
    let old: Vec<SecretKey> = keys.all().cloned().collect();
    let all = SecretKeys { current: next.clone(), previous: old };
    // Both, until nothing is encrypted with the old one: whatever stops this in between, everything can be read.
    secret_keys::replace(settings, &all.all().cloned().collect::<Vec<_>>())?;
    encrypt_anew(settings, all).await?;
    secret_keys::replace(settings, &[next])?;
    println!("the new key is in {}; back it up", secret_keys::key_file(settings).display());
    Ok(())
}

async fn encrypt_anew(settings: &Settings, keys: SecretKeys) -> Result<()> {
    let id = keys.current.id();
    let options = home::store_options(settings).with_secret_keys(keys);
    let done = store::rekey_secrets(&options).await.context("cannot encrypt with the new key")?;
    println!("encrypted {} secrets with the key {id}", done.sealed);
    if done.unreadable > 0 {
        println!("{} could be read with no key; `gannet secrets reset` gives them up", done.unreadable);
    }
    Ok(())
}

async fn reset(settings: &Settings, yes: bool) -> Result<()> {
    ensure!(
        yes,
        "this gives up all stored secrets that the present key cannot read: webhook secrets (receivers must be given new ones), browser \
         profiles (log in again), crawls and runs that are under way (they fail). If the key may still be found, put it into \
         previous_secret_keys instead. To go on, add --yes"
    );
    let keys = match secret_keys::find(settings)? {
        Some(keys) => keys,
        None => secret_keys::make(settings)?,
    };
    let options = home::store_options(settings).with_secret_keys(keys);
    let done = store::reset_secrets(&options).await.context("cannot give up stored secrets")?;
    println!("{} stored secrets could not be read and were given up; servers can start", done.unreadable);
    Ok(())
}
