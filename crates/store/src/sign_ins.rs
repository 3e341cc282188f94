//! Sign-ins: a person's browser that acts as an API key for some hours. The browser holds a random token; only its
//! hash is stored. A sign-in ends by time, by hand, or with its key.

use crate::audit_log::Actor;
use crate::keys::{ApiKey, Team};
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// More sign-ins of one key than this end the ones that would have ended first.
pub const MAX_SIGN_INS_PER_KEY: i64 = 100;

/// A sign-in that has not expired, with the key it acts as. The key may be expired or revoked: the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub key: ApiKey,
    pub team: Team,
    pub expires_at: Millis,
}

/// How the start of a sign-in stands in the audit log.
#[derive(Debug, Clone, Copy)]
pub struct SignInNote<'a> {
    pub by: &'a Actor,
    /// Further ones are left out for a while, and the row says so.
    pub is_last: bool,
}

#[async_trait::async_trait]
pub trait SignInStore: Send + Sync + 'static {
    /// Starts a sign-in under the hash of its token; when it expires. None for a key that a person gave to a client
    /// of OAuth. Told in the audit log where there is a note.
    async fn start_sign_in(
        &self,
        hash: &[u8; 32],
        key: Uuid,
        keep_for: Duration,
        note: Option<SignInNote<'_>>,
    ) -> StoreResult<Option<Millis>>;

    async fn sign_in(&self, hash: &[u8; 32]) -> StoreResult<Option<SignIn>>;

    /// Ends a sign-in; `false` when there is none.
    async fn end_sign_in(&self, hash: &[u8; 32], by: &Actor) -> StoreResult<bool>;

    /// Ends every sign-in of a key; how many.
    async fn end_sign_ins(&self, key: Uuid, by: &Actor) -> StoreResult<u64>;

    /// Deletes up to `limit` sign-ins that have expired; how many.
    async fn purge_sign_ins(&self, limit: u32) -> StoreResult<u64>;
}
