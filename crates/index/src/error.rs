//! Errors of the index, in words that tell an operator what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of the search index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The operating system refused a file operation.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Another process is writing to this folder.
    #[error("{}: another process is writing to this search index; stop it, or use another data directory", path.display())]
    Busy { path: PathBuf },
    /// There is no index here that could be read.
    #[error("{}: no readable search index of this version: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    /// The index was opened for reading.
    #[error("this search index was opened for reading only")]
    ReadOnly,
    /// Tantivy returned an error.
    #[error("search index: {0}")]
    Engine(#[from] tantivy::TantivyError),
    /// A stored document could not be read back.
    #[error("search index: a stored document is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// Result of the search index.
pub type Result<T> = std::result::Result<T, IndexError>;

impl IndexError {
    /// For `map_err` on file operations.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        Self::Engine(error.into())
    }
}
