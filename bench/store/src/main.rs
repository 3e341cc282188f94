//! What a store costs: `gannet-bench-store claims|scrapes DATABASE_URL …`; see the README beside this.
//! Use an empty database.

mod claims;
mod cpu;
mod scrapes;

use anyhow::{Context, bail};
use store::keys::NewTeam;
use store::{Store, StoreOptions};
use uuid::Uuid;

const USAGE: &str = "usage: gannet-bench-store claims DATABASE_URL [QUEUED] [SECONDS] [WORKERS] [BATCH]
       gannet-bench-store scrapes DATABASE_URL [RECORDS] [BATCH] [RESULT-BYTES] [PAGE-BYTES] [reserved]";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (what, url) = (arguments.next().context(USAGE)?, arguments.next().context(USAGE)?);
    let rest: Vec<String> = arguments.collect();
    let store = store::open(&StoreOptions::new(url)).await?;
    println!("backend      {}", store.backend());
    match what.as_str() {
        "claims" => claims::run(store.clone(), &rest).await?,
        "scrapes" => scrapes::run(&*store, &rest).await?,
        _ => bail!(USAGE),
    }
    store.shut_down().await;
    Ok(())
}

/// The number at a place of the command line, or its default.
fn number(rest: &[String], place: usize, default: usize) -> anyhow::Result<usize> {
    rest.get(place).map_or(Ok(default), |text| text.parse().context(USAGE))
}

async fn team(store: &dyn Store, name: String) -> anyhow::Result<Uuid> {
    let team = NewTeam { id: Uuid::now_v7(), name, plan: "bench".into(), zero_data_retention: false };
    Ok(store.create_team(team).await?.id)
}
