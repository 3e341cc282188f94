//! Map: the addresses of a site, in the shapes of the contract.

use crate::SecretHeaders;
use crate::scrape::{AuditAsked, LocationAsked, ThreatAsked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// `POST /v2/map`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapRequest {
    /// Any page of the site. `http://` is put before an address without a scheme.
    pub url: Option<String>,
    /// Words to rank the addresses by; the best come first.
    pub search: Option<String>,
    /// `include`, `only` or `skip`.
    #[schema(default = "include", pattern = "^(include|only|skip)$")]
    pub sitemap: Option<String>,
    /// All hosts of the domain.
    #[schema(default = true)]
    pub include_subdomains: Option<bool>,
    /// One entry for each path, without its query.
    #[schema(default = true)]
    pub ignore_query_parameters: Option<bool>,
    /// Accepted without effect: nothing of a map is stored.
    pub ignore_cache: Option<bool>,
    #[schema(minimum = 1, maximum = 100_000, default = 5_000)]
    pub limit: Option<i64>,
    /// Milliseconds until the answer must be there; then what is ready is returned.
    #[schema(minimum = 1000, maximum = 300_000, default = 60_000)]
    pub timeout: Option<i64>,
    /// In which languages to ask.
    pub location: Option<LocationAsked>,
    /// Hosts that must not be touched.
    pub threat_protection: Option<ThreatAsked>,
    /// Noted with the request.
    pub audit_metadata: Option<AuditAsked>,
    /// Only paths that one of these regexes finds something in.
    pub include_paths: Option<Vec<String>>,
    /// No paths that one of these regexes finds something in.
    pub exclude_paths: Option<Vec<String>>,
    /// Headers to send with the requests.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    pub headers: Option<SecretHeaders>,
    /// Only addresses below the path of `url`.
    #[schema(default = false)]
    pub filter_by_path: Option<bool>,
    /// Accepted without effect: there is no shared index of addresses.
    pub use_index: Option<bool>,
    /// A test hook of another server; refused.
    pub use_mock: Option<String>,
}

/// The addresses of a site.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MapAnswer {
    pub success: bool,
    pub id: Uuid,
    pub links: Vec<MapLink>,
    /// What is missing and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// One address, with what is known of its page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MapLink {
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
