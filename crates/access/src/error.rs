//! Why a request of a caller is not accepted, whatever it is for. What callers see of it is made in one
//! place, [`CallerError::to_wire`], at the edge or by the error of `engine` that it becomes a part of.

use crate::audit_log::ExpiredKey;
use serde_json::json;
use std::sync::Arc;
use store::StoreError;
use store::idempotency::UsedKey;
use stored_data::time::iso;
use wire::{Kind, WireError};

/// Its text is for logs; callers get [`CallerError::to_wire`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallerError {
    #[error("it is not known who calls")]
    Unauthorized,
    /// The key is the right one, so whoever sent it may know.
    #[error("the key has expired")]
    KeyExpired(Arc<ExpiredKey>),
    #[error("the key does not have the scope for this")]
    Forbidden,
    /// Authentication is off, and there is no team that callers could belong to.
    #[error("there is no team yet")]
    NoTeam,
    /// The plan's credits do not cover the request.
    #[error("not enough credits")]
    InsufficientCredits,
    #[error("more than {limit} requests of {group} a minute")]
    RateLimited { group: &'static str, limit: u32, retry_after: u64 },
    /// An address has used up what it may do without a key on one day.
    #[error("more than {limit} {reason} without a key in a day")]
    KeylessQuota { reason: &'static str, limit: u32, retry_after: u64 },
    #[error("all {max} of the plan are in use")]
    ConcurrencyLimited { max: u32 },
    #[error("{max} jobs wait already")]
    QueueFull { max: u64, retry_after: u64 },
    #[error("the idempotency key was used before")]
    KeyUsed(UsedKey),
    #[error("the store failed: {0}")]
    Store(#[source] Arc<StoreError>),
    /// Logged where it happens.
    #[error("no system randomness for a new secret")]
    Randomness,
}

/// Logs what the store said, which callers do not see, and keeps it.
pub fn from_store(error: StoreError) -> CallerError {
    match &error {
        StoreError::Full { .. } => tracing::warn!(%error, "no space left"),
        StoreError::Objects(_) => tracing::warn!(%error, "object storage unavailable"),
        _ if error.is_retryable() => tracing::warn!(%error, "store unavailable"),
        _ => tracing::error!(%error, "store failed"),
    }
    CallerError::Store(Arc::new(error))
}

impl CallerError {
    /// More jobs wait than the plan allows.
    pub fn queue_full(max: u64) -> Self {
        const RETRY_AFTER: u64 = 30;
        Self::QueueFull { max, retry_after: RETRY_AFTER }
    }

    pub fn to_wire(&self) -> WireError {
        match self {
            Self::Unauthorized => Kind::Unauthorized.into(),
            Self::KeyExpired(expired) => {
                let reason = format!("the API key expired at {}; create or rotate one", iso(expired.at));
                WireError::because(Kind::Unauthorized, &reason)
            }
            Self::Forbidden => Kind::Forbidden.into(),
            Self::NoTeam => Kind::Unavailable.into(),
            Self::InsufficientCredits => Kind::InsufficientCredits.into(),
            Self::RateLimited { group, limit, retry_after } => {
                WireError::rate_limited(group, *limit, *retry_after)
            }
            Self::KeylessQuota { reason, limit, retry_after } => {
                WireError::keyless_quota(reason, *limit, *retry_after)
            }
            Self::ConcurrencyLimited { max } => WireError::concurrency_limited(*max),
            Self::QueueFull { max, retry_after } => {
                let mut error = WireError::queue_full(*max);
                error.retry_after = Some(*retry_after);
                error
            }
            Self::KeyUsed(used) => {
                let error = WireError::from(Kind::IdempotencyKeyUsed);
                match used.resource {
                    // A caller whose answer was lost finds by this what was made under the key.
                    Some(id) => error.with_details(&json!({ "id": id, "done": used.done })),
                    None => error,
                }
            }
            Self::Store(error) => store_to_wire(error),
            Self::Randomness => Kind::Internal.into(),
        }
    }
}

impl From<CallerError> for WireError {
    fn from(error: CallerError) -> Self {
        error.to_wire()
    }
}

/// What callers see of an error of the store. What may pass becomes 503 with `Retry-After` and says what is
/// missing; everything else is 500. Nothing about SQL.
pub fn store_to_wire(error: &StoreError) -> WireError {
    match error {
        StoreError::Full { disk, .. } => WireError::out_of_space(&format!("{disk} is full")),
        StoreError::Objects(_) => WireError::unavailable("the object storage is not available", 1),
        _ if error.is_retryable() => WireError::unavailable("the database is not available", 1),
        _ => Kind::Internal.into(),
    }
}
