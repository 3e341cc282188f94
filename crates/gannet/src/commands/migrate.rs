//! `gannet migrate`: migrates the database schema and prints what it did.

use crate::data_dir;
use crate::settings::Settings;
use anyhow::{Context, Result};
use std::process::ExitCode;

pub async fn run(settings: &Settings) -> Result<ExitCode> {
    let _lock = data_dir::lock_database(settings)
        .context("the schema cannot be changed while a server is running: stop the server first")?;
    let report = store::migrate(&settings.store_options()).await.context("could not migrate the database")?;
    println!("{report}");
    Ok(ExitCode::SUCCESS)
}
