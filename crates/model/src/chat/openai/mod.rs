//! The OpenAI-compatible protocol, as Ollama, llama.cpp's server, vLLM and hosted services speak it: each a little differently, so
//! what a server does not take is left out from then on. Owns requests, retries and the limit of requests at once.

mod dialect;
mod probe;
mod reply;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub use probe::Report;

use super::fence::Fence;
use super::{Abilities, Ask, Chat, ChatError, Reply};
use dialect::Dialect;
use net::{Credentials, Deadline, FetchError, Fetcher, Limits, Purpose, Request, StatusCode, retry_after};
use reply::Gathering;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};
use url::Url;

/// Requests for one answer.
const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(300);
/// The longest wait that a server may ask for before the next try.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A stream that brings nothing for so long has stalled.
const LONGEST_SILENCE: Duration = Duration::from_mins(1);
/// Bytes of an answer as it travels; what is kept of it is far less.
const LARGEST_ANSWER: u64 = 32 << 20;
/// What nearly every model can take, before more is known.
const CAREFUL_CONTEXT: u32 = 4_096;
/// Servers that tell nothing are hosted ones, which take at least this.
const UNTOLD_CONTEXT: u32 = 16_384;

/// Where a model is and how it is asked.
#[derive(Clone)]
pub struct Endpoint {
    /// With or without `/v1`.
    pub url: Url,
    pub model: String,
    pub key: Option<String>,
    /// The longest one answer may take.
    pub timeout: Duration,
    /// Tokens of the context, when the operator says so.
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
    turns: Semaphore,
    dialect: Mutex<Dialect>,
    /// What was found out about the size of the context.
    context: OnceCell<Option<u32>>,
}

impl OpenAi {
    pub fn new(fetcher: Fetcher, endpoint: Endpoint) -> Self {
        let base = base(&endpoint.url);
        let turns = Semaphore::new(endpoint.at_once.max(1));
        let (dialect, context) = (Mutex::new(Dialect::default()), OnceCell::new());
        Self { fetcher, endpoint, base, turns, dialect, context }
    }

