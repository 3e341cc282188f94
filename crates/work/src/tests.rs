//! The worker over a queue in memory, with a clock that only moves when everybody waits.

use crate::Signals;
use crate::retry;
use crate::slots::WorkSlots;
use crate::worker::{LeaseWorker, LeasedQueue, WorkerOptions};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::work::LeaseStatus;
use store::{StoreError, StoreResult};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const LEASE: Duration = Duration::from_secs(15);
const GRACE: Duration = Duration::from_secs(10);

/// What the work on an item does.
#[derive(Debug, Clone, Copy)]
enum Play {
    Take(Duration),
    Hang,
    Panic,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(u64, Play)>,
    /// When the lease of each claimed item ends.
    leases: BTreeMap<u64, Instant>,
    ended: Vec<(u64, &'static str)>,
    handed_back: Vec<u64>,
    given_up: Vec<u64>,
    lost: Vec<u64>,
    cancelled: Vec<u64>,
    renewals: usize,
    sweeps: usize,
    claims: Vec<u32>,
}

struct MemoryQueue {
    state: Mutex<State>,
    signal: watch::Sender<u64>,
    /// Writes of ends that fail before one is taken.
    failures: AtomicUsize,
    most_at_once: AtomicUsize,
    at_once: AtomicUsize,
}

impl MemoryQueue {
    fn new(items: impl IntoIterator<Item = Play>) -> Arc<Self> {
        let waiting = items.into_iter().enumerate().map(|(number, play)| (number as u64, play)).collect();
        Arc::new(Self {
            state: Mutex::new(State { waiting, ..State::default() }),
            signal: watch::Sender::new(0),
            failures: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
        })
    }

    fn add(&self, number: u64, play: Play) {
        self.with(|state| state.waiting.push_back((number, play)));
        self.signal.send_modify(|count| *count += 1);
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    fn worker(self: &Arc<Self>, slots: usize, options: WorkerOptions) -> Running {
        let stop = CancellationToken::new();
        let worker = LeaseWorker::new(self.clone(), WorkSlots::new(slots).for_pages(), options);
        Running { task: tokio::spawn(worker.run(stop.clone())), stop }
    }
}

struct Running {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Running {
    /// Stops the worker; how long that took.
    async fn stop(self) -> Duration {
        let began = Instant::now();
        self.stop.cancel();
        self.task.await.unwrap();
        began.elapsed()
    }
}

fn options() -> WorkerOptions {
    WorkerOptions::with_lease(LEASE, GRACE)
}

fn away() -> StoreError {
    StoreError::Unavailable("away".into())
}

#[async_trait::async_trait]
impl LeasedQueue for MemoryQueue {
    type Lease = u64;
    type Item = (u64, Play);
    type End = &'static str;

    fn items(&self) -> &'static str {
        "test items"
    }

    fn lease(&self, item: &Self::Item) -> u64 {
        item.0
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        self.signal.subscribe()
    }

    async fn claim(&self, limit: u32) -> StoreResult<Vec<Self::Item>> {
        Ok(self.with(|state| {
            state.claims.push(limit);
            let count = state.waiting.len().min(limit as usize);
            let claimed: Vec<_> = state.waiting.drain(..count).collect();
            for (number, _) in &claimed {
                state.leases.insert(*number, Instant::now() + LEASE);
            }
            claimed
        }))
    }

    async fn renew(&self, leases: &[u64]) -> StoreResult<Vec<LeaseStatus>> {
        Ok(self.with(|state| {
            state.renewals += 1;
            let mut renew = |number: &u64| {
                if state.lost.contains(number) {
                    return LeaseStatus::Lost;
                }
                let until = state.leases.get_mut(number).expect("claimed before");
                assert!(*until > Instant::now(), "the lease of {number} ran out");
                *until = Instant::now() + LEASE;
                if state.cancelled.contains(number) {
                    LeaseStatus::CancelRequested
                } else {
                    LeaseStatus::Held
                }
            };
            leases.iter().map(&mut renew).collect()
        }))
    }

    async fn attempt(&self, (_, play): Self::Item, signals: Signals) -> Option<&'static str> {
        let now = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_at_once.fetch_max(now, Ordering::Relaxed);
        let work = async {
            match play {
                Play::Take(time) => sleep(time).await,
                Play::Hang => std::future::pending().await,
                Play::Panic => panic!("as a test asked for"),
            }
        };
        let end = tokio::select! {
            () = work => Some("done"),
            () = signals.cancel.cancelled() => Some("cancelled"),
            () = signals.hand_back.cancelled() => None,
        };
        self.at_once.fetch_sub(1, Ordering::Relaxed);
        end
    }

