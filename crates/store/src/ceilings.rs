//! How much of the database others may fill: bytes of crawls and batches, of agent runs and of webhooks, and numbers of small rows.
//!
//! Pages, results, snapshots and what is kept for search have ceilings of their own, with the modules that keep them. Bytes are
//! counted by running totals, which triggers keep.

use crate::StoreResult;
use crate::crawls::Crawl;
use std::time::Duration;

/// What is counted by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Requests, addresses and documents of crawls and batches.
    Crawls,
    /// Requests, events, snapshots and results of agent runs and extracts.
    Runs,
    /// Webhooks on their way, and those that were given up.
    Webhooks,
}

impl Counted {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Crawls => "crawls",
            Self::Runs => "runs",
            Self::Webhooks => "webhooks",
        }
    }
}

/// Small rows that are counted by their number; the oldest go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SmallRows {
    Activity,
    Searches,
    Feedback,
    IdempotencyKeys,
}

#[async_trait::async_trait]
pub trait CeilingStore: Send + Sync + 'static {
    /// Bytes that are stored of a kind.
    async fn counted_bytes(&self, kind: Counted) -> StoreResult<u64>;

    /// Live crawls and batches that each store more than `each`, largest first; and the largest when all live ones together
    /// store more than `together`.
    async fn oversized_crawls(&self, each: u64, together: u64, limit: u32) -> StoreResult<Vec<Crawl>>;

    /// While crawls and batches store more than `ceiling`: lets those expire that would expire soonest, at most `limit`, no more
    /// than needed, and none that ended less than `min_age` ago. How many; deleting them is left to the next purge, and nothing
    /// more goes before that is done.
    async fn evict_crawls(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64>;

    /// The same for agent runs.
    async fn evict_runs(&self, ceiling: u64, min_age: Duration, limit: u32) -> StoreResult<u64>;

    /// While webhooks take more than `ceiling`: deletes at most `limit`, no more than needed. Those that were given up go first,
    /// then the oldest of the team that has the most. How many.
    async fn evict_deliveries(&self, ceiling: u64, limit: u32) -> StoreResult<u64>;

    /// Deletes the oldest rows beyond the newest `keep`, at most `limit`; how many.
    async fn trim(&self, rows: SmallRows, keep: u32, limit: u32) -> StoreResult<u64>;
}
