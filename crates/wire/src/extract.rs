//! Extract: structured data from a few pages. The older API for what agent runs do, kept because clients
//! still use it.

use crate::scrape::{ScrapeOptions, ThreatInput};
use crate::webhook::WebhookInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// Part of every response: the endpoint works, and there is a better one.
pub const EXTRACT_WARNING: &str =
    "extract is in maintenance mode; use /v2/agent, or the json format of /v2/scrape";
/// The endpoint to use instead.
pub const EXTRACT_REPLACEMENT: &str = "/v2/agent";

/// `POST /v2/extract`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtractRequest {
    /// Up to ten URLs; `https://example.com/docs/*` means all pages below it.
    #[schema(max_items = 10)]
    pub urls: Option<Vec<String>>,
    /// What to extract, up to 10,000 characters. Required if there are no `urls`.
    #[schema(max_length = 10_000)]
    pub prompt: Option<String>,
    /// A JSON Schema of the result.
    #[schema(value_type = Option<Object>)]
    pub schema: Option<Value>,
    /// Further instructions for a model; up to 10,000 characters.
    #[schema(max_length = 10_000)]
    pub system_prompt: Option<String>,
    /// Also follow links to other sites than those of `urls`.
    #[schema(default = false)]
    pub allow_external_links: Option<bool>,
    /// Also search the web.
    #[schema(default = false)]
    pub enable_web_search: Option<bool>,
    /// Accepted without effect: pages below a URL are always found by sitemaps and links.
    pub ignore_sitemap: Option<bool>,
    /// Accepted without effect: pages below a URL are on its host.
    #[schema(default = true)]
    pub include_subdomains: Option<bool>,
    /// Return where each field was found, in `sources`.
    #[schema(default = false)]
    pub show_sources: Option<bool>,
    /// Options for scraping the pages.
    pub scrape_options: Option<ScrapeOptions>,
    /// Skip invalid URLs and list them in `invalidURLs`; otherwise an invalid URL fails the request.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(default = true)]
    pub ignore_invalid_urls: Option<bool>,
    /// Accepted without effect: there is one agent.
    pub agent: Option<ExtractAgent>,
    /// A webhook: a URL, or an object with options.
    pub webhook: Option<WebhookInput>,
    /// Hosts that must not be contacted.
    pub threat_protection: Option<ThreatInput>,
}

/// Which agent to use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct ExtractAgent {
    /// `FIRE-1` or `v3-beta`.
    pub model: Option<String>,
}

/// An accepted extraction.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtractStarted {
    pub success: bool,
    pub id: Uuid,
    /// Invalid URLs that were skipped.
    #[serde(rename = "invalidURLs", skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
    #[schema(value_type = Vec<String>)]
    pub warnings: [&'static str; 1],
    pub replacement: &'static str,
}

/// The status of an extraction.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtractStatus {
    pub success: bool,
    pub id: Uuid,
    /// `processing`, `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    /// The result if completed; if failed, what was found until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub data: Option<Value>,
    /// Fields (JSON pointers without the first slash) with the pages that state them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub sources: Option<BTreeMap<String, Vec<String>>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Remarks about the result, for instance what could not be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub expires_at: String,
    pub credits_used: i64,
    #[schema(value_type = Vec<String>)]
    pub warnings: [&'static str; 1],
    pub replacement: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use serde_json::json;

    fn asked(body: &Value) -> Result<ExtractRequest, crate::WireError> {
        crate::read::body(body.to_string().as_bytes())
    }

    #[test]
    fn reads_what_clients_send() {
        let asked = asked(&json!({
            "urls": ["https://example.com/*"], "prompt": "find", "schema": { "type": "object" }, "systemPrompt": "be brief",
            "allowExternalLinks": false, "enableWebSearch": true, "showSources": true, "ignoreInvalidURLs": false,
            "scrapeOptions": { "formats": ["markdown"], "onlyMainContent": true }, "agent": { "model": "FIRE-1" },
            "webhook": "https://a.test/", "threatProtection": { "blacklist": ["b.test"] },
            "ignoreSitemap": true, "includeSubdomains": true, "integration": "x", "origin": "js-sdk@4.0.0",
        }))
        .unwrap();
        assert_eq!((asked.ignore_invalid_urls, asked.enable_web_search), (Some(false), Some(true)));
        assert_eq!(asked.agent.unwrap().model.as_deref(), Some("FIRE-1"));
    }

    #[test]
    fn an_unknown_key_is_named_where_it_stands() {
        let error = asked(&json!({ "prompt": "x", "agent": { "name": "x" } })).unwrap_err();
        assert_eq!(error.kind, Kind::UnknownKeys);
        assert_eq!(error.details().unwrap()[0]["path"], json!(["agent", "name"]));
    }
}
