//! What the workers of a crawl or a batch need to know of it. Kept with the crawl, so that any process can go on with it.

use serde::{Deserialize, Serialize};
use sites::{Rules, Sameness};
use std::collections::BTreeMap;
use wire::scrape::ScrapeOptions;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    /// The start of a crawl, as the caller wrote it; none for a batch.
    pub start: Option<String>,
    pub follow: Follow,
    /// How each page is scraped.
    pub scrape: ScrapeOptions,
    /// How the caller reaches this server, for addresses of files.
    pub base_url: String,
    /// Nothing of the pages is kept past their collection.
    pub private: bool,
    pub webhook: Option<Webhook>,
}

/// Which addresses a crawl takes, as [`sites::Rules`] and beside them.
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
    pub fn rules(&self) -> Rules {
        Rules {
            include_paths: self.include_paths.clone(),
            exclude_paths: self.exclude_paths.clone(),
            regex_on_full_url: self.regex_on_full_url,
            crawl_entire_domain: self.crawl_entire_domain,
            allow_subdomains: self.allow_subdomains,
            allow_external_links: self.allow_external_links,
            max_discovery_depth: self.max_discovery_depth,
        }
    }

    pub fn sameness(&self) -> Sameness {
        Sameness { ignore_query: self.ignore_query, similar: self.similar_are_one }
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
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Short names: `started`, `page`, `completed`, `failed`.
    pub events: Vec<String>,
}
