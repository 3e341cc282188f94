//! The limits that every request passes: requests per minute, and browsers at once. The numbers live in the
//! store, so that they hold over all processes; a little is kept here, so that they cost little.

use crate::CallerError;
use crate::callers::Caller;
use crate::plans::{RateGroup, UNLIMITED_CONCURRENCY};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::LimitStore;
use store::limits::RateTaken;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// Scrapes at once that one core can bear.
const SCRAPES_PER_CORE: usize = 8;
const WINDOW: Duration = Duration::from_mins(1);
/// A slot whose holder died is free again after this.
const SLOT_LEASE: Duration = Duration::from_secs(30);
/// How often a request that waits for a browser slot tries to get one.
const SLOT_RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// How old the number of busy browsers may be when other processes share it.
const SLOT_COUNT_CACHE_TIME: Duration = Duration::from_millis(100);
/// Buckets kept at once; past it they are all dropped, which costs their tokens and nothing else.
const MAX_BUCKETS: usize = 100_000;

/// Tokens taken from the store in one go. One for limits up to 199 a minute, so that small limits are
/// exact; one in a hundred above, so that a busy team does not write for every request. Tokens left in
/// the bucket of one process are lost to the others until the window ends: at most 1 % each.
fn refill_size(limit: u32) -> u32 {
    (limit / 100).clamp(1, 50)
}

#[derive(Debug)]
struct TokenBucket {
    tokens: u32,
    /// The store has no more tokens in this window either, so a flood of refusals costs it nothing.
    exhausted: bool,
    /// When the window ends: tokens and exhaustion hold until here.
    until: Instant,
    /// Held by whoever asks the store, so that many requests at once refill once and not each.
    refilling: Arc<tokio::sync::Mutex<()>>,
}

impl TokenBucket {
    fn empty() -> Self {
        Self { tokens: 0, exhausted: false, until: Instant::now(), refilling: Arc::default() }
    }

    /// `Some(true)`: a token was taken. `Some(false)`: there is none until the window ends. `None`: ask the
    /// store.
    fn take_token(&mut self) -> Option<bool> {
        if self.until <= Instant::now() {
            return None;
        }
        if self.tokens > 0 {
            self.tokens -= 1;
            return Some(true);
        }
        self.exhausted.then_some(false)
    }
}

pub struct Limiter {
    store: Arc<dyn LimitStore>,
    buckets: Mutex<HashMap<(Uuid, RateGroup), TokenBucket>>,
    /// Slots held by this process, which [`Limiter::keep`] renews.
    held: Mutex<HashMap<Uuid, Uuid>>,
    slot_counts: Mutex<HashMap<Uuid, (u32, Instant)>>,
    /// Slots on their way back.
    releases: TaskTracker,
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Limiter").finish_non_exhaustive()
    }
}

impl Limiter {
    pub fn new(store: Arc<dyn LimitStore>) -> Arc<Self> {
        Arc::new(Self {
            store,
            buckets: Mutex::default(),
            held: Mutex::default(),
            slot_counts: Mutex::default(),
            releases: TaskTracker::new(),
        })
    }

