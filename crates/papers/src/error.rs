//! What can go wrong, in words a person can act on. Every error names the file; errors of input name the line too.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of the research index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation (missing file, full disk, no permission).
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A source file holds something that cannot be read.
    #[error("{}:{line}: {what}", path.display())]
    Input { path: PathBuf, line: u64, what: String },
    /// An index file does not hold what its checksums or its table of contents promise.
    #[error("{}: damaged index: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// The index was written by another version of the format.
    #[error("{}: index format {found}, this program reads format {expected}", path.display())]
    Version { path: PathBuf, found: u32, expected: u32 },
    /// The corpus holds more than the format can number.
    #[error("too many {what}: the index numbers at most {limit}")]
    TooMany { what: &'static str, limit: u64 },
    /// Another process is changing the same library.
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
