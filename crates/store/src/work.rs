//! What crawls, agent runs and webhook deliveries have in common as work that processes claim under a lease.

use crate::{Millis, StoreResult};
use tokio::sync::watch;
use uuid::Uuid;

/// The most that a team of a plan may have running at once, over all processes.
#[derive(Debug, Clone)]
pub struct PlanSlots {
    pub plan: String,
    /// `None` = no limit.
    pub max_running: Option<u32>,
}

/// How a lease stands when it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStatus {
    Held,
    /// Still held, and somebody asked for the work to be cancelled.
    CancelRequested,
    /// Another worker may have it: stop, and write nothing.
    Lost,
}

/// What a team has waiting and running: pages of crawls and batches, and agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStatus {
    pub waiting: u64,
    pub active: u64,
    pub most_recent_success: Option<Millis>,
}

#[async_trait::async_trait]
pub trait WorkQueue: Send + Sync + 'static {
    async fn queue_status(&self, team: Uuid) -> StoreResult<QueueStatus>;

    /// Changes whenever work may have arrived, from this process or another. May fire without need;
    /// callers poll as well.
    fn work_signal(&self) -> watch::Receiver<u64>;
}
