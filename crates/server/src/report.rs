//! The report of the parts of this server. Its checks start processes and take seconds, so a caller gets what the last
//! ones found, at once, and they run again in the background; one runs at a time, whoever asks.

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stored_data::time::{iso, now};
use wire::admin::{PartView, ServerReport};

/// How old findings may be before the checks run again.
const MAX_AGE: Duration = Duration::from_mins(1);
/// The shortest time between two runs of the checks, also when somebody asks for fresh ones.
const MIN_PAUSE: Duration = Duration::from_secs(20);

type Check = Box<dyn Fn() -> BoxFuture<'static, Vec<PartView>> + Send + Sync>;

pub struct Report(Arc<Checks>);

struct Checks {
    /// What needs no check: limits and settings.
    outline: ServerReport,
    check: Check,
    last: Mutex<Option<Findings>>,
    /// Held while the checks run.
    running: tokio::sync::Mutex<()>,
}

struct Findings {
    at: Instant,
    checked_at: String,
    parts: Vec<PartView>,
}

impl std::fmt::Debug for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Report").finish_non_exhaustive()
    }
}

impl Report {
    pub fn new(
        outline: ServerReport,
        check: impl Fn() -> BoxFuture<'static, Vec<PartView>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Checks {
            outline,
            check: Box::new(check),
            last: Mutex::default(),
            running: tokio::sync::Mutex::default(),
        }))
    }

    /// What is known, and whether checks that will know more are running. With `fresh`, waits for them.
    pub async fn get(&self, fresh: bool) -> ServerReport {
        let checks = &self.0;
        let mut checking = checks.running.try_lock().is_err();
        if fresh {
            checks.run(MIN_PAUSE).await;
            checking = false;
        } else if !checking && checks.is_older_than(MAX_AGE) {
            let checks = checks.clone();
            tokio::spawn(async move { checks.run(MAX_AGE).await });
            checking = true;
        }
        checks.report(checking)
    }
}

impl Checks {
    /// Runs the checks, unless they have ended within `keep`.
    async fn run(&self, keep: Duration) {
        let _running = self.running.lock().await;
        if self.is_older_than(keep) {
            let parts = (self.check)().await;
            *self.last.lock() = Some(Findings { at: Instant::now(), checked_at: iso(now()), parts });
        }
    }

    fn is_older_than(&self, age: Duration) -> bool {
        self.last.lock().as_ref().is_none_or(|last| last.at.elapsed() >= age)
    }

    fn report(&self, checking: bool) -> ServerReport {
        let mut report = ServerReport { checking, ..self.outline.clone() };
        if let Some(last) = self.last.lock().as_ref() {
            report.checked_at = Some(last.checked_at.clone());
            report.parts.clone_from(&last.parts);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn report(runs: &Arc<AtomicU32>) -> Report {
        let outline = ServerReport {
            checked_at: None,
            checking: false,
            parts: Vec::new(),
            limits: BTreeMap::new(),
            settings: Vec::new(),
        };
        let runs = runs.clone();
        Report::new(outline, move || {
            let runs = runs.clone();
            Box::pin(async move {
                runs.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(50)).await;
                vec![PartView { part: "disk".into(), verdict: "ok".into(), text: "free".into() }]
            })
        })
    }

    #[tokio::test]
    async fn nobody_waits_for_the_checks_who_does_not_ask_for_fresh_ones() {
        let runs = Arc::new(AtomicU32::new(0));
        let report = report(&runs);
        for _ in 0..3 {
            let first = report.get(false).await;
            assert!(first.checking && first.parts.is_empty() && first.checked_at.is_none());
            tokio::task::yield_now().await;
        }
        let fresh = report.get(true).await;
        assert!(!fresh.checking && fresh.parts.len() == 1 && fresh.checked_at.is_some());
        let later = report.get(false).await;
        assert!(!later.checking && later.parts.len() == 1, "young enough");
        assert_eq!(runs.load(Ordering::Relaxed), 1, "whoever asked");
    }
}
