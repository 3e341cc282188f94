//! When a page is ready: nothing is under way any more and its content stays the same. Not the load event: pages with
//! scripts are far from done then, and some never fire it.

use super::world::evaluate;
use crate::brought::Ready;
use crate::error::VisitError;
use crate::tab::Tab;
use net::Deadline;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// Between two looks at the content.
const LOOK: Duration = Duration::from_millis(40);
/// How long a page with content must be quiet and unchanged.
const CALM: Duration = Duration::from_millis(75);
/// How long a page is waited for that has scripts and shows next to nothing.
const SHELL_PATIENCE: Duration = Duration::from_millis(1200);
/// Text below which a page with scripts counts as showing nothing yet.
const SHELL_TEXT: u64 = 200;
/// How long content must stay the same while requests go on and on.
const UNMOVED: Duration = Duration::from_millis(1500);
/// A script may keep the page from answering for this long, or for two fifths of the time there is.
const SCRIPT_PATIENCE: Duration = Duration::from_secs(8);
/// How long every change of the content counts.
const LIVELY: Duration = Duration::from_secs(2);
/// Attempts to stop scripts, and how long each is given.
const STOPS: usize = 3;
const STOP_WAIT: Duration = Duration::from_millis(700);
/// The least time a look is given.
const LAST_LOOK: Duration = Duration::from_millis(500);
/// A page that has moved on so often will do so for ever.
const MOST_DOCUMENTS: u32 = 20;

/// What is looked at: elements, length of the text that can be read, scripts. Cheap next to what made them.
const SAMPLE: &str = "(() => { const body = document.body; let text = body ? body.textContent.length : 0; \
    for (const code of body ? body.querySelectorAll('script, style, noscript') : []) text -= code.textContent.length; \
    return [document.getElementsByTagName('*').length, Math.max(0, text), document.scripts.length]; })()";

type Sample = (u64, u64, u64);

/// Waits until the page is ready, for as long as `limit` allows.
pub(crate) async fn settle(tab: &Tab, limit: Deadline) -> Result<Ready, VisitError> {
    let mut changes = tab.page.changes();
    let patience = SCRIPT_PATIENCE.min(limit.remaining() * 2 / 5);
    let started = Instant::now();
    let mut last = (0, 0, 0);
    let mut since = started;
    let mut stopped = false;
    loop {
        let looked = Instant::now();
        // Even at the end a look is worth half a second: a page that does not answer now would not let itself be read.
        let wait = patience.min(limit.remaining()).max(LAST_LOOK);
        let sample = match timeout(wait, evaluate::<Sample>(tab, SAMPLE)).await {
            Ok(Ok(sample)) => sample,
            // It moves on faster than it can be looked at.
            Ok(Err(VisitError::Protocol(_))) => (0, 0, 0),
            Ok(Err(error)) => return Err(error),
            Err(_) => return interrupt(tab).await,
        };
        let now = Instant::now();
        if differs(last, sample, now.duration_since(started)) {
            last = sample;
            since = now;
        }
        let unchanged = now.duration_since(since);
        let (quiet, parsed, documents) = {
            let book = tab.page.book();
            // The browser's own page about an address that could not be opened: nothing more will come of it.
            if book.unreachable.is_some() {
                return Ok(Ready::Quiet);
            }
            (book.quiet_for(), book.parsed, book.documents)
        };
        if documents > MOST_DOCUMENTS && !stopped {
            tab.page.stop_scripts();
            stopped = true;
        }
        if parsed && quiet.is_some_and(|quiet| quiet >= CALM) && unchanged >= needed(sample) {
            return Ok(if stopped { Ready::Interrupted } else { Ready::Quiet });
        }
        if unchanged >= UNMOVED && sample.0 > 3 {
            return Ok(Ready::Stable);
        }
        if limit.has_passed() {
            return Ok(Ready::TimedOut);
        }
        // A page so large that looking takes long is looked at less often.
        let pause = LOOK.max(now.duration_since(looked) * 4).min(limit.remaining());
        let waiting = async {
            match quiet {
                // Nothing to see before it is calm.
                Some(quiet) => sleep(pause.max(CALM.saturating_sub(quiet.min(unchanged)))).await,
                None => {
                    let _ = timeout(pause * 3, until_quiet(tab, &mut changes)).await;
                }
            }
        };
        tokio::select! {
            () = waiting => {}
            lost = tab.page.lost() => return Err(lost),
        }
    }
}

/// Waits for the moment at which nothing is under way.
async fn until_quiet(tab: &Tab, changes: &mut watch::Receiver<()>) {
    while changes.changed().await.is_ok() && tab.page.book().quiet_for().is_none() {}
}

/// How long the content must have been the same.
fn needed((_, text, scripts): Sample) -> Duration {
    if scripts > 0 && text < SHELL_TEXT { SHELL_PATIENCE } else { CALM }
}

/// Whether the content has changed. After a while small changes count no more: clocks, counters and carousels never rest.
fn differs(last: Sample, sample: Sample, after: Duration) -> bool {
    let far = |one: u64, other: u64| {
        let tolerated = if after < LIVELY { 0 } else { one / 50 };
        one.abs_diff(other) > tolerated
    };
    far(last.0, sample.0) || far(last.1, sample.1)
}

/// Stops scripts that do not end, so that what is there can be read.
async fn interrupt(tab: &Tab) -> Result<Ready, VisitError> {
    for _ in 0..STOPS {
        tab.page.stop_scripts();
        // In the middle of a dialog a script cannot be stopped, so it may take more than one attempt.
        if let Ok(outcome) = timeout(STOP_WAIT, evaluate::<Sample>(tab, SAMPLE)).await {
            return outcome.map(|_| Ready::Interrupted);
        }
    }
    // Reading it out has the last of the time.
    Ok(Ready::Interrupted)
}
