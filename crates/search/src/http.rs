//! The HTTP client for providers: JSON requests and responses of bounded size, without following redirects.

use crate::provider::{ProviderError, RequestBudget};
use bytes::Bytes;
use net::{Credentials, Deadline, FetchError, FetchedResponse, Fetcher, Limits, Profile, Purpose, Request};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// More than any list of a hundred results needs.
const MAX_RESPONSE_BYTES: u64 = 4 << 20;

/// A provider's API key; never printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key(hidden)")
    }
}

/// Sends requests to one provider.
#[derive(Debug, Clone)]
pub struct ProviderClient {
    fetcher: Fetcher,
    /// For the log.
    name: String,
}

impl ProviderClient {
    pub fn new(fetcher: Fetcher, name: &str) -> Self {
        Self { fetcher, name: name.to_owned() }
    }

    pub async fn get(
        &self,
        url: &Url,
        headers: &[(&str, &str)],
        budget: &RequestBudget,
    ) -> Result<Value, ProviderError> {
        let request = credentials(url, headers)
            .and_then(|credentials| Request::get(Purpose::Search, url.as_str(), credentials));
        self.send(request, budget).await
    }

    pub async fn post(
        &self,
        url: &Url,
        body: &Value,
        headers: &[(&str, &str)],
        budget: &RequestBudget,
    ) -> Result<Value, ProviderError> {
        let body = Bytes::from(body.to_string());
        let request = credentials(url, headers).and_then(|credentials| {
            Request::post(Purpose::Search, url.as_str(), credentials, "application/json", body)
        });
        self.send(request, budget).await
    }

    async fn send(
        &self,
        request: Result<Request, FetchError>,
        budget: &RequestBudget,
    ) -> Result<Value, ProviderError> {
        if !budget.try_spend() {
            return Err(ProviderError::Quota("minute or month"));
        }
        let limits = Limits {
            wire_bytes: MAX_RESPONSE_BYTES,
            body_bytes: MAX_RESPONSE_BYTES,
            // Asking another provider is better than retrying this one.
            retries: 0,
            ..Limits::default()
        };
        let began = Instant::now();
        let request = request.map_err(|error| self.error(&error, began))?;
        let request = request.profile(Profile::Plain).follow_redirects(false).limits(limits);
        let response = self.fetch(request, budget.deadline, began).await?;
        check_status(&response)?;
        // A response in another encoding loses some letters but is still usable.
        let text = String::from_utf8_lossy(&response.body);
        let value =
            serde_json::from_str(&text).map_err(|_| ProviderError::InvalidResponse(describe_body(&text)))?;
        if Value::is_object(&value) {
            Ok(value)
        } else {
            Err(ProviderError::InvalidResponse("no JSON object"))
        }
    }

    async fn fetch(
        &self,
        request: Request,
        deadline: Deadline,
        began: Instant,
    ) -> Result<FetchedResponse, ProviderError> {
        let fetched = deadline.run(self.fetcher.fetch(request, deadline)).await;
        match fetched {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.error(&error, began)),
            Err(_) => Err(ProviderError::Timeout(began.elapsed())),
        }
    }

    /// Callers see the kind of error; addresses of providers go to the log only.
    fn error(&self, error: &FetchError, began: Instant) -> ProviderError {
        tracing::debug!(provider = self.name, %error, "request to search provider failed");
        match error {
            FetchError::Timeout { .. } => ProviderError::Timeout(began.elapsed()),
            FetchError::TooLarge { .. } => ProviderError::TooLarge(MAX_RESPONSE_BYTES >> 20),
            FetchError::BadProtocol(_) | FetchError::BadEncoding { .. } => {
                ProviderError::InvalidResponse("malformed HTTP")
            }
            FetchError::Incomplete(_) | FetchError::CutOff(_) => {
                ProviderError::InvalidResponse("a truncated response")
            }
            FetchError::Refused(_) => ProviderError::Message(
                "is at an address that egress_allow does not permit for search".to_owned(),
            ),
            _ => ProviderError::Unreachable,
        }
    }
}

/// A provider's key, sent to its own server only.
fn credentials(url: &Url, headers: &[(&str, &str)]) -> Result<Credentials, FetchError> {
    let headers = headers.iter().copied().chain([("accept", "application/json")]);
    Credentials::for_address(url.as_str(), headers)
}

fn check_status(response: &FetchedResponse) -> Result<(), ProviderError> {
    let head = &response.meta.head;
    match head.status.as_u16() {
        200..=299 => Ok(()),
        401 | 403 => Err(ProviderError::KeyRejected),
        // Tavily sends 432 and 433 when the plan's limit is reached.
        429 | 432 | 433 => Err(ProviderError::RateLimited(net::retry_after(&head.headers))),
        503 if net::retry_after(&head.headers).is_some() => {
            Err(ProviderError::RateLimited(net::retry_after(&head.headers)))
        }
        status => Err(ProviderError::Status(status)),
    }
}

fn describe_body(text: &str) -> &'static str {
    match text.trim_start().chars().next() {
        None => "an empty body",
        Some('<') => "an HTML page instead of JSON",
        Some(_) => "not JSON",
    }
}

/// The longest `Retry-After` of a provider that is honoured.
pub const MAX_PAUSE: Duration = Duration::from_hours(1);
