//! Connections kept for the next request to the same place, by the same way, for the same purpose. A kept
//! connection leads to an address that passed the guard, so reusing it needs no second look. Bounded in
//! number and age; never shared between purposes, routes, or checked and unchecked TLS.

use crate::allow::Purpose;
use crate::connect::{Opening, ReadBudget};
use crate::guard::Destination;
use crate::route::Route;
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

const MOST_KEPT: usize = 256;
const MOST_KEPT_PER_PLACE: usize = 8;
const KEPT_FOR: Duration = Duration::from_secs(30);

/// Everything two requests must have in common to share a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
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

/// A live connection. Dropping the last handle ends it at once, whatever the other side does.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) line: Arc<Line>,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) remote: SocketAddr,
    pub(crate) budget: Arc<ReadBudget>,
    pub(crate) opening: Opening,
    pub(crate) driver: AbortHandle,
}

impl Drop for Line {
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

    /// One answer at a time, so that what is read belongs to it.
    pub(crate) fn is_http1(&self) -> bool {
        matches!(self.sender, Sender::Http1(_))
    }

    /// Another handle, where one connection carries many requests.
    fn share(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => {
                Some(Self { sender: Sender::Http2(sender.clone()), line: Arc::clone(&self.line) })
            }
        }
    }
}

#[derive(Debug)]
struct Kept {
    connection: Connection,
    since: Instant,
}

#[derive(Debug, Default)]
struct Shelf {
    places: HashMap<Place, Vec<Kept>>,
    count: usize,
    /// A sweep is already on its way.
    sweeping: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<Shelf>>);

impl Pool {
    /// A connection to `place` that is still open, if one is kept.
    pub(crate) fn take(&self, place: &Place) -> Option<Connection> {
        let mut inner = self.shelf();
        let kept = inner.places.get_mut(place)?;
        let before = kept.len();
        let mut found = None;
        while let Some(last) = kept.pop() {
            if last.connection.is_closed() || last.since.elapsed() > KEPT_FOR {
                continue;
            }
            match last.connection.share() {
                Some(shared) => {
                    kept.push(Kept { connection: last.connection, since: Instant::now() });
                    found = Some(shared);
                }
                None => found = Some(last.connection),
            }
            break;
        }
        let gone = before - kept.len();
        if kept.is_empty() {
            inner.places.remove(place);
        }
        inner.count -= gone;
        found
    }

    /// Keeps a connection for the next request. Its last answer must have been read to the end.
    pub(crate) fn keep(&self, place: &Place, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let mut inner = self.shelf();
        if inner.count >= MOST_KEPT {
            return;
        }
        let kept = inner.places.entry(place.clone()).or_default();
        let shared_already = kept.iter().any(|known| matches!(known.connection.sender, Sender::Http2(_)));
        if kept.len() >= MOST_KEPT_PER_PLACE
            || (shared_already && matches!(connection.sender, Sender::Http2(_)))
        {
            return;
        }
        kept.push(Kept { connection, since: Instant::now() });
        inner.count += 1;
        if !inner.sweeping {
            inner.sweeping = true;
            sweep_later(Arc::downgrade(&self.0));
        }
    }

    /// Connections kept now.
    pub(crate) fn len(&self) -> usize {
        self.shelf().count
    }

    // A panic elsewhere leaves the shelf as whole as it was: every change above is complete before it can fail.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets old connections go even when nobody asks any more; ends when none is left.
fn sweep_later(shelf: Weak<Mutex<Shelf>>) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(KEPT_FOR).await;
            let Some(shelf) = shelf.upgrade() else { return };
            let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
            shelf.places.retain(|_, kept| {
                kept.retain(|one| !one.connection.is_closed() && one.since.elapsed() < KEPT_FOR);
                !kept.is_empty()
            });
            shelf.count = shelf.places.values().map(Vec::len).sum();
            if shelf.count == 0 {
                shelf.sweeping = false;
                return;
            }
        }
    });
}
