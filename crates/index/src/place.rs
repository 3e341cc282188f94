//! Where a page lies: what its address says about it, for filters, for words, and for knowing one page from another.

use percent_encoding::percent_decode_str;
use sites::{Address, Sameness};
use std::borrow::Cow;
use url::Url;

/// Labels of a host and segments of a path that filters can name.
const MOST_PARTS: usize = 12;
/// Bytes of a path whose words count.
const LONGEST_PATH: usize = 512;

/// An address taken apart. What is no address of the web has no host.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Small letters, without `www.`.
    pub(crate) host: String,
    port: Option<u16>,
    /// Decoded, small letters.
    pub(crate) path: String,
}

impl Place {
    pub(crate) fn of(url: &str) -> Self {
        let Ok(parsed) = Url::parse(url) else {
            return Self { path: decoded(url).to_lowercase(), ..Self::default() };
        };
        let host = parsed.host_str().unwrap_or_default().to_lowercase();
        Self {
            host: without_www(&host).to_owned(),
            port: parsed.port(),
            path: decoded(parsed.path()).to_lowercase(),
        }
    }

    /// A site as filters name it: a host with all below it, a path may follow. Tolerates a scheme, `www.` and `*.` in front.
    pub(crate) fn named(site: &str) -> Self {
        let site = site.trim();
        let site = site.split_once("://").map_or(site, |(_, rest)| rest);
        let site = site.trim_start_matches("*.").trim_start_matches('.');
        let (authority, path) = site.split_once('/').unwrap_or((site, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        let host = host.to_lowercase();
        // Names of other scripts are compared in the form that addresses use.
        let host = url::Host::parse(&host).map_or(host, |host| host.to_string());
        Self { host: without_www(&host).to_owned(), port, path: format!("/{}", decoded(path).to_lowercase()) }
    }

    /// The host and every name above it: `docs.rs` of `a.docs.rs`; with its port where it has one.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let mut hosts = Vec::new();
        if !self.host.is_empty() {
            let starts = std::iter::once(0).chain(self.host.match_indices('.').map(|(at, _)| at + 1));
            hosts.extend(starts.take(MOST_PARTS).map(|at| self.host[at..].to_owned()));
            hosts.extend(self.port.map(|port| format!("{}:{port}", self.host)));
        }
        hosts
    }

    /// The host as a filter looks for it.
    pub(crate) fn host_and_port(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    /// Every path above: `/a` and `/a/b` of `/a/b/`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = self.path.trim_end_matches('/');
        let ends = path.match_indices('/').skip(1).map(|(at, _)| at).chain(std::iter::once(path.len()));
        let mut paths: Vec<String> =
            ends.take(MOST_PARTS).map(|end| path[..end].to_owned()).filter(|path| !path.is_empty()).collect();
        paths.dedup();
        paths
    }

    /// The path as a filter looks for it; empty for all paths.
    pub(crate) fn path_named(&self) -> &str {
        self.path.trim_end_matches('/')
    }

    /// `pdf`, `html`, …: the end of the path. Pages without one are HTML.
    pub(crate) fn file_type(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        match name.rsplit_once('.') {
            Some((_, end))
                if (1..=8).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                file_type_named(end)
            }
            _ => "html".to_owned(),
        }
    }

    /// The words of the path, as a text.
    pub(crate) fn path_text(&self) -> &str {
        &self.path[..self.path.floor_char_boundary(LONGEST_PATH)]
    }

    /// The words of the host, as a text; its main name also in one piece, as people write it (`stackoverflow`).
    pub(crate) fn host_text(&self) -> String {
        let glued: Vec<String> = self
            .host
            .split('.')
            .filter(|label| label.contains('-') && !label.starts_with("xn--"))
            .map(|label| label.replace('-', ""))
            .collect();
        std::iter::once(self.host.as_str())
            .chain(glued.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn host_hash(&self) -> u64 {
        sites::hash_of(&self.host_and_port())
    }
}

/// Ends of names that mean the same.
pub(crate) fn file_type_named(end: &str) -> String {
    let end = end.trim().trim_start_matches('.').to_lowercase();
    match end.as_str() {
        "htm" | "xhtml" | "shtml" | "php" | "asp" | "aspx" | "jsp" => "html".to_owned(),
        "markdown" => "md".to_owned(),
        _ => end,
    }
}

/// The number that stands for the page at an address, in [`crate::Document::links`] and wherever pages are compared; none for what is no
/// address of the web. `http` or `https`, `www.` and a final slash make no difference.
pub fn address_number(url: &str) -> Option<u64> {
    let address = Address::parse(url, Sameness { ignore_query: false, similar: true }).ok()?;
    Some(sites::hash_of(address.key()))
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

fn decoded(path: &str) -> Cow<'_, str> {
    percent_decode_str(path).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_what_filters_ask() {
        let place = Place::of("https://www.Docs.rs:8443/Tokio/1.0/a%20b.PDF?q=1");
        assert_eq!(place.hosts(), ["docs.rs", "rs", "docs.rs:8443"]);
        assert_eq!(place.paths(), ["/tokio", "/tokio/1.0", "/tokio/1.0/a b.pdf"]);
        assert_eq!(place.file_type(), "pdf");
        assert_eq!(Place::of("https://a.example/").file_type(), "html");
        assert_eq!(Place::of("https://a.example/x.php").file_type(), "html");
        assert!(Place::of("https://a.example/").paths().is_empty());
        assert_eq!(Place::of("notes/today.md").file_type(), "md");
        assert!(Place::of("notes/today.md").hosts().is_empty());
    }

    #[test]
    fn sites_are_named_in_many_ways() {
        for name in ["docs.rs/tokio", "https://www.docs.rs/tokio/", "*.docs.rs/Tokio", ".DOCS.rs/tokio"] {
            let site = Place::named(name);
            assert_eq!((site.host_and_port().as_str(), site.path_named()), ("docs.rs", "/tokio"), "{name}");
        }
        assert_eq!(Place::named("127.0.0.1:80/x").host_and_port(), "127.0.0.1:80");
        assert_eq!(Place::named("bücher.example").host, "xn--bcher-kva.example");
    }

    #[test]
    fn spellings_of_one_address_have_one_number() {
        let number = address_number("http://www.example.org/a/");
        assert_eq!(number, address_number("https://example.org/a"));
        assert_ne!(number, address_number("https://example.org/b"));
        assert_eq!(address_number("notes/today.md"), None);
    }
}
