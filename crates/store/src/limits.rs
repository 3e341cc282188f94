//! Limits that hold over all processes: requests per window, and browser slots that are leased.

use crate::StoreResult;
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateTaken {
    /// How many of the asked tokens were granted; fewer when the window has fewer left.
    pub granted: u32,
    /// Tokens left in the window after this.
    pub remaining: u32,
    /// Until the window ends and a fresh one starts.
    pub resets_in: Duration,
}

#[async_trait::async_trait]
pub trait LimitStore: Send + Sync + 'static {
    /// Takes up to `wanted` tokens from the window of (`team`, `group`). A window starts with the first
    /// token taken and lasts `window`; it never grants more than `limit` in all, however many ask at once.
    async fn take_rate(
        &self,
        team: Uuid,
        group: &str,
        limit: u32,
        window: Duration,
        wanted: u32,
    ) -> StoreResult<RateTaken>;

    /// Leases one of `max` slots of a team; `None` when all are held. A slot whose lease ran out is free.
    async fn acquire_slot(&self, team: Uuid, max: u32, lease_for: Duration) -> StoreResult<Option<Uuid>>;

    /// Extends the leases of slots; those that had run out are not brought back. Returns those still held.
    async fn renew_slots(&self, slots: &[Uuid], lease_for: Duration) -> StoreResult<Vec<Uuid>>;

    /// Gives a slot back; harmless when it is not held any more.
    async fn release_slot(&self, slot: Uuid) -> StoreResult<()>;

    /// Slots of the team that are held now.
    async fn slots_in_use(&self, team: Uuid) -> StoreResult<u32>;

    /// Forgets windows and slots that ended long ago. Bounded work per call.
    async fn sweep_limits(&self) -> StoreResult<()>;
}
