//! Posts a body and asks for nothing but the status of the response: how webhooks and messages to chat
//! services are sent. Redirects are not followed: the body is for the receiver that the caller named.

use net::{
    AtLimit, BodySink, Deadline, FetchError, Fetcher, Limits, Request, ResponseHead, StatusCode, retry_after,
};
use std::ops::ControlFlow;
use std::time::Duration;

/// The part of a response body that is read, so that its connection can be reused; it is not looked at.
const MAX_DRAINED_BYTES: u64 = 64 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// What a receiver answered.
#[derive(Debug, Clone, Copy)]
pub struct PostAnswer {
    pub status: StatusCode,
    /// When the receiver says to come back.
    pub retry_after: Option<Duration>,
}

/// Sends a request within `timeout`. One whose connection ends without an answer is sent once more at once:
/// it may have been a kept connection that the receiver had closed, and "at least once" allows it.
pub async fn send_post(
    fetcher: &Fetcher,
    make_request: impl Fn() -> Result<Request, FetchError>,
    timeout: Duration,
) -> Result<PostAnswer, FetchError> {
    let deadline = Deadline::after(timeout);
    match send_once(fetcher, make_request()?, timeout, deadline).await {
        Err(FetchError::Incomplete(_) | FetchError::CutOff(_)) => {
            send_once(fetcher, make_request()?, timeout, deadline).await
        }
        other => other,
    }
}

async fn send_once(
    fetcher: &Fetcher,
    request: Request,
    timeout: Duration,
    deadline: Deadline,
) -> Result<PostAnswer, FetchError> {
    let limits = Limits {
        connect: timeout,
        first_byte: timeout,
        idle: DRAIN_TIMEOUT,
        retries: 0,
        wire_bytes: MAX_DRAINED_BYTES,
        body_bytes: MAX_DRAINED_BYTES,
        at_limit: AtLimit::Truncate,
        ..Limits::default()
    };
    let mut answer = HeadSink::default();
    let outcome = fetcher.fetch_into(request.limits(limits), deadline, &mut answer).await;
    // The status is the whole answer; how its body ends changes nothing.
    match answer.head {
        Some(head) => Ok(head),
        None => outcome.map(|outcome| answer_of(&outcome.head)),
    }
}

fn answer_of(head: &ResponseHead) -> PostAnswer {
    PostAnswer { status: head.status, retry_after: retry_after(&head.headers) }
}

/// Keeps the status of an answer and lets go of its body.
#[derive(Debug, Default)]
struct HeadSink {
    head: Option<PostAnswer>,
}

impl BodySink for HeadSink {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        self.head = Some(answer_of(head));
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, _: &[u8]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
