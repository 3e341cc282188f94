//! The parts of a URL that filters, ranking and duplicate detection use.

use percent_encoding::percent_decode_str;
use sites::{PageUrl, UrlEquivalence};
use std::borrow::Cow;
use url::Url;

/// The most labels of a host and segments of a path that are indexed for filters.
const MAX_URL_PARTS: usize = 12;
/// Bytes of a path whose words are indexed.
const MAX_PATH_BYTES: usize = 512;

/// A parsed URL. Text that is not a web URL has no host.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UrlParts {
    /// Lower case, without `www.`.
    pub(crate) host: String,
    port: Option<u16>,
    /// Percent-decoded, lower case.
    pub(crate) path: String,
}

impl UrlParts {
    pub(crate) fn parse(url: &str) -> Self {
        let Ok(parsed) = Url::parse(url) else {
            return Self { path: percent_decode(url).to_lowercase(), ..Self::default() };
        };
        let host = parsed.host_str().unwrap_or_default().to_lowercase();
        Self {
            host: without_www(&host).to_owned(),
            port: parsed.port(),
            path: percent_decode(parsed.path()).to_lowercase(),
        }
    }

    /// Parses a site as filters name it: a host, optionally with a path. Accepts a scheme, `www.` and `*.` in
    /// front.
    pub(crate) fn parse_site(site: &str) -> Self {
        let site = site.trim();
        let site = site.split_once("://").map_or(site, |(_, rest)| rest);
        let site = site.trim_start_matches("*.").trim_start_matches('.');
        let (authority, path) = site.split_once('/').unwrap_or((site, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => (host, port.parse().ok()),
            _ => (authority, None),
        };
        let host = host.to_lowercase();
        // Hosts in other scripts are compared in the Punycode form that URLs use.
        let host = url::Host::parse(&host).map_or(host, |host| host.to_string());
        Self {
            host: without_www(&host).to_owned(),
            port,
            path: format!("/{}", percent_decode(path).to_lowercase()),
        }
    }

    /// The host and its parent domains (`docs.rs` of `a.docs.rs`), and the host with its port if it has one.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let mut hosts = Vec::new();
        if !self.host.is_empty() {
            let starts = std::iter::once(0).chain(self.host.match_indices('.').map(|(at, _)| at + 1));
            hosts.extend(starts.take(MAX_URL_PARTS).map(|at| self.host[at..].to_owned()));
            hosts.extend(self.port.map(|port| format!("{}:{port}", self.host)));
        }
        hosts
    }

    /// The host as filters look it up.
    pub(crate) fn host_and_port(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    /// The path and its parents: `/a` and `/a/b` of `/a/b/`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = self.path.trim_end_matches('/');
        let ends = path.match_indices('/').skip(1).map(|(at, _)| at).chain(std::iter::once(path.len()));
        let mut paths: Vec<String> = ends
            .take(MAX_URL_PARTS)
            .map(|end| path[..end].to_owned())
            .filter(|path| !path.is_empty())
            .collect();
        paths.dedup();
        paths
    }

    /// The path as filters look it up; empty for all paths.
    pub(crate) fn path_prefix(&self) -> &str {
        self.path.trim_end_matches('/')
    }

    /// `pdf`, `html`, …: the extension of the path. Pages without one are HTML.
    pub(crate) fn file_type(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        match name.rsplit_once('.') {
            Some((_, end))
                if (1..=8).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
            {
                normalize_file_type(end)
            }
            _ => "html".to_owned(),
        }
    }

    /// The path as text to index.
    pub(crate) fn path_text(&self) -> &str {
        &self.path[..self.path.floor_char_boundary(MAX_PATH_BYTES)]
    }

    /// The host as text to index; labels with hyphens also as one word.
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
        sites::stable_hash(&self.host_and_port())
    }
}

/// Maps file extensions with the same meaning to one.
pub(crate) fn normalize_file_type(end: &str) -> String {
    let end = end.trim().trim_start_matches('.').to_lowercase();
    match end.as_str() {
        "htm" | "xhtml" | "shtml" | "php" | "asp" | "aspx" | "jsp" => "html".to_owned(),
        "markdown" => "md".to_owned(),
        _ => end,
    }
}

/// A hash that identifies the page at a URL, in [`crate::Document::links`] and wherever pages are compared;
/// none for text that is not a web URL. `http` or `https`, `www.` and a final slash make no difference.
pub fn address_number(url: &str) -> Option<u64> {
    let sameness = UrlEquivalence { ignore_query: false, similar: true };
    let address = PageUrl::parse_with_hash_route(url, sameness).ok()?;
    Some(sites::stable_hash(address.key()))
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

fn percent_decode(path: &str) -> Cow<'_, str> {
    percent_decode_str(path).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_url_for_filters() {
        let parts = UrlParts::parse("https://www.Docs.rs:8443/Tokio/1.0/a%20b.PDF?q=1");
        assert_eq!(parts.hosts(), ["docs.rs", "rs", "docs.rs:8443"]);
        assert_eq!(parts.paths(), ["/tokio", "/tokio/1.0", "/tokio/1.0/a b.pdf"]);
        assert_eq!(parts.file_type(), "pdf");
        assert_eq!(UrlParts::parse("https://a.example/").file_type(), "html");
        assert_eq!(UrlParts::parse("https://a.example/x.php").file_type(), "html");
        assert!(UrlParts::parse("https://a.example/").paths().is_empty());
        assert_eq!(UrlParts::parse("notes/today.md").file_type(), "md");
        assert!(UrlParts::parse("notes/today.md").hosts().is_empty());
    }

    #[test]
    fn accepts_many_spellings_of_a_site() {
        for name in ["docs.rs/tokio", "https://www.docs.rs/tokio/", "*.docs.rs/Tokio", ".DOCS.rs/tokio"] {
            let site = UrlParts::parse_site(name);
            assert_eq!((site.host_and_port().as_str(), site.path_prefix()), ("docs.rs", "/tokio"), "{name}");
        }
        assert_eq!(UrlParts::parse_site("127.0.0.1:80/x").host_and_port(), "127.0.0.1:80");
        assert_eq!(UrlParts::parse_site("bücher.example").host, "xn--bcher-kva.example");
    }

    #[test]
    fn spellings_of_one_url_have_one_number() {
        let number = address_number("http://www.example.org/a/");
        assert_eq!(number, address_number("https://example.org/a"));
        assert_ne!(number, address_number("https://example.org/b"));
        assert_ne!(address_number("https://example.org/#/a"), address_number("https://example.org/#/b"));
        assert_eq!(address_number("notes/today.md"), None);
    }
}
