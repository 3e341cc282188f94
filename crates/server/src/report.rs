//! The report of the parts of this server. Its checks start processes, so what they found is kept for a while, and
//! one runs at a time, whoever asks.

use futures_util::future::BoxFuture;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use wire::admin::ServerReport;

/// How long a report is shown before the checks run again.
const REPORT_CACHE_TIME: Duration = Duration::from_mins(1);
/// The shortest time between two runs of the checks, also when somebody asks for fresh ones.
const MIN_PAUSE: Duration = Duration::from_secs(20);

type Check = Box<dyn Fn() -> BoxFuture<'static, ServerReport> + Send + Sync>;

pub struct Report {
    check: Check,
    last: Mutex<Option<(Instant, ServerReport)>>,
}

impl std::fmt::Debug for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Report").finish_non_exhaustive()
    }
}

impl Report {
    pub fn new(check: impl Fn() -> BoxFuture<'static, ServerReport> + Send + Sync + 'static) -> Self {
        Self { check: Box::new(check), last: Mutex::default() }
    }

    pub async fn get(&self, fresh: bool) -> ServerReport {
        let keep = if fresh { MIN_PAUSE } else { REPORT_CACHE_TIME };
        let mut last = self.last.lock().await;
        if let Some((_, report)) = last.as_ref().filter(|(at, _)| at.elapsed() < keep) {
            return report.clone();
        }
        let report = (self.check)().await;
        *last = Some((Instant::now(), report.clone()));
        report
    }
}
