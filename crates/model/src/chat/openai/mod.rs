//! The OpenAI-compatible protocol of Ollama, llama.cpp's server, vLLM and hosted services. They differ a
//! little, so an option that a server rejects is left out from then on. Owns requests, retries and the limit
//! of concurrent requests.

mod dialect;
mod probe;
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;
mod trace;

pub use probe::ProbeReport;

use super::fence::Fence;
use super::{Abilities, Chat, ChatError, ChatRequest, ChatResponse};
use dialect::Dialect;
use net::{Credentials, Deadline, FetchError, Fetcher, Limits, Purpose, Request, StatusCode, retry_after};
use parking_lot::Mutex;
use response::ResponseCollector;
use std::fmt;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};
use tracing::Instrument as _;
use url::Url;

/// Attempts for one response.
const MAX_ATTEMPTS: u32 = 4;
const FIRST_RETRY_WAIT: Duration = Duration::from_millis(300);
/// The longest `Retry-After` that is waited for.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);
/// A stream without data for this long has stalled.
const MAX_STREAM_SILENCE: Duration = Duration::from_mins(1);
/// Limit of a response on the wire; far less of it is kept.
const MAX_WIRE_BYTES: u64 = 32 << 20;
/// Assumed until the context size is known: nearly every model supports this.
const DEFAULT_CONTEXT_TOKENS: u32 = 4_096;
/// Servers that do not report a context size are hosted services, which support at least this.
const HOSTED_CONTEXT_TOKENS: u32 = 16_384;

/// Address and options of a model.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without `/v1`.
    pub url: Url,
    pub model: String,
    pub key: Option<String>,
    /// The longest that one response may take.
    pub timeout: Duration,
    /// Context size in tokens, if the operator set it.
    pub context: Option<u32>,
    /// Requests to the model at once.
    pub at_once: usize,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint")
            .field("host", &self.url.host_str())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub struct OpenAi {
    fetcher: Fetcher,
    endpoint: Endpoint,
    base: String,
    permits: Semaphore,
    dialect: Mutex<Dialect>,
    /// The context size that the server reported.
    context: OnceCell<Option<u32>>,
}

impl OpenAi {
    pub fn new(fetcher: Fetcher, endpoint: Endpoint) -> Self {
        let base = base(&endpoint.url);
        let permits = Semaphore::new(endpoint.at_once.max(1));
        let (dialect, context) = (Mutex::new(Dialect::default()), OnceCell::new());
        Self { fetcher, endpoint, base, permits, dialect, context }
    }

    /// The base URL without a password.
    pub fn base(&self) -> String {
        let mut shown = self.endpoint.url.clone();
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        base(&shown)
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock()
    }

    fn update_dialect(&self, change: impl FnOnce(&mut Dialect)) {
        change(&mut self.dialect.lock());
    }

    /// Sends a request once, without the options that the server is known to reject.
    async fn ask_once(&self, ask: &ChatRequest, deadline: Deadline) -> Result<ChatResponse, AttemptError> {
        // Each option can be turned off once.
        for _ in 0..=Dialect::OPTIONS {
            let dialect = self.dialect();
            let fence = Fence::new();
            let body = request::write_body(&self.endpoint.model, ask, dialect, &fence);
            match self.post(body, deadline).await {
                Err(AttemptError { error: ChatError::Refused(why), .. })
                    if let Some(fewer) = dialect.without_rejected(&why, ask) =>
                {
                    tracing::debug!(
                        model = self.endpoint.model,
                        why,
                        "the model server rejected an option; it is left out from now on"
                    );
                    self.update_dialect(|known| *known = fewer);
                }
                Err(failed) => {
                    if dialect.refuses_tools(&failed.error, ask) {
                        self.update_dialect(|known| known.tools = false);
                    }
                    return Err(failed);
                }
                Ok(response) => {
                    return Ok(ChatResponse { text: fence.remove_marks(response.text), ..response });
                }
            }
        }
        Err(ChatError::Refused("it accepts no form of the request".to_owned()).into())
    }

