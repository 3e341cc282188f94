//! Monitors one browser while it runs: that it responds, that it does not use too much memory or disk, and that
//! it ends when it is idle.

use super::BrowserPool;
use crate::process::Process;
use crate::process_group;
use crate::running_browser::Browser;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Checks between two pings.
const CHECKS_PER_PING: u32 = 5;
/// What all visits of a browser may have stored. Each takes its part with it when it ends.
const MAX_STORED_BYTES: u64 = 4 << 30;
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// Runs until the browser ends or nobody holds it any more.
pub(super) async fn monitor(pool: Weak<BrowserPool>, browser: Weak<Browser>) {
    for check in 1_u32.. {
        sleep(CHECK_INTERVAL).await;
        let (Some(pool), Some(browser)) = (pool.upgrade(), browser.upgrade()) else { return };
        if browser.process.is_over() {
            retire(&pool, &browser).await;
            return;
        }
        if rustix::process::getpid().is_init() {
            let _ = tokio::task::spawn_blocking(process_group::reap_orphans).await;
        }
        let last_used = *browser.last_used.lock();
        let busy = browser.open.load(Ordering::Relaxed) > 0;
        if !busy && last_used.elapsed() >= pool.settings.idle_shutdown {
            retire(&pool, &browser).await;
            return;
        }
        let idle = !busy && last_used + 2 * CHECK_INTERVAL < Instant::now();
        if !idle {
            check_memory(&pool, &browser).await;
        }
        if busy && check.is_multiple_of(CHECKS_PER_PING) {
            check_disk(&pool, &browser).await;
            let process = browser.process.clone();
            // The browser must not be kept alive while waiting for it.
            drop((pool, browser));
            ping(&process).await;
        }
    }
}

async fn check_memory(pool: &Arc<BrowserPool>, browser: &Arc<Browser>) {
    let group = browser.process.group;
    let measured = tokio::task::spawn_blocking(move || process_group::measure(&[group])).await;
    let private_bytes = measured.map_or(0, |groups| groups[0].private_bytes);
    let limit = pool.settings.recycle_above_bytes;
    if private_bytes > limit {
        tracing::info!(private_bytes, limit, "the browser uses too much memory and is replaced");
        retire(pool, browser).await;
    }
    if private_bytes > limit.saturating_mul(2) {
        browser.process.end_soon();
    }
}

async fn check_disk(pool: &Arc<BrowserPool>, browser: &Arc<Browser>) {
    let process = browser.process.clone();
    let stored = tokio::task::spawn_blocking(move || process.stored_bytes()).await.unwrap_or(0);
    if stored > MAX_STORED_BYTES {
        tracing::warn!(stored, "pages store too much; their browser is replaced");
        retire(pool, browser).await;
        browser.process.end_soon();
    }
}

async fn ping(process: &Process) {
    let pong = process.connection.send(None, "Browser.getVersion", &json!({}));
    if timeout(PING_TIMEOUT, pong).await.is_err() {
        tracing::warn!("the browser does not respond and is replaced");
        process.end_soon();
    }
}

/// Gives the browser no more visits. It ends with the last one.
async fn retire(pool: &Arc<BrowserPool>, browser: &Arc<Browser>) {
    let mut current = pool.current.lock().await;
    if current.as_ref().is_some_and(|known| Arc::ptr_eq(known, browser)) {
        *current = None;
    }
}
