//! Leases: who may use the loopback proxy, for how long, for how much, and what became of it.

use super::Unfetched;
use crate::allow::Purpose;
use crate::deadline::Deadline;
use crate::fetch::HopRule;
use crate::route::Via;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Failures a lease remembers. A page that makes thousands of them needs no list.
const MOST_REMEMBERED: usize = 64;

/// What a lease allows.
#[derive(Clone)]
pub struct LeaseRules {
    pub purpose: Purpose,
    pub via: Via,
    /// Everything on the lease ends here.
    pub deadline: Deadline,
    /// Bytes that may come in, over all connections.
    pub bytes: u64,
    /// The host whose page is wanted. Never taken for one of the browser's own calls home.
    pub page_host: String,
    /// Hosts the holder may reach, where the holder has a say. Asked with scheme, host and port alone: more is not seen here.
    pub hosts: Option<HopRule>,
}

impl fmt::Debug for LeaseRules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LeaseRules")
            .field("purpose", &self.purpose)
            .field("via", &self.via)
            .field("deadline", &self.deadline)
            .field("bytes", &self.bytes)
            .field("page_host", &self.page_host)
            .field("hosts", &self.hosts.is_some())
            .finish()
    }
}

/// What a lease has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeaseTraffic {
    pub sent: u64,
    pub received: u64,
}

/// A right to use the proxy. Dropping it ends its connections and makes its password void.
pub struct Lease {
    pub(super) state: Arc<LeaseState>,
    pub(super) leases: Leases,
}

pub(super) struct LeaseState {
    pub(super) password: String,
    pub(super) rules: LeaseRules,
    pub(super) ended: CancellationToken,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    failures: Mutex<Vec<Unfetched>>,
}

impl Lease {
    /// What the browser must answer when the proxy asks who it is.
    pub fn credentials(&self) -> (&str, &str) {
        (super::USER, &self.state.password)
    }

    pub fn traffic(&self) -> LeaseTraffic {
        LeaseTraffic {
            sent: self.state.sent.load(Ordering::Relaxed),
            received: self.state.received.load(Ordering::Relaxed),
        }
    }

    /// What could not be fetched, and why: the browser itself only says "tunnel failed".
    pub fn failures(&self) -> Vec<Unfetched> {
        lock(&self.state.failures).clone()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The password stays out of logs.
        out.debug_struct("Lease").field("rules", &self.state.rules).finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.remove(&self.state.password);
        self.state.ended.cancel();
    }
}

impl LeaseState {
    pub(super) fn remember(&self, failure: Unfetched) {
        let mut failures = lock(&self.failures);
        if failures.len() < MOST_REMEMBERED {
            failures.push(failure);
        }
    }
}

/// All leases that hold now, by password.
#[derive(Clone, Default)]
pub(super) struct Leases(Arc<Mutex<HashMap<String, Arc<LeaseState>>>>);

impl Leases {
    pub(super) fn add(&self, password: String, rules: LeaseRules, ended: CancellationToken) -> Lease {
        let state = Arc::new(LeaseState {
            password: password.clone(),
            rules,
            ended,
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            failures: Mutex::default(),
        });
        lock(&self.0).insert(password, Arc::clone(&state));
        Lease { state, leases: self.clone() }
    }

    pub(super) fn find(&self, password: &str) -> Option<Arc<LeaseState>> {
        lock(&self.0).get(password).cloned()
    }

    fn remove(&self, password: &str) {
        lock(&self.0).remove(password);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
