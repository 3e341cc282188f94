//! `gannet migrate`: brings the database to this version's form and says what it did.

use crate::home;
use crate::settings::Settings;
use anyhow::{Context, Result};
use std::process::ExitCode;

pub async fn run(settings: &Settings) -> Result<ExitCode> {
    let _lock = home::lock_database(settings)
        .context("the schema of a database is not changed while a server runs: stop the server first")?;
    let report =
        store::migrate(&home::store_options(settings)).await.context("cannot migrate the database")?;
    println!("{report}");
    Ok(ExitCode::SUCCESS)
}
