//! Looks after one browser for as long as it lives: that it answers, that it does not grow beyond its measure, that it does
//! not stay when nobody needs it.

use super::{Browser, Inner};
use crate::process::Process;
use crate::tree;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two questions whether it still answers.
const PING_EVERY: u32 = 5;
const PING_LIMIT: Duration = Duration::from_secs(15);

/// Ends when the browser does, or when nobody holds it any more.
pub(super) async fn keep(pool: Weak<Inner>, browser: Weak<Browser>) {
    for round in 1_u32.. {
        sleep(ROUND).await;
        let (Some(pool), Some(browser)) = (pool.upgrade(), browser.upgrade()) else { return };
        if browser.process.is_over() {
            retire(&pool, &browser).await;
            return;
        }
        if rustix::process::getpid().is_init() {
            let _ = tokio::task::spawn_blocking(tree::reap_orphans).await;
        }
        let last_used = *browser.last_used.lock().unwrap_or_else(PoisonError::into_inner);
        let busy = browser.open.load(Ordering::Relaxed) > 0;
        if !busy && last_used.elapsed() >= pool.settings.idle_shutdown {
            retire(&pool, &browser).await;
            return;
        }
        let idle = !busy && last_used + 2 * ROUND < Instant::now();
        if !idle {
            check_memory(&pool, &browser).await;
        }
        if busy && round.is_multiple_of(PING_EVERY) {
            let process = browser.process.clone();
            // The browser must not be held while waiting for it.
            drop((pool, browser));
            ping(&process).await;
        }
    }
}

async fn check_memory(pool: &Arc<Inner>, browser: &Arc<Browser>) {
    let group = browser.process.group;
    let looked = tokio::task::spawn_blocking(move || tree::look(&[group])).await;
    let held = looked.map_or(0, |groups| groups[0].private_bytes);
    let limit = pool.settings.recycle_above_bytes;
    if held > limit {
        tracing::info!(held, limit, "the browser has grown and is replaced");
        retire(pool, browser).await;
    }
    if held > limit.saturating_mul(2) {
        browser.process.end_soon();
    }
}

async fn ping(process: &Process) {
    let pong = process.connection.send(None, "Browser.getVersion", &json!({}));
    if timeout(PING_LIMIT, pong).await.is_err() {
        tracing::warn!("the browser does not answer and is replaced");
        process.end_soon();
    }
}

/// No visit goes there any more. It ends with the last one.
async fn retire(pool: &Arc<Inner>, browser: &Arc<Browser>) {
    let mut current = pool.current.lock().await;
    if current.as_ref().is_some_and(|known| Arc::ptr_eq(known, browser)) {
        *current = None;
    }
}
