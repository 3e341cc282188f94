//! The pages that callers name: their addresses, and apart from them the logins that stood in them. Whatever
//! stores or shows an address takes it from here, so no login is stored or shown with it.

use crate::Error;
use net::{CredentialScope, Login};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use url::Url;
use wire::{Issue, Kind};

/// A page that a request names.
#[derive(Debug, Clone)]
pub struct NamedPage {
    /// Without a login.
    pub url: Url,
    /// The login that the address held.
    pub login: Option<Login>,
    /// The address exactly as the caller wrote it, unless it held a login.
    pub written: String,
}

impl NamedPage {
    /// Reads the address of a page as callers write it. `names_host` tells whether the operator opened a host
    /// by its name, dots or not.
    pub fn parse(written: &str, names_host: &dyn Fn(&str) -> bool) -> Result<Self, Error> {
        let mut url = parse_url(written, names_host)?;
        let login = net::take_login(&mut url);
        let written = if login.is_some() { url.to_string() } else { written.to_owned() };
        Ok(Self { url, login, written })
    }

    /// Its own origin, for credentials.
    pub fn scope(&self) -> CredentialScope {
        CredentialScope::from_urls([&self.url])
    }
}

fn parse_url(written: &str, names_host: &dyn Fn(&str) -> bool) -> Result<Url, Error> {
    let invalid = |why: &str| {
        let issue = Issue::at("url", why, "invalid_value");
        Error::from(Kind::InvalidUrl).with_issues(&[issue])
    };
    let text = written.trim();
    if text.is_empty() {
        return Err(invalid("required"));
    }
    if text.len() > net::MAX_URL_BYTES {
        return Err(invalid(&format!("must be at most {} bytes long", net::MAX_URL_BYTES)));
    }
    let schemed = match text.split_once("://") {
        Some(_) => text.to_owned(),
        // `javascript:…` and `mailto:…` have a scheme; `example.com:80/x` has a port.
        None => match text.split_once(':') {
            Some((scheme, rest))
                if !scheme.contains(['.', '/', '?', '#'])
                    && !rest.starts_with(|c: char| c.is_ascii_digit())
                    && !scheme.starts_with('[') =>
            {
                return Err(invalid("URL uses unsupported protocol"));
            }
            _ => format!("http://{text}"),
        },
    };
    let url = Url::parse(&schemed).map_err(|error| invalid(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("URL uses unsupported protocol"));
    }
    let Some(host) = url.host() else { return Err(invalid("it has no host")) };
    if let url::Host::Domain(name) = host {
        let name = name.strip_suffix('.').unwrap_or(name);
        if !name.contains('.') && name != "localhost" && !names_host(name) {
            return Err(invalid("URL must have a valid top-level domain or be an IP address"));
        }
    }
    net::Destination::from_url(&url).map_err(|bad| invalid(&bad.to_string()))?;
    Ok(url)
}

/// The logins of the pages that a stored request names, by address. They are kept with the request and
/// nowhere else.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamedLogins(BTreeMap<String, String>);

impl NamedLogins {
    /// Notes the login of a page. False where the page was noted with another one.
    pub fn add(&mut self, page: &NamedPage) -> bool {
        let Some(login) = &page.login else { return true };
        let kept = self.0.entry(page.url.to_string()).or_insert_with(|| login.to_text());
        *kept == login.to_text()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The login that an address was named with.
    pub fn for_page(&self, url: &Url) -> Option<Login> {
        Login::parse(self.0.get(url.as_str())?)
    }

    /// The login that an address was named with, or else another address of its origin.
    pub fn for_origin(&self, url: &Url) -> Option<Login> {
        let of_origin = || {
            let named = |text: &str| {
                Url::parse(text).is_ok_and(|named| CredentialScope::from_urls([&named]).covers(url))
            };
            Login::parse(self.0.iter().find(|(text, _)| named(text))?.1)
        };
        self.for_page(url).or_else(of_origin)
    }
}

// Logins stay out of logs.
impl fmt::Debug for NamedLogins {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(written: &str) -> NamedPage {
        NamedPage::parse(written, &|_| false).unwrap()
    }

    #[test]
    fn a_login_stands_apart_from_its_address() {
        for written in ["https://me:secret@a.example/x", " https://me:secret@a.example/x "] {
            let page = page(written);
            assert_eq!(
                (page.url.as_str(), page.written.as_str()),
                ("https://a.example/x", "https://a.example/x")
            );
            assert!(page.login.is_some() && !format!("{page:?}").contains("secret"));
        }
        let plain = page("a.example/x");
        assert_eq!((plain.written.as_str(), plain.login), ("a.example/x", None));
        assert_eq!(page("me:1secret@a.example").written, "http://a.example/");
    }

    #[test]
    fn logins_are_found_by_address_and_by_origin() {
        let mut logins = NamedLogins::default();
        assert!(logins.add(&page("https://one:a@a.example/1")));
        assert!(logins.add(&page("https://two:b@a.example/2")));
        assert!(logins.add(&page("https://one:a@a.example/1")) && logins.add(&page("https://a.example/1")));
        assert!(!logins.add(&page("https://two:b@a.example/1")), "one page, two logins");
        let url = |text: &str| Url::parse(text).unwrap();
        let written = |login: Option<Login>| login.map(|login| login.to_text());
        assert_eq!(written(logins.for_page(&url("https://a.example/2"))).as_deref(), Some("two:b"));
        assert_eq!(logins.for_page(&url("https://a.example/3")), None);
        assert_eq!(written(logins.for_origin(&url("https://a.example/2"))).as_deref(), Some("two:b"));
        assert_eq!(written(logins.for_origin(&url("https://a.example/3"))).as_deref(), Some("one:a"));
        assert_eq!(logins.for_origin(&url("http://a.example/1")), None);
        assert_eq!(logins.for_origin(&url("https://b.example/1")), None);
        let kept = serde_json::to_string(&logins).unwrap();
        assert_eq!(serde_json::from_str::<NamedLogins>(&kept).unwrap(), logins);
        assert!(!format!("{logins:?}").contains("two"));
    }
}
