//! Search: what the web, or what this server has seen of it, knows of a question; in the shapes of the contract.

mod answer;
mod catalogue;
mod feedback;
mod fields;

pub use answer::{ImageHit, NewsHit, SearchAnswer, SearchData, Tool, WebHit};
pub use catalogue::{FoundTools, ToolAnswer, ToolCall, ToolError, ToolResult, ToolResults};
pub use feedback::{FeedbackAnswer, FeedbackRequest, Missing, SearchFeedbackRequest, Valuable};
pub use fields::{SEARCH_FIELDS, table};

use crate::scrape::{ScrapeOptions, ThreatAsked, plain_or_object};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v2/search`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchRequest {
    /// What is looked for, with operators: `site:`, `-site:`, `-word`, `"a phrase"`, `filetype:`, `intitle:`, `inurl:`, `OR`,
    /// `imagesize:`.
    #[schema(max_length = 500)]
    pub query: Option<String>,
    /// Results of each source.
    #[schema(minimum = 1, maximum = 100, default = 10)]
    pub limit: Option<i64>,
    /// `web`, `news`, `images`, `alexandria`: names, or objects with options. `web` when missing.
    pub sources: Option<Vec<SourceAsked>>,
    /// `github`, `research`, `pdf`; or one of `developer` and `gov`, alone.
    pub categories: Option<Vec<CategoryAsked>>,
    /// Only these hosts and what lies below them; not together with `excludeDomains`.
    pub include_domains: Option<Vec<String>>,
    /// None of these hosts, nor what lies below them.
    pub exclude_domains: Option<Vec<String>>,
    /// How old results may be: `qdr:h`, `qdr:d`, `qdr:w`, `qdr:m`, `qdr:y`, `cdr:1,cd_min:M/D/YYYY,cd_max:M/D/YYYY`, and
    /// `sbd:1` for the newest first.
    pub tbs: Option<String>,
    /// A place in words, for providers that know places.
    pub location: Option<String>,
    /// ISO 3166-1 alpha-2.
    #[schema(default = "US")]
    pub country: Option<String>,
    /// Leave out what is not for children, where the provider can.
    pub safe: Option<bool>,
    /// Milliseconds until the answer must be there; then what is ready is returned.
    #[schema(minimum = 1000, maximum = 300_000, default = 60_000)]
    pub timeout: Option<i64>,
    /// Leave out results whose address cannot be scraped, instead of marking them.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(default = false)]
    pub ignore_invalid_urls: Option<bool>,
    /// Descriptions are what the page says to the query, where the page is known.
    #[schema(default = true)]
    pub highlights: Option<bool>,
    /// With `formats`, every result is scraped.
    pub scrape_options: Option<ScrapeOptions>,
    /// `default`, `anon`, `zdr`: with the last two nothing of the search is kept.
    pub enterprise: Option<Vec<String>>,
    /// Keep nothing of the search, nor of the pages it scrapes.
    #[schema(default = false)]
    pub zero_data_retention: Option<bool>,
    /// Refused when true: results are scraped before the answer.
    #[schema(default = false)]
    pub async_scraping: Option<bool>,
    /// ISO 639-1.
    #[schema(default = "en")]
    pub lang: Option<String>,
    /// Accepted without effect.
    pub filter: Option<String>,
    /// Tools of a catalogue for the domains found; there are none here, so `data.tools` is empty.
    pub domain_tools: Option<bool>,
    /// `compact`, `summary` or `full`.
    pub tool_detail: Option<String>,
    /// Hosts that must not be among the results.
    pub threat_protection: Option<ThreatAsked>,
}

plain_or_object! {
    /// One of `sources`: a name, or an object with `type` and options.
    SourceAsked { string(String) by visit_str: &str, visit_string: String; SourceObject }
}

/// A source with options of its own, which go before those of the request.
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
    CategoryAsked { string(String) by visit_str: &str, visit_string: String; CategoryObject }
}

/// A category.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CategoryObject {
    /// `github`, `research`, `pdf`, `developer` or `gov`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl SourceAsked {
    pub fn name(&self) -> &str {
        match self {
            Self::Plain(name) => name,
            Self::Object(object) => object.kind.as_deref().unwrap_or_default(),
        }
    }

    /// The options of its own.
    pub fn options(&self) -> Option<&SourceObject> {
        match self {
            Self::Plain(_) => None,
            Self::Object(object) => Some(object),
        }
    }
}

impl CategoryAsked {
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
