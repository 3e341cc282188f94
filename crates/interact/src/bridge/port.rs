//! The two ends of a client's connection.

use super::Bridge;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// Messages a channel of [`CdpPort::into_channels`] holds.
const CHANNEL_MESSAGES: usize = 64;

/// One client's connection to the browser of a session: messages of the protocol as text, in both directions, as over a
/// WebSocket of Chromium's own. Dropping it disconnects the client.
pub struct CdpPort {
    sender: PortSender,
    receiver: PortReceiver,
}

/// Sends commands. The client is disconnected when its last sender is dropped.
#[derive(Clone)]
pub struct PortSender(Arc<ConnectedClient>);

struct ConnectedClient {
    bridge: Arc<Bridge>,
    number: u64,
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.bridge.disconnect(self.number);
    }
}

/// Receives answers and events. None follow when the client was disconnected or the session ended.
pub struct PortReceiver {
    messages: mpsc::UnboundedReceiver<String>,
    queued: Arc<AtomicUsize>,
}

impl CdpPort {
    pub(super) fn new(
        bridge: Arc<Bridge>,
        number: u64,
        messages: mpsc::UnboundedReceiver<String>,
        queued: Arc<AtomicUsize>,
    ) -> Self {
        let sender = PortSender(Arc::new(ConnectedClient { bridge, number }));
        Self { sender, receiver: PortReceiver { messages, queued } }
    }

    pub fn split(self) -> (PortSender, PortReceiver) {
        (self.sender, self.receiver)
    }

    /// The same as two channels. Dropping either disconnects the client.
    pub fn into_channels(self) -> (mpsc::Sender<String>, mpsc::Receiver<String>) {
        let (commands, mut wanted) = mpsc::channel::<String>(CHANNEL_MESSAGES);
        let (messages, received) = mpsc::channel(CHANNEL_MESSAGES);
        let (sender, mut receiver) = self.split();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    command = wanted.recv() => match command {
                        Some(command) => sender.send(&command),
                        None => return,
                    },
                    message = receiver.recv() => {
                        let Some(message) = message else { return };
                        if messages.send(message).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        (commands, received)
    }
}

impl PortSender {
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    /// Sends one command. Its answer, also that it is not allowed, comes over the receiver.
    pub fn send(&self, text: &str) {
        self.0.bridge.command(self.0.number, text);
    }
}

impl PortReceiver {
    pub async fn recv(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        self.queued.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }
}

impl std::fmt::Debug for CdpPort {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CdpPort").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for PortSender {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PortSender").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for PortReceiver {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PortReceiver").finish_non_exhaustive()
    }
}
