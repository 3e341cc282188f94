//! `gannet web-bot-auth`: the key that requests for pages are signed with, and its directory.

use crate::settings::Settings;
use anyhow::{Context, Result};
use net::{BOT_DIRECTORY_PATH, BotIdentity};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub enum WebBotAuthCommand {
    /// Make a private key and write it to a new file that only you can read
    CreateKey {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the key directory, for operators who put it on another server
    Directory,
}

impl WebBotAuthCommand {
    /// A key is private whatever the folder is.
    pub fn run(self, settings: impl FnOnce() -> Result<Settings>) -> Result<ExitCode> {
        match self {
            Self::CreateKey { file } => create_key(&file),
            Self::Directory => {
                let settings = settings()?;
                let auth = settings.web_bot_auth.as_ref().context("web_bot_auth_key is not set")?;
                println!("{}", auth.open()?.directory());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn create_key(path: &Path) -> Result<ExitCode> {
    let pem = BotIdentity::generate_key()?;
    let mut options = std::fs::OpenOptions::new();
    let written = options.write(true).create_new(true).mode(0o600).open(path).and_then(|mut file| {
        file.write_all(pem.as_bytes())?;
        file.sync_all()
    });
    written.with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    println!("Set web_bot_auth_key to this file, and public_url to the address of this server.");
    println!("Sites then find the public key at PUBLIC_URL{BOT_DIRECTORY_PATH}");
    Ok(ExitCode::SUCCESS)
}
