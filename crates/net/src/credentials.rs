//! Credentials of a caller: headers (cookies among them) or a login, and the origins they are for. This is
//! the one place that decides which requests carry them: [`crate::Request`] cannot be made without
//! [`Credentials`], and headers of a caller get onto a request in no other way.
//!
//! The rules:
//! - A request to an origin that the caller named carries everything. An origin is scheme, host and port.
//!   `https` on the default port counts as the named `http` on the default port, and `www.example.com` as
//!   `example.com`; nothing else does.
//! - A redirect keeps everything while it stays on the same site: the same registrable domain by the public
//!   suffix list (the same host for IP addresses and single names), the same port, and never from `https`
//!   back to `http`. Once a redirect has left the site, credentials are not sent again, wherever the next
//!   redirect leads.
//! - Every other request carries the headers of [`HEADERS_FOR_ANY_HOST`] and nothing else.
//! - A request that carries more than those checks the server's certificate, unless the caller explicitly
//!   asked not to.

use crate::error::FetchError;
use crate::headers::CustomHeaders;
use crate::route::percent_decoded;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::http::HeaderValue;
use std::fmt;
use url::{Host, Url};

/// Headers that say how a page is wanted, not who wants it. They may be sent to any host.
pub const HEADERS_FOR_ANY_HOST: [&str; 14] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "dnt",
    "pragma",
    "save-data",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-gpc",
    "upgrade-insecure-requests",
    "user-agent",
];

/// Scheme, host and port.
#[derive(Clone, PartialEq, Eq)]
struct Origin {
    tls: bool,
    /// Without a trailing dot.
    host: String,
    port: u16,
    /// `None` for IP addresses, single names and public suffixes: they share a site with no other host.
    registrable: Option<String>,
}

impl Origin {
    fn from_url(url: &Url) -> Option<Self> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host_str()?.trim_end_matches('.').to_owned();
        let registrable = match url.host()? {
            Host::Domain(_) => sites::public_suffix::registrable_domain(&host).map(str::to_owned),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        };
        Some(Self { tls, host, port: url.port_or_known_default()?, registrable })
    }

    /// The same scheme and port, or the upgrade from `http` to `https` on the default ports.
    fn is_kept_or_upgraded(&self, to: &Self) -> bool {
        let kept = self.tls == to.tls && self.port == to.port;
        let upgraded = !self.tls && to.tls && self.port == 80 && to.port == 443;
        kept || upgraded
    }

    fn is_same_host(&self, other: &Self) -> bool {
        let bare = |host: &Self| host.host.strip_prefix("www.").unwrap_or(&host.host).to_owned();
        self.host == other.host || (self.is_same_domain(other) && bare(self) == bare(other))
    }

    fn is_same_domain(&self, other: &Self) -> bool {
        self.registrable.is_some() && self.registrable == other.registrable
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}:{}", if self.tls { "https" } else { "http" }, self.host, self.port)
    }
}

/// The origins that a request names, which are the ones its credentials are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CredentialScope(Vec<Origin>);

impl CredentialScope {
    /// No origin: for requests that name no page.
    pub fn none() -> Self {
        Self::default()
    }

    /// The origins of these URLs.
    pub fn from_urls<'a>(urls: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut scope = Self::default();
        for url in urls {
            scope.add(url);
        }
        scope
    }

    /// Adds the origin of one more URL.
    pub fn add(&mut self, url: &Url) {
        if let Some(origin) = Origin::from_url(url)
            && !self.0.contains(&origin)
        {
            self.0.push(origin);
        }
    }

    /// Whether a request to `url` goes to one of the named origins.
    pub fn covers(&self, url: &Url) -> bool {
        let Some(to) = Origin::from_url(url) else { return false };
        self.0.iter().any(|named| named.is_kept_or_upgraded(&to) && named.is_same_host(&to))
    }
}

/// Whether a redirect from `from` to `to` stays on one site.
fn is_on_same_site(from: &Url, to: &Url) -> bool {
    let (Some(from), Some(to)) = (Origin::from_url(from), Origin::from_url(to)) else { return false };
    from.is_kept_or_upgraded(&to) && (from.host == to.host || from.is_same_domain(&to))
}

/// Credentials of a caller and the origins they are for. `Debug` never shows the values.
#[derive(Clone, Default)]
pub struct Credentials {
    headers: CustomHeaders,
    scope: CredentialScope,
    accepts_any_certificate: bool,
}

impl Credentials {
    /// No credentials.
    pub fn none() -> Self {
        Self::default()
    }

