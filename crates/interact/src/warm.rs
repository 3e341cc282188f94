//! Browsers for sessions, one of them started ahead, so that a new session does not wait for its start.

use browser::{Browsers, SessionBrowser, VisitError};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A browser that waits for a session is ended after this time.
const MAX_IDLE: Duration = Duration::from_mins(10);

/// Starts browsers. Cheap to clone.
#[derive(Clone)]
pub struct SessionBrowsers {
    browsers: Browsers,
    warm: Arc<Mutex<Option<WarmBrowser>>>,
    keep_warm: bool,
    max_memory: u64,
}

struct WarmBrowser {
    browser: SessionBrowser,
    until: Instant,
}

impl SessionBrowsers {
    /// With `keep_warm` one is started ahead after each that is taken; before the first session none runs. A session
    /// may use `max_memory`.
    pub fn new(browsers: Browsers, keep_warm: bool, max_memory: u64) -> Self {
        Self { browsers, warm: Arc::default(), keep_warm, max_memory }
    }

    /// A browser for a new session.
    pub fn take(&self) -> BoxFuture<'_, Result<SessionBrowser, VisitError>> {
        Box::pin(async move {
            let warm = self.warm.lock().take().filter(|warm| !warm.browser.is_over());
            let browser = match warm {
                Some(warm) => warm.browser,
                None => self.browsers.start_for_session(self.max_memory).await?,
            };
            if self.keep_warm {
                tokio::spawn(self.clone().start_ahead());
            }
            Ok(browser)
        })
    }

    async fn start_ahead(self) {
        if self.warm.lock().is_some() {
            return;
        }
        let browser = match self.browsers.start_for_session(self.max_memory).await {
            Ok(browser) => browser,
            Err(error) => {
                tracing::warn!(%error, "could not start a browser ahead of the next session");
                return;
            }
        };
        let until = Instant::now() + MAX_IDLE;
        // If two were started at once, the earlier one goes.
        drop(self.warm.lock().replace(WarmBrowser { browser, until }));
        tokio::time::sleep_until(until).await;
        let mut warm = self.warm.lock();
        if warm.as_ref().is_some_and(|warm| warm.until <= until) {
            *warm = None;
        }
    }

    /// Ends the browser that waits.
    pub fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let warm = self.warm.lock().take();
            if let Some(warm) = warm {
                warm.browser.end().await;
            }
        })
    }
}

impl std::fmt::Debug for SessionBrowsers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SessionBrowsers").finish_non_exhaustive()
    }
}
