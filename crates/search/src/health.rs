//! How a provider is doing: whether it is worth asking, and how often it may still be. Kept in this process.
//!
//! After several failures in a row, or when it says so itself, a provider rests; then one question may try it. What it answers
//! decides whether it is back or rests longer.

use crate::line::LONGEST_REST;
use crate::provider::Problem;
use jiff::tz::TimeZone;
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Failures in a row after which it rests.
const FAILURES: u32 = 3;
const FIRST_REST: Duration = Duration::from_secs(15);
const LATER_REST: Duration = Duration::from_mins(10);
/// A key that is refused will not be good again in seconds.
const REFUSED_REST: Duration = Duration::from_mins(1);
const MINUTE: Duration = Duration::from_mins(1);
/// How much the last answer counts in the mean.
const NEWEST: f64 = 0.2;

/// How often a provider may be asked, over all callers of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    pub per_minute: Option<u32>,
    /// Calendar month, UTC.
    pub per_month: Option<u32>,
}

#[derive(Debug)]
pub struct Health {
    quota: Quota,
    /// What is not over a network is never given a rest: it costs nothing to ask again.
    rests: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Rests that ended in another failure.
    relapses: u32,
    rests_until: Option<Instant>,
    /// One question is trying whether it is back.
    trying: bool,
    minute: Option<(Instant, u32)>,
    month: ((i16, i8), u32),
    asked: u64,
    failed: u64,
    mean_ms: f64,
    last_problem: Option<String>,
}

/// For people and programs that look.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    pub provider: String,
    /// `good`, `resting` or `used up`.
    pub state: &'static str,
    pub asked: u64,
    pub failed: u64,
    /// Mean of the last answers.
    pub mean_ms: f64,
    pub requests_this_month: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_problem: Option<String>,
}

impl Health {
    pub fn new(quota: Quota) -> Self {
        Self { quota, rests: true, state: Mutex::default() }
    }

    /// For this server's own index.
    pub fn tireless() -> Self {
        Self { quota: Quota::default(), rests: false, state: Mutex::default() }
    }

    /// Sets up to `wanted` requests aside; how many those are. Whoever is admitted must [`Health::settle`].
    pub fn admit(&self, wanted: u32) -> Result<u32, Problem> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(until) = state.rests_until {
            let last = state.last_problem.clone().unwrap_or_default();
            if until > now {
                return Err(Problem::Resting { wait: until - now, last });
            }
            if state.trying {
                return Err(Problem::Resting { wait: Duration::from_secs(1), last });
            }
        }
        let granted = self.quota.left(&mut state, now, wanted)?;
        if wanted > 0 {
            state.spend(granted);
        }
        state.trying = state.rests_until.is_some();
        Ok(granted)
    }

    /// Notes what became of an admission: requests that were not needed are given back.
    pub fn settle(&self, granted: u32, spent: u32, took: Duration, problem: Option<&Problem>) {
        let mut state = self.state();
        state.give_back(granted.saturating_sub(spent));
        state.asked += 1;
        state.trying = false;
        let Some(problem) = problem else {
            let ms = took.as_secs_f64() * 1_000.0;
            state.mean_ms =
                if state.mean_ms == 0.0 { ms } else { state.mean_ms + NEWEST * (ms - state.mean_ms) };
            (state.failures, state.relapses, state.rests_until) = (0, 0, None);
            return;
        };
        state.failed += 1;
        state.failures += 1;
        state.last_problem = Some(problem.to_string());
        let again = FIRST_REST.saturating_mul(1 << state.relapses.min(10)).min(LATER_REST);
        let rest = match problem {
            _ if !self.rests => None,
            Problem::Limited(after) => Some(after.unwrap_or(again).min(LONGEST_REST)),
            Problem::Refused => Some(REFUSED_REST.max(again)),
            _ if state.failures >= FAILURES => Some(again),
            _ => None,
        };
        if let Some(rest) = rest {
            state.relapses = state.relapses.saturating_add(1);
            state.rests_until = Some(Instant::now() + rest);
        }
    }

    /// An admission that was dropped on its way, with whoever asked. Says nothing about the provider.
    pub fn abandon(&self, granted: u32, spent: u32) {
        let mut state = self.state();
        state.give_back(granted.saturating_sub(spent));
        state.trying = false;
    }

    pub fn is_resting(&self) -> bool {
        self.state().rests_until.is_some_and(|until| until > Instant::now())
    }

    pub fn condition(&self, provider: &str) -> Condition {
        let now = Instant::now();
        let mut state = self.state();
        let spent = self.quota.left(&mut state, now, 1).is_err();
        let resting = state.rests_until.is_some_and(|until| until > now);
        Condition {
            provider: provider.to_owned(),
            state: match (resting, spent) {
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

    fn state(&self) -> MutexGuard<'_, State> {
        // The guard is never held over an await.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Quota {
    /// How many of `wanted` requests are left.
    fn left(self, state: &mut State, now: Instant, wanted: u32) -> Result<u32, Problem> {
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
                return Err(Problem::Quota(name));
            }
            granted = granted.min(left);
        }
        Ok(granted)
    }
}

