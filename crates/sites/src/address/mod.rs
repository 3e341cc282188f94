//! When two addresses are one page.
//!
//! An [`Address`] holds two forms of a URL: what is fetched, where only changes are made that cannot change the answer, and
//! a key, which is what a frontier compares. Owns both forms; never judges whether an address belongs to a job.

mod escapes;
mod parameters;
mod path;

pub(crate) use escapes::{decoded, normal_escapes};
use parameters::Role;
use std::borrow::Cow;
use std::fmt::Write;
use url::{Position, Url};

/// Longest address that is read at all; longer ones are data, traps or mistakes.
pub const LONGEST: usize = 8 << 10;

/// How alike addresses must be to count as one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sameness {
    /// The query does not make another page (`ignoreQueryParameters`).
    pub ignore_query: bool,
    /// Neither do `http` or `https`, `www.`, a final slash, the name of an index file, doubled slashes, or the order of
    /// parameters (`deduplicateSimilarURLs`).
    pub similar: bool,
}

/// Why a text is no address of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Mail, telephone, script, file…
    #[error("not an http address")]
    NotHttp,
    /// Longer than [`LONGEST`].
    #[error("the address is too long")]
    TooLong,
    /// No URL at all.
    #[error("not a URL")]
    Malformed,
}

/// The address of a page: what to fetch, and what to compare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    url: Url,
    key: String,
}

impl Address {
    /// Reads an absolute address.
    pub fn parse(text: &str, sameness: Sameness) -> Result<Self, Unusable> {
        if text.len() > LONGEST {
            return Err(Unusable::TooLong);
        }
        match Url::parse(text.trim()) {
            Ok(url) => Self::of(url, sameness),
            Err(_) => Err(Unusable::Malformed),
        }
    }

    /// The same for a URL that was read before.
    pub fn of(mut url: Url, sameness: Sameness) -> Result<Self, Unusable> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Unusable::NotHttp);
        }
        url.set_fragment(None);
        // A login is no part of a page's address; lists of addresses are stored and shown.
        if !url.username().is_empty() || url.password().is_some() {
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        let url = settled(url)?;
        // Escapes of what needs none are gone by now, but reading may have added some.
        if url.as_str().len() > LONGEST {
            return Err(Unusable::TooLong);
        }
        let key = key(&url, sameness);
        Ok(Self { url, key })
    }

    /// What is fetched: no login, no fragment, no default port, no dot segments, escapes in normal form, and without parameters
    /// that only track readers or carry a session.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// What is compared. Equal keys are one page.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The URL without its query, for lists that want one entry for each path.
    pub fn without_query(&self) -> Url {
        let mut url = self.url.clone();
        url.set_query(None);
        url
    }

    /// Gives the URL away.
    pub fn into_url(self) -> Url {
        self.url
    }
}

/// The URL in the form that is fetched.
fn settled(url: Url) -> Result<Url, Unusable> {
    match changed(&url) {
        None => Ok(url),
        Some(text) => Url::parse(&text).map_err(|_| Unusable::Malformed),
    }
}

/// What the fetched form says, where that is not what the URL says already.
fn changed(url: &Url) -> Option<String> {
    let normal = normal_escapes(url.path());
    let path = path::without_session(&normal);
    let query = url.query().map(kept_query).filter(|query| !query.is_empty());
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

/// A query without the parameters that say nothing about the page.
fn kept_query(query: &str) -> Cow<'_, str> {
    let normal = normal_escapes(query);
    let telling =
        normal.split('&').filter(|pair| !pair.is_empty() && parameters::role(pair, true) != Role::Tracking);
    let alone = telling.count() == 1;
    let content = |pair: &&str| parameters::role(pair, alone) == Role::Content;
    if normal.split('&').all(|pair| content(&pair)) {
        return normal;
    }
    Cow::Owned(normal.split('&').filter(content).collect::<Vec<_>>().join("&"))
}

fn key(url: &Url, sameness: Sameness) -> String {
    let mut key = String::with_capacity(url.as_str().len());
    if !sameness.similar {
        key.push_str(url.scheme());
        key.push_str("://");
    }
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    key.push_str(if sameness.similar { apex(host) } else { host });
    if let Some(port) = url.port() {
        write!(key, ":{port}").expect("a string takes all");
    }
    if sameness.similar {
        path::push_similar(&mut key, url.path());
    } else {
        key.push_str(url.path());
    }
    let query = url.query().filter(|_| !sameness.ignore_query).unwrap_or_default();
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    if sameness.similar {
        // By name alone and stable: the order of values with one name may mean something.
        pairs.sort_by_key(|pair| pair.split('=').next());
    }
    for (number, pair) in pairs.into_iter().enumerate() {
        key.push(if number == 0 { '?' } else { '&' });
        key.push_str(pair);
    }
    key
}

/// A host without `www.`, where something is left that can be a host.
pub(crate) fn apex(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

#[cfg(test)]
mod tests;
