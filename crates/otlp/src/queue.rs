//! Records on their way to the collector, one after another in one buffer with a ceiling in bytes. What does not fit
//! is dropped and counted: nobody who makes a record ever waits.

use crate::protobuf::Protobuf;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// A batch of this size is sent before its time.
const FULL_BATCH_BYTES: usize = 512 << 10;

#[derive(Debug)]
pub struct Queue {
    waiting: Mutex<Waiting>,
    max_bytes: usize,
    dropped: AtomicU64,
    /// Told when a batch is full.
    pub full: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: QueuedRecords,
    /// Bytes of the batch that is being sent, which count towards the ceiling too.
    sending: usize,
}

/// Records that are sent together.
#[derive(Debug, Default)]
pub struct QueuedRecords {
    pub bytes: Vec<u8>,
    pub records: u64,
}

impl Queue {
    pub fn new(max_bytes: usize) -> Self {
        Self { waiting: Mutex::default(), max_bytes, dropped: AtomicU64::new(0), full: Notify::new() }
    }

    /// Adds what `write` writes, or drops it.
    pub fn push(&self, write: impl FnOnce(&mut Protobuf)) {
        thread_local! {
            static SCRATCH: RefCell<Protobuf> = RefCell::default();
        }
        let written = SCRATCH.try_with(|scratch| {
            let Ok(mut scratch) = scratch.try_borrow_mut() else { return false };
            scratch.0.clear();
            write(&mut scratch);
            self.add(&scratch.0)
        });
        // A thread that ends may have lost its buffer already.
        if !written.unwrap_or(false) {
            self.count_dropped(1);
        }
    }

    /// Whether there was room.
    fn add(&self, record: &[u8]) -> bool {
        let mut waiting = self.waiting.lock();
        let before = waiting.batch.bytes.len();
        if before + waiting.sending + record.len() > self.max_bytes {
            return false;
        }
        waiting.batch.bytes.extend_from_slice(record);
        waiting.batch.records += 1;
        drop(waiting);
        if before < FULL_BATCH_BYTES && before + record.len() >= FULL_BATCH_BYTES {
            self.full.notify_one();
        }
        true
    }

    /// Takes all that waits; it counts towards the ceiling until [`Queue::sent`].
    pub fn take(&self) -> QueuedRecords {
        let mut waiting = self.waiting.lock();
        let batch = std::mem::take(&mut waiting.batch);
        waiting.sending = batch.bytes.len();
        batch
    }

    /// The batch that was taken is gone, one way or the other.
    pub fn sent(&self) {
        self.waiting.lock().sending = 0;
    }

    pub fn count_dropped(&self, records: u64) {
        self.dropped.fetch_add(records, Ordering::Relaxed);
    }

    /// Records that were dropped since this was asked last.
    pub fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_holds_with_what_is_being_sent_and_the_rest_is_counted() {
        let queue = Queue::new(100);
        let push = || queue.push(|out| out.0.extend_from_slice(&[7; 40]));
        (0..3).for_each(|_| push());
        assert_eq!(queue.take_dropped(), 1, "two of forty bytes fit");
        let batch = queue.take();
        assert_eq!((batch.bytes.len(), batch.records), (80, 2));
        push();
        assert_eq!(queue.take_dropped(), 1, "eighty bytes are still being sent");
        queue.sent();
        push();
        assert_eq!((queue.take_dropped(), queue.take().records), (0, 1));
    }
}
