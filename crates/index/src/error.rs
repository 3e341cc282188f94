//! What can go wrong, in words a person can act on.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of the search index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Another process writes to this folder.
    #[error("{}: another process writes to this search index; stop it, or give this one a folder of its own", path.display())]
    Busy { path: PathBuf },
    /// There is no index here that could be read.
    #[error("{}: no search index of this version here: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    /// The index was opened for reading.
    #[error("this search index was opened for reading only")]
    ReadOnly,
    /// The engine below failed.
    #[error("search index: {0}")]
    Engine(#[from] tantivy::TantivyError),
    /// A stored document could not be read back.
    #[error("search index: a stored document is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// Result of the search index.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Engine(error.into())
    }
}