impl State {
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

    fn fail(health: &Health, problem: &Problem) {
        let granted = health.admit(1).unwrap();
        health.settle(granted, 1, QUICK, Some(problem));
    }

    #[tokio::test(start_paused = true)]
    async fn rests_after_failures_in_a_row_and_is_tried_by_one() {
        let health = Health::new(Quota::default());
        for _ in 0..FAILURES {
            fail(&health, &Problem::Unreachable);
        }
        assert!(matches!(health.admit(1), Err(Problem::Resting { .. })));
        assert_eq!(health.condition("x").state, "resting");
        tokio::time::advance(FIRST_REST + QUICK).await;
        assert_eq!(health.admit(1), Ok(1), "one may try");
        assert!(health.admit(1).is_err(), "and only one");
        health.settle(1, 1, QUICK, Some(&Problem::Unreachable));
        tokio::time::advance(FIRST_REST + QUICK).await;
        assert!(health.admit(1).is_err(), "it rests longer after a relapse");
        tokio::time::advance(FIRST_REST).await;
        assert_eq!(health.admit(1), Ok(1));
        health.settle(1, 1, QUICK, None);
        assert_eq!((health.admit(1), health.condition("x").state), (Ok(1), "good"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_between_forgives() {
        let health = Health::new(Quota::default());
        for _ in 0..10 {
            fail(&health, &Problem::Status(500));
            fail(&health, &Problem::Status(500));
            assert_eq!(health.admit(1), Ok(1));
            health.settle(1, 1, QUICK, None);
        }
        assert_eq!(health.condition("x").state, "good");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_as_long_as_it_is_asked_to() {
        let health = Health::new(Quota::default());
        fail(&health, &Problem::Limited(Some(Duration::from_secs(40))));
        tokio::time::advance(Duration::from_secs(39)).await;
        assert!(health.admit(1).is_err());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(health.admit(1).is_ok());
        health.abandon(1, 0);
        assert!(health.admit(1).is_ok(), "an abandoned trial leaves the door open");
    }

    #[tokio::test(start_paused = true)]
    async fn quotas_are_never_exceeded_and_unneeded_requests_come_back() {
        let health = Health::new(Quota { per_minute: Some(5), per_month: Some(7) });
        assert_eq!(health.admit(3), Ok(3));
        assert_eq!(health.admit(3), Ok(2), "as many as are left");
        assert_eq!(health.admit(1), Err(Problem::Quota("minute")));
        health.settle(3, 1, QUICK, None);
        health.settle(2, 2, QUICK, None);
        assert_eq!(health.admit(5), Ok(2));
        health.settle(2, 2, QUICK, None);
        tokio::time::advance(MINUTE).await;
        assert_eq!(health.admit(9), Ok(2), "what is left of the month");
        health.settle(2, 2, QUICK, None);
        assert_eq!(health.admit(1), Err(Problem::Quota("month")));
        assert_eq!(health.condition("x").state, "used up");
    }
}
