//! The Chrome DevTools Protocol over a pair of pipes: JSON messages, each followed by a zero byte. Only the
//! fields we use are parsed, so a newer browser with more fields does no harm. Knows nothing of pages.
//!
//! Events are passed to their listener by the reading task itself, in order and before any later response. So
//! whoever has a response knows that all earlier events were handled.

mod message;
mod pipe;

use message::{Incoming, encode_command};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Commands that may wait to be written. A browser that reads so slowly is as good as dead.
const MAX_QUEUED_BYTES: usize = 64 << 20;

/// Receives the events of one session. Must not block: everything else waits for it.
pub(crate) trait Listener: Send + Sync {
    fn event(&self, method: &str, params: &RawValue);
    /// The connection is closed; no event follows.
    fn closed(&self);
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the connection to the browser is closed")]
    Closed,
    #[error("{0}")]
    Rejected(String),
    #[error("invalid response: {0}")]
    Invalid(String),
}

/// A connection to one browser. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection(Arc<ConnectionInner>);

struct ConnectionInner {
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
    next: AtomicU64,
    state: Mutex<ConnectionState>,
    closed: CancellationToken,
}

#[derive(Default)]
struct ConnectionState {
    /// Under the same lock as `waiting`, so that nobody starts to wait after the end.
    closed: bool,
    waiting: HashMap<u64, oneshot::Sender<Result<Box<RawValue>, CallError>>>,
    listeners: HashMap<String, Arc<dyn Listener>>,
}

impl Connection {
    /// Communicates over the two pipes until the browser closes its end or [`Connection::close`] is called.
    pub(crate) fn open(to_browser: OwnedFd, from_browser: OwnedFd) -> io::Result<Self> {
        let (writer, reader) = pipe::pair(to_browser, from_browser)?;
        let (outbox, inbox) = mpsc::unbounded_channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let connection = Self(Arc::new(ConnectionInner {
            outbox,
            queued: Arc::clone(&queued),
            next: AtomicU64::new(1),
            state: Mutex::default(),
            closed: CancellationToken::new(),
        }));
        let closed = connection.0.closed.clone();
        let ending = closed.clone();
        tokio::spawn(async move {
            ending.run_until_cancelled(pipe::write_messages(writer, inbox, queued)).await;
        });
        let reading = connection.clone();
        tokio::spawn(async move {
            closed.run_until_cancelled(pipe::read_messages(reader, |text| reading.receive(text))).await;
            reading.close();
        });
        Ok(connection)
    }

    /// Sends a command at once; the response may be awaited or dropped.
    pub(crate) fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
    ) -> CommandResponse {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state();
            if state.closed {
                let _ = sender.send(Err(CallError::Closed));
            } else {
                state.waiting.insert(id, sender);
            }
        }
        self.write(encode_command(id, session, method, params));
        CommandResponse { connection: self.clone(), id, receiver }
    }

    /// Sends a command whose response is ignored.
    pub(crate) fn post(&self, session: Option<&str>, method: &str, params: &impl Serialize) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.write(encode_command(id, session, method, params));
    }

    /// Sends a command and parses its result.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, CallError> {
        let response = self.send(session, method, params).await?;
        parse_result(&response)
    }

    fn write(&self, text: Vec<u8>) {
        let queued = self.0.queued.fetch_add(text.len(), Ordering::Relaxed) + text.len();
        if queued > MAX_QUEUED_BYTES {
            tracing::warn!("the browser does not read its commands; closing the connection");
            self.close();
        }
        // Fails only for a closed connection, and its callers know already.
        let _ = self.0.outbox.send(text);
    }

    /// From now on `listener` gets the events of `session`; the empty name is the browser itself.
    pub(crate) fn listen(&self, session: &str, listener: Arc<dyn Listener>) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            listener.closed();
        } else {
            state.listeners.insert(session.to_owned(), listener);
        }
    }

    pub(crate) fn remove_listener(&self, session: &str) {
        self.state().listeners.remove(session);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.closed.is_cancelled()
    }

    pub(crate) async fn until_closed(&self) {
        self.0.closed.cancelled().await;
    }

    /// Closes the connection: everyone who waits gets an error, later callers at once.
    pub(crate) fn close(&self) {
        let (waiting, listeners) = {
            let mut state = self.state();
            state.closed = true;
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.listeners))
        };
        self.0.closed.cancel();
        for (_, sender) in waiting {
            let _ = sender.send(Err(CallError::Closed));
        }
        for listener in listeners.into_values() {
            listener.closed();
        }
    }

    fn receive(&self, text: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Incoming<'_>>(text) else {
            tracing::debug!(bytes = text.len(), "invalid message from the browser");
            return;
        };
        if let Some(id) = message.id {
            let sender = self.state().waiting.remove(&id);
            if let Some(sender) = sender {
                let _ = sender.send(message.to_result());
            }
        } else if let (Some(method), Some(params)) = (&message.method, message.params) {
            let session = message.session.as_deref().unwrap_or_default();
            let listener = self.state().listeners.get(session).cloned();
            if let Some(listener) = listener {
                listener.event(method, params);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.0.state.lock()
    }
}

/// Parses a result.
pub(crate) fn parse_result<T: DeserializeOwned>(response: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(response.get()).map_err(|error| CallError::Invalid(error.to_string()))
}

/// The response to a command, once it arrives.
pub(crate) struct CommandResponse {
    connection: Connection,
    id: u64,
    receiver: oneshot::Receiver<Result<Box<RawValue>, CallError>>,
}

impl Future for CommandResponse {
    type Output = Result<Box<RawValue>, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.receiver).poll(context).map(|received| received.unwrap_or(Err(CallError::Closed)))
    }
}

impl Drop for CommandResponse {
    fn drop(&mut self) {
        self.connection.state().waiting.remove(&self.id);
    }
}
