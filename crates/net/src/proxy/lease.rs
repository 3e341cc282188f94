//! Leases: who may use the loopback proxy, for how long and for how many bytes, and which of their requests
//! failed.

use super::FailedRequest;
use crate::allow::Purpose;
use crate::deadline::Deadline;
use crate::fetch::UrlRule;
use crate::route::Via;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Failed requests that a lease records. A page that causes thousands needs no complete list.
const MAX_FAILED_REQUESTS: usize = 64;

/// What a lease allows.
#[derive(Clone)]
pub struct LeaseRules {
    pub purpose: Purpose,
    pub via: Via,
    /// All connections of the lease end at this time.
    pub deadline: Deadline,
    /// Bytes that may be received, over all connections.
    pub max_bytes: u64,
    /// The host of the page. Its requests are never taken for the browser's own services.
    pub page_host: String,
    /// Restricts the hosts, if the holder wants that. The rule sees scheme, host and port only: the proxy
    /// does not know more.
    pub allowed_hosts: Option<UrlRule>,
    /// What the browser gets for a plain request that failed.
    pub failure_reply: FailureReply,
}

/// Judges who may use a lease without a password, by the addresses of the peer and of the proxy. Called for each connection,
/// on a thread that may block.
pub type PeerRule = Arc<dyn Fn(SocketAddr, SocketAddr) -> bool + Send + Sync>;

/// What the browser gets for a plain request that failed on its way. One that the rules refuse is always answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureReply {
    /// A response that [`super::FAILED_REQUEST_BODY`] tells from others.
    Response,
    /// Nothing: the connection is closed, so that whoever drives the browser sees a network error and not a page.
    Disconnect,
}

impl fmt::Debug for LeaseRules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LeaseRules")
            .field("purpose", &self.purpose)
            .field("via", &self.via)
            .field("deadline", &self.deadline)
            .field("max_bytes", &self.max_bytes)
            .field("page_host", &self.page_host)
            .field("allowed_hosts", &self.allowed_hosts.is_some())
            .field("failure_reply", &self.failure_reply)
            .finish()
    }
}

/// Bytes used by a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeaseTraffic {
    pub sent: u64,
    pub received: u64,
}

/// The right to use the proxy. Dropping it closes its connections and invalidates its password.
pub struct Lease {
    pub(super) state: Arc<LeaseState>,
    pub(super) leases: Leases,
}

pub(super) struct LeaseState {
    pub(super) password: String,
    pub(super) rules: LeaseRules,
    /// Who may use it; everybody who knows the password, if there is no rule.
    pub(super) peers: Option<PeerRule>,
    pub(super) ended: CancellationToken,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    failed_requests: Mutex<Vec<FailedRequest>>,
}

impl Lease {
    /// The user name and password the browser must send to the proxy.
    pub fn credentials(&self) -> (&str, &str) {
        (super::USER, &self.state.password)
    }

    pub fn traffic(&self) -> LeaseTraffic {
        LeaseTraffic {
            sent: self.state.sent.load(Ordering::Relaxed),
            received: self.state.received.load(Ordering::Relaxed),
        }
    }

    /// Requests that failed, and why: the browser itself only reports a failed tunnel.
    pub fn failed_requests(&self) -> Vec<FailedRequest> {
        self.state.failed_requests.lock().clone()
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
    pub(super) fn record_failed(&self, failed: FailedRequest) {
        let mut failed_requests = self.failed_requests.lock();
        if failed_requests.len() < MAX_FAILED_REQUESTS {
            failed_requests.push(failed);
        }
    }
}

/// All current leases, by password.
#[derive(Clone, Default)]
pub(super) struct Leases(Arc<Mutex<HashMap<String, Arc<LeaseState>>>>);

impl Leases {
    pub(super) fn add(
        &self,
        password: String,
        rules: LeaseRules,
        peers: Option<PeerRule>,
        ended: CancellationToken,
    ) -> Lease {
        let state = Arc::new(LeaseState {
            password: password.clone(),
            rules,
            peers,
            ended,
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            failed_requests: Mutex::default(),
        });
        self.0.lock().insert(password, Arc::clone(&state));
        Lease { state, leases: self.clone() }
    }

    pub(super) fn find(&self, password: &str) -> Option<Arc<LeaseState>> {
        self.0.lock().get(password).cloned()
    }

    fn remove(&self, password: &str) {
        self.0.lock().remove(password);
    }
}
