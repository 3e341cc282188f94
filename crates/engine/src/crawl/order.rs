//! What the workers of a crawl or a batch need to know of it. Kept with the crawl, so that any process can go
//! on with it.

use crate::scrape::plan::NamedLogins;
use outbox::webhooks::Webhook;
use serde::{Deserialize, Serialize};
use sites::{ScopeRules, UrlEquivalence};
use url::Url;
use wire::scrape::ScrapeOptions;

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
    /// The `traceparent` of the request that asked for it, where traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_with_the_port_that_is_written() {
        let host = |text: &str| host_of(&Url::parse(text).unwrap());
        assert_eq!(host("http://site.example:80/"), "site.example");
        assert_eq!(host("http://site.example:81/"), "site.example:81");
    }
}
