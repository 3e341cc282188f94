//! Fetches in flight. Requests for the same page at the same time share one fetch. A request whose time runs
//! out while the page is arriving can detach from it; a later request for the page then joins the same fetch
//! or gets its outcome.

use crate::Error;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// How long the outcome of a detached fetch is kept for the caller who was told to retry.
const DETACHED_RETENTION: Duration = Duration::from_mins(1);

/// Requests with the same key share a fetch.
pub type FetchKey = [u8; 32];

/// The outcome of a fetch, for everyone who waits for it.
pub type FetchOutcome<T> = Result<Arc<T>, Error>;

/// All fetches in flight, by their key.
pub struct InFlight<T>(Arc<Mutex<HashMap<FetchKey, Arc<SharedFetch<T>>>>>);

struct SharedFetch<T> {
    outcome: watch::Receiver<Option<FetchOutcome<T>>>,
    progress: Progress,
    waiting: AtomicUsize,
    detached: AtomicBool,
    work: AbortHandle,
}

/// How far a fetch has come; set by the fetch itself.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    arriving: AtomicBool,
    waits_for_room: AtomicBool,
}

impl Progress {
    pub fn arriving(&self) {
        self.0.arriving.store(true, Ordering::Relaxed);
    }

    pub fn is_arriving(&self) -> bool {
        self.0.arriving.load(Ordering::Relaxed)
    }

    /// Whether the page waits for memory to be read into.
    pub fn waits_for_room(&self, waits: bool) {
        self.0.waits_for_room.store(waits, Ordering::Relaxed);
    }

    pub fn is_waiting_for_room(&self) -> bool {
        self.0.waits_for_room.load(Ordering::Relaxed)
    }
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> std::fmt::Debug for InFlight<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("InFlight").field("fetches", &self.0.lock().len()).finish()
    }
}

impl<T: Send + Sync + 'static> InFlight<T> {
    /// Joins the fetch of this key, or starts it. The fetch runs in a task of its own and is aborted when
    /// nobody waits for it.
    pub fn join<F>(&self, key: FetchKey, work: impl FnOnce(Progress) -> F) -> Waiter<T>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut in_flight = self.0.lock();
        if let Some(shared) = in_flight.get(&key) {
            shared.waiting.fetch_add(1, Ordering::Relaxed);
            let resumed = shared.detached.load(Ordering::Relaxed);
            let shared = shared.clone();
            return Waiter { in_flight: self.0.clone(), key, shared, joined: true, resumed, left: false };
        }
        let (sender, outcome) = watch::channel(None);
        let progress = Progress::default();
        let going = work(progress.clone());
        let task = tokio::spawn(async move {
            let outcome = going.await.map(Arc::new);
            // All waiters may have left.
            let _ = sender.send(Some(outcome));
        });
        let shared = Arc::new(SharedFetch {
            outcome,
            progress,
            waiting: AtomicUsize::new(1),
            detached: AtomicBool::new(false),
            work: task.abort_handle(),
        });
        in_flight.insert(key, shared.clone());
        Waiter { in_flight: self.0.clone(), key, shared, joined: false, resumed: false, left: false }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.lock().len()
    }
}

/// One request that waits for a fetch.
pub struct Waiter<T: Send + Sync + 'static> {
    in_flight: Arc<Mutex<HashMap<FetchKey, Arc<SharedFetch<T>>>>>,
    key: FetchKey,
    shared: Arc<SharedFetch<T>>,
    /// The fetch was started by another request.
    pub joined: bool,
    /// A request detached from this fetch before.
    pub resumed: bool,
    left: bool,
}

impl<T: Send + Sync + 'static> Waiter<T> {
    /// Waits for the end of the fetch. Dropping this future does not leave the fetch; dropping the waiter
    /// does.
    pub async fn outcome(&self) -> FetchOutcome<T> {
        let mut outcome = self.shared.outcome.clone();
        match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => {
                outcome.clone().unwrap_or_else(|| Err(Error::internal("a fetch ended without an outcome")))
            }
            Err(_) => Err(Error::internal("the task of a fetch panicked")),
        }
    }

    pub fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// Leaves without aborting the fetch, so that a later request finds it or its outcome.
    pub fn detach(mut self) {
        self.shared.detached.store(true, Ordering::Relaxed);
        self.left = true;
        let (in_flight, key, shared) = (self.in_flight.clone(), self.key, self.shared.clone());
        shared.waiting.fetch_sub(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let mut outcome = shared.outcome.clone();
            // A panic ends the wait as well.
            let _ = outcome.wait_for(Option::is_some).await;
            tokio::time::sleep(DETACHED_RETENTION).await;
            remove(&in_flight, &key, &shared);
        });
    }
}

