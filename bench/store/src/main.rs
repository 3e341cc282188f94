//! The cost of a store: `gannet-bench-store crawls|scrapes DATABASE_URL …`; see
//! `bench/store/README.md`. Use an empty database.

mod cpu;
mod crawls;
mod scrapes;

use anyhow::{Context, bail};
use store::keys::NewTeam;
use store::secrets::{SecretKey, SecretKeys};
use store::{Store, StoreOptions};
use uuid::Uuid;

const USAGE: &str =
    "usage: gannet-bench-store crawls DATABASE_URL [PAGES] [WORKERS] [BATCH] [LINKS] [DOCUMENT-BYTES]
       gannet-bench-store scrapes DATABASE_URL [RECORDS] [BATCH] [RESULT-BYTES] [PAGE-BYTES] [reserved]";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (what, url) = (arguments.next().context(USAGE)?, arguments.next().context(USAGE)?);
    let rest: Vec<String> = arguments.collect();
    // The same for every run, so that a database can be used again.
    let key = SecretKey::parse(&"be".repeat(32)).map_err(anyhow::Error::msg)?;
    let store = store::open(&StoreOptions::new(url).with_secret_keys(SecretKeys::new(key))).await?;
    println!("backend      {}", store.backend());
    match what.as_str() {
        "crawls" => crawls::run(store.clone(), &rest).await?,
        "scrapes" => scrapes::run(&*store, &rest).await?,
        _ => bail!(USAGE),
    }
    store.shut_down().await;
    Ok(())
}

/// The number at a position of the command line, or its default.
fn number(rest: &[String], place: usize, default: usize) -> anyhow::Result<usize> {
    rest.get(place).map_or(Ok(default), |text| text.parse().context(USAGE))
}

async fn team(store: &dyn Store, name: String) -> anyhow::Result<Uuid> {
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
