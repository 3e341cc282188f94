//! Requests of commands to a running server, for what only a server has, and for tools.

use crate::exit_code::ApiRefusal;
use crate::first_team::first_key_file;
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use net::{
    Credentials, Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, HeaderMap, Limits, Method,
    Purpose, Request, StatusCode,
};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// The largest response: the output of code.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;
/// Beyond the time that the server itself allows for code.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(330);

/// Which server to ask, and as whom.
#[derive(Debug, Clone, clap::Args)]
pub struct ServerChoice {
    /// URL of the server [default: the address that the settings say]
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// API key [default: `api_key` of the settings, or the first key in the data directory]
    #[arg(long, global = true, value_name = "KEY")]
    pub key: Option<String>,
}

/// Asks one server.
pub struct ApiClient {
    base: String,
    key: Option<String>,
    fetcher: Fetcher,
}

impl ServerChoice {
    pub fn connect(self, settings: &Settings) -> Result<ApiClient> {
        let base = self.server.unwrap_or_else(|| local_url(settings));
        let base = base.trim_end_matches('/').to_owned();
        let url = url::Url::parse(&base).with_context(|| format!("--server {base}"))?;
        let host = url.host_str().with_context(|| format!("--server {base} has no host"))?;
        // The one host that the user named, wherever it is.
        let allow = EgressAllow::default().with_host(Purpose::Model, host);
        let fetcher = Fetcher::new(FetcherSettings::new(EgressPolicy::new(allow)))?;
        let key = self.key.or_else(|| settings.api_key.as_ref().map(|key| key.reveal().to_owned()));
        let key = key.or_else(|| {
            let text = std::fs::read_to_string(first_key_file(&settings.data_dir)).ok()?;
            Some(text.trim().to_owned())
        });
        Ok(ApiClient { base, key, fetcher })
    }
}

/// How this machine reaches the server of the same settings.
fn local_url(settings: &Settings) -> String {
    let mut address = settings.listen;
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    format!("http://{address}")
}

impl ApiClient {
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.ask(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Result<Value> {
        self.ask(Method::DELETE, path, None).await
    }

    /// The answer as JSON; a failure is an error with the server's words.
    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(|body| ("application/json", body.to_string().into()));
        let (status, bytes, _) = self.exchange(method, path, body).await?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if !status.is_success() {
            return Err(self.refusal(status, &answer).into());
        }
        Ok(answer)
    }

    /// The content of a file of the server, such as a screenshot.
    pub async fn download(&self, address: &str) -> Result<Bytes> {
        let url = url::Url::parse(address).context("the server gave no address of the file")?;
        let (status, bytes, _) = self.exchange(Method::GET, &url[url::Position::BeforePath..], None).await?;
        ensure!(status.is_success(), "the server has no such file any more ({})", status.as_u16());
        Ok(bytes)
    }

    /// Why an answer is none: a scrape may fail with a status of success.
    pub fn refusal(&self, status: StatusCode, answer: &Value) -> ApiRefusal {
        let text = answer["error"].as_str().unwrap_or("the server gave no reason");
        let advice = match (status, &self.key) {
            (StatusCode::UNAUTHORIZED, None) => {
                "; there is no key here: --key, the setting `api_key`, or the data directory of the server (--data-dir)"
            }
            _ => "",
        };
        let code = answer["code"].as_str().unwrap_or_default().to_owned();
        let number = if status.is_success() { String::new() } else { format!(" ({})", status.as_u16()) };
        ApiRefusal { status, code, text: format!("{text}{number}{advice}") }
    }

    /// Sends a request of a tool as it is, with this client's key.
    pub async fn forward(&self, request: mcp::ApiRequest) -> Result<mcp::ApiResponse> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        let kind = parts.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        let (status, bytes, headers) =
            self.exchange(parts.method, &path, kind.map(|kind| (kind, body))).await?;
        let mut response = mcp::ApiResponse::new(bytes);
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Result<(StatusCode, Bytes, HeaderMap)> {
        let url = format!("{}{path}", self.base);
        let authorization = self.key.as_ref().map(|key| format!("Bearer {key}"));
        let headers = authorization.as_deref().map(|value| ("Authorization", value));
        let credentials = Credentials::for_address(&url, headers)?;
        let mut request = Request::new(Purpose::Model, method, &url, credentials)?;
        if let Some((content_type, body)) = body {
            request = request.with_body(content_type, body)?;
        }
        let limits = Limits {
            first_byte: REQUEST_TIMEOUT,
            retries: 0,
            wire_bytes: MAX_RESPONSE_BYTES,
            body_bytes: MAX_RESPONSE_BYTES,
            ..Limits::default()
        };
        let asked = self.fetcher.fetch(request.limits(limits), Deadline::after(REQUEST_TIMEOUT)).await;
        let response =
            asked.with_context(|| format!("no answer from {}; is the server running?", self.base))?;
        let head = response.meta.head;
        Ok((head.status, response.body, head.headers))
    }
}
