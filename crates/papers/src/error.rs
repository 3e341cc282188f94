//! Errors, in words that tell a user what to do. Every error names the file; input errors also name the line.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of the research index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file operation failed (missing file, full disk, no permission).
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A source file contains something invalid.
    #[error("{}:{line}: {what}", path.display())]
    Input { path: PathBuf, line: u64, what: String },
    /// An index file does not match its checksums or its table of contents.
    #[error("{}: damaged index: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// The index was written by another version of the format.
    #[error("{}: index format {found}, this program reads format {expected}", path.display())]
    Version { path: PathBuf, found: u32, expected: u32 },
    /// The corpus is larger than the format allows.
    #[error("too many {what}: the index supports at most {limit}")]
    TooMany { what: &'static str, limit: u64 },
    /// Another process is importing into the same library.
    #[error("{}: another import is running", path.display())]
    Busy { path: PathBuf },
}

/// Result of the research index.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err` on file operations.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
