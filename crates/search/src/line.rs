//! The line to a provider: JSON there, JSON back, within bounds, never further than where it was sent.

use crate::provider::{Leave, Problem};
use bytes::Bytes;
use net::{Credentials, Deadline, FetchError, Fetched, Fetcher, Limits, Profile, Purpose, Request};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// No list of a hundred results is larger.
const MOST_BYTES: u64 = 4 << 20;

/// A key that is never shown.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key(hidden)")
    }
}

/// Asks one provider.
#[derive(Debug, Clone)]
pub struct Line {
    fetcher: Fetcher,
    /// For the log.
    name: String,
}

impl Line {
    pub fn new(fetcher: Fetcher, name: &str) -> Self {
        Self { fetcher, name: name.to_owned() }
    }

    pub async fn get(&self, url: &Url, headers: &[(&str, &str)], leave: &Leave) -> Result<Value, Problem> {
        let request = credentials(url, headers)
            .and_then(|credentials| Request::get(Purpose::Search, url.as_str(), credentials));
        self.ask(request, leave).await
    }

    pub async fn post(
        &self,
        url: &Url,
        body: &Value,
        headers: &[(&str, &str)],
        leave: &Leave,
    ) -> Result<Value, Problem> {
        let body = Bytes::from(body.to_string());
        let request = credentials(url, headers).and_then(|credentials| {
            Request::post(Purpose::Search, url.as_str(), credentials, "application/json", body)
        });
        self.ask(request, leave).await
    }

    async fn ask(&self, request: Result<Request, FetchError>, leave: &Leave) -> Result<Value, Problem> {
        if !leave.take() {
            return Err(Problem::Quota("minute or month"));
        }
        let limits = Limits {
            wire_bytes: MOST_BYTES,
            body_bytes: MOST_BYTES,
            // Another provider is a better second attempt.
            retries: 0,
            ..Limits::default()
        };
        let began = Instant::now();
        let request = request.map_err(|error| self.problem(&error, began))?;
        let request = request.profile(Profile::Plain).follow_redirects(false).limits(limits);
        let answer = self.fetch(request, leave.deadline, began).await?;
        judge(&answer)?;
        // A page in another encoding loses letters, not the answer.
        let text = String::from_utf8_lossy(&answer.body);
        let value = serde_json::from_str(&text).map_err(|_| Problem::Nonsense(looks_like(&text)))?;
        if Value::is_object(&value) { Ok(value) } else { Err(Problem::Nonsense("no JSON object")) }
    }

    async fn fetch(&self, request: Request, deadline: Deadline, began: Instant) -> Result<Fetched, Problem> {
        let fetched = deadline.run(Box::pin(self.fetcher.fetch(request, deadline))).await;
        match fetched {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.problem(&error, began)),
            Err(_) => Err(Problem::Timeout(began.elapsed())),
        }
    }

    /// Callers learn what kind of failure it was; where our providers live is for the log.
    fn problem(&self, error: &FetchError, began: Instant) -> Problem {
        tracing::debug!(provider = self.name, %error, "a search provider could not be asked");
        match error {
            FetchError::Timeout { .. } => Problem::Timeout(began.elapsed()),
            FetchError::TooLarge { .. } => Problem::TooLarge(MOST_BYTES >> 20),
            FetchError::BadProtocol(_) | FetchError::BadEncoding { .. } => {
                Problem::Nonsense("not HTTP as it should be")
            }
            FetchError::Incomplete(_) => Problem::Nonsense("an answer that breaks off"),
            FetchError::Refused(_) => {
                Problem::Said("is at an address that egress_allow does not open for search".to_owned())
            }
            _ => Problem::Unreachable,
        }
    }
}

/// The keys of a provider, for its own server and nobody else.
fn credentials(url: &Url, headers: &[(&str, &str)]) -> Result<Credentials, FetchError> {
    let headers = headers.iter().copied().chain([("accept", "application/json")]);
    Credentials::for_address(url.as_str(), headers)
}

fn judge(answer: &Fetched) -> Result<(), Problem> {
    let head = &answer.outcome.head;
    match head.status.as_u16() {
        200..=299 => Ok(()),
        401 | 403 => Err(Problem::Refused),
        // 432 and 433 are Tavily's words for a plan that is used up.
        429 | 432 | 433 => Err(Problem::Limited(net::retry_after(&head.headers))),
        503 if net::retry_after(&head.headers).is_some() => {
            Err(Problem::Limited(net::retry_after(&head.headers)))
        }
        status => Err(Problem::Status(status)),
    }
}

fn looks_like(text: &str) -> &'static str {
    match text.trim_start().chars().next() {
        None => "nothing",
        Some('<') => "a page instead of JSON",
        Some(_) => "not JSON",
    }
}

/// The longest a provider that asks for patience is believed.
pub const LONGEST_REST: Duration = Duration::from_hours(1);
