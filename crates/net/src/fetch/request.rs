//! What a fetch is asked to do. Built from validated parts; a request that exists can be sent.

use super::validators::Validators;
use crate::allow::Purpose;
use crate::cookies::CookieJar;
use crate::credentials::{Credentials, take_login};
use crate::error::{BadUrl, FetchError, Refusal};
use crate::guard::{Destination, LONGEST_URL};
use crate::headers::{Locale, Profile};
use crate::route::Via;
use bytes::Bytes;
use hyper::Method;
use hyper::http::HeaderValue;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Bounds of one fetch. The deadline of the request stands above all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP, proxy and TLS together.
    pub connect: Duration,
    /// From sending the request to the head of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    pub redirects: usize,
    /// Attempts after the first one, over the whole fetch.
    pub retries: u32,
    /// The longest wait a server may ask for before the next attempt.
    pub longest_wait: Duration,
    pub head_bytes: usize,
    pub head_count: usize,
    /// The body as it comes over the wire.
    pub wire_bytes: u64,
    /// The body after decompression.
    pub body_bytes: u64,
    /// Decompressed bytes for each compressed one, once a megabyte has come out.
    pub ratio: u64,
    /// What happens at the end of `wire_bytes` or `body_bytes`.
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
            longest_wait: Duration::from_secs(5),
            head_bytes: 128 * 1024,
            head_count: 512,
            wire_bytes: 50 << 20,
            body_bytes: 50 << 20,
            ratio: 200,
            at_limit: AtLimit::Fail,
        }
    }
}

/// What becomes of a body that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtLimit {
    /// The fetch fails.
    #[default]
    Fail,
    /// What fits is kept, and the result says that it was cut. A bomb still fails.
    Cut,
}

/// One thing to fetch.
#[derive(Debug, Clone)]
pub struct Request {
    pub(crate) purpose: Purpose,
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Bytes,
    /// Of the body.
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) credentials: Credentials,
    /// What answers set on the way.
    pub(crate) cookies: CookieJar,
    pub(crate) profile: Profile,
    pub(crate) locale: Locale,
    pub(crate) check_certificate: bool,
    pub(crate) via: Via,
    pub(crate) follow: bool,
    pub(crate) limits: Limits,
    pub(crate) rule: Rule,
    pub(crate) validators: Option<Validators>,
}

/// Says of an address whether a request may go there.
pub type HopRule = Arc<dyn Fn(&Url) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Rule(Option<HopRule>);

impl Rule {
    pub(crate) fn check(&self, url: &Url) -> Result<(), Refusal> {
        match &self.0 {
            Some(allowed) if !allowed(url) => Err(Refusal::Rule { url: url.to_string() }),
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
    /// `GET url`. `credentials` are what is sent along and for whom; a user and a password in the address become a login for its
    /// origin and leave the address.
    pub fn get(purpose: Purpose, url: &str, credentials: Credentials) -> Result<Self, FetchError> {
        Self::new(purpose, Method::GET, url, credentials)
    }

    /// `POST url` with a body. Redirects are not followed unless asked: a body is not for whoever comes next.
    pub fn post(
        purpose: Purpose,
        url: &str,
        credentials: Credentials,
        content_type: &str,
        body: Bytes,
    ) -> Result<Self, FetchError> {
        let mut request = Self::new(purpose, Method::POST, url, credentials)?.follow_redirects(false);
        let content_type = HeaderValue::from_str(content_type)
            .map_err(|_| FetchError::BadRequest("a content type that cannot be sent".into()))?;
        request.content_type = Some(content_type);
        request.body = body;
        Ok(request)
    }

    pub fn new(
        purpose: Purpose,
        method: Method,
        url: &str,
        mut credentials: Credentials,
    ) -> Result<Self, FetchError> {
        if url.len() > LONGEST_URL {
            return Err(BadUrl::TooLong(LONGEST_URL).into());
        }
        if method == Method::CONNECT || method == Method::TRACE {
            return Err(FetchError::BadRequest(format!("method {method} is not fetched")));
        }
        let mut url = Url::parse(url).map_err(|error| BadUrl::Invalid(error.to_string()))?;
        Destination::of(&url)?;
        if let Some(login) = take_login(&mut url) {
            credentials.add_login_of(&url, &login);
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

    /// Takes any certificate, for pages whose owner let theirs lapse. Where credentials are sent it is checked all the same, unless
    /// they say that their owner wants that too ([`Credentials::accepting_any_certificate`]).
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

    /// Only addresses for which `allowed` says yes: the first one, and every one a redirect leads to. Comes before the
    /// guard and opens nothing.
    #[must_use]
    pub fn allowed(mut self, allowed: HopRule) -> Self {
        self.rule = Rule(Some(allowed));
        self
    }

    /// Asks whether an answer that is already there still holds; then status 304 comes back, without a body.
    #[must_use]
    pub fn revalidate(mut self, known: Validators) -> Self {
        self.validators = Some(known);
        self
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    pub fn purpose(&self) -> Purpose {
        self.purpose
    }
}
