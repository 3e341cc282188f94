//! Reads and writes messages that end with a zero byte.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

/// The longest message the browser may send: the screenshot of a long page, in base64.
const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// The buffer is shrunk to this size after a long message.
const MAX_IDLE_BUFFER_BYTES: usize = 1 << 20;

pub(super) fn pair(to_browser: OwnedFd, from_browser: OwnedFd) -> io::Result<(Sender, Receiver)> {
    Ok((Sender::from_owned_fd(to_browser)?, Receiver::from_owned_fd(from_browser)?))
}

/// Writes messages until the channel or the pipe is closed.
pub(super) async fn write_messages(
    mut pipe: Sender,
    mut inbox: mpsc::UnboundedReceiver<Vec<u8>>,
    queued: Arc<AtomicUsize>,
) {
    while let Some(text) = inbox.recv().await {
        queued.fetch_sub(text.len(), Ordering::Relaxed);
        if pipe.write_all(&text).await.is_err() {
            return;
        }
    }
}

/// Passes every message to `handle` until the pipe is closed or a message is too long.
pub(super) async fn read_messages(mut pipe: Receiver, mut handle: impl FnMut(&[u8])) {
    let mut buffer: Vec<u8> = Vec::with_capacity(64 << 10);
    loop {
        let searched = buffer.len();
        match pipe.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut start = 0;
        // Only new bytes can contain the next end, so a long message is not searched again and again.
        let mut from = searched;
        while let Some(length) = buffer[from..].iter().position(|byte| *byte == 0) {
            handle(&buffer[start..from + length]);
            start = from + length + 1;
            from = start;
        }
        buffer.drain(..start);
        if buffer.len() > MAX_MESSAGE_BYTES {
            return;
        }
        if buffer.capacity() > MAX_IDLE_BUFFER_BYTES && buffer.len() < MAX_IDLE_BUFFER_BYTES / 2 {
            buffer.shrink_to(MAX_IDLE_BUFFER_BYTES);
        }
        buffer.reserve(64 << 10);
    }
}
