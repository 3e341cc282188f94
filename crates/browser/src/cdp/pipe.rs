//! Reading and writing texts that end in a zero byte.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

/// The longest text the browser may send: the picture of a long page, in base64.
const LONGEST: usize = 256 << 20;
/// What a buffer may keep for the next text after a long one.
const KEPT: usize = 1 << 20;

pub(super) fn pair(to_browser: OwnedFd, from_browser: OwnedFd) -> io::Result<(Sender, Receiver)> {
    Ok((Sender::from_owned_fd(to_browser)?, Receiver::from_owned_fd(from_browser)?))
}

/// Writes what comes until nobody can send more or the other end is gone.
pub(super) async fn write(
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

/// Hands every text to `take` until the other end is gone or sends one that is too long.
pub(super) async fn read(mut pipe: Receiver, mut take: impl FnMut(&[u8])) {
    let mut buffer: Vec<u8> = Vec::with_capacity(64 << 10);
    loop {
        let looked_at = buffer.len();
        match pipe.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut start = 0;
        // Only what is new can hold the next end, so a long text is not searched again and again.
        let mut from = looked_at;
        while let Some(length) = buffer[from..].iter().position(|byte| *byte == 0) {
            take(&buffer[start..from + length]);
            start = from + length + 1;
            from = start;
        }
        buffer.drain(..start);
        if buffer.len() > LONGEST {
            return;
        }
        if buffer.capacity() > KEPT && buffer.len() < KEPT / 2 {
            buffer.shrink_to(KEPT);
        }
        buffer.reserve(64 << 10);
    }
}
