//! The settings of the collector of OpenTelemetry.

use super::values::{Values, list, optional};
use anyhow::{Context, Result, ensure};
use net::{Credentials, EgressAllow, FetchError, Purpose, Request};
use url::Url;

/// Where spans, logs and metrics are sent.
#[derive(Clone)]
pub struct CollectorSettings {
    base: Url,
    headers: Vec<(String, String)>,
}

impl std::fmt::Debug for CollectorSettings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CollectorSettings").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

pub fn parse_settings(values: &Values<'_>) -> Result<Option<CollectorSettings>> {
    let base = values.parse("otlp", |text| optional(text).map(|url| parse_base(&url)).transpose())?;
    let headers = values.parse("otlp_headers", |text| list(text, parse_header))?;
    let Some(base) = base else { return Ok(None) };
    let collector = CollectorSettings { base, headers };
    // Now rather than with the first spans.
    values.parse("otlp_headers", |_| collector.post("/v1/traces", Vec::new()).context("cannot be sent"))?;
    Ok(Some(collector))
}

fn parse_base(text: &str) -> Result<Url> {
    let base = Url::parse(text).context("must be a URL such as http://localhost:4318")?;
    ensure!(matches!(base.scheme(), "http" | "https"), "must start with http:// or https://");
    ensure!(
        base.username().is_empty() && base.password().is_none() && base.query().is_none(),
        "must have no login and no parameters; put keys into otlp_headers"
    );
    Ok(base)
}

fn parse_header(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').context("must be NAME=VALUE,…")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl CollectorSettings {
    /// Where it is, for people.
    pub fn shown(&self) -> &str {
        self.base.as_str()
    }

    /// The same egress rules, with the collector's host opened: the operator has named it.
    pub fn allow_in(&self, allow: EgressAllow) -> EgressAllow {
        self.base.host_str().into_iter().fold(allow, |allow, host| allow.with_host(Purpose::Telemetry, host))
    }

    /// A request to a path of it. The headers go nowhere else.
    pub fn post(&self, path: &str, body: impl Into<bytes::Bytes>) -> Result<Request, FetchError> {
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let credentials = Credentials::for_address(&url, headers)?;
        Request::post(Purpose::Telemetry, &url, credentials, "application/x-protobuf", body.into())
    }
}
