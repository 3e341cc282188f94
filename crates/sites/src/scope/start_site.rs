//! The site of a crawl, and how other URLs relate to it.

use super::file_names;
use crate::page_url::strip_www;
use crate::public_suffix;
use url::{Host, Url};

/// How a URL relates to the start URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteRelation {
    /// On the start's host and below its path.
    Below,
    /// On the start's host.
    SameHost,
    /// On another host of the start's registrable domain.
    SameDomain,
    /// Anywhere else.
    Foreign,
}

/// The site of a start URL. `www.` and the scheme do not matter; the port does.
#[derive(Clone, Debug)]
pub struct StartSite {
    host: String,
    port: Option<u16>,
    /// `None` for IP addresses and single names: they have no subdomains.
    domain: Option<String>,
    folder: String,
}

impl StartSite {
    pub fn from_url(start: &Url, entire: bool) -> Self {
        Self {
            host: host(start).to_owned(),
            port: start.port(),
            domain: registrable(start).map(str::to_owned),
            folder: if entire { "/".to_owned() } else { folder(start.path()) },
        }
    }

    pub fn relation(&self, url: &Url) -> SiteRelation {
        if url.port() != self.port {
            return SiteRelation::Foreign;
        }
        if host(url) == self.host {
            return if self.is_below(url.path()) { SiteRelation::Below } else { SiteRelation::SameHost };
        }
        let related = registrable(url).is_some_and(|domain| self.domain.as_deref() == Some(domain));
        if related { SiteRelation::SameDomain } else { SiteRelation::Foreign }
    }

    /// Below the folder, or the folder itself with or without a trailing slash.
    fn is_below(&self, path: &str) -> bool {
        let bare = self.folder.trim_end_matches('/');
        path.strip_prefix(bare).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The path prefix of a start path: the folder of a file, otherwise the path itself.
fn folder(path: &str) -> String {
    if path.ends_with('/') || !file_names::is_page_file(path) {
        return path.to_owned();
    }
    path[..=path.rfind('/').unwrap_or_default()].to_owned()
}

/// The host without `www.` and trailing dot.
fn host(url: &Url) -> &str {
    strip_www(url.host_str().unwrap_or_default().trim_end_matches('.'))
}

/// The registrable domain, by the public suffix list.
fn registrable(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(_) => public_suffix::registrable_domain(url.host_str()?.trim_end_matches('.')),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}
