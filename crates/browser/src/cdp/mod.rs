//! The Chrome DevTools Protocol over a pair of pipes: JSON messages, each followed by a zero byte. Only the
//! fields we use are parsed, so a newer browser with more fields does no harm. Knows nothing of pages.
//!
//! Events are passed to their listener by the reading task itself, in order and before any later response. So
//! whoever has a response knows that all earlier events were handled.

mod message;
mod pipe;

pub use message::RawMessage;

use message::{Incoming, encode_command};
use parking_lot::{Mutex, MutexGuard};
use pipe::PipeWriter;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Commands that may wait to be written. A browser that reads so slowly is as good as dead.
const MAX_QUEUED_BYTES: usize = 64 << 20;

/// Receives the events of one session. Must not block: everything else waits for it.
pub(crate) trait Listener: Send + Sync {
    fn event(&self, method: &str, params: &RawValue);
    /// The connection is closed; no event follows.
    fn closed(&self);
}

/// Receives every message that belongs to nobody else: answers to commands written by
/// [`Connection::write_command`] and events of sessions without a listener. Must not block.
pub trait MessageReceiver: Send + Sync {
    fn receive(&self, message: RawMessage<'_>);
    /// The connection is closed; nothing follows.
    fn closed(&self);
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
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
    pipe: PipeWriter,
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
    receiver: Option<Arc<dyn MessageReceiver>>,
}

impl Connection {
    /// Communicates over the two pipes until the browser closes its end or [`Connection::close`] is called.
    pub(crate) fn open(to_browser: OwnedFd, from_browser: OwnedFd) -> io::Result<Self> {
        let (writer, reader) = pipe::pair(to_browser, from_browser)?;
        let connection = Self(Arc::new(ConnectionInner {
            pipe: writer,
            next: AtomicU64::new(1),
            state: Mutex::default(),
            closed: CancellationToken::new(),
        }));
        let closed = connection.0.closed.clone();
        let (writing, ending) = (connection.clone(), closed.clone());
        tokio::spawn(async move {
            ending.run_until_cancelled(writing.0.pipe.write_waiting()).await;
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
        if self.0.pipe.write(text) > MAX_QUEUED_BYTES {
            tracing::warn!("the browser does not read its commands; closing the connection");
            self.close();
        }
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

    /// From now on `receiver` gets what belongs to nobody else.
    pub(crate) fn set_receiver(&self, receiver: Arc<dyn MessageReceiver>) {
        let mut state = self.state();
        if state.closed {
            drop(state);
            receiver.closed();
        } else {
            state.receiver = Some(receiver);
        }
    }

    /// A number for a command that is written by [`Connection::write_command`].
    pub(crate) fn next_id(&self) -> u64 {
        self.0.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Writes a command that was encoded by the caller, without the zero byte at its end. Its answer goes to the
    /// receiver. `false`, and nothing is written, while so much waits to be written that more would close the
    /// connection.
    pub(crate) fn write_command(&self, mut text: Vec<u8>) -> bool {
        if self.0.pipe.waiting_bytes() + text.len() > MAX_QUEUED_BYTES / 2 {
            return false;
        }
        text.push(0);
        self.write(text);
        true
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
        let ConnectionState { waiting, listeners, receiver, .. } = std::mem::replace(
            &mut *self.state(),
            ConnectionState { closed: true, ..ConnectionState::default() },
        );
        self.0.closed.cancel();
        self.0.pipe.close();
        for (_, sender) in waiting {
            let _ = sender.send(Err(CallError::Closed));
        }
        for listener in listeners.into_values() {
            listener.closed();
        }
        if let Some(receiver) = receiver {
            receiver.closed();
        }
    }

    fn receive(&self, text: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Incoming<'_>>(text) else {
            tracing::debug!(bytes = text.len(), "invalid message from the browser");
            return;
        };
        if let Some(id) = message.id {
            let sender = self.state().waiting.remove(&id);
            match sender {
                Some(sender) => _ = sender.send(message.to_result()),
                None => self.pass_on(message.as_raw()),
            }
        } else if let (Some(method), Some(params)) = (&message.method, message.params) {
            let session = message.session.as_deref().unwrap_or_default();
            let listener = self.state().listeners.get(session).cloned();
            match listener {
                Some(listener) => listener.event(method, params),
                None => self.pass_on(message.as_raw()),
            }
        }
    }

    fn pass_on(&self, message: RawMessage<'_>) {
        let receiver = self.state().receiver.clone();
        if let Some(receiver) = receiver {
            receiver.receive(message);
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
