//! The leases that a worker holds, and how the work on each is told to stop.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use store::work::LeaseStatus;
use tokio_util::sync::CancellationToken;

/// What the work under one lease is told.
#[derive(Debug, Clone)]
pub struct Signals {
    /// Somebody asked for it to be cancelled.
    pub cancel: CancellationToken,
    /// The process stops and its grace time is over: leave it as it is, it goes back to the queue.
    pub hand_back: CancellationToken,
    /// Another worker may have it: nothing more can be written.
    pub lost: CancellationToken,
    /// The process was told to stop; what has begun may go on for the grace time.
    pub stopping: CancellationToken,
}

impl Signals {
    pub fn new(stopping: CancellationToken) -> Self {
        let token = CancellationToken::new;
        Self { cancel: token(), hand_back: token(), lost: token(), stopping }
    }
}

#[derive(Debug)]
pub(super) struct HeldLeases<L>(Mutex<HashMap<L, Signals>>);

impl<L: Copy + Eq + Hash> HeldLeases<L> {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    /// Counts a lease as held until the returned value is dropped.
    pub fn hold(self: &Arc<Self>, lease: L, signals: Signals) -> HeldLease<L> {
        self.lock().insert(lease, signals);
        HeldLease { leases: self.clone(), lease }
    }

    pub fn leases(&self) -> Vec<L> {
        self.lock().keys().copied().collect()
    }

    /// Passes on what renewing the leases said.
    pub fn signal(&self, leases: &[L], statuses: Vec<LeaseStatus>) {
        let held = self.lock();
        for (lease, status) in leases.iter().zip(statuses) {
            let Some(signals) = held.get(lease) else { continue };
            match status {
                LeaseStatus::Held => {}
                LeaseStatus::CancelRequested => signals.cancel.cancel(),
                LeaseStatus::Lost => signals.lost.cancel(),
            }
        }
    }

    /// Tells all work to stop where it is; the leases that are to be handed back.
    pub fn hand_back_all(&self) -> Vec<L> {
        let held = self.lock();
        held.values().for_each(|signals| signals.hand_back.cancel());
        held.keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<L, Signals>> {
        self.0.lock()
    }
}

/// A lease among those that are held.
#[derive(Debug)]
pub(super) struct HeldLease<L: Copy + Eq + Hash> {
    leases: Arc<HeldLeases<L>>,
    lease: L,
}

impl<L: Copy + Eq + Hash> Drop for HeldLease<L> {
    fn drop(&mut self) {
        self.leases.lock().remove(&self.lease);
    }
}
