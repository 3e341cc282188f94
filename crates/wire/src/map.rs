//! Map: the URLs of a site.

use crate::SecretHeaders;
use crate::scrape::{AuditInput, LocationInput, ThreatInput};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /v2/map`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// Any page of the site. `http://` is added to a URL without a scheme.
    pub url: Option<String>,
    /// Words to rank the URLs by; the best come first.
    pub search: Option<String>,
    /// `include`, `only` or `skip`.
    #[schema(default = "include", pattern = "^(include|only|skip)$")]
    pub sitemap: Option<String>,
    /// Include all hosts of the domain.
    #[schema(default = true)]
    pub include_subdomains: Option<bool>,
    /// One entry per path, without its query.
    #[schema(default = true)]
    pub ignore_query_parameters: Option<bool>,
    /// Accepted without effect: maps are not cached.
    pub ignore_cache: Option<bool>,
    #[schema(minimum = 1, maximum = 100_000, default = 5_000)]
    pub limit: Option<i64>,
    /// Timeout in milliseconds; after it, what has been found is returned.
    #[schema(minimum = 1000, maximum = 300_000, default = 60_000)]
    pub timeout: Option<i64>,
    /// Country and languages of the requests.
    pub location: Option<LocationInput>,
    /// Hosts that must not be contacted.
    pub threat_protection: Option<ThreatInput>,
    /// Recorded with the request.
    pub audit_metadata: Option<AuditInput>,
    /// Only paths that match one of these regexes.
    pub include_paths: Option<Vec<String>>,
    /// No paths that match one of these regexes.
    pub exclude_paths: Option<Vec<String>>,
    /// Headers to send with the requests.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub headers: Option<SecretHeaders>,
    /// Only URLs below the path of `url`.
    #[schema(default = false)]
    pub filter_by_path: Option<bool>,
    /// Accepted without effect: there is no shared index of URLs.
    pub use_index: Option<bool>,
    /// A test hook of another server; refused.
    pub use_mock: Option<String>,
    /// Match the regexes against the whole URL, with its query.
    #[serde(rename = "regexOnFullURL")]
    #[schema(default = false)]
    pub regex_on_full_url: Option<bool>,
    /// Maximum number of links from the start or a sitemap.
    #[schema(minimum = 0)]
    pub max_discovery_depth: Option<i64>,
    /// URLs that differ only in `www.`, `http` or `https`, a trailing slash or an index file are the same page.
    #[serde(rename = "deduplicateSimilarURLs")]
    #[schema(default = true)]
    pub deduplicate_similar_urls: Option<bool>,
    /// Accepted without effect: a map covers the whole host unless `filterByPath` says otherwise.
    pub crawl_entire_domain: Option<bool>,
    /// Include pages of other sites that this one links to.
    #[schema(default = false)]
    pub allow_external_links: Option<bool>,
    /// The name of `includeSubdomains` among the options of a crawl.
    pub allow_subdomains: Option<bool>,
    /// Read pages for their links whatever robots.txt says.
    #[schema(default = false)]
    pub ignore_robots_txt: Option<bool>,
    /// The user agent whose rules in robots.txt apply.
    #[schema(min_length = 1, max_length = 200)]
    pub robots_user_agent: Option<String>,
    /// Seconds between two pages that are read for their links, which is then done one at a time.
    #[schema(minimum = 0, maximum = 60)]
    pub delay: Option<f64>,
}

/// The URLs of a site.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = MapAnswer)]
pub struct MapResponse {
    pub success: bool,
    pub id: Uuid,
    pub links: Vec<MapLink>,
    /// What is missing and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// One URL, with what is known about its page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MapLink {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
