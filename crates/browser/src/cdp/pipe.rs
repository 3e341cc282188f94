//! Reads and writes messages that end with a zero byte.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Poll;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Notify;

/// The longest message the browser may send: the screenshot of a long page, in base64.
const MAX_MESSAGE_BYTES: usize = 256 << 20;
/// The buffer is shrunk to this size after a long message.
const MAX_IDLE_BUFFER_BYTES: usize = 1 << 20;

pub(super) fn pair(to_browser: OwnedFd, from_browser: OwnedFd) -> io::Result<(PipeWriter, Receiver)> {
    Ok((PipeWriter::new(Sender::from_owned_fd(to_browser)?), Receiver::from_owned_fd(from_browser)?))
}

/// The pipe to the browser. A message is written at once by whoever sends it, which spares a task and a wake-up; only what
/// the pipe does not take waits for [`PipeWriter::write_waiting`].
pub(super) struct PipeWriter {
    queue: Mutex<WriteQueue>,
    is_blocked: Notify,
}

struct WriteQueue {
    /// None once it is closed.
    pipe: Option<Arc<Sender>>,
    messages: VecDeque<Vec<u8>>,
    /// Bytes of the first message that are written already.
    written: usize,
    /// Bytes of all messages that wait.
    bytes: usize,
}

impl PipeWriter {
    pub(super) fn new(pipe: Sender) -> Self {
        let pipe = Some(Arc::new(pipe));
        let queue = WriteQueue { pipe, messages: VecDeque::new(), written: 0, bytes: 0 };
        Self { queue: Mutex::new(queue), is_blocked: Notify::new() }
    }

    /// Bytes of messages that wait to be written.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.queue.lock().bytes
    }

    /// Writes a message, or queues it behind those that wait. The bytes that wait afterwards.
    pub(super) fn write(&self, text: Vec<u8>) -> usize {
        let mut queue = self.queue.lock();
        if queue.pipe.is_none() {
            return 0;
        }
        queue.bytes += text.len();
        queue.messages.push_back(text);
        if queue.messages.len() == 1 && queue.write().is_pending() {
            self.is_blocked.notify_one();
        }
        queue.bytes
    }

    /// Writes what waits, until the pipe is closed.
    pub(super) async fn write_waiting(&self) {
        loop {
            self.is_blocked.notified().await;
            loop {
                let Some(pipe) = self.queue.lock().pipe.clone() else { return };
                if pipe.writable().await.is_err() {
                    return;
                }
                if self.queue.lock().write().is_ready() {
                    break;
                }
            }
        }
    }

    /// Closes the pipe, which tells the browser to end.
    pub(super) fn close(&self) {
        self.queue.lock().close();
    }
}

impl WriteQueue {
    /// Writes until nothing waits, or until the pipe takes no more.
    fn write(&mut self) -> Poll<()> {
        while let (Some(pipe), Some(text)) = (&self.pipe, self.messages.front()) {
            match pipe.try_write(&text[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(_) => {
                    self.close();
                    break;
                }
            }
            if self.written == text.len() {
                self.bytes -= text.len();
                self.written = 0;
                self.messages.pop_front();
            }
        }
        Poll::Ready(())
    }

    fn close(&mut self) {
        self.pipe = None;
        self.messages.clear();
        self.bytes = 0;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Messages larger than the pipe, and many small ones behind them, while nobody reads: they arrive whole, in order, and
    /// nothing waits any longer.
    #[tokio::test]
    async fn what_the_pipe_does_not_take_at_once_arrives_in_order() {
        let (reads, writes) = io::pipe().unwrap();
        let (pipe, receiver) = (Sender::from_owned_fd(writes.into()), Receiver::from_owned_fd(reads.into()));
        let writer = Arc::new(PipeWriter::new(pipe.unwrap()));
        let sent: Vec<String> = (0..200)
            .map(|number| number.to_string().repeat(if number % 50 == 0 { 300_000 } else { 3 }))
            .collect();
        for text in &sent {
            writer.write(format!("{text}\0").into_bytes());
        }
        assert!(writer.waiting_bytes() > 1_000_000, "a pipe holds less");
        let writing = Arc::clone(&writer);
        tokio::spawn(async move { writing.write_waiting().await });
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(read_messages(receiver.unwrap(), move |text| {
            sender.send(String::from_utf8(text.to_vec()).unwrap()).unwrap();
        }));
        for text in &sent {
            let next = tokio::time::timeout(Duration::from_secs(10), received.recv()).await.expect("in time");
            assert!(next.as_ref() == Some(text), "a message is missing or broken");
        }
        assert_eq!(writer.waiting_bytes(), 0);
        writer.close();
        assert_eq!(received.recv().await, None, "the reader sees the end");
        assert_eq!(writer.write(b"late".to_vec()), 0);
    }
}
