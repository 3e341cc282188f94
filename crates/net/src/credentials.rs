//! What a caller gives to be sent along with a request (headers, cookies among them, a login) and for whom. This is the one place that
//! decides which requests carry it: [`crate::Request`] cannot be made without [`Credentials`], and headers of a caller have no other
//! way onto a request.
//!
//! The rules:
//! - A request to an origin that the caller named carries everything. An origin is scheme, host and port. `https` on the usual port
//!   counts as the named `http` on the usual port, and `www.example.com` as `example.com`; nothing else does.
//! - A redirect keeps everything while it stays on the same site: the same registrable domain by the public suffix list (the same
//!   host for IP addresses and single names), the same port, and never from `https` back to `http`. Once a redirect has left the
//!   site, nothing comes back, wherever the next one leads.
//! - Every other request carries the headers of [`HEADERS_FOR_ANY_HOST`] and nothing else.
//! - Whatever carries more than those checks the server's certificate, unless the caller asked in so many words not to.

use crate::error::FetchError;
use crate::headers::CustomHeaders;
use crate::route::percent_decoded;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::http::HeaderValue;
use std::fmt;
use url::{Host, Url};

/// Headers that describe how a page is wanted and not who wants it. They may be sent to any host.
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
    /// Without a final dot.
    host: String,
    port: u16,
    /// None for IP addresses, single names and public suffixes: they form a site with nobody.
    registrable: Option<String>,
}

impl Origin {
    fn of(url: &Url) -> Option<Self> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host_str()?.trim_end_matches('.').to_owned();
        let registrable = match url.host()? {
            Host::Domain(_) => psl::domain_str(&host).map(str::to_owned),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        };
        Some(Self { tls, host, port: url.port_or_known_default()?, registrable })
    }

    /// The same scheme and port, or the step from `http` to `https` on the usual ports.
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

/// The origins that a request names, and so those that its credentials are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CredentialScope(Vec<Origin>);

impl CredentialScope {
    /// No origin at all: a request that names no page.
    pub fn nobody() -> Self {
        Self::default()
    }

    /// The origins of these addresses.
    pub fn of<'a>(urls: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut scope = Self::default();
        for url in urls {
            scope.add(url);
        }
        scope
    }

    /// Names one more.
    pub fn add(&mut self, url: &Url) {
        if let Some(origin) = Origin::of(url)
            && !self.0.contains(&origin)
        {
            self.0.push(origin);
        }
    }

    /// Whether a request to `url` goes to one of the named origins.
    pub fn covers(&self, url: &Url) -> bool {
        let Some(to) = Origin::of(url) else { return false };
        self.0.iter().any(|named| named.is_kept_or_upgraded(&to) && named.is_same_host(&to))
    }
}

/// Whether a redirect from `from` to `to` stays on one site.
fn is_on_same_site(from: &Url, to: &Url) -> bool {
    let (Some(from), Some(to)) = (Origin::of(from), Origin::of(to)) else { return false };
    from.is_kept_or_upgraded(&to) && (from.host == to.host || from.is_same_domain(&to))
}

/// What a caller gives to be sent along, and for which origins. The values are never shown.
#[derive(Clone, Default)]
pub struct Credentials {
    headers: CustomHeaders,
    scope: CredentialScope,
    accepts_any_certificate: bool,
}

impl Credentials {
    /// Nothing is sent along.
    pub fn none() -> Self {
        Self::default()
    }

