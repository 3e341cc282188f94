//! What a caller sees when the store fails: the truth about retrying, nothing about SQL.

use store::StoreError;
use wire::{Kind, WireError};

/// Why a crawl or a run ended whose request the store could not decrypt.
pub(crate) const REQUEST_LOST: &str =
    "The stored request cannot be read: the secret key that it was encrypted with is missing.";

/// What may pass becomes 503 with `Retry-After` and says what is missing; everything else is our own failure, logged and 500.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` takes")]
pub fn from_store(error: StoreError) -> WireError {
    match &error {
        StoreError::Full { disk, .. } => {
            tracing::warn!(%error, "no space left");
            WireError::out_of_space(&format!("{disk} is full"))
        }
        StoreError::Objects(_) => {
            tracing::warn!(%error, "object storage unavailable");
            WireError::unavailable("the object storage is not available", 1)
        }
        _ if error.is_retryable() => {
            tracing::warn!(%error, "store unavailable");
            WireError::unavailable("the database is not available", 1)
        }
        _ => {
            tracing::error!(%error, "store failed");
            WireError::from(Kind::Internal)
        }
    }
}
