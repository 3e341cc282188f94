//! What sessions cost: by the second, one minute at least, more where a prompt was used.

use access::credits;
use std::time::Duration;
use store::browser_sessions::BrowserSession;
use store::{Millis, Store, StoreResult};
use uuid::Uuid;

const CODE_CREDITS_PER_MINUTE: i64 = 2;
const PROMPT_CREDITS_PER_MINUTE: i64 = 7;
const MIN_BILLED_MS: i64 = 60_000;
/// How long a session is listed after its end.
pub(super) const ENDED_RETENTION: Duration = Duration::from_hours(24);
/// The reservation of a session that costs nothing by itself: the agent run that uses it pays for what it reads.
pub(super) const PAID_BY_RUN: Uuid = Uuid::nil();
/// Why a session ended whose process is gone.
const LOST_REASON: &str = "the server that ran the browser stopped";
/// Lost sessions that are ended in one go.
const LOST_BATCH: u32 = 100;

/// The price of a session, in whole credits.
pub(super) fn price(duration_ms: i64, prompted: bool) -> i64 {
    let per_minute = if prompted { PROMPT_CREDITS_PER_MINUTE } else { CODE_CREDITS_PER_MINUTE };
    let billed = duration_ms.max(MIN_BILLED_MS).saturating_mul(per_minute);
    // Rounded up: a part of a credit cannot be counted.
    billed.saturating_add(59_999) / 60_000
}

/// What became of the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndedSession {
    pub(super) duration_ms: i64,
    pub(super) credits: i64,
}

/// Ends a row and charges for it. `None` when somebody else ended it.
pub(super) async fn end_row(
    store: &dyn Store,
    session: &BrowserSession,
    reason: &str,
    ended_at: Millis,
) -> StoreResult<Option<EndedSession>> {
    let duration_ms = (ended_at - session.created_at).max(0);
    let is_charged = session.reservation != PAID_BY_RUN;
    let credits = if is_charged { price(duration_ms, session.prompted) } else { 0 };
    if !store.end_browser_session(session.id, reason, credits, ENDED_RETENTION).await? {
        return Ok(None);
    }
    if !is_charged {
        return Ok(Some(EndedSession { duration_ms, credits }));
    }
    if let Err(error) = store.charge(session.reservation, credits).await {
        tracing::warn!(%error, session = %session.id, "could not charge for a browser session");
    }
    credits::give_back(store, session.reservation).await;
    Ok(Some(EndedSession { duration_ms, credits }))
}

/// Ends sessions whose process is gone. They are charged until it was last heard of.
pub async fn end_lost_sessions(store: &dyn Store) -> StoreResult<()> {
    for session in store.lost_browser_sessions(LOST_BATCH).await? {
        end_row(store, &session, LOST_REASON, session.last_activity.max(session.created_at)).await?;
    }
    Ok(())
}

/// Why a session ended, for people.
pub(super) fn end_reason(row: &BrowserSession) -> String {
    row.end_reason.clone().unwrap_or_else(|| LOST_REASON.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_billed_by_the_second_and_for_a_minute_at_least() {
        assert_eq!(price(0, false), 2);
        assert_eq!(price(60_000, false), 2);
        assert_eq!(price(90_000, false), 3);
        assert_eq!(price(91_000, false), 4, "3.03 credits");
        assert_eq!(price(600_000, false), 20);
        assert_eq!(price(1_000, true), 7);
        assert_eq!(price(120_000, true), 14);
    }
}
