//! Things that are done once: idempotency keys of callers, and secrets of the server itself.

use crate::{StoreError, StoreResult};
use sha2::{Digest, Sha256};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
pub trait Claims {
    /// `true` for the first who claims this key within its scope (for instance an endpoint), over all
    /// processes; `false` for everyone after, until `keep_for` has passed.
    async fn claim_key(&self, team: Uuid, scope: &str, key: &str, keep_for: Duration) -> StoreResult<bool>;

    /// Gives a claimed key back: what it was claimed for did not happen.
    async fn release_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<()>;

    /// Deletes up to `limit` claims that are past their time; how many.
    async fn purge_claims(&self, limit: u32) -> StoreResult<u64>;

    /// A random secret of the server: made when it is first asked for, then the same for ever and for
    /// all processes on this database.
    async fn secret(&self, name: &str) -> StoreResult<[u8; 32]>;
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

/// 32 random bytes.
pub(crate) fn new_secret() -> StoreResult<Vec<u8>> {
    let mut secret = vec![0; 32];
    getrandom::fill(&mut secret)
        .map_err(|error| StoreError::Unavailable(format!("no randomness from the system: {error}")))?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_and_key_do_not_run_together() {
        assert_ne!(claim_hash("a", "bc"), claim_hash("ab", "c"));
        assert_eq!(claim_hash("a", "bc"), claim_hash("a", "bc"));
    }
}
