//! The janitor: ends what is overdue, deletes what has expired, and keeps what is stored under its ceilings.
//! Every process runs one; each round does bounded work, and several processes may do it at once.

use crate::teams::ACTIVITY_RETENTION;
use access::Callers;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::ceilings::{Counted, SmallRows};
use store::objects::Objects;
use store::{CeilingStore, PageStore, Store, StoreResult};
use tokio_util::sync::CancellationToken;

/// A profile that nobody used for this long is given up.
pub const PROFILE_RETENTION: Duration = Duration::from_hours(180 * 24);
/// Rows deleted in one transaction, and transactions in one round, so that other writers get their turn.
const PURGE_BATCH: u32 = 2000;
const PURGE_BATCHES: u32 = 500;
/// The same for what is large: pages, results and snapshots.
const LARGE_BATCH: u32 = 200;
const LARGE_BATCHES: u32 = 40;
/// What has ended can be read for this long, whatever ceiling is exceeded.
const MIN_RESULT_RETENTION: Duration = Duration::from_mins(10);
/// Small rows of a kind that are kept: so many requests of the last day are shown as activity, and so on.
const MAX_SMALL_ROWS: [(SmallRows, u32); 4] = [
    (SmallRows::Activity, 1_000_000),
    (SmallRows::Searches, 500_000),
    (SmallRows::Feedback, 100_000),
    (SmallRows::IdempotencyKeys, 2_000_000),
];

/// Rows of the audit log that a team keeps at most.
const MAX_AUDIT_ROWS_OF_TEAM: u32 = 200_000;

#[derive(Debug, Clone, Copy)]
pub struct JanitorOptions {
    /// How often passed deadlines and a full cache are looked for, and lost leases where this is not done by
    /// workers.
    pub sweep_every: Duration,
    /// Whether this process has no workers, which take back what lost workers held.
    pub take_back_leases: bool,
    /// How often expired results, objects and counters are deleted.
    pub purge_every: Duration,
    /// The most bytes that stored objects may take; the soonest to expire go first.
    pub object_ceiling: u64,
    /// The most bytes of them that recordings of browser sessions may take; the oldest go first.
    pub recording_ceiling: u64,
    /// The most bytes that cached pages and results of scrapes may take; the oldest go first.
    pub cache_ceiling: u64,
    /// The most bytes that snapshots for change tracking may take; the oldest go first.
    pub snapshot_ceiling: u64,
    /// The most bytes that pages kept for search may take; those seen longest ago go first.
    pub search_ceiling: u64,
    /// The most bytes that crawls and batches may store; of those that have ended the soonest to expire go
    /// first.
    pub crawl_ceiling: u64,
    /// The most bytes that one crawl or batch may store; it ends there.
    pub single_crawl_ceiling: u64,
    /// The most bytes that agent runs and extracts may store; of those that have ended the soonest to expire
    /// go first.
    pub run_ceiling: u64,
    /// The most bytes that webhooks on their way and given up may take; those given up go first.
    pub webhook_ceiling: u64,
    /// How long rows of the audit log are kept.
    pub audit_retention: Duration,
}

/// Runs until told to stop. Errors are logged and the next round tries again.
pub fn run(
    store: Arc<dyn Store>,
    objects: Arc<Objects>,
    callers: Arc<Callers>,
    options: JanitorOptions,
    stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut next_purge = tokio::time::Instant::now();
        while stop.run_until_cancelled(tokio::time::sleep(options.sweep_every)).await.is_some() {
            if options.take_back_leases {
                log_error("pages of lost workers", crate::crawl::take_back_pages(store.as_ref()).await);
                log_error("agent runs", crate::agent::sweep_runs(store.as_ref()).await);
                log_error("checks of monitors", store.sweep_checks().await);
            }
            log_error("lost browser sessions", crate::interact::end_lost_sessions(store.as_ref()).await);
            log_error("overdue crawls", crate::crawl::fail_overdue(store.as_ref()).await);
            let (each, together) = (options.single_crawl_ceiling, options.crawl_ceiling);
            log_error("oversized crawls", crate::crawl::fail_oversized(store.as_ref(), each, together).await);
            log_error("crawls", shrink_crawls(store.as_ref(), options.crawl_ceiling).await);
            if let Err(error) = callers.flush_used().await {
                tracing::warn!(%error, "could not note when keys were used");
            }
            // Often, because a busy cache grows by more than its ceiling allows within minutes.
            log_error("cache", sweep_cache(store.as_ref(), options.cache_ceiling).await);
            if tokio::time::Instant::now() >= next_purge {
                purge(store.as_ref(), &objects, &options).await;
                next_purge = tokio::time::Instant::now() + options.purge_every;
            }
        }
    })
}

