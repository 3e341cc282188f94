//! Decides when a page is ready: no requests are in flight and its content no longer changes. The load event
//! is not used: pages with scripts are far from done then, and some never fire it.

use super::script::evaluate;
use crate::error::VisitError;
use crate::tab::Tab;
use crate::visit_result::Ready;
use net::Deadline;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// Time between two samples of the content.
const POLL_INTERVAL: Duration = Duration::from_millis(40);
/// How long a page with content must be quiet and unchanged.
const QUIET_DURATION: Duration = Duration::from_millis(75);
/// How long to wait for a page that has scripts and almost no text.
const EMPTY_PAGE_WAIT: Duration = Duration::from_millis(1200);
/// A page with scripts and less text than this counts as empty.
const MIN_TEXT_CHARS: u64 = 200;
/// How long content must stay the same while requests continue.
const STABLE_DURATION: Duration = Duration::from_millis(1500);
/// A script may block the page for this long, or for two fifths of the remaining time.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(8);
/// For this long every change counts; later only larger ones.
const EXACT_COMPARISON_DURATION: Duration = Duration::from_secs(2);
/// Attempts to stop scripts, and the timeout of each.
const MAX_STOP_ATTEMPTS: usize = 3;
const STOP_TIMEOUT: Duration = Duration::from_millis(700);
/// The minimum timeout of a sample.
const MIN_SAMPLE_TIMEOUT: Duration = Duration::from_millis(500);
/// A page that has navigated this often will do so forever.
const MAX_DOCUMENTS: u32 = 20;

/// Samples the content: number of elements, length of readable text, number of scripts.
const SAMPLE_SCRIPT: &str = "(() => { const body = document.body; let text = body ? body.textContent.length : 0; \
    for (const code of body ? body.querySelectorAll('script, style, noscript') : []) text -= code.textContent.length; \
    return [document.getElementsByTagName('*').length, Math.max(0, text), document.scripts.length]; })()";

type Sample = (u64, u64, u64);

/// Waits until the page is ready, at most until `limit`.
pub(crate) async fn wait_until_ready(tab: &Tab, limit: Deadline) -> Result<Ready, VisitError> {
    let mut changes = tab.page.changes();
    let script_timeout = SCRIPT_TIMEOUT.min(limit.remaining() * 2 / 5);
    let started = Instant::now();
    let mut last = (0, 0, 0);
    let mut since = started;
    let mut stopped = false;
    loop {
        let sampled_at = Instant::now();
        // Even at the end a sample gets half a second: a page that does not respond now could not be read
        // either.
        let wait = script_timeout.min(limit.remaining()).max(MIN_SAMPLE_TIMEOUT);
        let sample = match timeout(wait, evaluate::<Sample>(tab, SAMPLE_SCRIPT)).await {
            Ok(Ok(sample)) => sample,
            // The page navigates faster than it can be sampled.
            Ok(Err(VisitError::Protocol(_))) => (0, 0, 0),
            Ok(Err(error)) => return Err(error),
            Err(_) => return stop_scripts(tab).await,
        };
        let now = Instant::now();
        if has_changed(last, sample, now.duration_since(started)) {
            last = sample;
            since = now;
        }
        let unchanged = now.duration_since(since);
        let (quiet, parsed, documents) = {
            let state = tab.page.state();
            // The browser's own error page: nothing more will follow.
            if state.unreachable.is_some() {
                return Ok(Ready::Quiet);
            }
            (state.quiet_for(), state.parsed, state.documents)
        };
        if documents > MAX_DOCUMENTS && !stopped {
            tab.page.stop_scripts();
            stopped = true;
        }
        if parsed
            && quiet.is_some_and(|quiet| quiet >= QUIET_DURATION)
            && unchanged >= required_stability(sample)
        {
            return Ok(if stopped { Ready::Interrupted } else { Ready::Quiet });
        }
        if unchanged >= STABLE_DURATION && sample.0 > 3 {
            return Ok(Ready::Stable);
        }
        if limit.has_passed() {
            return Ok(Ready::TimedOut);
        }
        // A page so large that sampling is slow is sampled less often.
        let pause = POLL_INTERVAL.max(now.duration_since(sampled_at) * 4).min(limit.remaining());
        let waiting = async {
            match quiet {
                // Nothing to see before it is quiet.
                Some(quiet) => sleep(pause.max(QUIET_DURATION.saturating_sub(quiet.min(unchanged)))).await,
                None => {
                    let _ = timeout(pause * 3, wait_until_quiet(tab, &mut changes)).await;
                }
            }
        };
        tokio::select! {
            () = waiting => {}
            lost = tab.page.wait_until_lost() => return Err(lost),
        }
    }
}

/// Waits until no request is in flight.
async fn wait_until_quiet(tab: &Tab, changes: &mut watch::Receiver<()>) {
    while changes.changed().await.is_ok() && tab.page.state().quiet_for().is_none() {}
}

/// How long the content must have been the same.
fn required_stability((_, text, scripts): Sample) -> Duration {
    if scripts > 0 && text < MIN_TEXT_CHARS { EMPTY_PAGE_WAIT } else { QUIET_DURATION }
}

/// Whether the content has changed. After a while small changes are ignored: clocks, counters and carousels
/// never stop.
fn has_changed(last: Sample, sample: Sample, after: Duration) -> bool {
    let far = |one: u64, other: u64| {
        let tolerated = if after < EXACT_COMPARISON_DURATION { 0 } else { one / 50 };
        one.abs_diff(other) > tolerated
    };
    far(last.0, sample.0) || far(last.1, sample.1)
}

/// Stops scripts that do not end, so that the page can be read.
async fn stop_scripts(tab: &Tab) -> Result<Ready, VisitError> {
    for _ in 0..MAX_STOP_ATTEMPTS {
        tab.page.stop_scripts();
        // A script cannot be stopped while it shows a dialog, so it may take more than one attempt.
        if let Ok(outcome) = timeout(STOP_TIMEOUT, evaluate::<Sample>(tab, SAMPLE_SCRIPT)).await {
            return outcome.map(|_| Ready::Interrupted);
        }
    }
    // Reading the page gets the rest of the time.
    Ok(Ready::Interrupted)
}