    async fn post(&self, body: Vec<u8>, deadline: Deadline) -> Result<ChatResponse, AttemptError> {
        let url = format!("{}/chat/completions", self.base);
        let request = self.credentials(&url).and_then(|credentials| {
            Request::post(Purpose::Model, &url, credentials, "application/json", body.into())
        });
        let request = self.with_limits(request.map_err(|error| self.to_attempt_error(&error))?);
        let mut collector = ResponseCollector::default();
        let outcome = self.fetcher.fetch_into(request, deadline, &mut collector).await;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // The response is complete; only the connection ended with an error.
            Err(_) if collector.is_complete() => return Ok(collector.finish()?),
            Err(error) => return Err(self.to_attempt_error(&error)),
        };
        let status = outcome.head.status;
        if status.is_success() {
            return Ok(collector.finish()?);
        }
        let why = self.without_key(&collector.error_message(status));
        let wait = retry_after(&outcome.head.headers);
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS => {
                let seconds = wait.map(|wait| wait.as_secs());
                AttemptError { error: ChatError::RateLimited { retry_after: seconds }, temporary: true, wait }
            }
            // llama.cpp's server responds with 500 to tools if it was started without them.
            _ if why.contains("jinja") => ChatError::Refused(why).into(),
            _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                AttemptError { error: ChatError::Unreachable(why), temporary: true, wait }
            }
            _ => ChatError::Refused(why).into(),
        })
    }

    /// The key, for the server of `url` only.
    fn credentials(&self, url: &str) -> Result<Credentials, FetchError> {
        let bearer = self.endpoint.key.as_ref().map(|key| format!("Bearer {key}"));
        Credentials::for_address(url, bearer.iter().map(|bearer| ("authorization", bearer.as_str())))
    }

    fn with_limits(&self, request: Request) -> Request {
        let limits = Limits {
            first_byte: self.endpoint.timeout,
            idle: self.endpoint.timeout.min(MAX_STREAM_SILENCE),
            // Retries are decided here, where the meaning of a response is known.
            retries: 0,
            wire_bytes: MAX_WIRE_BYTES,
            body_bytes: MAX_WIRE_BYTES,
            ..Limits::default()
        };
        request.follow_redirects(false).limits(limits)
    }

    fn to_attempt_error(&self, error: &FetchError) -> AttemptError {
        let text = self.without_key(&error.to_string());
        match error {
            FetchError::Timeout { .. } => ChatError::Timeout.into(),
            FetchError::TooLarge { .. } | FetchError::BadEncoding { .. } | FetchError::BadProtocol(_) => {
                ChatError::InvalidResponse(text).into()
            }
            FetchError::Connect { .. }
            | FetchError::Incomplete(_)
            | FetchError::CutOff(_)
            | FetchError::NameLookupFailed { .. }
            | FetchError::Proxy(_) => {
                AttemptError { error: ChatError::Unreachable(text), temporary: true, wait: None }
            }
            _ => ChatError::Unreachable(text).into(),
        }
    }

    /// Removes the key: servers often repeat an invalid key in their error.
    fn without_key(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(key) if !key.is_empty() => text.replace(key.as_str(), "…"),
            _ => text.to_owned(),
        }
    }
}

#[async_trait::async_trait]
impl Chat for OpenAi {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn abilities(&self) -> Abilities {
        let dialect = self.dialect();
        let found = self.context.get().map(|told| told.unwrap_or(HOSTED_CONTEXT_TOKENS));
        Abilities {
            tools: dialect.tools,
            json_schema: dialect.schema == dialect::SchemaMode::Schema,
            context_tokens: self.endpoint.context.or(found).unwrap_or(DEFAULT_CONTEXT_TOKENS),
        }
    }

    async fn get_ready(&self, deadline: Deadline) {
        self.find_context(deadline).await;
    }

    async fn ask(&self, ask: &ChatRequest, deadline: Deadline) -> Result<ChatResponse, ChatError> {
        let span = trace::chat_span(&self.endpoint);
        let outcome = self.ask_with_retries(ask, deadline).instrument(span.clone()).await;
        trace::record_outcome(&span, &outcome);
        outcome
    }
}

impl OpenAi {
    async fn ask_with_retries(
        &self,
        ask: &ChatRequest,
        deadline: Deadline,
    ) -> Result<ChatResponse, ChatError> {
        let deadline = deadline.child(self.endpoint.timeout);
        let permit = deadline.run(self.permits.acquire()).await;
        let _permit = permit.map_err(|_| ChatError::Timeout)?;
        let mut tries = 0;
        loop {
            let failed = match deadline.run(self.ask_once(ask, deadline)).await {
                Err(_) => return Err(ChatError::Timeout),
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(failed)) => failed,
            };
            tries += 1;
            let wait = failed.wait.unwrap_or_else(|| jittered(FIRST_RETRY_WAIT * 2u32.pow(tries)));
            // Fail at once if the wait does not fit into the deadline.
            if !failed.temporary
                || tries == MAX_ATTEMPTS
                || wait > MAX_RETRY_WAIT
                || wait >= deadline.remaining()
            {
                return Err(failed.error);
            }
            tracing::debug!(model = self.endpoint.model, error = %failed.error, ?wait, "retrying the request to the model");
            tokio::time::sleep(wait).await;
        }
    }
}

/// A failed attempt.
#[derive(Debug)]
struct AttemptError {
    error: ChatError,
    temporary: bool,
    /// The server's `Retry-After`.
    wait: Option<Duration>,
}

impl From<ChatError> for AttemptError {
    fn from(error: ChatError) -> Self {
        Self { error, temporary: false, wait: None }
    }
}

/// Between half and all of `length`, so that clients that failed together do not retry together.
fn jittered(length: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX);
    length / 2 + (length / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The base URL for paths: users give it with `/v1`, without it, or with the path of a request.
fn base(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.as_str().trim_end_matches('/');
    let text = text.strip_suffix("/chat/completions").unwrap_or(text);
    if url.path() == "/" { format!("{text}/v1") } else { text.to_owned() }
}
