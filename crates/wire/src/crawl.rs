//! Crawl: a whole site, as a job. What is asked for, and what is told of it; batches are told of in the same shapes.

use crate::scrape::{Document, ScrapeOptions};
use crate::webhook::WebhookAsked;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// `POST /v2/crawl`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// Where to begin. `http://` is put before an address without a scheme.
    pub url: Option<String>,
    /// What to crawl, in words: 1 to 10,000 characters. What is set in the other fields wins.
    pub prompt: Option<String>,
    /// Only paths that one of these regexes finds something in.
    pub include_paths: Option<Vec<String>>,
    /// No paths that one of these regexes finds something in.
    pub exclude_paths: Option<Vec<String>>,
    /// The regexes see the whole address, with its query.
    #[serde(rename = "regexOnFullURL")]
    #[schema(default = false)]
    pub regex_on_full_url: Option<bool>,
    /// How many links away from the start or a sitemap.
    #[schema(minimum = 0)]
    pub max_discovery_depth: Option<i64>,
    /// `include`, `only` or `skip`.
    #[schema(default = "include", pattern = "^(include|only|skip)$")]
    pub sitemap: Option<String>,
    /// The query does not make another page.
    #[schema(default = false)]
    pub ignore_query_parameters: Option<bool>,
    /// Neither do `www.`, `http` or `https`, a final slash or an index file.
    #[serde(rename = "deduplicateSimilarURLs")]
    #[schema(default = true)]
    pub deduplicate_similar_urls: Option<bool>,
    /// The most pages.
    #[schema(minimum = 1, maximum = 1_000_000_000, default = 10_000)]
    pub limit: Option<i64>,
    /// Everything on the host, not only below the start.
    #[schema(default = false)]
    pub crawl_entire_domain: Option<bool>,
    /// Pages of other sites that this one links to.
    #[schema(default = false)]
    pub allow_external_links: Option<bool>,
    /// Every host of the domain.
    #[schema(default = false)]
    pub allow_subdomains: Option<bool>,
    /// Do not ask for robots.txt.
    #[schema(default = false)]
    pub ignore_robots_txt: Option<bool>,
    /// The name that rules in robots.txt are read for.
    pub robots_user_agent: Option<String>,
    /// Seconds between two pages; then they come one at a time.
    #[schema(minimum = 0, maximum = 60)]
    pub delay: Option<f64>,
    /// The most pages at once.
    #[schema(minimum = 1)]
    pub max_concurrency: Option<i64>,
    /// Whom to tell: an address, or an object with options.
    pub webhook: Option<WebhookAsked>,
    /// How each page is scraped.
    pub scrape_options: Option<ScrapeOptions>,
    /// Keep the pages for an hour only, and nothing else.
    #[schema(default = false)]
    pub zero_data_retention: Option<bool>,
}

/// `POST /v2/crawl/params-preview`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct ParamsPreviewRequest {
    pub url: Option<String>,
    /// 1 to 10,000 characters.
    pub prompt: Option<String>,
}

/// Which addresses a crawl takes. What is missing was not said.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CrawlOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_paths: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_paths: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_discovery_depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sitemap: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_query_parameters: Option<bool>,
    #[serde(rename = "deduplicateSimilarURLs", skip_serializing_if = "Option::is_none")]
    pub deduplicate_similar_urls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_entire_domain: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_external_links: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_subdomains: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_robots_txt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots_user_agent: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
}