    /// Where it asks, without a password.
    pub fn base(&self) -> String {
        let mut shown = self.endpoint.url.clone();
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        base(&shown)
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, change: impl FnOnce(&mut Dialect)) {
        change(&mut self.dialect.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Asks once, with what the server was found not to take left out.
    async fn ask_once(&self, ask: &Ask, deadline: Deadline) -> Result<Reply, Trouble> {
        // Each of the things a server may not take can be learned once.
        for _ in 0..=Dialect::LESSONS {
            let dialect = self.dialect();
            let fence = Fence::new();
            let body = request::write(&self.endpoint.model, ask, dialect, &fence);
            match self.post(body, deadline).await {
                Err(Trouble { error: ChatError::Refused(why), .. })
                    if let Some(lesson) = dialect.lesson(&why, ask) =>
                {
                    tracing::debug!(model = self.endpoint.model, why, "the model's server takes less");
                    self.learn(|known| *known = lesson);
                }
                Err(trouble) => {
                    if dialect.refuses_tools(&trouble.error, ask) {
                        self.learn(|known| known.tools = false);
                    }
                    return Err(trouble);
                }
                Ok(reply) => return Ok(Reply { text: fence.taken_out(reply.text), ..reply }),
            }
        }
        Err(ChatError::Refused("it takes no form of the request".to_owned()).into())
    }

    async fn post(&self, body: Vec<u8>, deadline: Deadline) -> Result<Reply, Trouble> {
        let url = format!("{}/chat/completions", self.base);
        let request = self.credentials(&url).and_then(|credentials| {
            Request::post(Purpose::Model, &url, credentials, "application/json", body.into())
        });
        let request = self.prepared(request.map_err(|error| self.trouble(&error))?);
        let mut gathering = Gathering::default();
        let outcome = self.fetcher.fetch_into(request, deadline, &mut gathering).await;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // Everything was said; only the connection did not end as it should.
            Err(_) if gathering.is_complete() => return Ok(gathering.finish()?),
            Err(error) => return Err(self.trouble(&error)),
        };
        let status = outcome.head.status;
        if status.is_success() {
            return Ok(gathering.finish()?);
        }
        let why = self.without_key(&gathering.complaint(status));
        let wait = retry_after(&outcome.head.headers);
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS => {
                let seconds = wait.map(|wait| wait.as_secs());
                Trouble { error: ChatError::RateLimited { retry_after: seconds }, may_pass: true, wait }
            }
            // llama.cpp's server says 500 to tools that it was not started for.
            _ if why.contains("jinja") => ChatError::Refused(why).into(),
            _ if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                Trouble { error: ChatError::Unreachable(why), may_pass: true, wait }
            }
            _ => ChatError::Refused(why).into(),
        })
    }

    /// The key, for the server of `url` and nobody else.
    fn credentials(&self, url: &str) -> Result<Credentials, FetchError> {
        let bearer = self.endpoint.key.as_ref().map(|key| format!("Bearer {key}"));
        Credentials::for_address(url, bearer.iter().map(|bearer| ("authorization", bearer.as_str())))
    }

    fn prepared(&self, request: Request) -> Request {
        let limits = Limits {
            first_byte: self.endpoint.timeout,
            idle: self.endpoint.timeout.min(LONGEST_SILENCE),
            // Whether to try again is decided here, where it is known what an answer means.
            retries: 0,
            wire_bytes: LARGEST_ANSWER,
            body_bytes: LARGEST_ANSWER,
            ..Limits::default()
        };
        request.follow_redirects(false).limits(limits)
    }

    fn trouble(&self, error: &FetchError) -> Trouble {
        let text = self.without_key(&error.to_string());
        match error {
            FetchError::Timeout { .. } => ChatError::Timeout.into(),
            FetchError::TooLarge { .. } | FetchError::BadEncoding { .. } | FetchError::BadProtocol(_) => {
                ChatError::Nonsense(text).into()
            }
            FetchError::Connect { .. }
            | FetchError::Incomplete(_)
            | FetchError::NameLookupFailed { .. }
            | FetchError::Proxy(_) => {
                Trouble { error: ChatError::Unreachable(text), may_pass: true, wait: None }
            }
            _ => ChatError::Unreachable(text).into(),
        }
    }

    /// Servers like to repeat a key that is wrong.
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
        let found = self.context.get().map(|told| told.unwrap_or(UNTOLD_CONTEXT));
        Abilities {
            tools: dialect.tools,
            json_schema: dialect.schema == dialect::SchemaWay::Schema,
            context_tokens: self.endpoint.context.or(found).unwrap_or(CAREFUL_CONTEXT),
        }
    }

    async fn get_ready(&self, deadline: Deadline) {
        self.find_context(deadline).await;
    }

    async fn ask(&self, ask: &Ask, deadline: Deadline) -> Result<Reply, ChatError> {
        let deadline = deadline.child(self.endpoint.timeout);
        let turn = deadline.run(self.turns.acquire()).await;
        let _turn = turn.map_err(|_| ChatError::Timeout)?;
        let mut tries = 0;
        loop {
            let trouble = match deadline.run(self.ask_once(ask, deadline)).await {
                Err(_) => return Err(ChatError::Timeout),
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(trouble)) => trouble,
            };
            tries += 1;
            let wait = trouble.wait.unwrap_or_else(|| jittered(FIRST_WAIT * 2u32.pow(tries)));
            // What cannot be waited for is told at once, not after the time has run out.
            if !trouble.may_pass || tries == TRIES || wait > LONGEST_WAIT || wait >= deadline.remaining() {
                return Err(trouble.error);
            }
            tracing::debug!(model = self.endpoint.model, error = %trouble.error, ?wait, "asking the model again");
            tokio::time::sleep(wait).await;
        }
    }
}

/// An answer that is none, and whether the next may be one.
#[derive(Debug)]
struct Trouble {
    error: ChatError,
    may_pass: bool,
    /// How long the server asks to wait.
    wait: Option<Duration>,
}

impl From<ChatError> for Trouble {
    fn from(error: ChatError) -> Self {
        Self { error, may_pass: false, wait: None }
    }
}

/// Between half and all of `length`, so that many who failed together do not return together.
fn jittered(length: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX);
    length / 2 + (length / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The address that paths are put behind: people give it with `/v1`, without it, or with the path of a request.
fn base(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.as_str().trim_end_matches('/');
    let text = text.strip_suffix("/chat/completions").unwrap_or(text);
    if url.path() == "/" { format!("{text}/v1") } else { text.to_owned() }
}