    /// Validates the headers. They are for the origins of `scope`.
    pub fn new<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        scope: CredentialScope,
    ) -> Result<Self, FetchError> {
        Ok(Self { headers: CustomHeaders::new(headers)?, scope, accepts_any_certificate: false })
    }

    /// Headers for the origin of one URL, which may contain a login.
    pub fn for_address<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, FetchError> {
        // An invalid URL is refused when the request is made.
        Self::new(headers, CredentialScope::from_urls(Url::parse(url).ok().as_ref()))
    }

    /// Adds a login, unless the headers already contain one.
    #[must_use]
    pub fn with_login(mut self, login: Option<&Login>) -> Self {
        if let Some(value) = login.and_then(Login::as_header) {
            self.headers.set_authorization(value);
        }
        self
    }

    /// The same credentials for other origins.
    #[must_use]
    pub fn with_scope(self, scope: CredentialScope) -> Self {
        Self { scope, ..self }
    }

    /// The caller explicitly disabled certificate checks.
    #[must_use]
    pub fn accepting_any_certificate(self, accepts: bool) -> Self {
        Self { accepts_any_certificate: accepts, ..self }
    }

    /// Adds the login from the URL of a request; it is for that URL's origin.
    pub fn add_login_from_url(&mut self, url: &Url, login: &Login) {
        if self.headers.is_empty() {
            self.scope = CredentialScope::from_urls([url]);
        }
        // Headers for other origins are not extended to this origin because of its login.
        if self.scope.covers(url)
            && let Some(value) = login.as_header()
        {
            self.headers.set_authorization(value);
        }
    }

    /// Whether a request to `url` carries all of them.
    pub fn covers(&self, url: &Url) -> bool {
        self.scope.covers(url)
    }

    /// Whether any of them may not be sent to every host.
    pub fn contain_secrets(&self) -> bool {
        self.headers.names().any(|name| !HEADERS_FOR_ANY_HOST.contains(&name))
    }

    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Whether a header with this name, in lower case, is among them.
    pub fn sets_header(&self, name: &str) -> bool {
        self.headers.names().any(|known| known == name)
    }

    /// Whether certificates must be checked where they are sent.
    pub fn need_checked_certificate(&self) -> bool {
        !self.accepts_any_certificate && self.contain_secrets()
    }

    /// Whether credentials sent to `from` may be sent to its redirect target `to`.
    pub fn may_follow(from: &Url, to: &Url) -> bool {
        is_on_same_site(from, to)
    }

    /// All of them, as names and values. For the browser, which sends them itself and checks [`Self::covers`]
    /// and [`Self::may_follow`] for every request.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.headers.pairs()
    }

    /// Equal for credentials that are sent to the same origins with the same values. Contains the values: for
    /// hashing only.
    pub fn identity(&self) -> String {
        format!("{:?} {:?} {}", self.headers.pairs(), self.scope, self.accepts_any_certificate)
    }

    /// The headers of one request: all of them, or those that any host may see.
    pub(crate) fn headers(&self, everything: bool) -> CustomHeaders {
        if everything { self.headers.clone() } else { self.headers.only(&HEADERS_FOR_ANY_HOST) }
    }

    pub(crate) fn remove_body_headers(&mut self) {
        self.headers.remove_body_headers();
    }
}

// Headers, cookies and logins stay out of logs.
impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.names().collect();
        out.debug_struct("Credentials")
            .field("headers", &names)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// A user name and password from a URL. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Both percent-encoded as in a URL.
    user: String,
    password: String,
}

impl Login {
    /// Parses the output of [`Self::to_text`].
    pub fn parse(written: &str) -> Option<Self> {
        let (user, password) = written.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }

    /// `user:password`, percent-encoded as in a URL. For storage among secrets only; never shown.
    pub fn to_text(&self) -> String {
        format!("{}:{}", self.user, self.password)
    }

    fn as_header(&self) -> Option<HeaderValue> {
        let plain = format!("{}:{}", percent_decoded(&self.user), percent_decoded(&self.password));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(plain))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The login as an `Authorization` header, for code that stores headers.
    pub fn to_header(&self) -> (&'static str, String) {
        let value = self.as_header().and_then(|value| value.to_str().map(str::to_owned).ok());
        ("Authorization", value.unwrap_or_default())
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Login(hidden)")
    }
}

/// Removes the login from a URL and returns it.
pub fn take_login(url: &mut Url) -> Option<Login> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let login =
        Login { user: url.username().to_owned(), password: url.password().unwrap_or_default().to_owned() };
    // Neither can fail for http and https, which always have a host; other schemes have no login.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(login)
}

/// The URL of a page without its login, as it may be stored and shown. A URL without a login stays exactly as
/// written.
pub fn without_login(written: &str) -> String {
    let text = written.trim();
    let is_page = |url: &Url| matches!(url.scheme(), "http" | "https");
    // `me:secret@a.example` has no scheme; parsed as it is, its scheme would be `me`.
    let url = Url::parse(text).ok().filter(is_page).or_else(|| Url::parse(&format!("http://{text}")).ok());
    match url.and_then(|mut url| take_login(&mut url).map(|_| url)) {
        Some(url) => url.into(),
        None => written.to_owned(),
    }
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
