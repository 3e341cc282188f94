//! The cost of a store: the ledger of crawls, and recording scrapes.

mod crawls;
mod scrapes;

use anyhow::Result;
use clap::Subcommand;
use store::keys::NewTeam;
use store::secrets::{SecretKey, SecretKeys};
use store::{Store, StoreOptions};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// One crawl, worked on in rounds as the engine does it.
    Crawls {
        database_url: String,
        #[command(flatten)]
        size: crawls::Size,
    },
    /// Records of scrapes as the engine writes them.
    Scrapes {
        database_url: String,
        #[command(flatten)]
        size: scrapes::Size,
    },
}

#[tokio::main]
pub async fn run(command: &Command) -> Result<()> {
    let (Command::Crawls { database_url, .. } | Command::Scrapes { database_url, .. }) = command;
    // The same for every run, so that a database can be used again.
    let key = SecretKey::parse(&"be".repeat(32)).map_err(anyhow::Error::msg)?;
    let options = StoreOptions::new(database_url).with_secret_keys(SecretKeys::new(key));
    let store = store::open(&options).await?;
    println!("backend      {}", store.backend());
    match command {
        Command::Crawls { size, .. } => crawls::run(store.clone(), *size).await?,
        Command::Scrapes { size, .. } => scrapes::run(&*store, size).await?,
    }
    store.shut_down().await;
    Ok(())
}

async fn team(store: &dyn Store, name: String) -> Result<Uuid> {
    let team = NewTeam { id: Uuid::now_v7(), name, plan: "bench".into(), zero_data_retention: false };
    Ok(store.create_team(team).await?.id)
}

/// Bytes that differ from record to record and do not compress, like compressed ones.
fn noise(seed: usize, bytes: usize) -> Vec<u8> {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut out = Vec::with_capacity(bytes + 8);
    while out.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(bytes);
    out
}
