//! `gannet openapi`: prints the OpenAPI document that the server serves.

use anyhow::{Context, Result};
use std::process::ExitCode;

pub fn run() -> Result<ExitCode> {
    let document =
        serde_json::to_string_pretty(&server::openapi()).context("could not write the OpenAPI document")?;
    println!("{document}");
    Ok(ExitCode::SUCCESS)
}
