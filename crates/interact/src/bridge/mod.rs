//! Many clients of one browser. Each gets a browser session of its own (`Target.attachToBrowserTarget`), with its own state
//! of discovery and auto-attach, so that clients do not notice each other. Commands are renumbered, sessions added and
//! removed, and events go to the client whose session announced theirs.
//!
//! A client that does not read what it asked for is disconnected; the browser never waits for one.

mod downloads;
mod judge;
mod message;
mod own_files;
mod policy;
mod port;
mod state;
mod uploads;

pub use judge::{JudgedCommand, judge_command};
pub use own_files::CODE_FOLDER;
pub(crate) use own_files::open_file;
pub(crate) use policy::is_allowed;
pub use port::{CdpPort, PortReceiver, PortSender};

use browser::{CallError, MessageReceiver, RawMessage, SessionBrowser};
use downloads::Downloads;
use futures_util::future::BoxFuture;
use judge::CommandOutcome;
use message::{SERVER_ERROR, SESSION_NOT_FOUND, answer, command, error_reply, event};
use parking_lot::Mutex;
use policy::Policy;
use serde::Deserialize;
use serde_json::json;
use state::{BridgeState, Client, PendingCommand};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uploads::Uploads;

/// Bytes that may wait for one client.
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Commands of one client that may wait for their answers.
const MAX_PENDING: usize = 10_000;

/// The clients of one browser.
pub struct Bridge {
    browser: Arc<SessionBrowser>,
    policy: Policy,
    downloads: Downloads,
    max_clients: usize,
    state: Mutex<BridgeState>,
    next_client: AtomicU64,
    /// A client asked for the end of the session.
    close_requested: CancellationToken,
}

#[derive(Deserialize)]
struct Announced {
    #[serde(rename = "sessionId")]
    session: String,
}

/// Why a client was not connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the session has {0} clients already")]
    TooManyClients(usize),
    #[error("the browser has ended")]
    Over,
    #[error("the browser refused: {0}")]
    Refused(String),
}

impl Bridge {
    /// Receives all messages of the browser from now on.
    pub(crate) fn start(
        browser: &Arc<SessionBrowser>,
        files: PathBuf,
        shared: Option<PathBuf>,
        max_clients: usize,
    ) -> Arc<Self> {
        let bridge = Arc::new(Self {
            browser: Arc::clone(browser),
            downloads: Downloads::new(files.clone(), shared.clone()),
            policy: Policy { uploads: Uploads::new(files, shared) },
            max_clients,
            state: Mutex::default(),
            next_client: AtomicU64::new(1),
            close_requested: CancellationToken::new(),
        });
        browser.set_receiver(Arc::new(Incoming(Arc::downgrade(&bridge))));
        bridge
    }