    /// Checks the headers. They are for the origins of `scope`.
    pub fn new<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        scope: CredentialScope,
    ) -> Result<Self, FetchError> {
        Ok(Self { headers: CustomHeaders::new(headers)?, scope, accepts_any_certificate: false })
    }

    /// Headers for the origin of one address, which may hold a login of its own.
    pub fn for_address<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, FetchError> {
        // What is no address is refused where the request is made.
        Self::new(headers, CredentialScope::of(Url::parse(url).ok().as_ref()))
    }

    /// Adds a login, unless the headers hold one already.
    #[must_use]
    pub fn with_login(mut self, login: Option<&Login>) -> Self {
        if let Some(value) = login.and_then(Login::as_header) {
            self.headers.set_authorization(value);
        }
        self
    }

    /// The same for other origins.
    #[must_use]
    pub fn with_scope(self, scope: CredentialScope) -> Self {
        Self { scope, ..self }
    }

    /// The caller asked in so many words for no check of certificates.
    #[must_use]
    pub fn accepting_any_certificate(self, accepts: bool) -> Self {
        Self { accepts_any_certificate: accepts, ..self }
    }

    /// Takes over the login that the address of a request holds; it is for that address's origin.
    pub fn add_login_of(&mut self, url: &Url, login: &Login) {
        if self.headers.is_empty() {
            self.scope = CredentialScope::of([url]);
        }
        // Headers that are for somebody else do not become those of this origin because of its login.
        if self.scope.covers(url)
            && let Some(value) = login.as_header()
        {
            self.headers.set_authorization(value);
        }
    }

    /// Whether a request to `url` carries all of them.
    pub fn cover(&self, url: &Url) -> bool {
        self.scope.covers(url)
    }

    /// Whether there is anything among them that may not go to any host.
    pub fn are_secret(&self) -> bool {
        self.headers.names().any(|name| !HEADERS_FOR_ANY_HOST.contains(&name))
    }

    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Whether certificates must be checked where they are sent.
    pub fn need_checked_certificate(&self) -> bool {
        !self.accepts_any_certificate && self.are_secret()
    }

    /// Whether a redirect may take them along from `from`, where they were sent, to `to`.
    pub fn may_follow(from: &Url, to: &Url) -> bool {
        is_on_same_site(from, to)
    }

    /// All of them, as names and values. For the browser, which sends them itself; it asks [`Self::cover`] and [`Self::may_follow`]
    /// for every request.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.headers.pairs()
    }

    /// Equal for credentials that are sent to the same places with the same values. Holds the values: for hashing only.
    pub fn identity(&self) -> String {
        format!("{:?} {:?} {}", self.headers.pairs(), self.scope, self.accepts_any_certificate)
    }

    /// What the request of one hop carries: everything, or what any host may see.
    pub(crate) fn headers(&self, everything: bool) -> CustomHeaders {
        if everything { self.headers.clone() } else { self.headers.only(&HEADERS_FOR_ANY_HOST) }
    }

    pub(crate) fn forget_body(&mut self) {
        self.headers.forget_body();
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

/// A user and a password as they stand in an address. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Both escaped as in an address.
    user: String,
    password: String,
}

impl Login {
    /// The reverse of [`Self::written`].
    pub fn parse(written: &str) -> Option<Self> {
        let (user, password) = written.split_once(':')?;
        Some(Self { user: user.to_owned(), password: password.to_owned() })
    }

    /// `user:password`, escaped as in an address: to be kept where secrets are kept, and shown to nobody.
    pub fn written(&self) -> String {
        format!("{}:{}", self.user, self.password)
    }

    fn as_header(&self) -> Option<HeaderValue> {
        let plain = format!("{}:{}", percent_decoded(&self.user), percent_decoded(&self.password));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(plain))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The header that says it, for who keeps headers.
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

/// Takes the login out of an address.
pub fn take_login(url: &mut Url) -> Option<Login> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let login =
        Login { user: url.username().to_owned(), password: url.password().unwrap_or_default().to_owned() };
    // Neither can fail for http and https, which always have a host; others have no login.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(login)
}

/// The address of a page as it may be stored and shown: without its login. One that holds none stays as it is written.
pub fn without_login(written: &str) -> String {
    let text = written.trim();
    let is_page = |url: &Url| matches!(url.scheme(), "http" | "https");
    // `me:secret@a.example` has no scheme; read as it stands, it would have the scheme `me`.
    let url = Url::parse(text).ok().filter(is_page).or_else(|| Url::parse(&format!("http://{text}")).ok());
    match url.and_then(|mut url| take_login(&mut url).map(|_| url)) {
        Some(url) => url.into(),
        None => written.to_owned(),
    }
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
