//! Batch scrape: a list of pages, as a job. Its status, errors and ledger are those of a crawl.

use crate::scrape::{
    ActionAsked, AuditAsked, FormatAsked, LocationAsked, ParserAsked, ProfileAsked, RedactAsked,
    ScrapeOptions, ThreatAsked, with_scrape_options,
};
use crate::webhook::WebhookAsked;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

with_scrape_options! {
    /// `POST /v2/batch/scrape`
    BatchRequest {
        /// The pages. `http://` is put before an address without a scheme; one that is given twice is scraped once.
        urls: Option<Vec<String>>,
        /// A batch to add the pages to, instead of starting one.
        append_to_id: Option<String>,
        /// Leave out what is no address, and say so in `invalidURLs`; otherwise nothing is started.
        #[serde(rename = "ignoreInvalidURLs")]
        #[schema(default = true)]
        ignore_invalid_urls: Option<bool>,
        /// The most pages at once.
        #[schema(minimum = 1)]
        max_concurrency: Option<i64>,
        /// Whom to tell: an address, or an object with options.
        webhook: Option<WebhookAsked>,
        /// Keep the pages for an hour only, and nothing else.
        #[schema(default = false)]
        zero_data_retention: Option<bool>,
    }
}

/// A batch that was accepted.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct BatchStarted {
    pub success: bool,
    pub id: Uuid,
    /// Where its status is.
    pub url: String,
    /// What was left out because it is no address of a page.
    #[serde(rename = "invalidURLs", skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}
