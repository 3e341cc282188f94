//! What the workers of a crawl or a batch need to know of it. Kept with the crawl, so that any process can go
//! on with it.

use crate::scrape::plan::NamedLogins;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sites::{PageUrl, ScopeRules, UrlEquivalence};
use std::collections::BTreeMap;
use store::crawls::EntryKey;
use url::Url;
use wire::SecretHeaders;
use wire::scrape::ScrapeOptions;

/// What a page is known by in the ledger: equal for addresses that are one page.
pub fn entry_key(address: &PageUrl) -> EntryKey {
    short_hash("page", address.key())
}

/// The same for an address of a batch, which is one page for what is written and nothing else.
pub fn written_key(written: &str) -> EntryKey {
    short_hash("page", written)
}

/// What the lists of a host (robots, sitemaps, feeds) are known by: no page has such a key.
pub fn lists_key(host: &str) -> EntryKey {
    short_hash("lists", host)
}

/// Half of a SHA-256: too long for two addresses to meet by chance, and hardly by force.
fn short_hash(what: &str, text: &str) -> EntryKey {
    let mut hash = Sha256::new();
    hash.update(what);
    hash.update([0]);
    hash.update(text);
    let mut key = EntryKey::default();
    key.copy_from_slice(&hash.finalize()[..size_of::<EntryKey>()]);
    key
}

/// Whose pace counts for an address: its host, with the port where one is written.
pub fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The start of a crawl, as the caller wrote it but for a login; none for a batch.
    pub start: Option<String>,
    /// Logins that stood in the start, or in addresses of a batch.
    #[serde(default, skip_serializing_if = "NamedLogins::is_empty")]
    pub logins: NamedLogins,
    pub follow: Follow,
    /// How each page is scraped.
    pub scrape: ScrapeOptions,
    /// How the caller reaches this server, for addresses of files.
    pub base_url: String,
    /// Zero data retention: nothing of the pages is stored after the caller has collected them.
    pub private: bool,
    pub webhook: Option<Webhook>,
}

/// Which addresses a crawl takes: [`sites::ScopeRules`], and what applies in addition to them.
#[expect(clippy::struct_excessive_bools, reason = "the API's own switches, each by itself")]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Follow {
    pub include_paths: Vec<String>,
    pub exclude_paths: Vec<String>,
    pub regex_on_full_url: bool,
    pub crawl_entire_domain: bool,
    pub allow_subdomains: bool,
    pub allow_external_links: bool,
    pub max_discovery_depth: Option<u32>,
    pub sitemap: SitemapUse,
    pub ignore_query: bool,
    pub similar_are_one: bool,
    pub ignore_robots: bool,
    pub robots_agent: Option<String>,
}

impl Follow {
    pub fn rules(&self) -> ScopeRules {
        ScopeRules {
            include_paths: self.include_paths.clone(),
            exclude_paths: self.exclude_paths.clone(),
            regex_on_full_url: self.regex_on_full_url,
            crawl_entire_domain: self.crawl_entire_domain,
            allow_subdomains: self.allow_subdomains,
            allow_external_links: self.allow_external_links,
            max_discovery_depth: self.max_discovery_depth,
        }
    }

    pub fn sameness(&self) -> UrlEquivalence {
        UrlEquivalence { ignore_query: self.ignore_query, similar: self.similar_are_one }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SitemapUse {
    #[default]
    Include,
    Skip,
    Only,
}

/// Whom to tell what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub url: String,
    #[serde(default)]
    pub headers: SecretHeaders,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Short names: `started`, `page`, `completed`, `failed`.
    pub events: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_has_one_key_and_lists_have_another() {
        let similar = UrlEquivalence { ignore_query: false, similar: true };
        let key = |text: &str| entry_key(&PageUrl::parse(text, similar).unwrap());
        assert_eq!(key("http://www.site.example/a/"), key("https://site.example/a#x"));
        assert_ne!(key("http://site.example/a"), key("http://site.example/b"));
        assert_ne!(written_key("site.example"), lists_key("site.example"));
        let host = |text: &str| host_of(&Url::parse(text).unwrap());
        assert_eq!(host("http://site.example:80/"), "site.example");
        assert_eq!(host("http://site.example:81/"), "site.example:81");
    }
}
