//! Normalizes URLs and decides when two of them are the same page.
//!
//! A [`PageUrl`] holds two forms of a URL: the one to fetch, with only changes that cannot change the
//! response, and a key, which is what a crawl compares. Never judges whether a URL belongs to a job.

mod escapes;
mod hash_route;
mod parameters;
mod path;

pub(crate) use escapes::{normalize_escapes, percent_decode};
pub use hash_route::find_hash_route;
use parameters::ParameterRole;
use std::borrow::Cow;
use std::fmt::Write;
use url::{Position, Url};

/// The longest URL that is accepted; longer ones are data, traps or mistakes.
pub const MAX_URL_BYTES: usize = 8 << 10;

/// When two URLs count as the same page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlEquivalence {
    /// The query is ignored (`ignoreQueryParameters`).
    pub ignore_query: bool,
    /// `http` or `https`, `www.`, a trailing slash, the name of an index file, double slashes and the order
    /// of parameters are ignored as well (`deduplicateSimilarURLs`).
    pub similar: bool,
}

/// Why a text is not the URL of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageUrlError {
    /// `mailto:`, `tel:`, `javascript:`, `file:`…
    #[error("not an http URL")]
    NotHttp,
    /// Longer than [`MAX_URL_BYTES`].
    #[error("the URL is too long")]
    TooLong,
    /// Not a valid URL.
    #[error("not a URL")]
    Malformed,
}

/// The URL of a page: what to fetch, and what to compare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageUrl {
    url: Url,
    key: String,
}

impl PageUrl {
    /// Parses an absolute URL.
    pub fn parse(text: &str, equivalence: UrlEquivalence) -> Result<Self, PageUrlError> {
        if text.len() > MAX_URL_BYTES {
            return Err(PageUrlError::TooLong);
        }
        match Url::parse(text.trim()) {
            Ok(url) => Self::from_url(url, equivalence),
            Err(_) => Err(PageUrlError::Malformed),
        }
    }

    /// From a parsed URL.
    pub fn from_url(mut url: Url, equivalence: UrlEquivalence) -> Result<Self, PageUrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PageUrlError::NotHttp);
        }
        url.set_fragment(None);
        // A login is removed: lists of URLs are stored and shown.
        if !url.username().is_empty() || url.password().is_some() {
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        let url = normalize(url)?;
        // Unneeded escapes are removed by now, but parsing may have added some.
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(PageUrlError::TooLong);
        }
        let key = build_key(&url, equivalence);
        Ok(Self { url, key })
    }

    /// The URL to fetch: no login, no fragment, no default port, no dot segments, normalized escapes, and
    /// without parameters that only track users or carry a session.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The key to compare. Equal keys are the same page.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The URL without its query, for lists that want one entry per path.
    pub fn without_query(&self) -> Url {
        let mut url = self.url.clone();
        url.set_query(None);
        url
    }

    /// Returns the URL.
    pub fn into_url(self) -> Url {
        self.url
    }
}

/// The URL in the form to fetch.
fn normalize(url: Url) -> Result<Url, PageUrlError> {
    match normalized_text(&url) {
        None => Ok(url),
        Some(text) => Url::parse(&text).map_err(|_| PageUrlError::Malformed),
    }
}

/// The normalized URL, if it differs from `url`.
fn normalized_text(url: &Url) -> Option<String> {
    let normal = normalize_escapes(url.path());
    let path = path::without_session(&normal);
    let query = url.query().map(content_query).filter(|query| !query.is_empty());
    if path == url.path() && query.as_deref() == url.query() {
        return None;
    }
    let mut text = String::with_capacity(url.as_str().len());
    text.push_str(&url[..Position::BeforePath]);
    text.push_str(&path);
    if let Some(query) = query {
        text.push('?');
        text.push_str(&query);
    }
    Some(text)
}

/// A query without parameters that do not affect the page.
fn content_query(query: &str) -> Cow<'_, str> {
    let normal = normalize_escapes(query);
    let relevant = normal
        .split('&')
        .filter(|pair| !pair.is_empty() && parameters::parameter_role(pair, true) != ParameterRole::Tracking);
    let alone = relevant.count() == 1;
    let content = |pair: &&str| parameters::parameter_role(pair, alone) == ParameterRole::Content;
    if normal.split('&').all(|pair| content(&pair)) {
        return normal;
    }
    Cow::Owned(normal.split('&').filter(content).collect::<Vec<_>>().join("&"))
}

fn build_key(url: &Url, equivalence: UrlEquivalence) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    if !equivalence.similar {
        key.push_str(url.scheme());
        key.push_str("://");
    }
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    key.push_str(if equivalence.similar { strip_www(host) } else { host });
    if let Some(port) = url.port() {
        write!(key, ":{port}").expect("writing to a string cannot fail");
    }
    if equivalence.similar {
        path::push_normalized(&mut key, url.path());
    } else {
        key.push_str(url.path());
    }
    let query = url.query().filter(|_| !equivalence.ignore_query).unwrap_or_default();
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    if equivalence.similar {
        // Sorted by name and stable: the order of values with the same name may matter.
        pairs.sort_by_key(|pair| pair.split('=').next());
    }
    for (number, pair) in pairs.into_iter().enumerate() {
        key.push(if number == 0 { '?' } else { '&' });
        key.push_str(pair);
    }
    key
}

/// A host without `www.`, if the rest can be a host.
pub(crate) fn strip_www(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

#[cfg(test)]
mod tests;