    /// Lets one request of the group through, or answers 429 with the seconds to wait.
    pub fn admit<'a>(
        &'a self,
        caller: &'a Caller,
        group: RateGroup,
    ) -> BoxFuture<'a, Result<(), CallerError>> {
        Box::pin(async move {
            let Some(limit) = caller.plan.rate(group) else { return Ok(()) };
            let place = (caller.counted_as(), group);
            let refilling = match self.take_token(place) {
                (Some(true), _) => return Ok(()),
                (Some(false), until) => return Err(refused(group, limit, until)),
                (None, _) => self.refilling(place),
            };
            let _turn = refilling.lock().await;
            match self.take_token(place) {
                (Some(true), _) => Ok(()),
                (Some(false), until) => Err(refused(group, limit, until)),
                (None, _) => self.refill(place, limit).await,
            }
        })
    }

    fn take_token(&self, place: (Uuid, RateGroup)) -> (Option<bool>, Instant) {
        match self.buckets.lock().get_mut(&place) {
            Some(bucket) => (bucket.take_token(), bucket.until),
            None => (None, Instant::now()),
        }
    }

    fn refilling(&self, place: (Uuid, RateGroup)) -> Arc<tokio::sync::Mutex<()>> {
        let mut buckets = self.buckets.lock();
        if buckets.len() >= MAX_BUCKETS {
            buckets.clear();
        }
        buckets.entry(place).or_insert_with(TokenBucket::empty).refilling.clone()
    }

    /// Takes tokens from the store, and one of them for the caller.
    async fn refill(&self, place: (Uuid, RateGroup), limit: u32) -> Result<(), CallerError> {
        let (team, group) = place;
        // Counted from before the question, so that a token never outlives its window.
        let requested_at = Instant::now();
        let grant = match self.store.take_rate(team, group.name(), limit, WINDOW, refill_size(limit)).await {
            // What only reads is answered also when nothing can be written; this process then counts by
            // itself.
            Err(error) if error.is_retryable() && group == RateGroup::Status => {
                tracing::debug!(%error, "requests are counted in this process only");
                RateTaken { granted: limit, remaining: 0, resets_in: WINDOW }
            }
            grant => grant.map_err(crate::from_store)?,
        };
        let until = requested_at + grant.resets_in;
        let mut buckets = self.buckets.lock();
        let bucket = buckets.entry(place).or_insert_with(TokenBucket::empty);
        bucket.until = until;
        bucket.exhausted = grant.remaining == 0;
        bucket.tokens = grant.granted.saturating_sub(1);
        if grant.granted == 0 { Err(refused(group, limit, until)) } else { Ok(()) }
    }

    /// A browser for the caller, held until dropped, or 429 when the plan's browsers are all busy.
    pub fn browser_slot<'a>(
        self: &'a Arc<Self>,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<BrowserSlot, CallerError>> {
        Box::pin(async move {
            let max = max_browsers(caller);
            let slot =
                self.store.acquire_slot(caller.team, max, SLOT_LEASE).await.map_err(crate::from_store)?;
            let id = slot.ok_or(CallerError::ConcurrencyLimited { max })?;
            self.held.lock().insert(id, caller.team);
            self.slot_counts.lock().remove(&caller.team);
            Ok(BrowserSlot { limiter: self.clone(), id, team: caller.team })
        })
    }

    /// A browser slot of the caller's plan, acquired when the browser is needed. Without `waits`, a request
    /// that finds all slots in use fails.
    pub fn request_slot(self: &Arc<Self>, caller: &Arc<Caller>, waits: bool) -> BrowserSlotRequest {
        let (limiter, caller) = (self.clone(), caller.clone());
        Box::new(move || {
            Box::pin(async move {
                loop {
                    match limiter.browser_slot(&caller).await {
                        // The page's deadline ends this loop.
                        Err(CallerError::ConcurrencyLimited { .. }) if waits => {
                            tokio::time::sleep(SLOT_RETRY_INTERVAL).await;
                        }
                        taken => return Ok(Box::new(taken?) as BrowserSlotGuard),
                    }
                }
            })
        })
    }

    /// Browsers the caller's team uses now, over all processes.
    pub fn browsers_in_use<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<u32, CallerError>> {
        Box::pin(async move {
            if let Some((count, at)) = self.slot_counts.lock().get(&caller.team).copied()
                && at.elapsed() < SLOT_COUNT_CACHE_TIME
            {
                return Ok(count);
            }
            let count = self.store.slots_in_use(caller.team).await.map_err(crate::from_store)?;
            let mut slot_counts = self.slot_counts.lock();
            if slot_counts.len() >= MAX_BUCKETS {
                slot_counts.clear();
            }
            slot_counts.insert(caller.team, (count, Instant::now()));
            Ok(count)
        })
    }

    /// Waits until every slot that was let go has been given back.
    pub fn wait_for_releases(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.releases.close();
            self.releases.wait().await;
        })
    }

    /// Renews the held slots until told to stop, which must be after the last request ended; one task
    /// of this runs per process.
    pub fn keep(self: Arc<Self>, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            while stop.run_until_cancelled(tokio::time::sleep(SLOT_LEASE / 3)).await.is_some() {
                let slots: Vec<_> = self.held.lock().keys().copied().collect();
                if slots.is_empty() {
                    continue;
                }
                match self.store.renew_slots(&slots, SLOT_LEASE).await {
                    Ok(kept) if kept.len() < slots.len() => {
                        tracing::warn!(
                            lost = slots.len() - kept.len(),
                            "browser slots ran out before their use ended"
                        );
                    }
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "could not renew browser slots"),
                }
            }
        })
    }
}

fn refused(group: RateGroup, limit: u32, until: Instant) -> CallerError {
    CallerError::RateLimited { group: group.name(), limit, retry_after: seconds_until(until) }
}

/// The most browsers the caller's team may use at once.
pub fn max_browsers(caller: &Caller) -> u32 {
    caller.plan.concurrency.unwrap_or(UNLIMITED_CONCURRENCY)
}

/// How many requests at once make sense for a caller: what the plan says or, without a limit there, what this
/// machine can do. Clients start as many.
pub fn useful_concurrency(caller: &Caller) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // Most of the time a scrape waits for the network.
    let machine = u32::try_from(cores.saturating_mul(SCRAPES_PER_CORE)).unwrap_or(UNLIMITED_CONCURRENCY);
    caller.plan.concurrency.unwrap_or_else(|| machine.min(UNLIMITED_CONCURRENCY))
}

/// One of the browser slots that a caller's plan allows; free again when dropped.
pub type BrowserSlotGuard = Box<dyn std::any::Any + Send>;
pub type BrowserSlotRequest = Box<
    dyn FnOnce() -> std::pin::Pin<Box<dyn Future<Output = Result<BrowserSlotGuard, CallerError>> + Send>>
        + Send,
>;

/// A browser slot without a limit, for the command line.
pub fn free_slot() -> BrowserSlotRequest {
    Box::new(|| Box::pin(async { Ok(Box::new(()) as BrowserSlotGuard) }))
}

/// One of the team's browsers. Dropping it gives it back.
#[derive(Debug)]
pub struct BrowserSlot {
    limiter: Arc<Limiter>,
    id: Uuid,
    team: Uuid,
}

impl Drop for BrowserSlot {
    fn drop(&mut self) {
        self.limiter.held.lock().remove(&self.id);
        self.limiter.slot_counts.lock().remove(&self.team);
        let (limiter, id, team) = (self.limiter.clone(), self.id, self.team);
        // Outside a runtime the lease simply runs out.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let release = async move {
                if let Err(error) = limiter.store.release_slot(id).await {
                    tracing::warn!(%error, "could not give a browser slot back; it frees itself when its lease ends");
                }
                limiter.slot_counts.lock().remove(&team);
            };
            self.limiter.releases.spawn_on(release, &runtime);
        }
    }
}

fn seconds_until(end: Instant) -> u64 {
    let left = end.saturating_duration_since(Instant::now());
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}
