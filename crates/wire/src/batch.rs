//! Batch scrape: a list of pages as one job. Its status, errors and ledger are those of a crawl.

use crate::scrape::{
    ActionInput, AuditInput, FormatInput, LocationInput, ParserInput, ProfileInput, RedactInput,
    ScrapeOptions, ThreatInput, with_scrape_options,
};
use crate::webhook::WebhookInput;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

with_scrape_options! {
    /// `POST /v2/batch/scrape`
    BatchRequest {
        /// The URLs to scrape. `http://` is added to a URL without a scheme; duplicates are scraped once.
        urls: Option<Vec<String>>,
        /// A batch to add the pages to, instead of starting a new one.
        append_to_id: Option<String>,
        /// Skip invalid URLs and list them in `invalidURLs`; otherwise an invalid URL fails the request.
        #[serde(rename = "ignoreInvalidURLs")]
        #[schema(default = true)]
        ignore_invalid_urls: Option<bool>,
        /// Maximum number of pages in parallel.
        #[schema(minimum = 1)]
        max_concurrency: Option<i64>,
        /// A webhook: a URL, or an object with options.
        webhook: Option<WebhookInput>,
        /// Keep only the pages, and only for an hour.
        #[schema(default = false)]
        zero_data_retention: Option<bool>,
    }
}

/// An accepted batch.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BatchStarted {
    pub success: bool,
    pub id: Uuid,
    /// The URL of its status.
    pub url: String,
    /// Invalid URLs that were skipped.
    #[serde(rename = "invalidURLs", skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}
