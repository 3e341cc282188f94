//! `gannet openapi`: prints the document that the server serves, made from the same declarations.

use anyhow::{Context, Result};
use std::process::ExitCode;

pub fn run() -> Result<ExitCode> {
    let document = server::openapi().to_pretty_json().context("the document cannot be written")?;
    println!("{document}");
    Ok(ExitCode::SUCCESS)
}
