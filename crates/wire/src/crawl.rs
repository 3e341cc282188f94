//! Crawl: a whole site as one job. Requests, status, errors and ledger; batches use the same responses.

use crate::scrape::{Document, ScrapeOptions};
use crate::webhook::WebhookInput;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// `POST /v2/crawl`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlRequest {
    /// The start URL. `http://` is added to a URL without a scheme.
    pub url: Option<String>,
    /// What to crawl, in words: 1 to 10,000 characters. Options that are set in other fields take precedence.
    pub prompt: Option<String>,
    /// Only paths that match one of these regexes.
    pub include_paths: Option<Vec<String>>,
    /// No paths that match one of these regexes.
    pub exclude_paths: Option<Vec<String>>,
    /// Match the regexes against the whole URL, with its query.
    #[serde(rename = "regexOnFullURL")]
    #[schema(default = false)]
    pub regex_on_full_url: Option<bool>,
    /// Maximum number of links from the start or a sitemap.
    #[schema(minimum = 0)]
    pub max_discovery_depth: Option<i64>,
    /// `include`, `only` or `skip`.
    #[schema(default = "include", pattern = "^(include|only|skip)$")]
    pub sitemap: Option<String>,
    /// URLs that differ only in their query are the same page.
    #[schema(default = false)]
    pub ignore_query_parameters: Option<bool>,
    /// So are URLs that differ only in `www.`, `http` or `https`, a trailing slash or an index file.
    #[serde(rename = "deduplicateSimilarURLs")]
    #[schema(default = true)]
    pub deduplicate_similar_urls: Option<bool>,
    /// Maximum number of pages.
    #[schema(minimum = 1, maximum = 1_000_000_000, default = 10_000)]
    pub limit: Option<i64>,
    /// Everything on the host, not only below the start URL.
    #[schema(default = false)]
    pub crawl_entire_domain: Option<bool>,
    /// Include pages of other sites that this one links to.
    #[schema(default = false)]
    pub allow_external_links: Option<bool>,
    /// Include every host of the domain.
    #[schema(default = false)]
    pub allow_subdomains: Option<bool>,
    /// Ignore robots.txt.
    #[schema(default = false)]
    pub ignore_robots_txt: Option<bool>,
    /// The user agent whose rules in robots.txt apply.
    pub robots_user_agent: Option<String>,
    /// Seconds between two pages; pages are then fetched one at a time.
    #[schema(minimum = 0, maximum = 60)]
    pub delay: Option<f64>,
    /// Maximum number of pages in parallel.
    #[schema(minimum = 1)]
    pub max_concurrency: Option<i64>,
    /// A webhook: a URL, or an object with options.
    pub webhook: Option<WebhookInput>,
    /// Options for scraping each page.
    pub scrape_options: Option<ScrapeOptions>,
    /// Keep only the pages, and only for an hour.
    #[schema(default = false)]
    pub zero_data_retention: Option<bool>,
    /// The name of `maxDiscoveryDepth` in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub max_depth: Option<i64>,
    /// The name of `crawlEntireDomain` in `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_backward_links: Option<bool>,
    /// `true` is `sitemap: skip`; a field of `/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_sitemap: Option<bool>,
}

impl CrawlRequest {
    /// The same request with the names of this version, and what to tell callers who used names of `/v1`. A field that
    /// is there under both names counts under its own.
    #[must_use]
    pub fn with_current_names(&self) -> (Self, Option<String>) {
        let mut request = self.clone();
        let mut renamed = Vec::new();
        if let Some(depth) = request.max_depth.take() {
            request.max_discovery_depth = request.max_discovery_depth.or(Some(depth));
            renamed.push("`maxDepth` is `maxDiscoveryDepth`");
        }
        if let Some(entire) = request.allow_backward_links.take() {
            request.crawl_entire_domain = request.crawl_entire_domain.or(Some(entire));
            renamed.push("`allowBackwardLinks` is `crawlEntireDomain`");
        }
        if let Some(ignored) = request.ignore_sitemap.take() {
            let sitemap = if ignored { "skip" } else { "include" };
            request.sitemap.get_or_insert_with(|| sitemap.to_owned());
            renamed.push("`ignoreSitemap: true` is `sitemap: \"skip\"`");
        }
        let warning = format!("names of /v1 were understood; in /v2 {}", renamed.join(", "));
        (request, (!renamed.is_empty()).then_some(warning))
    }
}

/// `POST /v2/crawl/params-preview`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct ParamsPreviewRequest {
    pub url: Option<String>,
    /// 1 to 10,000 characters.
    pub prompt: Option<String>,
}

/// Which URLs a crawl includes. Missing fields were not specified.
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

