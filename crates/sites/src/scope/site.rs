//! Where an address lies, seen from the start address of a crawl.

use super::files;
use crate::address::apex;
use url::{Host, Url};

/// How near an address is to the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belonging {
    /// On the start's host and below its path.
    Below,
    /// On the start's host.
    SameHost,
    /// On another host of the start's registrable domain.
    SameDomain,
    /// Anywhere else.
    Foreign,
}

/// The site of a start address. `www.` and the scheme make no other site; a port does.
#[derive(Clone, Debug)]
pub struct Site {
    host: String,
    port: Option<u16>,
    /// None for addresses of machines and single names: they have no subdomains.
    domain: Option<String>,
    folder: String,
}

impl Site {
    pub fn of(start: &Url, entire: bool) -> Self {
        Self {
            host: host(start).to_owned(),
            port: start.port(),
            domain: registrable(start).map(str::to_owned),
            folder: if entire { "/".to_owned() } else { folder(start.path()) },
        }
    }

    pub fn belonging(&self, url: &Url) -> Belonging {
        if url.port() != self.port {
            return Belonging::Foreign;
        }
        if host(url) == self.host {
            return if self.is_below(url.path()) { Belonging::Below } else { Belonging::SameHost };
        }
        let related = registrable(url).is_some_and(|domain| self.domain.as_deref() == Some(domain));
        if related { Belonging::SameDomain } else { Belonging::Foreign }
    }

    /// Below the folder, or the folder itself with or without its final slash.
    fn is_below(&self, path: &str) -> bool {
        let bare = self.folder.trim_end_matches('/');
        path.strip_prefix(bare).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// What a start path scopes to: the folder of a file or of what ends in a slash, else itself and below.
fn folder(path: &str) -> String {
    if path.ends_with('/') || !files::names_a_page(path) {
        return path.to_owned();
    }
    path[..=path.rfind('/').unwrap_or_default()].to_owned()
}

/// The host as sites are compared by it.
fn host(url: &Url) -> &str {
    apex(url.host_str().unwrap_or_default().trim_end_matches('.'))
}

/// The part of a host that somebody registered, by the public suffix list.
fn registrable(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(_) => psl::domain_str(url.host_str()?.trim_end_matches('.')),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}
