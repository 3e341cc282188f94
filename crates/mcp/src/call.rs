//! One call of a tool: its arguments, and the way to the API as the caller that made it.

use crate::api::Api;
use crate::arguments::Object;
use crate::output::Failure;
use crate::texts::{Owner, Texts};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// What a request tells of how the server was reached, for links in responses.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];
/// Sent in bodies, as all official clients do.
const ORIGIN: &str = concat!("gannet-mcp@", env!("CARGO_PKG_VERSION"));
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Who calls: what of the HTTP request goes into the requests of its tools. Empty over standard input and
/// output, where the [`Api`] knows the key.
#[derive(Debug, Clone, Default)]
pub struct CallerParts {
    headers: HeaderMap,
    extensions: Extensions,
}

impl CallerParts {
    pub fn from_request(parts: &http::request::Parts) -> Self {
        let mut headers = HeaderMap::new();
        let names = FORWARDED.into_iter().map(HeaderName::from_static).chain([AUTHORIZATION, HOST]);
        for name in names {
            if let Some(value) = parts.headers.get(&name) {
                headers.insert(name, value.clone());
            }
        }
        Self { headers, extensions: parts.extensions.clone() }
    }

    pub fn owner(&self) -> Owner {
        let key = self.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        Sha256::digest(key).into()
    }
}

/// Sends requests as one caller.
#[derive(Clone)]
pub struct Sender {
    pub api: Arc<dyn Api>,
    pub caller: CallerParts,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl Sender {
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Value, Failure> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(all) = request.headers_mut() {
            all.extend(self.caller.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            all.extend(headers.iter().cloned());
        }
        let (kind, bytes) = body.unwrap_or_default();
        if !kind.is_empty() {
            request = request.header(CONTENT_TYPE, kind);
        }
        let mut request = request
            .body(bytes)
            .map_err(|_| Failure::Arguments("an argument cannot be part of a URL".to_owned()))?;
        *request.extensions_mut() = self.caller.extensions.clone();
        let response =
            self.api.send(request).await.map_err(|unreachable| Failure::Unreachable(unreachable.0))?;
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        if status.is_success() {
            Ok(body)
        } else {
            Err(Failure::Api { status: status.as_u16(), body, retry_after })
        }
    }
}

/// One call.
#[derive(Debug)]
pub struct Call {
    pub arguments: Object,
    pub sender: Sender,
    pub progress: Option<(Peer<RoleServer>, ProgressToken)>,
    pub texts: Arc<Texts>,
    pub max_chars: usize,
}

impl Call {
    pub async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.sender.request(Method::GET, path, None, &[]).await
    }

    pub async fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.sender.request(Method::DELETE, path, None, &[]).await
    }

    pub async fn post(&self, path: &str, body: Object) -> Result<Value, Failure> {
        self.send_json(Method::POST, path, body).await
    }

    pub async fn send_json(&self, method: Method, path: &str, body: Object) -> Result<Value, Failure> {
        let bytes = Value::Object(body).to_string().into();
        self.sender.request(method, path, Some(("application/json", bytes)), &[]).await
    }

    /// A request that says who it is from, for endpoints that take `origin`.
    pub async fn post_from_here(&self, path: &str, mut body: Object) -> Result<Value, Failure> {
        body.insert("origin".to_owned(), ORIGIN.into());
        self.post(path, body).await
    }

    pub fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A string argument without the space around it, unless there is nothing left.
    pub fn trimmed(&self, name: &str) -> Option<&str> {
        Some(self.text(name).trim()).filter(|text| !text.is_empty())
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.arguments.get(name).and_then(Value::as_bool)
    }

    /// A string argument as one segment of a path.
    pub fn segment(&self, name: &str) -> Result<String, Failure> {
        let text = self.trimmed(name).unwrap_or_default();
        // A dot segment would be taken as a part of the path's structure.
        if matches!(text, "" | "." | "..") {
            return Err(Failure::Arguments(format!("{name} is not an id")));
        }
        Ok(encode(text))
    }

    /// The named arguments as a query string; lists repeat their name.
    pub fn query(&self, names: &[(&str, &str)]) -> String {
        let mut query = String::new();
        for (argument, parameter) in names {
            let values = match self.arguments.get(*argument) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(values)) => values.clone(),
                Some(value) => vec![value.clone()],
            };
            for value in values {
                let text = value.as_str().map_or_else(|| whole_number(&value), str::to_owned);
                if !text.is_empty() {
                    query.push(if query.is_empty() { '?' } else { '&' });
                    let _ = write!(query, "{parameter}={}", encode(&text));
                }
            }
        }
        query
    }

    /// Tells the client how far a job is, if it asked to be told.
    pub async fn report(&self, done: u64, total: Option<u64>, message: String) {
        let Some((peer, token)) = &self.progress else { return };
        let mut param = ProgressNotificationParam::new(token.clone(), done as f64).with_message(message);
        param.total = total.map(|total| total as f64);
        // A client that does not listen any more is noticed by its cancelled call.
        let _ = peer.notify_progress(param).await;
    }
}

pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// `5.0` as `5`: query parameters are read as whole numbers.
fn whole_number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => format!("{number:.0}"),
        _ => value.to_string(),
    }
}

/// Cancels a job at the API unless it has ended: when the call is cancelled, or its client is gone.
#[derive(Debug)]
pub struct CancelOnDrop {
    sender: Option<Sender>,
    path: String,
}

impl CancelOnDrop {
    pub fn new(call: &Call, path: String) -> Self {
        Self { sender: Some(call.sender.clone()), path }
    }

    /// The job has ended or is to go on.
    pub fn disarm(mut self) {
        self.sender = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(sender) = self.sender.take() else { return };
        let path = std::mem::take(&mut self.path);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(failure) = sender.request(Method::DELETE, &path, None, &[]).await {
                tracing::debug!(path, error = failure.message(), "could not cancel a job");
            }
        });
    }
}