/// The crawl options that a prompt results in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ParamsPreview {
    pub success: bool,
    /// With all defaults filled in.
    pub data: CrawlOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// An accepted crawl.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrawlStarted {
    pub success: bool,
    pub id: Uuid,
    /// The URL of its status.
    pub url: String,
    /// With `prompt`: the options derived from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_generated_options: Option<CrawlOptions>,
    /// With `prompt`: the options of the crawl. Explicit options take precedence over the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_crawler_options: Option<CrawlOptions>,
    /// How `prompt` was interpreted, and names of `/v1` that the request used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Which documents of a crawl to return.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Number of documents to skip.
    #[param(value_type = Option<u64>, maximum = 9_007_199_254_740_991_i64, default = 0)]
    pub skip: Option<String>,
    /// Maximum number of documents; a page also ends at about 10 MiB, exceeded by at most one document.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// The status of a crawl or batch without its documents. `completed + failed + skipped + cancelled + queued =
/// discovered` always holds.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobHead {
    /// `false` if it failed before it had a document.
    pub success: bool,
    /// `scraping`, `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    /// Pages that were scraped successfully.
    pub completed: u64,
    /// URLs that were not skipped.
    pub total: u64,
    pub credits_used: i64,
    /// When it expires; while it runs, the earliest possible time.
    pub expires_at: String,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Seconds, so far or in total.
    pub duration: f64,
    /// URLs that were discovered.
    pub discovered: u64,
    /// URLs that are not finished yet.
    pub queued: u64,
    /// Pages that could not be fetched.
    pub failed: u64,
    /// URLs that do not belong to the crawl; the ledger says why.
    pub skipped: u64,
    /// URLs that were not finished when it was cancelled.
    pub cancelled: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Remarks about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The URL of the next documents, if there are more by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The status of a crawl or batch with documents. Documents are stored as JSON and copied as they are, so the
/// response is assembled by hand; this declaration is for the documentation.
#[derive(Debug, ToSchema)]
pub struct JobStatus {
    #[schema(inline)]
    #[serde(flatten)]
    pub head: JobHead,
    pub data: Vec<Document>,
}

impl JobHead {
    /// The whole status. `documents` is the content of the list `data`: JSON texts separated by commas.
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

/// The response to a cancellation.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Cancelled {
    /// `cancelled`
    pub status: &'static str,
}

/// The pages of a crawl or batch that could not be fetched.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobErrors {
    /// One of the clients expects it, for batches.
    pub success: bool,
    pub errors: Vec<PageError>,
    /// URLs that robots.txt forbids.
    pub robots_blocked: Vec<String>,
    /// Says that there are more errors; the ledger has them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Why a page could not be fetched.
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

/// Running crawls.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ActiveCrawls {
    pub success: bool,
    pub crawls: Vec<ActiveCrawl>,
}

/// A running crawl.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCrawl {
    pub id: Uuid,
    pub team_id: Uuid,
    pub url: String,
    #[serde(rename = "created_at")]
    pub created_at: String,
    /// The request, with defaults filled in.
    pub options: CrawlRequest,
}

/// Which lines of a ledger to return.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LedgerQuery {
    /// `queued`, `running`, `fetched`, `completed`, `failed`, `skipped` or `cancelled`; all without one.
    pub state: Option<String>,
    /// Only lines with a larger number than this.
    #[serde(default)]
    #[param(default = 0)]
    pub after: u64,
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    pub limit: Option<u32>,
}

/// As which file documents are downloaded.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DownloadQuery {
    /// `jsonl` or `warc`.
    #[param(inline)]
    pub format: DownloadFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DownloadFormat {
    Jsonl,
    Warc,
}

/// Lines of a ledger.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LedgerPage {
    pub success: bool,
    pub data: Vec<LedgerLine>,
    /// The URL of the next lines, if this page is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A URL and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerLine {
    /// In the order of discovery.
    pub number: u64,
    pub url: String,
    /// Number of links from the start.
    pub depth: u32,
    pub state: &'static str,
    /// Why it was skipped, or the code of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The error message.
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
    fn names_of_the_version_before_are_understood() {
        let body = br#"{"url":"a.example","maxDepth":2,"allowBackwardLinks":true,"ignoreSitemap":true}"#;
        let (asked, warning) = crate::read::body::<CrawlRequest>(body).unwrap().with_current_names();
        assert_eq!((asked.max_discovery_depth, asked.crawl_entire_domain), (Some(2), Some(true)));
        assert_eq!((asked.sitemap.as_deref(), asked.max_depth), (Some("skip"), None));
        assert!(warning.unwrap().contains("`maxDepth` is `maxDiscoveryDepth`"));
        let body = br#"{"url":"a.example","maxDepth":2,"maxDiscoveryDepth":1,"sitemap":"only","ignoreSitemap":true}"#;
        let (asked, _) = crate::read::body::<CrawlRequest>(body).unwrap().with_current_names();
        assert_eq!((asked.max_discovery_depth, asked.sitemap.as_deref()), (Some(1), Some("only")));
        let (same, nothing) = asked.with_current_names();
        assert_eq!((same, nothing), (asked, None));
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
