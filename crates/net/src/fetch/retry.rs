//! When to retry, and after how long. Pure decisions; the fetcher does the waiting.

use crate::deadline::Deadline;
use crate::error::FetchError;
use hyper::http::header::{HeaderMap, RETRY_AFTER};
use hyper::{Method, StatusCode};
use std::time::{Duration, SystemTime};

const FIRST_DELAY: Duration = Duration::from_millis(200);

/// Whether a failed attempt may be repeated without the risk of doing something twice.
pub(super) fn may_retry_error(method: &Method, error: &FetchError) -> bool {
    match error {
        // Nothing was sent.
        FetchError::Connect { .. } | FetchError::NameLookupFailed { .. } | FetchError::Proxy(_) => true,
        // Something was sent, and whether it arrived is unknown.
        FetchError::Incomplete(_) => method.is_idempotent(),
        _ => false,
    }
}

/// Whether a status suggests that a retry may succeed.
pub(super) fn may_retry_status(method: &Method, status: StatusCode) -> bool {
    method.is_idempotent()
        && matches!(
            status,
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
        )
}

/// How long to wait before attempt `attempt + 1`; `None` when waiting makes no sense: the server asks for
/// longer than `max_delay`, or the deadline would pass.
pub(super) fn delay(
    attempt: u32,
    headers: Option<&HeaderMap>,
    max_delay: Duration,
    deadline: Deadline,
) -> Option<Duration> {
    let requested = headers.and_then(retry_after);
    let length = match requested {
        Some(requested) if requested > max_delay => return None,
        Some(requested) => requested.max(jittered(FIRST_DELAY, random())),
        None => jittered(FIRST_DELAY * 2u32.saturating_pow(attempt.min(6)), random()).min(max_delay),
    };
    // Half of the remaining time must be left for the attempt itself.
    (length * 2 < deadline.remaining()).then_some(length)
}

/// Parses `Retry-After`: seconds or a date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    parse_retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?)
}

/// The value of a `Retry-After` header: seconds, or a date.
pub fn parse_retry_after(value: &str) -> Option<Duration> {
    let text = value.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let when = httpdate::parse_http_date(text).ok()?;
    Some(when.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Between half and all of `length`, so that many clients that failed together do not retry together.
fn jittered(length: Duration, random: u32) -> Duration {
    length / 2 + (length / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

fn random() -> u32 {
    // Without randomness we wait the full length, which is safe.
    getrandom::u32().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_safe_is_repeated() {
        let connect = FetchError::Connect { to: String::new(), detail: String::new() };
        let lost = FetchError::Incomplete(String::new());
        assert!(may_retry_error(&Method::POST, &connect), "nothing was sent");
        assert!(!may_retry_error(&Method::POST, &lost));
        assert!(may_retry_error(&Method::GET, &lost));
        assert!(!may_retry_error(&Method::GET, &FetchError::TooManyRedirects { limit: 1 }));
        assert!(may_retry_status(&Method::GET, StatusCode::SERVICE_UNAVAILABLE));
        assert!(!may_retry_status(&Method::POST, StatusCode::SERVICE_UNAVAILABLE));
        assert!(!may_retry_status(&Method::GET, StatusCode::INTERNAL_SERVER_ERROR));
        assert!(
            !may_retry_status(&Method::GET, StatusCode::TOO_MANY_REQUESTS),
            "politeness is decided above"
        );
    }

    #[test]
    fn waits_grow_are_jittered_and_stay_inside_the_deadline() {
        let max_delay = Duration::from_secs(5);
        let far = Deadline::after(Duration::from_mins(1));
        for attempt in 0..8 {
            let full = (FIRST_DELAY * 2u32.pow(attempt.min(6))).min(max_delay);
            let delay = delay(attempt, None, max_delay, far).unwrap();
            assert!(delay <= full && delay >= FIRST_DELAY / 2, "{attempt}: {delay:?}");
        }
        assert_eq!(delay(0, None, max_delay, Deadline::after(Duration::from_millis(100))), None);
        let requested = |text: &'static str| HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
        assert_eq!(delay(0, Some(&requested("3")), max_delay, far), Some(Duration::from_secs(3)));
        assert_eq!(delay(0, Some(&requested("3600")), max_delay, far), None);
        assert_eq!(delay(0, Some(&requested("3")), max_delay, Deadline::after(Duration::from_secs(4))), None);
        assert!(delay(0, Some(&requested("nonsense")), max_delay, far).is_some());
        assert_eq!(jittered(FIRST_DELAY, 0), FIRST_DELAY / 2);
        assert_eq!(jittered(FIRST_DELAY, u32::MAX), FIRST_DELAY);
    }
}
