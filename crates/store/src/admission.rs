//! What must hold for work to be accepted, checked in the very transaction that accepts it: however many ask at once, over any number
//! of processes, no plan's queue is exceeded and no idempotency key is used twice.

use crate::idempotency::{KeyClaim, UsedKey};

/// The conditions of one piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Admission {
    /// The most pages and runs of the team that may wait with it; no limit without one.
    pub max_waiting: Option<u64>,
    /// Its idempotency key, which is used from then on.
    pub claim: Option<KeyClaim>,
}

/// Why work was not accepted. Nothing of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    QueueFull,
    KeyUsed(UsedKey),
}
