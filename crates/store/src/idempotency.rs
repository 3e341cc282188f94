//! Idempotency keys of callers: what is sent twice under one key is done once.
//!
//! A key is claimed for one piece of work, known by the id of what it makes. What is started by one transaction (a crawl, a batch, a
//! run) claims its key in that transaction ([`crate::admission::Admission`]), so both are there or neither. What takes a while before
//! it is recorded (a scrape) claims its key first: that claim is pending until the transaction that records the work completes or
//! releases it ([`crate::scrapes::NewScrape::claim`]), and lapses by itself when the process that did the work is gone.

use crate::StoreResult;
use crate::rows::Columns;
use sha2::{Digest, Sha256};
use std::time::Duration;
use uuid::Uuid;

/// The use of an idempotency key for one piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyClaim {
    pub team_id: Uuid,
    /// What keys are told apart by beside their text, for instance an endpoint.
    pub scope: String,
    pub key: String,
    /// The id of what is made under the key. Only who knows it can complete or release a pending claim.
    pub resource: Uuid,
    /// How long the key stays used once the work is done.
    pub keep_for: Duration,
}

/// A key that somebody claimed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedKey {
    /// What was made under it, or is being made; unknown for keys that an older version claimed.
    pub resource: Option<Uuid>,
    /// The work was recorded. Otherwise it still goes on, or its process was lost and the claim lapses.
    pub done: bool,
}

#[async_trait::async_trait]
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Claims a key for work that begins now: `None` for the first within its scope, over all processes; for everyone after, what
    /// it was claimed for. The claim is pending and lapses after `lapse_after` unless it is completed before.
    async fn claim_key(&self, claim: &KeyClaim, lapse_after: Duration) -> StoreResult<Option<UsedKey>>;

    /// Gives a pending claim back: what it was for did not happen. A completed claim, and one that has lapsed and was taken by
    /// somebody else, stay as they are.
    async fn release_key(&self, claim: &KeyClaim) -> StoreResult<()>;

    /// What a key was claimed for, without claiming it.
    async fn used_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<Option<UsedKey>>;

    /// Gives back every pending claim; how many. Only for who knows that no other process works on this database.
    async fn release_pending_keys(&self) -> StoreResult<u64>;

    /// Deletes up to `limit` claims that are past their time; how many.
    async fn purge_idempotency_keys(&self, limit: u32) -> StoreResult<u64>;
}

impl KeyClaim {
    pub(crate) fn hash(&self) -> Vec<u8> {
        claim_hash(&self.scope, &self.key)
    }
}

/// What is kept of a claimed key: it may be long, and need not be readable. The length of the scope
/// keeps two pairs from meeting in one text.
pub(crate) fn claim_hash(scope: &str, key: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update((scope.len() as u64).to_le_bytes());
    hash.update(scope);
    hash.update(key);
    hash.finalize().to_vec()
}

pub(crate) fn used_key_from_row(row: &impl Columns) -> StoreResult<UsedKey> {
    Ok(UsedKey { resource: row.id_or_none("resource")?, done: row.flag("done")? })
}

/// The answer where a claim failed and what stood in its way was gone a moment later.
pub(crate) const USED_A_MOMENT_AGO: UsedKey = UsedKey { resource: None, done: false };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_and_key_do_not_run_together() {
        assert_ne!(claim_hash("a", "bc"), claim_hash("ab", "c"));
        assert_eq!(claim_hash("a", "bc"), claim_hash("a", "bc"));
    }
}
