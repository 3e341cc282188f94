//! The health of a provider: a circuit breaker and quotas, kept in this process.
//!
//! After several errors in a row, or when it asks to wait, a provider is paused. Then one search may try it;
//! the result decides whether it is used again or paused for longer.

use crate::http::MAX_PAUSE;
use crate::provider::ProviderError;
use jiff::tz::TimeZone;
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;

/// Errors in a row after which a provider is paused.
const ERRORS_BEFORE_PAUSE: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(15);
const MAX_BACKOFF_PAUSE: Duration = Duration::from_mins(10);
/// A rejected key will not become valid within seconds.
const REJECTED_KEY_PAUSE: Duration = Duration::from_mins(1);
const MINUTE: Duration = Duration::from_mins(1);
/// The weight of the newest response in the mean response time.
const MEAN_WEIGHT: f64 = 0.2;

/// How many requests a provider may get from this process, over all callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    pub per_minute: Option<u32>,
    /// Calendar month, UTC.
    pub per_month: Option<u32>,
}

#[derive(Debug)]
pub struct Health {
    quota: Quota,
    /// False for the local index, which is never paused: asking it again costs nothing.
    can_pause: bool,
    state: Mutex<ProviderState>,
}

#[derive(Debug, Default)]
struct ProviderState {
    failures: u32,
    /// Pauses that ended in another error.
    repeated_pauses: u32,
    paused_until: Option<Instant>,
    /// One search is trying whether the provider works again.
    trying: bool,
    minute: Option<(Instant, u32)>,
    month: ((i16, i8), u32),
    asked: u64,
    failed: u64,
    mean_ms: f64,
    last_problem: Option<String>,
}

/// The state of a provider for operators.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderStatus {
    pub provider: String,
    /// `good`, `resting` (paused) or `used up`.
    pub state: &'static str,
    pub asked: u64,
    pub failed: u64,
    /// Moving mean of the response time.
    pub mean_ms: f64,
    pub requests_this_month: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_problem: Option<String>,
}

impl Health {
    pub fn new(quota: Quota) -> Self {
        Self { quota, can_pause: true, state: Mutex::default() }
    }

    /// For this server's own index.
    pub fn never_paused() -> Self {
        Self { quota: Quota::default(), can_pause: false, state: Mutex::default() }
    }

