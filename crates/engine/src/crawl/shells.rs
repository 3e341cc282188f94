//! Pages of which the browser saw nothing but the empty shell of an app: tried again later, with more time.

use super::outcome::EntryError;
use super::politeness::Politeness;
use crate::Error;
use crate::scrape::ScrapePlan;
use std::time::Duration;
use store::crawls::{AttemptEnd, ClaimedEntry};
use uuid::Uuid;

/// Attempts at a page of which the browser saw nothing but the empty shell of an app, and how long the later
/// ones wait for its scripts.
const MAX_SHELL_ATTEMPTS: u32 = 3;
const SHELL_WAITS: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(8)];
/// The pause before the next of these attempts, for each that was made: a machine that is busy now may have
/// time then.
const SHELL_PAUSE: Duration = Duration::from_secs(5);

/// A page whose scripts had not come to anything gets more time, if the caller did not give it as much.
pub fn wait_for_scripts(plan: &mut ScrapePlan, attempt: u32) {
    let later = usize::try_from(attempt.saturating_sub(2)).unwrap_or_default().min(SHELL_WAITS.len() - 1);
    let wait = SHELL_WAITS[later].min(plan.timeout / 4);
    plan.access.wait_for = plan.access.wait_for.max(wait);
}

/// The browser saw an empty shell that waits for its scripts: a busy machine may have left them no time. Not
/// tried again where the pages of the host stayed empty every time; then this is why the page failed.
pub fn try_again(
    politeness: &Politeness,
    entry: &ClaimedEntry,
    id: Uuid,
    error: &Error,
) -> Result<AttemptEnd, EntryError> {
    if entry.attempt < MAX_SHELL_ATTEMPTS && !politeness.has_only_shells(&entry.host) {
        politeness.note_shell(id);
        let delay = SHELL_PAUSE * entry.attempt;
        return Ok(AttemptEnd::Retry { error: error.text(), delay });
    }
    politeness.note_lost_shell(&entry.host, id);
    let mut failure = EntryError::from_error(error);
    failure.error = match entry.attempt {
        1 => format!("{}; not tried again, as other pages of this host stayed empty", failure.error),
        attempts => format!("{}, {attempts} times", failure.error),
    };
    Err(failure)
}
