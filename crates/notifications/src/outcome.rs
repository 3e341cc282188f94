//! What became of an attempt to send a message.

use std::time::Duration;

/// Longer waits that a service asks for are cut to this.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// What became of one attempt. Reasons contain no tokens and no text of the receiver that is longer than a
/// line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    Delivered,
    /// It may succeed later: the same message is to be sent again. When the connection was lost before the
    /// last reply it may have arrived already; mails and Matrix messages carry an id by which receivers know
    /// it again.
    Temporary {
        reason: String,
        /// When the service says so.
        retry_after: Option<Duration>,
    },
    /// It will not succeed for this receiver, however often it is sent.
    Permanent {
        reason: String,
    },
}

impl SendOutcome {
    pub fn temporary(reason: impl Into<String>) -> Self {
        Self::Temporary { reason: reason.into(), retry_after: None }
    }

    pub fn permanent(reason: impl Into<String>) -> Self {
        Self::Permanent { reason: reason.into() }
    }

    /// The response of a chat service. `retry_after` is the value of its `Retry-After` header as a duration.
    pub fn from_status(status: u16, retry_after: Option<Duration>) -> Self {
        let reason = format!("the service answered with status {status}");
        match status {
            200..=299 => Self::Delivered,
            // Redirects are not followed: the message is meant for the address that was configured.
            408 | 425 | 429 | 500..=599 => {
                Self::Temporary { reason, retry_after: retry_after.map(|wait| wait.min(MAX_RETRY_AFTER)) }
            }
            _ => Self::Permanent { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_say_whether_to_try_again() {
        let wait = Some(Duration::from_secs(5));
        assert_eq!(SendOutcome::from_status(204, None), SendOutcome::Delivered);
        for status in [408, 425, 429, 500, 502, 503] {
            let outcome = SendOutcome::from_status(status, wait);
            assert!(
                matches!(outcome, SendOutcome::Temporary { retry_after, .. } if retry_after == wait),
                "{status}"
            );
        }
        for status in [301, 400, 401, 403, 404, 410, 413] {
            assert!(
                matches!(SendOutcome::from_status(status, wait), SendOutcome::Permanent { .. }),
                "{status}"
            );
        }
        let forever = SendOutcome::from_status(429, Some(Duration::MAX));
        assert!(matches!(forever, SendOutcome::Temporary { retry_after: Some(MAX_RETRY_AFTER), .. }));
    }
}
