//! Things that are done once: idempotency keys of callers, and secrets of the server itself.

use crate::StoreResult;
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