    fn after_panic(&self, _: u64) -> Option<&'static str> {
        Some("panicked")
    }

    async fn end(&self, ends: Vec<(u64, &'static str)>) -> StoreResult<()> {
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.fetch_sub(1, Ordering::Relaxed);
            return Err(away());
        }
        self.with(|state| state.ended.extend(ends));
        Ok(())
    }

    async fn give_up(&self, ends: Vec<(u64, &'static str)>, _: &StoreError) {
        self.with(|state| state.given_up.extend(ends.iter().map(|(number, _)| *number)));
    }

    async fn hand_back(&self, leases: Vec<u64>) -> StoreResult<()> {
        self.with(|state| state.handed_back.extend(leases));
        Ok(())
    }

    async fn sweep(&self) -> StoreResult<()> {
        self.with(|state| state.sweeps += 1);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn leases_are_renewed_for_as_long_as_the_work_takes() {
    let queue = MemoryQueue::new([Play::Take(Duration::from_mins(5))]);
    let worker = queue.worker(2, options());
    sleep(Duration::from_mins(6)).await;
    queue.with(|state| {
        assert_eq!(state.ended, [(0, "done")]);
        // Once a second, and never again after the end.
        assert!((295..=301).contains(&state.renewals), "{}", state.renewals);
        assert!((60..=80).contains(&state.sweeps), "{}", state.sweeps);
    });
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn work_whose_lease_is_lost_stops_and_writes_nothing() {
    let queue = MemoryQueue::new([Play::Take(Duration::from_secs(30)), Play::Take(Duration::from_secs(30))]);
    let worker = queue.worker(2, options());
    sleep(Duration::from_secs(5)).await;
    queue.with(|state| state.lost.push(0));
    sleep(Duration::from_mins(1)).await;
    queue.with(|state| assert_eq!(state.ended, [(1, "done")]));
    // Its slot is free again.
    queue.add(2, Play::Take(Duration::from_secs(1)));
    queue.add(3, Play::Take(Duration::from_secs(1)));
    sleep(Duration::from_secs(2)).await;
    queue.with(|state| assert_eq!(state.ended.len(), 3, "{:?}", state.ended));
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_to_cancel_arrives_with_the_renewal() {
    let queue = MemoryQueue::new([Play::Hang]);
    let worker = queue.worker(1, options());
    sleep(Duration::from_secs(3)).await;
    queue.with(|state| state.cancelled.push(0));
    sleep(Duration::from_millis(1_100)).await;
    queue.with(|state| assert_eq!(state.ended, [(0, "cancelled")]));
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_end_is_written_again_while_the_store_is_away_and_nothing_is_claimed_meanwhile() {
    let queue = MemoryQueue::new([Play::Take(Duration::from_secs(1))]);
    queue.failures.store(5, Ordering::Relaxed);
    let worker = queue.worker(4, options());
    sleep(Duration::from_millis(1_100)).await;
    queue.add(1, Play::Take(Duration::ZERO));
    // 50 + 100 + 200 + 400 + 800 ms later the sixth try succeeds.
    sleep(Duration::from_millis(1_300)).await;
    queue.with(|state| assert_eq!((state.ended.len(), state.waiting.len()), (0, 1)));
    sleep(Duration::from_secs(3)).await;
    queue.with(|state| assert_eq!(state.ended, [(0, "done"), (1, "done")]));
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_end_that_cannot_be_written_is_given_up_in_time() {
    let queue = MemoryQueue::new([Play::Take(Duration::ZERO)]);
    queue.failures.store(usize::MAX, Ordering::Relaxed);
    let worker = queue.worker(1, options());
    sleep(LEASE.saturating_sub(Duration::from_secs(3))).await;
    queue.with(|state| assert!(state.given_up.is_empty()));
    sleep(Duration::from_secs(4)).await;
    queue.with(|state| assert_eq!((state.given_up.as_slice(), state.ended.len()), ([0].as_slice(), 0)));
    // Its slot is free again.
    queue.failures.store(0, Ordering::Relaxed);
    queue.add(1, Play::Take(Duration::ZERO));
    sleep(Duration::from_secs(2)).await;
    queue.with(|state| assert_eq!(state.ended, [(1, "done")]));
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_costs_one_item() {
    let queue = MemoryQueue::new([Play::Panic, Play::Take(Duration::from_secs(1))]);
    let worker = queue.worker(2, options());
    sleep(Duration::from_secs(2)).await;
    queue.with(|state| assert_eq!(state.ended, [(0, "panicked"), (1, "done")]));
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_finishes_what_it_can_and_hands_the_rest_back() {
    let queue = MemoryQueue::new([Play::Take(Duration::from_secs(5)), Play::Hang, Play::Take(GRACE)]);
    let worker = queue.worker(2, options());
    sleep(Duration::from_secs(1)).await;
    let took = worker.stop().await;
    assert!(took >= GRACE && took < GRACE + Duration::from_secs(1), "{took:?}");
    queue.with(|state| {
        assert_eq!(state.ended, [(0, "done")]);
        assert_eq!(state.handed_back, [1]);
        assert_eq!(state.waiting.len(), 1, "nothing new is taken");
    });
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_nothing_to_do_stops_at_once() {
    let queue = MemoryQueue::new([]);
    let worker = queue.worker(2, options());
    sleep(Duration::from_secs(3)).await;
    assert!(worker.stop().await < Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_slots_at_once() {
    let queue = MemoryQueue::new([Play::Take(Duration::from_secs(1)); 20]);
    let worker = queue.worker(3, options());
    sleep(Duration::from_secs(8)).await;
    assert_eq!(queue.most_at_once.load(Ordering::Relaxed), 3);
    queue.with(|state| {
        assert_eq!(state.ended.len(), 20);
        assert!(state.claims.iter().all(|limit| (1..=3).contains(limit)), "{:?}", state.claims);
    });
    worker.stop().await;
}

#[tokio::test(start_paused = true)]
async fn kinds_of_work_share_the_slots_and_take_turns() {
    let slots = WorkSlots::new(4);
    let (pages, runs, webhooks) = (slots.for_pages(), slots.for_runs(), slots.for_webhooks());
    let held: Vec<_> = std::iter::from_fn(|| runs.try_acquire()).collect();
    assert_eq!(held.len(), 2, "runs have at most half");
    let mut busy: Vec<_> = std::iter::from_fn(|| pages.try_acquire()).collect();
    assert_eq!(busy.len(), 2, "four in all");
    // Many wait to send; one page waits after them.
    let order = Arc::new(Mutex::new(Vec::new()));
    let wait = |share: &crate::SlotShare, name: &'static str| {
        let (share, order) = (share.clone(), order.clone());
        tokio::spawn(async move {
            let _slot = share.acquire().await;
            order.lock().unwrap().push(name);
            sleep(Duration::from_secs(1)).await;
        })
    };
    let mut waiting: Vec<_> = (0..4).map(|_| wait(&webhooks, "webhook")).collect();
    sleep(Duration::from_millis(10)).await;
    waiting.push(wait(&pages, "page"));
    sleep(Duration::from_millis(10)).await;
    busy.pop();
    for task in waiting {
        task.await.unwrap();
    }
    let order = order.lock().unwrap();
    assert_eq!(order[..2], ["webhook", "page"], "a page does not wait for all of them: {order:?}");
    assert_eq!(WorkSlots::new(1).for_runs().max(), 1, "every kind may have one");
}

#[tokio::test(start_paused = true)]
async fn only_what_may_pass_is_tried_again() {
    let tries = AtomicUsize::new(0);
    let write = |error: fn() -> StoreError| {
        tries.fetch_add(1, Ordering::Relaxed);
        async move { Err::<(), _>(error()) }
    };
    let bad = || StoreError::Misuse("never".into());
    let began = Instant::now();
    assert!(retry::while_unavailable(LEASE, || write(bad), |_| {}).await.is_err());
    assert_eq!((tries.swap(0, Ordering::Relaxed), began.elapsed()), (1, Duration::ZERO));
    assert!(retry::while_unavailable(LEASE, || write(away), |_| {}).await.is_err());
    assert!(began.elapsed() < LEASE && began.elapsed() > LEASE.saturating_sub(Duration::from_secs(3)));
    assert_eq!(tries.load(Ordering::Relaxed), 12);
}
