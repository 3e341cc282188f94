//! All that one visit holds. Giving it up, in whatever way, gives everything back.

use super::Browser;
use crate::tab::Tab;
use net::proxy::Lease;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use tokio::time::Instant;

pub(crate) struct Seat {
    pub(crate) tab: Tab,
    pub(crate) lease: Lease,
    browser: Arc<Browser>,
    left: AtomicBool,
}

impl Seat {
    pub(super) fn new(browser: Arc<Browser>, tab: Tab, lease: Lease) -> Self {
        browser.pages.fetch_add(1, Ordering::Relaxed);
        browser.open.fetch_add(1, Ordering::Relaxed);
        Self { tab, lease, browser, left: AtomicBool::new(false) }
    }

    /// The first request is about to go out; from here on the visit cannot be repeated unnoticed.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
        // The next visit's tab opens while this one waits for its page.
        self.browser.prepare();
    }

    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.browser.open.fetch_sub(1, Ordering::Relaxed);
        *self.browser.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