    /// Connects a client.
    pub fn connect(self: &Arc<Self>) -> BoxFuture<'_, Result<CdpPort, ConnectError>> {
        Box::pin(async move {
            if self.state.lock().clients.len() >= self.max_clients {
                return Err(ConnectError::TooManyClients(self.max_clients));
            }
            let attached =
                self.browser.call::<Announced>(None, "Target.attachToBrowserTarget", &json!({})).await;
            let Announced { session: root } = attached.map_err(|error| match error {
                CallError::Closed => ConnectError::Over,
                error => ConnectError::Refused(error.to_string()),
            })?;
            let number = self.next_client.fetch_add(1, Ordering::Relaxed);
            let (outbox, messages) = mpsc::unbounded_channel();
            let queued = Arc::new(AtomicUsize::new(0));
            let mut state = self.state.lock();
            if state.closed {
                return Err(ConnectError::Over);
            }
            // Looked at again, because many may have asked at the same time.
            if state.clients.len() >= self.max_clients {
                self.browser.post(None, "Target.detachFromTarget", &json!({ "sessionId": root }));
                return Err(ConnectError::TooManyClients(self.max_clients));
            }
            state.owners.insert(root.clone(), number);
            state.clients.insert(number, Client::new(root, outbox, Arc::clone(&queued)));
            drop(state);
            Ok(CdpPort::new(Arc::clone(self), number, messages, queued))
        })
    }

    /// Disconnects all clients but this one.
    pub(crate) fn disconnect_others(&self, kept: &PortSender) {
        let mut state = self.state.lock();
        let others: Vec<u64> =
            state.clients.keys().copied().filter(|number| *number != kept.number()).collect();
        for number in others {
            self.remove(&mut state, number);
        }
    }

    /// Returns when a client has asked to close the browser.
    pub(crate) async fn until_close_requested(&self) {
        self.close_requested.cancelled().await;
    }

    /// Makes room for a file that somebody sends for a page of this session.
    pub(crate) fn create_upload(&self, name: &str) -> io::Result<(PathBuf, File)> {
        self.policy.uploads.create(name)
    }

    pub(crate) fn uploads_folder(&self) -> PathBuf {
        self.policy.uploads.folder()
    }

    /// Whether so many bytes more may be written to such files.
    pub(crate) fn reserve_upload(&self, bytes: u64) -> bool {
        self.policy.uploads.reserve(bytes)
    }

    pub fn client_count(&self) -> usize {
        self.state.lock().clients.len()
    }

    /// A command of a client.
    fn command(&self, number: u64, text: &str) {
        let reply = match judge::judge(&self.policy, text) {
            CommandOutcome::Answer(reply) => Some(reply),
            CommandOutcome::EndSession(reply) => {
                self.close_requested.cancel();
                Some(reply)
            }
            CommandOutcome::Forward(parsed, params) => self.forward(number, &parsed, params.as_deref()),
        };
        if let Some(reply) = reply {
            self.deliver(&mut self.state.lock(), number, reply);
        }
    }

    /// Sends a command on. The reply is what the client is told instead, if it is not sent.
    fn forward(
        &self,
        number: u64,
        parsed: &message::ClientCommand<'_>,
        params: Option<&str>,
    ) -> Option<String> {
        let named = parsed.session.as_deref();
        let id = self.browser.next_id();
        let text = {
            let mut state = self.state.lock();
            let state = &mut *state;
            let client = state.clients.get_mut(&number)?;
            let session = match named {
                // A client may use its own sessions only, and those of nobody else.
                Some(session) if state.owners.get(session) == Some(&number) => session,
                Some(_) => {
                    return Some(error_reply(
                        parsed.id,
                        named,
                        SESSION_NOT_FOUND,
                        "Session with given id not found.",
                    ));
                }
                None => &client.root,
            };
            if client.pending >= MAX_PENDING {
                return Some(error_reply(
                    parsed.id,
                    named,
                    SERVER_ERROR,
                    "too many commands wait for their answers",
                ));
            }
            client.pending += 1;
            if parsed.method == "Browser.setDownloadBehavior" {
                client.download_folder = self.downloads.named_folder(parsed.params);
            }
            let attaches =
                matches!(&*parsed.method, "Target.attachToTarget" | "Target.attachToBrowserTarget");
            state.pending.insert(id, PendingCommand { client: number, id: parsed.id, attaches });
            command(id, session, &parsed.method, params)
        };
        if self.browser.write_command(text) {
            return None;
        }
        self.state.lock().take_pending(id);
        Some(error_reply(parsed.id, named, SERVER_ERROR, "the browser is busy"))
    }

    fn answered(&self, id: u64, message: &RawMessage<'_>) {
        let mut state = self.state.lock();
        let Some(pending) = state.take_pending(id) else { return };
        let Some(client) = state.clients.get(&pending.client) else { return };
        let session = message.session.filter(|session| *session != client.root);
        let text = answer(pending.id, session, message);
        if let Some(result) = message.result.filter(|_| pending.attaches)
            && let Ok(Announced { session }) = serde_json::from_str(result.get())
        {
            state.owners.insert(session, pending.client);
        }
        self.deliver(&mut state, pending.client, text);
    }

    fn happened(self: &Arc<Self>, method: &str, message: &RawMessage<'_>) {
        // Events without a session belong to the connection itself, which no client has.
        let Some(session) = message.session else { return };
        let mut state = self.state.lock();
        let Some(number) = state.owners.get(session).copied() else { return };
        if matches!(method, "Target.attachedToTarget" | "Target.detachedFromTarget")
            && let Some(Ok(announced)) =
                message.params.map(|params| serde_json::from_str::<Announced>(params.get()))
        {
            if method == "Target.attachedToTarget" {
                state.owners.insert(announced.session, number);
            } else {
                state.owners.remove(&announced.session);
            }
        }
        let Some(client) = state.clients.get(&number) else { return };
        let session = Some(session).filter(|session| *session != client.root);
        let text = event(session, method, message.params);
        if let (Some(folder), Some(id)) =
            (client.download_folder.clone(), downloads::completed(method, message.params))
        {
            let bridge = Arc::clone(self);
            // Files may be large, and the browser's messages must not wait for them. This one does.
            tokio::task::spawn_blocking(move || {
                if let Err(error) = bridge.downloads.copy(&folder, &id) {
                    tracing::info!(%error, "a download was not copied to the code of its session");
                }
                bridge.deliver(&mut bridge.state.lock(), number, text);
            });
            return;
        }
        self.deliver(&mut state, number, text);
    }

    /// Queues a message for a client, or disconnects it when too much waits for it.
    fn deliver(&self, state: &mut BridgeState, number: u64, text: String) {
        let Some(client) = state.clients.get(&number) else { return };
        let waiting = client.queued.fetch_add(text.len(), Ordering::Relaxed) + text.len();
        if waiting <= MAX_WAITING_BYTES && client.outbox.send(text).is_ok() {
            return;
        }
        tracing::info!(
            waiting,
            "a client of a browser session does not read its messages and is disconnected"
        );
        self.remove(state, number);
    }

    fn disconnect(&self, number: u64) {
        self.remove(&mut self.state.lock(), number);
    }

    fn remove(&self, state: &mut BridgeState, number: u64) {
        let Some(root) = state.remove_client(number) else { return };
        // Its sessions on pages go with it, and with them what they overrode and paused.
        self.browser.post(None, "Target.detachFromTarget", &json!({ "sessionId": root }));
    }
}

/// What the connection of the browser holds: weak, because the bridge holds the browser.
struct Incoming(std::sync::Weak<Bridge>);

impl MessageReceiver for Incoming {
    fn receive(&self, message: RawMessage<'_>) {
        let Some(bridge) = self.0.upgrade() else { return };
        match (message.id, message.method) {
            (Some(id), _) => bridge.answered(id, &message),
            (None, Some(method)) => bridge.happened(method, &message),
            (None, None) => {}
        }
    }

    fn closed(&self) {
        let Some(bridge) = self.0.upgrade() else { return };
        let mut state = bridge.state.lock();
        *state = BridgeState { closed: true, ..BridgeState::default() };
    }
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Bridge").finish_non_exhaustive()
    }
}
