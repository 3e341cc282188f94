//! Who is connected, which protocol sessions are whose, and which commands are on their way.

use super::downloads::NamedFolder;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::mpsc;

#[derive(Default)]
pub(super) struct BridgeState {
    pub(super) closed: bool,
    pub(super) clients: HashMap<u64, Client>,
    /// Which client a protocol session belongs to.
    pub(super) owners: HashMap<String, u64>,
    /// Commands on their way, by the number the browser knows.
    pub(super) pending: HashMap<u64, PendingCommand>,
}

pub(super) struct Client {
    /// Its own browser session.
    pub(super) root: String,
    pub(super) outbox: mpsc::UnboundedSender<String>,
    pub(super) queued: Arc<AtomicUsize>,
    pub(super) pending: usize,
    /// Where its downloads are copied to.
    pub(super) download_folder: Option<NamedFolder>,
}

impl Client {
    pub(super) fn new(root: String, outbox: mpsc::UnboundedSender<String>, queued: Arc<AtomicUsize>) -> Self {
        Self { root, outbox, queued, pending: 0, download_folder: None }
    }
}

pub(super) struct PendingCommand {
    pub(super) client: u64,
    pub(super) id: i64,
    /// Whether the answer announces a session.
    pub(super) attaches: bool,
}

impl BridgeState {
    /// The command that the browser knows by this number, which waits no longer.
    pub(super) fn take_pending(&mut self, id: u64) -> Option<PendingCommand> {
        let pending = self.pending.remove(&id)?;
        if let Some(client) = self.clients.get_mut(&pending.client) {
            client.pending = client.pending.saturating_sub(1);
        }
        Some(pending)
    }

    /// Forgets a client with its sessions and commands; its own browser session.
    pub(super) fn remove_client(&mut self, number: u64) -> Option<String> {
        let client = self.clients.remove(&number)?;
        self.owners.retain(|_, owner| *owner != number);
        self.pending.retain(|_, pending| pending.client != number);
        Some(client.root)
    }
}