impl<T: Send + Sync + 'static> Drop for Waiter<T> {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let mut in_flight = self.in_flight.lock();
        let last = self.shared.waiting.fetch_sub(1, Ordering::Relaxed) == 1;
        // A sender that is gone without an outcome panicked, which is an end as well.
        let over = self.shared.outcome.borrow().is_some() || self.shared.outcome.has_changed().is_err();
        let detached = self.shared.detached.load(Ordering::Relaxed);
        // An outcome is not given to later requests, except once for a fetch that a request detached from.
        let done = if detached { over && self.resumed } else { over || last };
        if !done {
            return;
        }
        if in_flight.get(&self.key).is_some_and(|known| Arc::ptr_eq(known, &self.shared)) {
            in_flight.remove(&self.key);
        }
        if last && !over {
            self.shared.work.abort();
        }
    }
}

fn remove<T>(
    in_flight: &Mutex<HashMap<FetchKey, Arc<SharedFetch<T>>>>,
    key: &FetchKey,
    shared: &Arc<SharedFetch<T>>,
) {
    let mut in_flight = in_flight.lock();
    if in_flight.get(key).is_some_and(|known| Arc::ptr_eq(known, shared)) {
        in_flight.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    type Fetches = InFlight<u32>;

    async fn after(wait: oneshot::Receiver<u32>) -> Result<u32, Error> {
        wait.await.map_err(Error::internal)
    }

    #[tokio::test]
    async fn many_share_one_piece_of_work() {
        let in_flight = Fetches::default();
        let (go, wait) = oneshot::channel();
        let first = in_flight.join([1; 32], |_| after(wait));
        let second = in_flight.join([1; 32], |_| async { panic!("must not start") });
        let other = in_flight.join([2; 32], |_| async { Ok(9) });
        assert!(!first.joined && second.joined && !other.joined);
        assert_eq!(*other.outcome().await.unwrap(), 9);
        go.send(7).unwrap();
        assert_eq!((*first.outcome().await.unwrap(), *second.outcome().await.unwrap()), (7, 7));
        drop((first, second, other));
        assert_eq!(in_flight.len(), 0);
    }

    #[tokio::test]
    async fn work_ends_when_the_last_leaves() {
        let in_flight = Fetches::default();
        let (held, mut gone) = oneshot::channel::<()>();
        let waiter = in_flight.join([1; 32], |_| async move {
            let _held = held;
            std::future::pending().await
        });
        assert!(gone.try_recv().is_err());
        drop(waiter);
        assert!(gone.await.is_err(), "the work was dropped");
        assert_eq!(in_flight.len(), 0);
    }

    #[tokio::test]
    async fn promised_work_goes_on_and_is_found_again() {
        let in_flight = Fetches::default();
        let (go, wait) = oneshot::channel();
        in_flight.join([1; 32], |_| after(wait)).detach();
        tokio::task::yield_now().await;
        go.send(5).unwrap();
        tokio::task::yield_now().await;
        let back = in_flight.join([1; 32], |_| async { panic!("must not start") });
        assert!(back.joined);
        assert_eq!(*back.outcome().await.unwrap(), 5);
        drop(back);
        assert_eq!(in_flight.len(), 0, "it is taken once");
    }

    #[tokio::test]
    async fn a_panic_costs_its_waiters_an_error() {
        let in_flight = Fetches::default();
        let waiter = in_flight.join([1; 32], |_| async { panic!("rehearsed") });
        assert_eq!(waiter.outcome().await.unwrap_err().kind(), wire::Kind::Internal);
        drop(waiter);
        assert_eq!(in_flight.len(), 0);
    }
}
