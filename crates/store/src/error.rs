//! What can go wrong in a store. Callers tell "try again" from "never"; they do not see SQL.

pub type StoreResult<T> = Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be reached or is overloaded; the same call may work later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
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

impl StoreError {
    /// Whether the same call may succeed later without a change.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}
