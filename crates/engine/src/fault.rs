//! What a caller sees when the store fails: the truth about retrying, nothing about SQL.

use store::StoreError;
use wire::{Kind, WireError};

/// Unavailable becomes 503 with `Retry-After`; everything else is our own failure, logged and 500.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
pub fn from_store(error: StoreError) -> WireError {
    if error.is_retryable() {
        tracing::warn!(%error, "store unavailable");
        return WireError::unavailable("the database is not available", 1);
    }
    tracing::error!(%error, "store failed");
    WireError::from(Kind::Internal)
}
