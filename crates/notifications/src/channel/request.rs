//! The HTTP request of a message.

use net::{Credentials, FetchError, Purpose, Request};
use serde_json::Value;
use std::fmt;
use url::Url;

const JSON: &str = "application/json";

/// A request to a service: always a body of JSON. `Debug` shows neither the address, which may be a secret,
/// nor the values of headers.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelRequest {
    /// `POST` or `PUT`.
    pub method: &'static str,
    pub url: String,
    /// Besides the content type.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl fmt::Debug for ChannelRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        let host = Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        out.debug_struct("ChannelRequest")
            .field("method", &self.method)
            .field("host", &host)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

impl ChannelRequest {
    pub(super) fn post(url: impl Into<String>, body: &Value) -> Self {
        Self { method: "POST", url: url.into(), headers: Vec::new(), body: body.to_string().into_bytes() }
    }

    pub(super) fn put(url: impl Into<String>, body: &Value) -> Self {
        Self { method: "PUT", ..Self::post(url, body) }
    }

    pub(super) fn with_header(mut self, header: Option<(&'static str, String)>) -> Self {
        self.headers.extend(header);
        self
    }

    /// The request as `net` sends it, under the rules for webhooks: private addresses only where
    /// `egress_allow` opens them, redirects not followed.
    pub fn to_net_request(&self) -> Result<Request, FetchError> {
        let headers = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let credentials = Credentials::for_address(&self.url, headers)?;
        let make = if self.method == "PUT" { Request::put } else { Request::post };
        make(Purpose::Webhook, &self.url, credentials, JSON, self.body.clone().into())
    }
}
