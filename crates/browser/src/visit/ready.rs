//! When a page is ready: nothing is under way any more and its content stays the same. Not the load event: pages with
//! scripts are far from done then, and some never fire it.

use super::world::evaluate;
use crate::brought::Ready;
use crate::error::VisitError;
use crate::tab::Tab;
use net::Deadline;
use serde_json::json;
use std::time::Duration;
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

/// What is looked at: elements, length of the text, scripts. Cheap next to what made them.
const SAMPLE: &str = "(() => { const root = document.documentElement; \
    return root ? [root.getElementsByTagName('*').length, root.textContent.length, document.scripts.length] \
    : [0, 0, 0]; })()";

type Sample = (u64, u64, u64);

/// Waits until the page is ready, for as long as `limit` allows.
pub(crate) async fn settle(tab: &Tab, limit: Deadline) -> Result<Ready, VisitError> {
    let mut changes = tab.page.changes();
    let mut last: Option<Sample> = None;
    let mut since = Instant::now();
    let patience = SCRIPT_PATIENCE.min(limit.remaining() * 2 / 5);
    loop {
        let looked = Instant::now();
        let sample = match timeout(patience.min(limit.remaining()), evaluate::<Sample>(tab, SAMPLE)).await {
            Ok(sample) => sample?,
            Err(_) => return interrupt(tab).await,
        };
        let now = Instant::now();
        if last != Some(sample) {
            last = Some(sample);
            since = now;
        }
        let unchanged = now.duration_since(since);
        let (quiet, parsed) = {
            let book = tab.page.book();
            (book.quiet_for(), book.parsed)
        };
        if parsed && quiet.is_some_and(|quiet| quiet >= CALM) && unchanged >= needed(sample) {
            return Ok(Ready::Quiet);
        }
        if unchanged >= UNMOVED && sample.0 > 3 {
            return Ok(Ready::Stable);
        }
        if limit.has_passed() {
            return Ok(Ready::TimedOut);
        }
        // A page so large that looking takes long is looked at less often.
        let pause = LOOK.max(now.duration_since(looked) * 4);
        if quiet.is_none() {
            // Something is under way: the next event is the next moment of interest.
            let _ = timeout(pause * 3, changes.changed()).await;
            sleep(Duration::from_millis(5)).await;
        } else {
            tokio::select! {
                () = sleep(pause) => {}
                lost = tab.page.lost() => return Err(lost),
            }
        }
    }
}

/// How long the content must have been the same.
fn needed((_, text, scripts): Sample) -> Duration {
    if scripts > 0 && text < SHELL_TEXT { SHELL_PATIENCE } else { CALM }
}

/// Stops scripts that do not end, so that what is there can be read.
async fn interrupt(tab: &Tab) -> Result<Ready, VisitError> {
    if let Some(lost) = tab.page.book().end.clone() {
        return Err(lost);
    }
    tab.post("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    tab.post("Runtime.terminateExecution", &json!({}));
    Ok(Ready::Interrupted)
}