async fn purge(store: &dyn Store, objects: &Objects, options: &JanitorOptions) {
    log_error(
        "crawls",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_crawls(PURGE_BATCH)).await,
    );
    log_error(
        "agent runs",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_runs(PURGE_BATCH)).await,
    );
    log_error("agent runs", shrink_runs(store, options.run_ceiling).await);
    log_error(
        "monitors",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_monitors(PURGE_BATCH)).await,
    );
    log_error(
        "activity",
        repeat_while_full(PURGE_BATCHES, 1, || store.purge_activity(ACTIVITY_RETENTION)).await,
    );
    log_error(
        "idempotency keys",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_idempotency_keys(PURGE_BATCH)).await,
    );
    log_error(
        "webhooks",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_deliveries(PURGE_BATCH)).await,
    );
    log_error("webhooks", shrink_webhooks(store, options.webhook_ceiling).await);
    log_error("use by day", store.purge_usage().await);
    for (rows, keep) in MAX_SMALL_ROWS {
        let trim = || store.trim(rows, keep, PURGE_BATCH);
        log_error("small rows", repeat_while_full(PURGE_BATCHES, PURGE_BATCH, trim).await);
    }
    log_error(
        "requests of scrapes",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_scrape_requests(PURGE_BATCH)).await,
    );
    log_error(
        "browser sessions",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_browser_sessions(PURGE_BATCH)).await,
    );
    log_error(
        "uploads",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_uploads(PURGE_BATCH)).await,
    );
    log_error(
        "registrations",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_registrations(PURGE_BATCH)).await,
    );
    log_error(
        "sign-ins",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_sign_ins(PURGE_BATCH)).await,
    );
    log_error(
        "authorizations",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_authorizations(PURGE_BATCH)).await,
    );
    let purge = || store.purge_audit(options.audit_retention, MAX_AUDIT_ROWS_OF_TEAM, PURGE_BATCH);
    log_error("audit log", repeat_while_full(PURGE_BATCHES, PURGE_BATCH, purge).await);
    // Notes the time, from which a server goes on that is started after its clock was set back.
    log_error("ping", store.ping().await);
    log_error("limits", store.sweep_limits().await);
    log_error("reservations", store.sweep_reservations().await);
    let recordings = objects.shrink(crate::interact::RECORDING_PREFIX, options.recording_ceiling).await;
    log_error("recordings", recordings);
    log_error("objects", objects.sweep(options.object_ceiling).await);
    let evict = || store.evict_snapshots(options.snapshot_ceiling, LARGE_BATCH);
    log_error("snapshots", repeat_while_full(LARGE_BATCHES, LARGE_BATCH, evict).await);
    let evict = || store.evict_search_pages(options.search_ceiling, LARGE_BATCH);
    log_error("pages for search", repeat_while_full(LARGE_BATCHES, LARGE_BATCH, evict).await);
    log_error(
        "searches",
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_search(PURGE_BATCH)).await,
    );
    log_error("profiles", store.sweep_profiles(PROFILE_RETENTION, LARGE_BATCH).await);
}

fn log_error<T>(what: &str, outcome: StoreResult<T>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, what, "could not clean up");
    }
}

/// Lets crawls and batches that have ended go before their time while there are too many bytes of them.
async fn shrink_crawls(store: &dyn Store, ceiling: u64) -> StoreResult<()> {
    for _ in 0..LARGE_BATCHES {
        let gone = store.evict_crawls(ceiling, MIN_RESULT_RETENTION, LARGE_BATCH).await?;
        if gone == 0 && store.counted_bytes(Counted::Crawls).await? <= ceiling {
            return Ok(());
        }
        if gone > 0 {
            tracing::warn!(
                crawls = gone,
                "crawls and batches store too much: the oldest are deleted before their time"
            );
        }
        // Those that expired on their own count too until they are deleted.
        let deleted = store.purge_crawls(PURGE_BATCH).await?;
        if gone == 0 && deleted == 0 {
            return Ok(());
        }
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_crawls(PURGE_BATCH)).await?;
    }
    Ok(())
}

/// The same for agent runs.
async fn shrink_runs(store: &dyn Store, ceiling: u64) -> StoreResult<()> {
    for _ in 0..LARGE_BATCHES {
        let gone = store.evict_runs(ceiling, MIN_RESULT_RETENTION, LARGE_BATCH).await?;
        if gone == 0 {
            return Ok(());
        }
        tracing::warn!(runs = gone, "agent runs store too much: the oldest are deleted before their time");
        repeat_while_full(PURGE_BATCHES, PURGE_BATCH, || store.purge_runs(PURGE_BATCH)).await?;
    }
    Ok(())
}

async fn shrink_webhooks(store: &dyn CeilingStore, ceiling: u64) -> StoreResult<()> {
    let mut gone = 0;
    for _ in 0..PURGE_BATCHES {
        let deleted = store.evict_deliveries(ceiling, PURGE_BATCH).await?;
        if deleted == 0 {
            break;
        }
        gone += deleted;
    }
    if gone > 0 {
        tracing::warn!(
            webhooks = gone,
            "webhooks take more than webhooks_limit allows: the oldest were deleted"
        );
    }
    Ok(())
}

async fn sweep_cache(store: &dyn PageStore, ceiling: u64) -> StoreResult<()> {
    let round = || async move {
        let swept = store.sweep_cache(ceiling, LARGE_BATCH).await?;
        Ok(swept.expired.max(swept.evicted))
    };
    repeat_while_full(LARGE_BATCHES, LARGE_BATCH, round).await
}

/// Repeats a round while it deletes as much as it may, for at most `rounds`.
async fn repeat_while_full<F>(rounds: u32, full: u32, round: impl Fn() -> F) -> StoreResult<()>
where
    F: Future<Output = StoreResult<u64>>,
{
    for _ in 0..rounds {
        if round().await? < u64::from(full) {
            break;
        }
    }
    Ok(())
}