/// What a prompt would make of a crawl.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ParamsPreview {
    pub success: bool,
    /// Every default filled in.
    pub data: CrawlOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A crawl that was accepted.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlStarted {
    pub success: bool,
    pub id: Uuid,
    /// Where its status is.
    pub url: String,
    /// With `prompt`: what it was understood to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_generated_options: Option<CrawlOptions>,
    /// With `prompt`: the options of the crawl. What was set in so many words wins over the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_crawler_options: Option<CrawlOptions>,
    /// With `prompt`: how it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Which documents of a crawl to return.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Documents to pass over.
    #[param(value_type = Option<u64>, default = 0)]
    pub skip: Option<String>,
    /// The most documents; about 10 MiB are never exceeded by more than one.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// How a crawl or a batch stands, but for its documents.
/// `completed + failed + skipped + cancelled + queued = discovered`, at every moment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobHead {
    /// `false` for one that failed before it had a document.
    pub success: bool,
    /// `scraping`, `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    /// Pages that came to a document.
    pub completed: u64,
    /// Addresses that were not skipped.
    pub total: u64,
    pub credits_used: i64,
    /// Until when it is kept; while it runs, the earliest that can be.
    pub expires_at: String,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Seconds, so far or in all.
    pub duration: f64,
    /// Addresses that were found.
    pub discovered: u64,
    /// Addresses that are not done yet.
    pub queued: u64,
    /// Pages that could not be had.
    pub failed: u64,
    /// Addresses that are none of its pages; the ledger says why.
    pub skipped: u64,
    /// Addresses that were not done when it was cancelled.
    pub cancelled: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to know about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Where the next documents are, when there are more by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How a crawl or a batch stands, with documents. Documents are kept as JSON and are put in as they are, so this is written by hand;
/// the declaration is for the documentation.
#[derive(Debug, ToSchema)]
pub struct JobStatus {
    #[schema(inline)]
    #[serde(flatten)]
    pub head: JobHead,
    pub data: Vec<Document>,
}

impl JobHead {
    /// The whole status, with the documents between the brackets of `data`: JSON texts with commas between them.
    pub fn with_documents(&self, documents: &[u8]) -> Vec<u8> {
        const BEFORE: &[u8] = b",\"data\":[";
        // Our own plain data always serialises, to an object with at least one key.
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.pop();
        json.reserve_exact(BEFORE.len() + documents.len() + 2);
        json.extend_from_slice(BEFORE);
        json.extend_from_slice(documents);
        json.extend_from_slice(b"]}");
        json
    }
}

/// The answer to a cancellation.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Cancelled {
    /// `cancelled`
    pub status: &'static str,
}

/// The pages of a crawl or a batch that could not be had.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobErrors {
    /// One client asks for it, on batches.
    pub success: bool,
    pub errors: Vec<PageError>,
    /// Addresses that robots.txt asks to leave alone.
    pub robots_blocked: Vec<String>,
    /// That there are more; the ledger has them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Why a page could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageError {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    pub error: String,
}

/// Crawls that run.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ActiveCrawls {
    pub success: bool,
    pub crawls: Vec<ActiveCrawl>,
}

/// A crawl that runs.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCrawl {
    pub id: Uuid,
    pub team_id: Uuid,
    pub url: String,
    #[serde(rename = "created_at")]
    pub created_at: String,
    /// What was asked for, defaults filled in.
    pub options: CrawlRequest,
}

/// Which lines of a ledger to return.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LedgerQuery {
    /// `queued`, `running`, `fetched`, `completed`, `failed`, `skipped` or `cancelled`; all without one.
    pub state: Option<String>,
    /// Lines with a larger number than this.
    #[serde(default)]
    #[param(default = 0)]
    pub after: u64,
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    pub limit: Option<u32>,
}

/// Lines of a ledger.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LedgerPage {
    pub success: bool,
    pub data: Vec<LedgerLine>,
    /// Where the next lines are, when this page is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An address, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerLine {
    /// In the order in which addresses were found.
    pub number: u64,
    pub url: String,
    /// Links from the start.
    pub depth: u32,
    pub state: &'static str,
    /// One word why it was skipped, the code of what it failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_clients_send() {
        let body = br#"{"url":"https://docs.example","limit":5,"regexOnFullURL":false,"deduplicateSimilarURLs":true,
            "ignoreRobotsTxt":false,"delay":1,"scrapeOptions":{"formats":["markdown"]},"zeroDataRetention":false,
            "origin":"python-sdk@4.54.0","integration":"x"}"#;
        let asked: CrawlRequest = crate::read::body(body).unwrap();
        assert_eq!((asked.limit, asked.delay), (Some(5), Some(1.0)));
        let nested = crate::read::body::<CrawlRequest>(br#"{"url":"x","scrapeOptions":{"format":[]}}"#);
        assert_eq!(
            nested.unwrap_err().details().unwrap()[0]["path"],
            serde_json::json!(["scrapeOptions", "format"])
        );
    }

    #[test]
    fn documents_are_put_in_as_they_are() {
        let head = JobHead {
            success: true,
            status: "completed",
            completed: 2,
            total: 2,
            credits_used: 2,
            expires_at: "x".into(),
            created_at: "y".into(),
            completed_at: None,
            duration: 0.5,
            discovered: 2,
            queued: 0,
            failed: 0,
            skipped: 0,
            cancelled: 0,
            error: None,
            warning: None,
            next: None,
        };
        let status = head.with_documents(br#"{"a":1},{"a":2}"#);
        let status: serde_json::Value = serde_json::from_slice(&status).unwrap();
        assert_eq!((&status["completed"], &status["data"][1]["a"]), (&2.into(), &2.into()));
        let empty: serde_json::Value = serde_json::from_slice(&head.with_documents(b"")).unwrap();
        assert_eq!(empty["data"], serde_json::json!([]));
    }
}
