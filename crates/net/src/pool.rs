//! Idle connections, kept for the next request to the same destination by the same route and for the same
//! purpose. An idle connection leads to an address that passed the guard, so reusing it needs no second
//! check. Bounded in number and age; never shared between purposes, routes, or checked and unchecked TLS.

use crate::allow::Purpose;
use crate::connect::{ConnectTimings, ReadBudget};
use crate::guard::Destination;
use crate::route::Route;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

const MAX_IDLE_CONNECTIONS: usize = 256;
const MAX_IDLE_PER_KEY: usize = 8;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Everything two requests must have in common to share a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PoolKey {
    pub(crate) purpose: Purpose,
    pub(crate) destination: Destination,
    pub(crate) route: Route,
    pub(crate) check_certificate: bool,
}

pub(crate) type Body = Full<Bytes>;

/// The half of a connection that takes requests.
#[derive(Debug)]
pub(crate) enum Sender {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

/// A live connection. Dropping the last handle closes it at once, whatever the other side does.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) handle: Arc<ConnectionHandle>,
}

#[derive(Debug)]
pub(crate) struct ConnectionHandle {
    pub(crate) remote: SocketAddr,
    pub(crate) budget: Arc<ReadBudget>,
    pub(crate) timings: ConnectTimings,
    pub(crate) driver: AbortHandle,
}

impl Drop for ConnectionHandle {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    /// HTTP/1 carries one response at a time, so all bytes that are read belong to it.
    pub(crate) fn is_http1(&self) -> bool {
        matches!(self.sender, Sender::Http1(_))
    }

    /// Another handle to the same connection, if it can carry many requests at once.
    fn share(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => {
                Some(Self { sender: Sender::Http2(sender.clone()), handle: Arc::clone(&self.handle) })
            }
        }
    }
}

#[derive(Debug)]
struct IdleConnection {
    connection: Connection,
    since: Instant,
}

#[derive(Debug, Default)]
struct PoolState {
    idle: HashMap<PoolKey, Vec<IdleConnection>>,
    count: usize,
    /// A sweep is already scheduled.
    sweeping: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<PoolState>>);

impl Pool {
    /// An idle connection for `key` that is still open, if there is one.
    pub(crate) fn take_idle(&self, key: &PoolKey) -> Option<Connection> {
        let mut inner = self.lock();
        let connections = inner.idle.get_mut(key)?;
        let before = connections.len();
        let mut found = None;
        while let Some(last) = connections.pop() {
            if last.connection.is_closed() || last.since.elapsed() > IDLE_TIMEOUT {
                continue;
            }
            match last.connection.share() {
                Some(shared) => {
                    connections.push(IdleConnection { connection: last.connection, since: Instant::now() });
                    found = Some(shared);
                }
                None => found = Some(last.connection),
            }
            break;
        }
        let gone = before - connections.len();
        if connections.is_empty() {
            inner.idle.remove(key);
        }
        inner.count -= gone;
        found
    }

    /// Keeps a connection for the next request. Its last response must have been read to the end.
    pub(crate) fn put_back(&self, key: &PoolKey, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let mut inner = self.lock();
        if inner.count >= MAX_IDLE_CONNECTIONS {
            return;
        }
        let connections = inner.idle.entry(key.clone()).or_default();
        let shared_already =
            connections.iter().any(|known| matches!(known.connection.sender, Sender::Http2(_)));
        if connections.len() >= MAX_IDLE_PER_KEY
            || (shared_already && matches!(connection.sender, Sender::Http2(_)))
        {
            return;
        }
        connections.push(IdleConnection { connection, since: Instant::now() });
        inner.count += 1;
        if !inner.sweeping {
            inner.sweeping = true;
            sweep_later(Arc::downgrade(&self.0));
        }
    }

    /// The number of idle connections.
    pub(crate) fn len(&self) -> usize {
        self.lock().count
    }

    // A panic elsewhere cannot leave the state half-changed: every change above is complete before it can
    // fail.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.0.lock()
    }
}

/// Closes old connections even when no request comes any more; ends when none is left.
fn sweep_later(state: Weak<Mutex<PoolState>>) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(IDLE_TIMEOUT).await;
            let Some(state) = state.upgrade() else { return };
            let mut state = state.lock();
            state.idle.retain(|_, connections| {
                connections.retain(|one| !one.connection.is_closed() && one.since.elapsed() < IDLE_TIMEOUT);
                !connections.is_empty()
            });
            state.count = state.idle.values().map(Vec::len).sum();
            if state.count == 0 {
                state.sweeping = false;
                return;
            }
        }
    });
}
