//! When to try again, and after how long. Pure decisions; the waiting is done by the fetcher.

use crate::deadline::Deadline;
use crate::error::FetchError;
use hyper::http::header::{HeaderMap, RETRY_AFTER};
use hyper::{Method, StatusCode};
use std::time::{Duration, SystemTime};

const FIRST_WAIT: Duration = Duration::from_millis(200);

/// Whether a failed attempt may be repeated without doing anything twice.
pub(super) fn may_repeat_error(method: &Method, error: &FetchError) -> bool {
    match error {
        // Nothing was sent.
        FetchError::Connect { .. } | FetchError::NameLookupFailed { .. } | FetchError::Proxy(_) => true,
        // Something was, and its fate is unknown.
        FetchError::Incomplete(_) => method.is_idempotent(),
        _ => false,
    }
}

/// Whether an answer says that the next one may be better.
pub(super) fn may_repeat_status(method: &Method, status: StatusCode) -> bool {
    method.is_idempotent()
        && matches!(
            status,
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
        )
}

/// How long to wait before attempt `attempt + 1`; `None` when waiting makes no sense: the server asks for
/// longer than the caller would bear, or the deadline would pass.
pub(super) fn wait(
    attempt: u32,
    headers: Option<&HeaderMap>,
    longest: Duration,
    deadline: Deadline,
) -> Option<Duration> {
    let asked = headers.and_then(retry_after);
    let length = match asked {
        Some(asked) if asked > longest => return None,
        Some(asked) => asked.max(jittered(FIRST_WAIT, random())),
        None => jittered(FIRST_WAIT * 2u32.saturating_pow(attempt.min(6)), random()).min(longest),
    };
    // Half of what is left must remain for the attempt itself.
    (length * 2 < deadline.remaining()).then_some(length)
}

/// When a server wants to be asked again.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let when = httpdate::parse_http_date(text).ok()?;
    Some(when.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Between half and all of `length`, so that many who failed together do not return together.
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
        assert!(may_repeat_error(&Method::POST, &connect), "nothing was sent");
        assert!(!may_repeat_error(&Method::POST, &lost));
        assert!(may_repeat_error(&Method::GET, &lost));
        assert!(!may_repeat_error(&Method::GET, &FetchError::TooManyRedirects { limit: 1 }));
        assert!(may_repeat_status(&Method::GET, StatusCode::SERVICE_UNAVAILABLE));
        assert!(!may_repeat_status(&Method::POST, StatusCode::SERVICE_UNAVAILABLE));
        assert!(!may_repeat_status(&Method::GET, StatusCode::INTERNAL_SERVER_ERROR));
        assert!(
            !may_repeat_status(&Method::GET, StatusCode::TOO_MANY_REQUESTS),
            "politeness is decided above"
        );
    }

    #[test]
    fn waits_grow_are_jittered_and_stay_inside_the_deadline() {
        let longest = Duration::from_secs(5);
        let far = Deadline::after(Duration::from_mins(1));
        for attempt in 0..8 {
            let full = (FIRST_WAIT * 2u32.pow(attempt.min(6))).min(longest);
            let wait = wait(attempt, None, longest, far).unwrap();
            assert!(wait <= full && wait >= FIRST_WAIT / 2, "{attempt}: {wait:?}");
        }
        assert_eq!(wait(0, None, longest, Deadline::after(Duration::from_millis(100))), None);
        let asked = |text: &'static str| HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
        assert_eq!(wait(0, Some(&asked("3")), longest, far), Some(Duration::from_secs(3)));
        assert_eq!(wait(0, Some(&asked("3600")), longest, far), None);
        assert_eq!(wait(0, Some(&asked("3")), longest, Deadline::after(Duration::from_secs(4))), None);
        assert!(wait(0, Some(&asked("nonsense")), longest, far).is_some());
        assert_eq!(jittered(FIRST_WAIT, 0), FIRST_WAIT / 2);
        assert_eq!(jittered(FIRST_WAIT, u32::MAX), FIRST_WAIT);
    }
}
