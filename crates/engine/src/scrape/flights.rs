//! Work that several requests wait for. Requests that want the same page at the same time share one fetch; a request whose time
//! ran out while the page was arriving may come back and find the work still going on, or its end.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use wire::{Kind, WireError};

/// How long the end of promised work waits for whoever was told to come back.
const KEPT: Duration = Duration::from_mins(1);

/// What makes two pieces of work the same.
pub type FlightKey = [u8; 32];

/// How it went, for everyone who waits.
pub type Landing<T> = Result<Arc<T>, WireError>;

/// All work under way, by what it is.
pub struct Flights<T>(Arc<Mutex<HashMap<FlightKey, Arc<Flight<T>>>>>);

struct Flight<T> {
    landing: watch::Receiver<Option<Landing<T>>>,
    progress: Progress,
    waiting: AtomicUsize,
    promised: AtomicBool,
    work: AbortHandle,
}

/// Set by the work when it is worth waiting for: its page has begun to arrive.
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

    /// The page could arrive, and waits for memory.
    pub fn waits_for_room(&self, waits: bool) {
        self.0.waits_for_room.store(waits, Ordering::Relaxed);
    }

    pub fn is_waiting_for_room(&self) -> bool {
        self.0.waits_for_room.load(Ordering::Relaxed)
    }
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> std::fmt::Debug for Flights<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Flights").field("under_way", &lock(&self.0).len()).finish()
    }
}

impl<T: Send + Sync + 'static> Flights<T> {
    /// Joins the work of this key, or starts it. The work runs in a task of its own and ends when nobody waits for it.
    pub fn join<F>(&self, key: FlightKey, work: impl FnOnce(Progress) -> F) -> Seat<T>
    where
        F: Future<Output = Result<T, WireError>> + Send + 'static,
    {
        let mut flights = lock(&self.0);
        if let Some(flight) = flights.get(&key) {
            flight.waiting.fetch_add(1, Ordering::Relaxed);
            let returning = flight.promised.load(Ordering::Relaxed);
            let flight = flight.clone();
            return Seat { flights: self.0.clone(), key, flight, joined: true, returning, left: false };
        }
        let (land, landing) = watch::channel(None);
        let progress = Progress::default();
        let going = work(progress.clone());
        let task = tokio::spawn(async move {
            let landed = going.await.map(Arc::new);
            // Nobody listening is fine: they all left.
            let _ = land.send(Some(landed));
        });
        let flight = Arc::new(Flight {
            landing,
            progress,
            waiting: AtomicUsize::new(1),
            promised: AtomicBool::new(false),
            work: task.abort_handle(),
        });
        flights.insert(key, flight.clone());
        Seat { flights: self.0.clone(), key, flight, joined: false, returning: false, left: false }
    }

    #[cfg(test)]
    fn under_way(&self) -> usize {
        lock(&self.0).len()
    }
}

/// A place among those who wait.
pub struct Seat<T: Send + Sync + 'static> {
    flights: Arc<Mutex<HashMap<FlightKey, Arc<Flight<T>>>>>,
    key: FlightKey,
    flight: Arc<Flight<T>>,
    /// The work was under way before this request came.
    pub joined: bool,
    /// Somebody had left before with the promise to find it.
    pub returning: bool,
    left: bool,
}

impl<T: Send + Sync + 'static> Seat<T> {
    /// Waits for the end of the work. Dropping the wait keeps the seat.
    pub async fn landed(&self) -> Landing<T> {
        let mut landing = self.flight.landing.clone();
        match landing.wait_for(Option::is_some).await {
            Ok(landed) => landed.clone().unwrap_or_else(|| Err(Kind::Internal.into())),
            // The task ended without a word: it panicked.
            Err(_) => Err(Kind::Internal.into()),
        }
    }

    pub fn progress(&self) -> &Progress {
        &self.flight.progress
    }

    /// Leaves, with the promise that the work goes on for whoever comes back.
    pub fn leave_promised(mut self) {
        self.flight.promised.store(true, Ordering::Relaxed);
        self.left = true;
        let (flights, key, flight) = (self.flights.clone(), self.key, self.flight.clone());
        flight.waiting.fetch_sub(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let mut landing = flight.landing.clone();
            // A panic ends the wait as well.
            let _ = landing.wait_for(Option::is_some).await;
            tokio::time::sleep(KEPT).await;
            forget(&flights, &key, &flight);
        });
    }
}

