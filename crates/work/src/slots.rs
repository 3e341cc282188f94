//! How much this process works on at once: one budget of slots, shared by all kinds of work.

use std::sync::Arc;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

/// The slots of this process, as many as the setting `workers` says.
#[derive(Debug, Clone)]
pub struct WorkSlots {
    all: Arc<Semaphore>,
    total: usize,
}

impl WorkSlots {
    pub fn new(total: usize) -> Self {
        let total = total.clamp(1, Semaphore::MAX_PERMITS);
        Self { all: Arc::new(Semaphore::new(total)), total }
    }

    /// For pages of crawls and batches, which may take every slot that is free.
    pub fn for_pages(&self) -> SlotShare {
        self.share(self.total)
    }

    /// For agent runs: at most half. A run takes minutes and waits for pages, which must not wait for runs.
    pub fn for_runs(&self) -> SlotShare {
        self.share(self.total / 2)
    }

    /// For checks of monitors, which have slots of their own.
    pub fn for_checks(&self) -> SlotShare {
        self.share(self.total)
    }

    /// For webhooks that are being sent: at most half, because receivers may hang.
    pub fn for_webhooks(&self) -> SlotShare {
        self.share(self.total / 2)
    }

    /// A kind of work that takes at most `max` of the slots at once, and may always have one.
    pub fn share(&self, max: usize) -> SlotShare {
        let max = max.clamp(1, self.total);
        let inner = Share {
            all: self.all.clone(),
            own: Arc::new(Semaphore::new(max)),
            max,
            next_in_line: Mutex::default(),
        };
        SlotShare(Arc::new(inner))
    }
}

/// One kind of work's part of the [`WorkSlots`].
///
/// Slots that become free are handed out in the order in which they were asked for, and each kind has at most
/// one place in that line. So kinds take turns, and none starves however much the others have to do.
#[derive(Debug, Clone)]
pub struct SlotShare(Arc<Share>);

#[derive(Debug)]
struct Share {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
    max: usize,
    next_in_line: Mutex<()>,
}

/// A slot, given back when dropped.
#[derive(Debug)]
pub struct Slot {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

impl SlotShare {
    /// The most slots it can have at once.
    pub fn max(&self) -> usize {
        self.0.max
    }

    /// Waits for a slot. `None` never comes: the semaphores are not closed.
    pub async fn acquire(&self) -> Option<Slot> {
        let own = self.0.own.clone().acquire_owned().await.ok()?;
        let _turn = self.0.next_in_line.lock().await;
        let all = self.0.all.clone().acquire_owned().await.ok()?;
        Some(Slot { _all: all, _own: own })
    }

    /// A slot that is free now.
    pub fn try_acquire(&self) -> Option<Slot> {
        let own = self.0.own.clone().try_acquire_owned().ok()?;
        let all = self.0.all.clone().try_acquire_owned().ok()?;
        Some(Slot { _all: all, _own: own })
    }
}
