//! Search: the web, or the pages this server has indexed.

mod feedback;
mod fields;
mod response;
mod tools;

pub use feedback::{
    FeedbackRequest, FeedbackResponse, MissingContent, SearchFeedbackRequest, ValuableSource,
};
pub use fields::{SEARCH_FIELDS, table};
pub use response::{HitPlace, HitRanking, ImageHit, NewsHit, SearchData, SearchResponse, Tool, WebHit};
pub use tools::{FoundTools, ToolCall, ToolError, ToolResponse, ToolResult, ToolResults};

use crate::scrape::{ScrapeOptions, ThreatInput, plain_or_object};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v2/search`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchRequest {
    /// The query, with operators: `site:`, `-site:`, `-word`, `"a phrase"`, `filetype:`, `intitle:`,
    /// `inurl:`, `OR`, `imagesize:`.
    #[schema(max_length = 500)]
    pub query: Option<String>,
    /// Maximum number of results per source.
    #[schema(minimum = 1, maximum = 100, default = 10)]
    pub limit: Option<i64>,
    /// `web`, `news`, `images`, `alexandria`: names, or objects with options. `web` by default.
    pub sources: Option<Vec<SourceInput>>,
    /// `github`, `research`, `pdf`; or one of `developer` and `gov`, alone.
    pub categories: Option<Vec<CategoryInput>>,
    /// Only these hosts and their subdomains; not together with `excludeDomains`.
    pub include_domains: Option<Vec<String>>,
    /// None of these hosts or their subdomains.
    pub exclude_domains: Option<Vec<String>>,
    /// How old results may be: `qdr:h`, `qdr:d`, `qdr:w`, `qdr:m`, `qdr:y`,
    /// `cdr:1,cd_min:M/D/YYYY,cd_max:M/D/YYYY`, and `sbd:1` for the newest first.
    pub tbs: Option<String>,
    /// A location as text, for providers that support it.
    pub location: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[schema(default = "US")]
    pub country: Option<String>,
    /// Safe search, if the provider supports it.
    pub safe: Option<bool>,
    /// Timeout in milliseconds; after it, what is ready is returned.
    #[schema(minimum = 1000, maximum = 300_000, default = 60_000)]
    pub timeout: Option<i64>,
    /// Leave out results whose URL cannot be scraped, instead of marking them.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(default = false)]
    pub ignore_invalid_urls: Option<bool>,
    /// Descriptions are passages of the page that match the query, if the page is indexed.
    #[schema(default = true)]
    pub highlights: Option<bool>,
    /// Ours: each result says at which place each provider had it, as `ranking`.
    #[schema(default = false)]
    pub explain: Option<bool>,
    /// With `formats`, every result is scraped.
    pub scrape_options: Option<ScrapeOptions>,
    /// `default`, `anon`, `zdr`: with the last two nothing of the search is stored.
    pub enterprise: Option<Vec<String>>,
    /// Store nothing of the search, nor of the pages it scrapes.
    #[schema(default = false)]
    pub zero_data_retention: Option<bool>,
    /// Refused if true: results are scraped before the response.
    #[schema(default = false)]
    pub async_scraping: Option<bool>,
    /// ISO 639-1.
    #[schema(default = "en")]
    pub lang: Option<String>,
    /// Accepted without effect.
    pub filter: Option<String>,
    /// Catalogue tools for the found domains; there are none here, so `data.tools` is empty.
    pub domain_tools: Option<bool>,
    /// `compact`, `summary` or `full`.
    pub tool_detail: Option<String>,
    /// Hosts that must not be among the results.
    pub threat_protection: Option<ThreatInput>,
}

plain_or_object! {
    /// One of `sources`: a name, or an object with `type` and options.
    SourceInput as SourceAsked { string(String) by visit_str: &str, visit_string: String; SourceObject }
}

/// A source with its own options, which take precedence over those of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SourceObject {
    /// `web`, `news`, `images` or `alexandria`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub tbs: Option<String>,
    pub location: Option<String>,
    pub lang: Option<String>,
    pub country: Option<String>,
    /// Accepted without effect.
    pub filter: Option<String>,
}

plain_or_object! {
    /// One of `categories`: a name, or an object with `type`.
    CategoryInput as CategoryAsked { string(String) by visit_str: &str, visit_string: String; CategoryObject }
}

/// A category.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CategoryObject {
    /// `github`, `research`, `pdf`, `developer` or `gov`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl SourceInput {
    pub fn name(&self) -> &str {
        match self {
            Self::Plain(name) => name,
            Self::Object(object) => object.kind.as_deref().unwrap_or_default(),
        }
    }

    /// Its own options.
    pub fn options(&self) -> Option<&SourceObject> {
        match self {
            Self::Plain(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

impl CategoryInput {
    pub fn name(&self) -> &str {
        match self {
            Self::Plain(name) => name,
            Self::Object(object) => object.kind.as_deref().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, read};
    use serde_json::json;

    #[test]
    fn reads_what_both_clients_send() {
        let body = json!({
            "query": "x", "limit": 5, "sources": [{ "type": "web", "tbs": "qdr:d" }, "news"],
            "categories": [{ "type": "github" }, "pdf"], "ignoreInvalidURLs": true, "timeout": 300_000,
            "scrapeOptions": { "formats": ["markdown"] }, "enterprise": ["zdr"], "origin": "python-sdk@4.54.0",
            "integration": "x", "includeDomains": ["a.example"], "highlights": false,
        });
        let asked: SearchRequest = read::body(body.to_string().as_bytes()).unwrap();
        let sources = asked.sources.unwrap();
        assert_eq!((sources[0].name(), sources[1].name()), ("web", "news"));
        assert_eq!(sources[0].options().unwrap().tbs.as_deref(), Some("qdr:d"));
        assert_eq!(asked.categories.unwrap()[0].name(), "github");
        assert!(asked.scrape_options.unwrap().formats.is_some());
    }

    #[test]
    fn an_unknown_key_is_named_where_it_stands() {
        let body = json!({ "query": "x", "sources": [{ "type": "web", "when": "now" }], "scrapeOptions": { "format": [] } });
        let error = read::body::<SearchRequest>(body.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.kind, Kind::UnknownKeys);
        assert_eq!(error.details().unwrap()[0]["path"], json!(["scrapeOptions", "format"]));
        assert_eq!(error.details().unwrap()[1]["path"], json!(["sources", 0, "when"]));
    }
}
