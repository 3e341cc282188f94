//! A request to fetch. Built from validated parts: a request that exists can be sent.

use super::validators::Validators;
use crate::allow::Purpose;
use crate::cookies::CookieJar;
use crate::credentials::{Credentials, take_login};
use crate::error::{BadUrl, EgressError, FetchError};
use crate::guard::{Destination, MAX_URL_BYTES};
use crate::headers::{Locale, Profile};
use crate::route::Via;
use bytes::Bytes;
use hyper::Method;
use hyper::http::HeaderValue;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Limits of one fetch. The deadline of the request applies in addition to all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// DNS, TCP, proxy and TLS together.
    pub connect: Duration,
    /// From sending the request to receiving the response head.
    pub first_byte: Duration,
    /// Between two chunks of the body.
    pub idle: Duration,
    pub redirects: usize,
    /// Retries, over the whole fetch.
    pub retries: u32,
    /// The longest `Retry-After` that is honoured; a server that asks for more is not retried.
    pub max_retry_delay: Duration,
    pub head_bytes: usize,
    pub head_count: usize,
    /// Body bytes as received.
    pub wire_bytes: u64,
    /// Body bytes after decompression.
    pub body_bytes: u64,
    /// Decompressed bytes per compressed byte, checked once a megabyte has been decoded.
    pub ratio: u64,
    /// What happens when `wire_bytes` or `body_bytes` is reached.
    pub at_limit: AtLimit,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            redirects: 20,
            retries: 2,
            max_retry_delay: Duration::from_secs(5),
            head_bytes: 128 * 1024,
            head_count: 512,
            wire_bytes: 50 << 20,
            body_bytes: 50 << 20,
            ratio: 200,
            at_limit: AtLimit::Fail,
        }
    }
}

/// What happens to a body that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtLimit {
    /// The fetch fails.
    #[default]
    Fail,
    /// What fits is kept, and the response is marked as truncated. A compression bomb still fails.
    Truncate,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) purpose: Purpose,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Bytes,
    /// The `Content-Type` of the body.
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) credentials: Credentials,
    /// Cookies set by the responses of this fetch.
    pub(crate) cookies: CookieJar,
    pub(crate) profile: Profile,
    pub(crate) locale: Locale,
    pub(crate) check_certificate: bool,
    pub(crate) via: Via,
    pub(crate) follow: bool,
    pub(crate) limits: Limits,
    pub(crate) rule: Rule,
    pub(crate) validators: Option<Validators>,
    pub(crate) prefers_markdown: bool,
}

/// Decides whether a URL may be requested.
pub type UrlRule = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Rule(Option<UrlRule>);

impl Rule {
    pub(crate) fn check(&self, url: &Url) -> Result<(), EgressError> {
        match &self.0 {
            Some(allowed) if !allowed(url) => Err(EgressError::Rule { url: url.to_string() }),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_some() { "Rule(given)" } else { "Rule(none)" })
    }
}

impl Request {
    /// `GET url`. `credentials` are what is sent and to which origins; a user name and password in the URL
    /// become a login for its origin and are removed from the URL.
    pub fn get(purpose: Purpose, url: &str, credentials: Credentials) -> Result<Self, FetchError> {
        Self::new(purpose, Method::GET, url, credentials)
    }

    /// `POST url` with a body. Redirects are not followed unless enabled: the body is not meant for another
    /// server.
    pub fn post(
        purpose: Purpose,
        url: &str,
        credentials: Credentials,
        content_type: &str,
        body: Bytes,
    ) -> Result<Self, FetchError> {
        Self::new(purpose, Method::POST, url, credentials)?.with_body(content_type, body)
    }

    /// `PUT url` with a body; otherwise as [`Self::post`].
    pub fn put(
        purpose: Purpose,
        url: &str,
        credentials: Credentials,
        content_type: &str,
        body: Bytes,
    ) -> Result<Self, FetchError> {
        Self::new(purpose, Method::PUT, url, credentials)?.with_body(content_type, body)
    }

    /// The same with a body; otherwise as [`Self::post`].
    pub fn with_body(self, content_type: &str, body: Bytes) -> Result<Self, FetchError> {
        let content_type = HeaderValue::from_str(content_type)
            .map_err(|_| FetchError::BadRequest("invalid content type".into()))?;
        Ok(Self { content_type: Some(content_type), body, ..self.follow_redirects(false) })
    }

    pub fn new(
        purpose: Purpose,
        method: Method,
        url: &str,
        mut credentials: Credentials,
    ) -> Result<Self, FetchError> {
        if url.len() > MAX_URL_BYTES {
            return Err(BadUrl::TooLong(MAX_URL_BYTES).into());
        }
        if method == Method::CONNECT || method == Method::TRACE {
            return Err(FetchError::BadRequest(format!("method {method} is not supported")));
        }
        let mut url = Url::parse(url).map_err(|error| BadUrl::Invalid(error.to_string()))?;
        Destination::from_url(&url)?;
        if let Some(login) = take_login(&mut url) {
            credentials.add_login_from_url(&url, &login);
        }
        let profile = if purpose == Purpose::Scrape { Profile::Desktop } else { Profile::Plain };
        Ok(Self {
            purpose,
            method,
            url,
            body: Bytes::new(),
            content_type: None,
            credentials,
            cookies: CookieJar::default(),
            profile,
            locale: Locale::default(),
            check_certificate: true,
            via: Via::Settings,
            follow: true,
            limits: Limits::default(),
            rule: Rule::default(),
            validators: None,
            prefers_markdown: false,
        })
    }

    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    #[must_use]
    pub fn locale(mut self, locale: Locale) -> Self {
        self.locale = locale;
        self
    }

    /// Accepts any certificate, for sites whose certificate has lapsed. Where credentials are sent it is
    /// checked all the same, unless their owner accepts that too
    /// ([`Credentials::accepting_any_certificate`]).
    #[must_use]
    pub fn skip_tls_verification(mut self, skip: bool) -> Self {
        self.check_certificate = !skip;
        self
    }

    #[must_use]
    pub fn via(mut self, via: Via) -> Self {
        self.via = via;
        self
    }

    #[must_use]
    pub fn follow_redirects(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Only requests URLs for which `allowed` returns true: the first one and every redirect target. It is
    /// checked before the guard and cannot widen it.
    #[must_use]
    pub fn allowed(mut self, allowed: UrlRule) -> Self {
        self.rule = Rule(Some(allowed));
        self
    }

    /// Makes the request conditional: if the known response is still current, the server returns 304 without
    /// a body.
    #[must_use]
    pub fn revalidate(mut self, known: Validators) -> Self {
        self.validators = Some(known);
        self
    }

    /// Asks for markdown where the server has some, and for a page otherwise. An `Accept` header of the
    /// caller wins.
    #[must_use]
    pub fn prefer_markdown(mut self, prefers: bool) -> Self {
        self.prefers_markdown = prefers;
        self
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn purpose(&self) -> Purpose {
        self.purpose
    }
}