    /// Reserves up to `wanted` requests and returns how many. Must be followed by [`Health::record_result`] or
    /// [`Health::abandon`].
    pub fn reserve(&self, wanted: u32) -> Result<u32, ProviderError> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.paused_until {
            let last = state.last_problem.clone().unwrap_or_default();
            if until > now {
                return Err(ProviderError::Paused { wait: until - now, last });
            }
            if state.trying {
                return Err(ProviderError::Paused { wait: Duration::from_secs(1), last });
            }
        }
        let granted = self.quota.left(&mut state, now, wanted)?;
        if wanted > 0 {
            state.spend(granted);
        }
        state.trying = state.paused_until.is_some();
        Ok(granted)
    }

    /// Records the result of a search; reserved requests that were not needed are returned.
    pub fn record_result(&self, granted: u32, spent: u32, took: Duration, error: Option<&ProviderError>) {
        let mut state = self.state();
        state.give_back(granted.saturating_sub(spent));
        state.asked += 1;
        state.trying = false;
        let Some(error) = error else {
            let ms = took.as_secs_f64() * 1_000.0;
            state.mean_ms =
                if state.mean_ms == 0.0 { ms } else { state.mean_ms + MEAN_WEIGHT * (ms - state.mean_ms) };
            (state.failures, state.repeated_pauses, state.paused_until) = (0, 0, None);
            return;
        };
        state.failed += 1;
        state.failures += 1;
        state.last_problem = Some(error.to_string());
        let again = FIRST_PAUSE.saturating_mul(1 << state.repeated_pauses.min(10)).min(MAX_BACKOFF_PAUSE);
        let pause = match error {
            _ if !self.can_pause => None,
            ProviderError::RateLimited(after) => Some(after.unwrap_or(again).min(MAX_PAUSE)),
            ProviderError::KeyRejected => Some(REJECTED_KEY_PAUSE.max(again)),
            _ if state.failures >= ERRORS_BEFORE_PAUSE => Some(again),
            _ => None,
        };
        if let Some(pause) = pause {
            state.repeated_pauses = state.repeated_pauses.saturating_add(1);
            state.paused_until = Some(Instant::now() + pause);
        }
    }

    /// Ends a reservation whose search was cancelled; this says nothing about the provider.
    pub fn abandon(&self, granted: u32, spent: u32) {
        let mut state = self.state();
        state.give_back(granted.saturating_sub(spent));
        state.trying = false;
    }

    pub fn is_paused(&self) -> bool {
        self.state().paused_until.is_some_and(|until| until > Instant::now())
    }

    pub fn status(&self, provider: &str) -> ProviderStatus {
        let now = Instant::now();
        let mut state = self.state();
        let spent = self.quota.left(&mut state, now, 1).is_err();
        let paused = state.paused_until.is_some_and(|until| until > now);
        ProviderStatus {
            provider: provider.to_owned(),
            state: match (paused, spent) {
                (true, _) => "resting",
                (false, true) => "used up",
                (false, false) => "good",
            },
            asked: state.asked,
            failed: state.failed,
            mean_ms: (state.mean_ms * 10.0).round() / 10.0,
            requests_this_month: state.month.1,
            last_problem: state.last_problem.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ProviderState> {
        // The guard is never held across an await.
        self.state.lock()
    }
}

impl Quota {
    /// How many of the `wanted` requests the quota still allows.
    fn left(self, state: &mut ProviderState, now: Instant, wanted: u32) -> Result<u32, ProviderError> {
        if state.minute.is_none_or(|(since, _)| now - since >= MINUTE) {
            state.minute = Some((now, 0));
        }
        let today = jiff::Timestamp::now().to_zoned(TimeZone::UTC).date();
        let month = (today.year(), today.month());
        if state.month.0 != month {
            state.month = (month, 0);
        }
        let used = [
            (self.per_minute, state.minute.map_or(0, |(_, used)| used), "minute"),
            (self.per_month, state.month.1, "month"),
        ];
        let mut granted = wanted;
        for (most, used, name) in used {
            let Some(most) = most else { continue };
            let left = most.saturating_sub(used);
            if left == 0 && wanted > 0 {
                return Err(ProviderError::Quota(name));
            }
            granted = granted.min(left);
        }
        Ok(granted)
    }
}

impl ProviderState {
    fn spend(&mut self, requests: u32) {
        if let Some((_, used)) = &mut self.minute {
            *used = used.saturating_add(requests);
        }
        self.month.1 = self.month.1.saturating_add(requests);
    }

    fn give_back(&mut self, requests: u32) {
        if let Some((_, used)) = &mut self.minute {
            *used = used.saturating_sub(requests);
        }
        self.month.1 = self.month.1.saturating_sub(requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(5);

    fn fail(health: &Health, error: &ProviderError) {
        let granted = health.reserve(1).unwrap();
        health.record_result(granted, 1, QUICK, Some(error));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_after_errors_in_a_row_and_then_one_search_tries() {
        let health = Health::new(Quota::default());
        for _ in 0..ERRORS_BEFORE_PAUSE {
            fail(&health, &ProviderError::Unreachable);
        }
        assert!(matches!(health.reserve(1), Err(ProviderError::Paused { .. })));
        assert_eq!(health.status("x").state, "resting");
        tokio::time::advance(FIRST_PAUSE + QUICK).await;
        assert_eq!(health.reserve(1), Ok(1), "one search may try");
        assert!(health.reserve(1).is_err(), "and only one");
        health.record_result(1, 1, QUICK, Some(&ProviderError::Unreachable));
        tokio::time::advance(FIRST_PAUSE + QUICK).await;
        assert!(health.reserve(1).is_err(), "the next pause is longer");
        tokio::time::advance(FIRST_PAUSE).await;
        assert_eq!(health.reserve(1), Ok(1));
        health.record_result(1, 1, QUICK, None);
        assert_eq!((health.reserve(1), health.status("x").state), (Ok(1), "good"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_resets_the_error_count() {
        let health = Health::new(Quota::default());
        for _ in 0..10 {
            fail(&health, &ProviderError::Status(500));
            fail(&health, &ProviderError::Status(500));
            assert_eq!(health.reserve(1), Ok(1));
            health.record_result(1, 1, QUICK, None);
        }
        assert_eq!(health.status("x").state, "good");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_as_long_as_it_is_asked_to() {
        let health = Health::new(Quota::default());
        fail(&health, &ProviderError::RateLimited(Some(Duration::from_secs(40))));
        tokio::time::advance(Duration::from_secs(39)).await;
        assert!(health.reserve(1).is_err());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(health.reserve(1).is_ok());
        health.abandon(1, 0);
        assert!(health.reserve(1).is_ok(), "after an abandoned trial another may try");
    }

    #[tokio::test(start_paused = true)]
    async fn quotas_are_never_exceeded_and_unneeded_requests_come_back() {
        let health = Health::new(Quota { per_minute: Some(5), per_month: Some(7) });
        assert_eq!(health.reserve(3), Ok(3));
        assert_eq!(health.reserve(3), Ok(2), "as many as are left");
        assert_eq!(health.reserve(1), Err(ProviderError::Quota("minute")));
        health.record_result(3, 1, QUICK, None);
        health.record_result(2, 2, QUICK, None);
        assert_eq!(health.reserve(5), Ok(2));
        health.record_result(2, 2, QUICK, None);
        tokio::time::advance(MINUTE).await;
        assert_eq!(health.reserve(9), Ok(2), "what is left of the month");
        health.record_result(2, 2, QUICK, None);
        assert_eq!(health.reserve(1), Err(ProviderError::Quota("month")));
        assert_eq!(health.status("x").state, "used up");
    }
}
