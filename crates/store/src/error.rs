//! What can go wrong in a store. Callers tell "try again" from "never"; they do not see SQL.

use std::fmt;

pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be reached or is overloaded; the same call may work later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A disk has no room left; the same call may work when it has.
    #[error("{disk} is full: {text}")]
    Full { disk: FullDisk, text: String },
    /// The object storage cannot be reached, refuses or does not answer; the same call may work later.
    #[error("the object storage is not available: {0}")]
    Objects(String),
    /// The database file or schema is not one this version can use.
    #[error("the database cannot be used: {0}")]
    Schema(String),
    /// The caller broke a rule of the store, for instance charged more than it reserved.
    #[error("{0}")]
    Misuse(String),
    /// Anything else the database said.
    #[error("database error: {0}")]
    Database(String),
}

/// Which disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullDisk {
    /// Of this machine, with the SQLite file.
    Database,
    /// Of the PostgreSQL server.
    DatabaseServer,
    /// Of this machine, with the folder of objects.
    Objects,
}

impl fmt::Display for FullDisk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Database => "the disk that holds the database",
            Self::DatabaseServer => "the disk of the database server",
            Self::Objects => "the disk that holds the objects folder",
        })
    }
}

impl StoreError {
    /// Whether the same call may succeed later without a change.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Full { .. } | Self::Objects(_))
    }
}