impl<T: Send + Sync + 'static> Drop for Seat<T> {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let mut flights = lock(&self.flights);
        let last = self.flight.waiting.fetch_sub(1, Ordering::Relaxed) == 1;
        // A sender that is gone without a word is a panic, and over as well.
        let over = self.flight.landing.borrow().is_some() || self.flight.landing.has_changed().is_err();
        let promised = self.flight.promised.load(Ordering::Relaxed);
        // What is over is found by nobody new, except by whoever was promised to find it, once.
        let done = if promised { over && self.returning } else { over || last };
        if !done {
            return;
        }
        if flights.get(&self.key).is_some_and(|known| Arc::ptr_eq(known, &self.flight)) {
            flights.remove(&self.key);
        }
        if last && !over {
            self.flight.work.abort();
        }
    }
}

fn forget<T>(flights: &Mutex<HashMap<FlightKey, Arc<Flight<T>>>>, key: &FlightKey, flight: &Arc<Flight<T>>) {
    let mut flights = lock(flights);
    if flights.get(key).is_some_and(|known| Arc::ptr_eq(known, flight)) {
        flights.remove(key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    type Numbers = Flights<u32>;

    async fn after(wait: oneshot::Receiver<u32>) -> Result<u32, WireError> {
        wait.await.map_err(|_| Kind::Internal.into())
    }

    #[tokio::test]
    async fn many_share_one_piece_of_work() {
        let flights = Numbers::default();
        let (go, wait) = oneshot::channel();
        let first = flights.join([1; 32], |_| after(wait));
        let second = flights.join([1; 32], |_| async { panic!("must not start") });
        let other = flights.join([2; 32], |_| async { Ok(9) });
        assert!(!first.joined && second.joined && !other.joined);
        assert_eq!(*other.landed().await.unwrap(), 9);
        go.send(7).unwrap();
        assert_eq!((*first.landed().await.unwrap(), *second.landed().await.unwrap()), (7, 7));
        drop((first, second, other));
        assert_eq!(flights.under_way(), 0);
    }

    #[tokio::test]
    async fn work_ends_when_the_last_leaves() {
        let flights = Numbers::default();
        let (held, mut gone) = oneshot::channel::<()>();
        let seat = flights.join([1; 32], |_| async move {
            let _held = held;
            std::future::pending().await
        });
        assert!(gone.try_recv().is_err());
        drop(seat);
        assert!(gone.await.is_err(), "the work was dropped");
        assert_eq!(flights.under_way(), 0);
    }

    #[tokio::test]
    async fn promised_work_goes_on_and_is_found_again() {
        let flights = Numbers::default();
        let (go, wait) = oneshot::channel();
        flights.join([1; 32], |_| after(wait)).leave_promised();
        tokio::task::yield_now().await;
        go.send(5).unwrap();
        tokio::task::yield_now().await;
        let back = flights.join([1; 32], |_| async { panic!("must not start") });
        assert!(back.joined);
        assert_eq!(*back.landed().await.unwrap(), 5);
        drop(back);
        assert_eq!(flights.under_way(), 0, "it is taken once");
    }

    #[tokio::test]
    async fn a_panic_costs_its_waiters_an_error() {
        let flights = Numbers::default();
        let seat = flights.join([1; 32], |_| async { panic!("rehearsed") });
        assert_eq!(seat.landed().await.unwrap_err().kind, Kind::Internal);
        drop(seat);
        assert_eq!(flights.under_way(), 0);
    }
}
