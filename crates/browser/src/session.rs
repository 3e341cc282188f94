//! Everything one visit holds. Dropping it releases everything.

use crate::running_browser::Browser;
use crate::tab::Tab;
use net::BotIdentity;
use net::proxy::Lease;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::time::Instant;

pub(crate) struct VisitSession {
    pub(crate) tab: Tab,
    pub(crate) lease: Lease,
    pub(crate) bot_identity: Option<Arc<BotIdentity>>,
    browser: Arc<Browser>,
    request_sent: AtomicBool,
}

impl VisitSession {
    pub(crate) fn new(
        browser: Arc<Browser>,
        tab: Tab,
        lease: Lease,
        bot_identity: Option<Arc<BotIdentity>>,
    ) -> Self {
        browser.pages.fetch_add(1, Ordering::Relaxed);
        browser.open.fetch_add(1, Ordering::Relaxed);
        Self { tab, lease, bot_identity, browser, request_sent: AtomicBool::new(false) }
    }

    /// The first request is about to be sent; from now on the visit cannot be repeated unnoticed.
    pub(crate) fn mark_request_sent(&self) {
        self.request_sent.store(true, Ordering::Relaxed);
        // The next visit's tab opens while this visit waits for its page.
        self.browser.open_spare_tab();
    }

    pub(crate) fn is_request_sent(&self) -> bool {
        self.request_sent.load(Ordering::Relaxed)
    }
}

impl Drop for VisitSession {
    fn drop(&mut self) {
        self.browser.open.fetch_sub(1, Ordering::Relaxed);
        *self.browser.last_used.lock() = Instant::now();
    }
}
