//! Work that processes claim under a lease: pages of crawls and batches, agent runs, webhook deliveries.
//!
//! Each kind is a [`LeasedQueue`]; one [`LeaseWorker`] per kind and process claims its items, works on them
//! and keeps their leases alive. All kinds share the [`WorkSlots`] of the process. A lease is the fencing
//! token: a worker that was taken for dead and wakes up writes nothing. So any process may die at any moment,
//! and what it held goes back to its queue when the leases end.

mod held;
pub mod retry;
mod slots;
mod worker;

#[cfg(test)]
mod tests;

pub use held::Signals;
pub use slots::{Slot, SlotShare, WorkSlots};
pub use worker::{AbortOnDrop, LeaseWorker, LeasedQueue, WorkerOptions};

use std::time::Duration;

/// The times that leased work keeps.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTimes {
    /// How long a silent worker keeps what it claimed.
    pub lease: Duration,
    /// How often to look for work when no signal comes.
    pub poll: Duration,
    /// How long work may go on after the process was told to stop.
    pub grace: Duration,
}

impl LeaseTimes {
    pub fn new(lease: Duration, grace: Duration) -> Self {
        Self { lease, poll: Duration::from_secs(1), grace }
    }
}
