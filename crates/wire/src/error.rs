//! The error catalogue: one table with the status, text, code and retryability of every error.
//!
//! Handlers never write a status code or an error text. They use a constructor of [`WireError`], and the
//! table decides what the caller sees.

use crate::issue::Issue;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// `Retry-After` when there was no room to store more.
const OUT_OF_SPACE_RETRY_SECONDS: u64 = 5;

/// Unknown keys that the text of an error names.
const MAX_NAMED_KEYS: usize = 3;

/// Whether the same request may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    No,
    /// Yes, with backoff.
    Yes,
    Sometimes,
}

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct CatalogueEntry {
    pub kind: Kind,
    pub status: u16,
    pub text: &'static str,
    /// Tells programs the cause, whatever the text says.
    pub code: &'static str,
    pub retry: Retry,
    /// When it happens, for the documentation.
    pub cause: &'static str,
}

macro_rules! catalogue {
    ($( $kind:ident $status:literal $text:literal $code:literal, $retry:ident, $cause:literal; )+) => {
        /// Every error the service can return, in the order of the catalogue.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Kind { $($kind),+ }

        impl Kind {
            /// The name under which an error is stored.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => stringify!($kind)),+ }
            }
        }

        /// The whole table. `CATALOGUE[kind as usize].kind == kind`.
        pub const CATALOGUE: &[CatalogueEntry] = &[
            $(CatalogueEntry {
                kind: Kind::$kind, status: $status, text: $text, code: $code,
                retry: Retry::$retry, cause: $cause,
            }),+
        ];
    };
}

catalogue! {
    // General errors.
    BadRequest 400 "Bad Request" "BAD_REQUEST", No, "the request failed validation; see `details`";
    InvalidJson 400 "Bad Request: the body is not valid JSON" "BAD_REQUEST_INVALID_JSON", No, "the body is not valid JSON";
    UnknownKeys 400 "Unrecognized key in body -- please review the v2 API documentation for request body changes" "BAD_REQUEST", No, "the body has keys that the endpoint does not support; `details` names them";
    UnknownParameters 400 "Unrecognized query parameter" "BAD_REQUEST", No, "the query has parameters that the endpoint does not support; `details` names them";
    InvalidUrl 400 "Invalid URL" "BAD_REQUEST", No, "`url` missing, malformed or of an unsupported scheme";
    InvalidJobId 400 "Invalid job ID format. Job ID must be a valid UUID." "INVALID_JOB_ID", No, "a job id in the path is not a UUID";
    Unauthorized 401 "Unauthorized: Invalid token" "UNAUTHORIZED", No, "the API key is missing, malformed, expired or revoked";
    KeyNeeded 401 "Unauthorized: Invalid token" "KEYLESS_TOOL_NOT_AVAILABLE", No, "no API key was sent; this server needs none for some requests, and this is none of them";
    InsufficientCredits 402 "Payment Required: Insufficient credits" "INSUFFICIENT_CREDITS", No, "the plan's credits do not cover the request";
    Forbidden 403 "Forbidden" "FORBIDDEN", No, "the key lacks the scope for the endpoint";
    PromptInjection 403 "SCRAPE_PROMPT_INJECTION_DETECTED" "SCRAPE_PROMPT_INJECTION_DETECTED", No, "`checkPromptInjection` found a prompt injection in the page";
    NotFound 404 "Not Found" "NOT_FOUND", No, "the job, resource or path does not exist";
    MethodNotAllowed 405 "Method Not Allowed" "METHOD_NOT_ALLOWED", No, "the path exists but not for this method; `allowed_methods` lists those that do";
    RequestTimeout 408 "Request Timeout" "REQUEST_TIMEOUT", Yes, "the work was not finished within the request's `timeout`";
    Conflict 409 "Conflict" "CONFLICT", No, "the state of the resource does not allow the operation";
    IdempotencyKeyUsed 409 "Idempotency key already used" "IDEMPOTENCY_KEY_USED", No, "a request with this `x-idempotency-key` was accepted before";
    PayloadTooLarge 413 "Payload Too Large" "PAYLOAD_TOO_LARGE", No, "the body is larger than the limit";
    UnsupportedMediaType 415 "Unsupported Media Type: send application/json" "UNSUPPORTED_MEDIA_TYPE", No, "the body is not declared as JSON";
    UnprocessableEntity 422 "Unprocessable Entity" "UNPROCESSABLE_ENTITY", Sometimes, "a schema is not valid, or no result that conforms to it was found";
    RateLimited 429 "Rate limit exceeded" "RATE_LIMIT_EXCEEDED", Yes, "more requests in this minute than the plan allows; `Retry-After` says when to retry";
    KeylessLimited 429 "Rate limit exceeded" "KEYLESS_LIMIT_REACHED", Yes, "more requests without a key in this minute than one address may send; `Retry-After` says when to retry, and a key allows more";
    KeylessQuota 429 "Daily quota without a key reached" "KEYLESS_QUOTA_EXHAUSTED", Yes, "more requests or credits without a key in a day than one address has; `details.reason` says which; get a key";
    ConcurrencyLimited 429 "Concurrency limit reached" "CONCURRENCY_LIMIT_REACHED", Yes, "all browsers of the plan are in use";
    QueueFull 429 "Queue limit reached" "QUEUE_LIMIT_REACHED", Yes, "more jobs are waiting than the plan allows";
    Internal 500 "Internal Server Error" "INTERNAL_ERROR", Yes, "an error of the service itself";
    BadGateway 502 "Bad Gateway" "BAD_GATEWAY", Yes, "a proxy or worker behind the service sent an invalid response";
    Unavailable 503 "Service Unavailable" "SERVICE_UNAVAILABLE", Yes, "the service is stopping, its database or object storage is unavailable, or a disk is full; `details` says which";
    GatewayTimeout 504 "Gateway Timeout" "GATEWAY_TIMEOUT", Yes, "something behind the service took too long";
    // Scrape errors. The codes are part of the contract.
    ModelNotConfigured 400 "This request needs a language model, and none is configured" "MODEL_NOT_CONFIGURED", No, "the request asks for something that only a language model can do";
    ModelTimeout 408 "Request Timeout" "SCRAPE_TIMEOUT", Yes, "the page was fetched, but the language model did not respond within the request's `timeout`";
    ModelUnavailable 503 "The language model did not respond" "MODEL_UNAVAILABLE", Yes, "the configured model's server cannot be reached, refuses the request, or sends invalid responses";
    ScrapeActionsUnsupported 400 "Actions are not supported: no browser is installed" "SCRAPE_ACTIONS_NOT_SUPPORTED", No, "`actions` were requested and Chromium was not found";
    ScrapeBrandingUnsupported 400 "Branding is not supported: no browser is installed" "SCRAPE_BRANDING_NOT_SUPPORTED", No, "`branding` was requested and Chromium was not found";
    ScrapeAudioUnsupported 400 "Audio extraction is not supported for this URL" "SCRAPE_AUDIO_UNSUPPORTED_URL", No, "the `audio` format was requested";
    ScrapeVideoUnsupported 400 "Video extraction is not supported for this URL" "SCRAPE_VIDEO_UNSUPPORTED_URL", No, "the `video` format was requested";
    UnsafeDomain 403 "Access to this URL is not allowed" "unsafe_domain_blocked", No, "the URL is private, or a list of the request or the hosts of the key forbid it";
    ScrapeNotCached 404 "No cached page matches" "SCRAPE_NO_CACHED_DATA", No, "`minAge` asks for a cached page and there is none";
    ScrapeLockdownMiss 404 "The page is not cached, and lockdown forbids fetching it" "SCRAPE_LOCKDOWN_CACHE_MISS", No, "`lockdown` allows cached pages only and there is none";
    SiteRestricted 403 "The site does not allow this page to be scraped" "SCRAPE_SITE_RESTRICTION_BLOCKED", No, "with `safeMode`: robots.txt forbids the page, or the site answered with a block page or a captcha; `details` says which";
    ScrapeTimeout 408 "Request Timeout" "SCRAPE_TIMEOUT", Yes, "the page was not loaded within the request's `timeout`";
    ScrapeDns 200 "Could not resolve the host name" "SCRAPE_DNS_RESOLUTION_ERROR", No, "the host does not exist or has no address; the status is 200 because clients expect it";
    ScrapeAllFailed 500 "Could not fetch the page" "SCRAPE_ALL_ENGINES_FAILED", Yes, "every attempt ended with a block page, a captcha, an empty page or a browser error; `details` says which";
    ScrapeSite 500 "Could not load the site" "SCRAPE_SITE_ERROR", Yes, "no connection, an invalid response, endless redirects, or more bytes than allowed";
    ScrapeSsl 500 "TLS certificate is not valid" "SCRAPE_SSL_ERROR", Yes, "TLS failed; `skipTlsVerification` accepts any certificate";
    ScrapeProxy 500 "Could not fetch the page through the proxy" "SCRAPE_PROXY_SELECTION_ERROR", Yes, "a configured proxy refused the request or failed";
    ScrapeAction 500 "An action failed" "SCRAPE_ACTION_ERROR", Yes, "an action could not be performed; `details` has its index and selector";
    ScrapeUnsupportedFile 500 "File type is not supported" "SCRAPE_UNSUPPORTED_FILE_ERROR", Yes, "the URL is an archive, a program, a picture without OCR or other data that cannot be read as text";
    ScrapeUnreadableFile 500 "Could not read the file" "SCRAPE_UNSUPPORTED_FILE_ERROR", Yes, "the file is damaged, empty, too large, locked with a password, or needs too much memory; the text says which";
    ScrapeOcrRequired 500 "The file has no text that can be read without OCR" "SCRAPE_PDF_OCR_REQUIRED", Yes, "all pages are pictures, and the parser's mode is `fast` or OCR is not installed; `details` names the pages";
    UnsupportedFileType 400 "Unsupported file type" "UNSUPPORTED_FILE_TYPE", No, "an uploaded file is of a kind that cannot be read, or a picture while OCR is not installed";
    // Parse errors.
    ParseUnsupportedOptions 400 "Parse does not support these options" "PARSE_UNSUPPORTED_OPTIONS", No, "an option is about fetching a page, and an uploaded file is not fetched; `details` names each";
    UploadNotFound 404 "Upload not found" "PARSE_UPLOAD_NOT_FOUND", No, "the `uploadRef` was not made here, or the upload belongs to another team";
    UploadIncomplete 409 "The file has not been uploaded yet" "PARSE_UPLOAD_INCOMPLETE", No, "`uploadUrl` has not received the whole file";
    UploadReceived 409 "The file was uploaded before" "PARSE_UPLOAD_RECEIVED", No, "an upload URL takes one file";
    UploadUsed 409 "The upload was parsed before" "PARSE_UPLOAD_USED", No, "an `uploadRef` can be parsed once";
    UploadExpired 410 "The upload has expired" "PARSE_UPLOAD_EXPIRED", No, "an upload can be parsed for one hour";
    UnreadableUpload 422 "Could not read the file" "PARSE_UNREADABLE_FILE", Sometimes, "the uploaded file is damaged, empty, locked with a password, or needs too much memory; the text says which";
    UploadOcrRequired 422 "The file has no text that can be read without OCR" "SCRAPE_PDF_OCR_REQUIRED", Sometimes, "all pages of the uploaded file are pictures, and the parser's mode is `fast` or OCR is not installed; the text names the pages";
    UploadLimit 429 "Too many uploads wait to be parsed" "PARSE_UPLOAD_UNPARSED_LIMIT_REACHED", Yes, "the team has more uploads that were not parsed, or more bytes of them, than are kept; parse some or let them expire";
    // Errors of browser sessions.
    SessionNotFound 404 "Browser session not found" "BROWSER_SESSION_NOT_FOUND", No, "no such session, or it belongs to another team";
    ReplayNotFound 404 "Replay not found" "REPLAY_NOT_FOUND", No, "the session was not recorded, its recording was deleted, or it belongs to another team";
    ProfileNotFound 404 "Profile not found" "PROFILE_NOT_FOUND", No, "the team has no profile of that name";
    NoReplayContext 409 "The page of this scrape cannot be opened again" "REPLAY_CONTEXT_UNAVAILABLE", No, "nothing was stored of the scrape: zero data retention, or it was a file";
    SessionDestroyed 410 "Browser session has been destroyed" "BROWSER_SESSION_DESTROYED", No, "the session ended; the text says why";
    CodeNotInstalled 501 "Running code is not installed" "INTERACT_NOT_INSTALLED", No, "the language is not installed on this server, or its sandbox does not hold here; the text says what to install";
    BrowserFailed 502 "The browser did not start" "BROWSER_FAILED", Yes, "Chromium could not be started, or it died";
    NoBrowserInstalled 503 "Browser sessions are not available: no browser is installed" "BROWSER_NOT_INSTALLED", Yes, "Chromium was not found when the server started, or `browser` is off";
    // Map errors.
    MapTimeout 408 "Request Timeout" "MAP_TIMEOUT", Yes, "nothing of the site was fetched within the request's `timeout`";
    // Crawl and batch errors.
    NoValidUrls 400 "No valid URLs provided" "BAD_REQUEST", No, "every URL of the batch is malformed";
    InvalidPagination 400 "Invalid pagination" "BAD_REQUEST", No, "`skip` or `limit` is not a number in its range";
    JobNotFound 404 "Job not found" "JOB_NOT_FOUND", No, "no such crawl or batch, or it belongs to another team";
    CrawlFinished 409 "Crawl is already completed" "JOB_FINISHED", No, "a crawl that has ended cannot be cancelled";
    BatchFinished 409 "Batch scrape is already completed" "JOB_FINISHED", No, "a batch that has ended cannot be cancelled, and one that failed or was cancelled cannot be extended";
    // Monitor errors. The fixed texts are part of the contract.
    InvalidSchedule 400 "Invalid schedule" "BAD_REQUEST", No, "the schedule is in no known form, runs too often or never; the text says which";
    SearchGoalRequired 400 "A search target requires a non-empty goal" "BAD_REQUEST", No, "a monitor with a search needs a `goal`, unless `judgeEnabled` is false";
    MonitorZeroRetention 400 "Your team has zero data retention enabled. This is not supported on monitor." "ZERO_DATA_RETENTION", No, "the team keeps no data, which a monitor compares with";
    MonitorNotFound 404 "Monitor not found" "MONITOR_NOT_FOUND", No, "no such monitor, or it belongs to another team";
    SubscriptionNotFound 404 "Subscription not found" "SUBSCRIPTION_NOT_FOUND", No, "the `token` was not made here, or its monitor or recipient is gone";
    CheckNotFound 404 "Check not found" "MONITOR_CHECK_NOT_FOUND", No, "the monitor has no such check";
    CheckRunning 409 "Monitor check is already running." "MONITOR_CHECK_RUNNING", No, "a monitor has one check at a time";
    MonitorPaused 409 "Monitor is paused." "MONITOR_PAUSED", No, "a paused monitor runs no checks";
    MonitorChanged 409 "Monitor was changed by another request." "MONITOR_CHANGED", No, "two requests changed the monitor at once";
    // Agent errors. The fixed texts are part of the contract.
    InvalidSnapshotId 400 "Invalid snapshot ID" "INVALID_SNAPSHOT_ID", No, "the snapshot id in the path is malformed";
    TraceNotRecorded 400 "Trace is only available for Plunge 1 extracts" "TRACE_NOT_RECORDED", No, "the run predates the current agent generation";
    SnapshotsNotRecorded 400 "Snapshots are only available for Plunge 1 extracts" "SNAPSHOTS_NOT_RECORDED", No, "the run predates the current agent generation";
    AgentZeroRetention 400 "Your team has zero data retention enabled. This is not supported on extract." "ZERO_DATA_RETENTION", No, "the team keeps no data, which an agent run needs";
    InvalidAgentSchema 400 "Invalid JSON schema" "BAD_REQUEST", No, "`schema` is not a JSON Schema, or it is too large";
    InvalidBefore 400 "Invalid before timestamp." "INVALID_BEFORE", No, "`before` is not a number of milliseconds";
    AgentNotFound 404 "Agent job not found" "AGENT_NOT_FOUND", No, "no such run, or it belongs to another team";
    SnapshotNotFound 404 "Snapshot not found" "SNAPSHOT_NOT_FOUND", No, "the run has no snapshot with that id";
    ThreadNotFound 404 "Thread not found" "thread_not_found", No, "no such thread, or it belongs to another team";
    ThreadBusy 409 "The thread already has an unfinished run" "thread_busy", No, "a thread has one run at a time; `runId` names it";
    AgentFinished 409 "Agent already finished" "AGENT_FINISHED", No, "a run that has ended cannot be cancelled";
    AgentNotCompleted 409 "Agent has not completed" "AGENT_NOT_COMPLETED", No, "a skill is made of a run that has completed; the text says how this one stands";
    AgentCancelling 409 "Agent is already cancelled" "AGENT_CANCELLED", No, "the run is already being cancelled";
    AgentRejected 500 "Failed to passthrough agent request." "AGENT_NOT_SUBMITTED", Yes, "the run could not be submitted";
}

impl Kind {
    /// The kind with this [`Kind::name`]; `None` if another version wrote it.
    pub fn from_name(name: &str) -> Option<Self> {
        CATALOGUE.iter().map(|entry| entry.kind).find(|kind| kind.name() == name)
    }

    pub fn entry(self) -> &'static CatalogueEntry {
        &CATALOGUE[self as usize]
    }
}

/// An error that is returned to the caller.
#[derive(Debug, Clone)]
pub struct WireError {
    pub kind: Kind,
    /// Replaces the catalogue's text where a more specific message is needed.
    message: Option<String>,
    details: Option<Value>,
    /// Keys in addition to the four of the contract, for instance `allowed_methods`.
    extra: Map<String, Value>,
    /// Seconds for the `Retry-After` header.
    pub retry_after: Option<u64>,
}

impl From<Kind> for WireError {
    fn from(kind: Kind) -> Self {
        Self { kind, message: None, details: None, extra: Map::new(), retry_after: None }
    }
}

impl From<Vec<Issue>> for WireError {
    fn from(issues: Vec<Issue>) -> Self {
        Self::invalid(&issues)
    }
}

impl WireError {
    /// Invalid fields, each with its path, a message and a code.
    pub fn invalid(issues: &[Issue]) -> Self {
        let mut error = Self::from(Kind::BadRequest);
        if let Some(first) = issues.first() {
            error.message = Some(format!("Bad Request: {first}"));
        }
        error.with_details(issues)
    }

    pub fn unknown_keys(issues: &[Issue]) -> Self {
        Self::naming_keys(Kind::UnknownKeys, issues)
    }

    pub fn unknown_parameters(issues: &[Issue]) -> Self {
        Self::naming_keys(Kind::UnknownParameters, issues)
    }

    /// The text names the first of the keys, which `details` has all.
    fn naming_keys(kind: Kind, issues: &[Issue]) -> Self {
        let named: Vec<String> = issues.iter().take(MAX_NAMED_KEYS).map(Issue::named_key).collect();
        let more = issues.len().saturating_sub(named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Self::because(kind, &format!("{}{more}", named.join(", "))).with_details(issues)
    }

    pub fn invalid_json(reason: &str) -> Self {
        let issue = Issue::new(Vec::new(), reason, "invalid_json");
        Self::from(Kind::InvalidJson).with_details(&[issue])
    }

    pub fn method_not_allowed(allowed: &[&str]) -> Self {
        let mut error = Self::from(Kind::MethodNotAllowed);
        error.extra.insert("allowed_methods".to_owned(), Value::from(allowed));
        error
    }

    pub fn payload_too_large(limit: usize) -> Self {
        Self::from(Kind::PayloadTooLarge).with_details(&serde_json::json!({ "limitBytes": limit }))
    }

    pub fn rate_limited(group: &str, limit: u32, retry_after: u64) -> Self {
        let mut error = Self::from(Kind::RateLimited).with_details(&serde_json::json!({
            "group": group, "limitPerMinute": limit, "retryAfterSeconds": retry_after
        }));
        error.retry_after = Some(retry_after);
        error
    }

    /// What to do instead of waiting is part of the text. The reason is `requests` or `credits`, what was used up.
    pub fn keyless_quota(reason: &str, limit: u32, retry_after: u64) -> Self {
        let text = Kind::KeylessQuota.entry().text;
        let message =
            format!("{text}: {limit} {reason}. With an API key there are more; /auth.md says how to get one");
        let mut error = Self::with_text(Kind::KeylessQuota, message).with_details(&serde_json::json!({
            "reason": reason, "limitPerDay": limit, "retryAfterSeconds": retry_after
        }));
        error.retry_after = Some(retry_after);
        // Where the official clients look.
        error.extra.insert("reason".to_owned(), reason.into());
        error.extra.insert("retry_after_seconds".to_owned(), retry_after.into());
        error
    }

    /// The same for a caller without a key, who is told that a key allows more.
    #[must_use]
    pub fn without_key(mut self) -> Self {
        if self.kind == Kind::RateLimited {
            self.kind = Kind::KeylessLimited;
            let text = self.kind.entry().text;
            self.message =
                Some(format!("{text}. With an API key the limit is higher; /auth.md says how to get one"));
            if let Some(seconds) = self.retry_after {
                self.extra.insert("retry_after_seconds".to_owned(), seconds.into());
            }
        }
        self
    }

    pub fn concurrency_limited(max: u32) -> Self {
        let mut error = Self::from(Kind::ConcurrencyLimited)
            .with_details(&serde_json::json!({ "maxConcurrency": max, "retryAfterSeconds": 1 }));
        error.retry_after = Some(1);
        error
    }

    pub fn queue_full(cap: u64) -> Self {
        let mut error =
            Self::from(Kind::QueueFull).with_details(&serde_json::json!({ "maxWaitingJobs": cap }));
        error.retry_after = Some(30);
        error
    }

    pub fn unavailable(reason: &str, retry_after: u64) -> Self {
        let mut error = Self::from(Kind::Unavailable).with_details(&reason);
        error.retry_after = Some(retry_after);
        error
    }

    /// There is no room to store more; `reason` says where.
    pub fn out_of_space(reason: &str) -> Self {
        let mut error = Self::unavailable(reason, OUT_OF_SPACE_RETRY_SECONDS);
        error.message = Some(format!("{}: {reason}", Kind::Unavailable.entry().text));
        error
    }

    /// An error with its reason, for people.
    pub fn because(kind: Kind, reason: &str) -> Self {
        let mut error = Self::from(kind);
        error.message = Some(format!("{}: {reason}", kind.entry().text));
        error
    }

    /// An error with a stored text.
    pub fn with_text(kind: Kind, text: String) -> Self {
        Self { message: Some(text), ..Self::from(kind) }
    }

    /// The page was not loaded in time. If the work continues, the next request for the page joins it.
    pub fn scrape_timeout(phase: &str, resumes_in: Option<u64>) -> Self {
        let mut details = serde_json::json!({ "while": phase });
        if let Some(seconds) = resumes_in {
            details["state"] = "processing_continues".into();
            details["retryAfterSeconds"] = seconds.into();
        }
        let text =
            format!("{}: {phase} took longer than the request's timeout", Kind::ScrapeTimeout.entry().text);
        let mut error = Self::with_text(Kind::ScrapeTimeout, text).with_details(&details);
        error.retry_after = resumes_in;
        error
    }

    /// The same error for a field inside a larger request: `field` is put before its path.
    #[must_use]
    pub fn within(mut self, field: &str) -> Self {
        if let Some(rest) = self.message.as_deref().and_then(|text| text.strip_prefix("Bad Request: ")) {
            self.message = Some(format!("Bad Request: {field}.{rest}"));
        }
        for issue in self.details.iter_mut().filter_map(Value::as_array_mut).flatten() {
            if let Some(path) = issue.get_mut("path").and_then(Value::as_array_mut) {
                path.insert(0, field.into());
            }
        }
        self
    }

    /// The thread has an unfinished run.
    pub fn thread_busy(run: uuid::Uuid) -> Self {
        let mut error = Self::from(Kind::ThreadBusy);
        error.extra.insert("runId".to_owned(), Value::from(run.to_string()));
        error
    }

    /// A conflict with its reason, such as the final state of a job that cannot be cancelled.
    pub fn conflict(reason: &str) -> Self {
        Self::from(Kind::Conflict).with_details(&reason)
    }

    /// Adds a key to the four of the contract.
    #[must_use]
    pub fn with_extra(mut self, name: &str, value: Value) -> Self {
        self.extra.insert(name.to_owned(), value);
        self
    }

    #[must_use]
    pub fn with_details<T: Serialize + ?Sized>(mut self, details: &T) -> Self {
        // Details are our own plain data, which always serialises.
        self.details = serde_json::to_value(details).ok();
        self
    }

    pub fn status(&self) -> u16 {
        self.kind.entry().status
    }

    pub fn text(&self) -> &str {
        self.message.as_deref().unwrap_or(self.kind.entry().text)
    }

    pub fn details(&self) -> Option<&Value> {
        self.details.as_ref()
    }

    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            success: false,
            error: self.text().to_owned(),
            code: self.kind.entry().code.to_owned(),
            details: self.details.clone(),
            extra: self.extra.clone(),
        }
    }
}

impl std::fmt::Display for WireError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.status(), self.text())
    }
}

impl std::error::Error for WireError {}

/// The body of every error response.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorBody {
    /// Always `false`.
    pub success: bool,
    /// The message, and the key into the error catalogue.
    pub error: String,
    /// A stable code for the cause.
    pub code: String,
    /// For validation errors a list of `{path, message, code}`; otherwise more about the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub extra: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_indexed_by_kind() {
        for (index, entry) in CATALOGUE.iter().enumerate() {
            assert_eq!(entry.kind as usize, index, "{:?}", entry.kind);
        }
    }

    #[test]
    fn retryable_statuses_are_those_of_the_contract() {
        for entry in CATALOGUE {
            let expected = match entry.status {
                408 | 429 | 500 | 502 | 503 | 504 => Retry::Yes,
                422 => Retry::Sometimes,
                _ => Retry::No,
            };
            assert_eq!(entry.retry, expected, "{:?}", entry.kind);
        }
    }

    #[test]
    fn agent_texts_name_the_current_generation() {
        for kind in [Kind::TraceNotRecorded, Kind::SnapshotsNotRecorded] {
            assert!(kind.entry().text.contains(crate::AGENT_GENERATION));
        }
    }

    #[test]
    fn errors_in_nested_objects_get_the_outer_path() {
        let inner = WireError::invalid(&[Issue::at("location.country", "unknown", "invalid_value")]);
        let outer = inner.within("scrapeOptions");
        assert_eq!(outer.text(), "Bad Request: scrapeOptions.location.country: unknown");
        let path = serde_json::json!(["scrapeOptions", "location", "country"]);
        assert_eq!(outer.details().unwrap()[0]["path"], path);
    }

    #[test]
    fn body_has_only_the_keys_that_are_set() {
        let plain = serde_json::to_value(WireError::from(Kind::Forbidden).body()).unwrap();
        assert_eq!(plain, serde_json::json!({ "success": false, "error": "Forbidden", "code": "FORBIDDEN" }));
        let allowed = serde_json::to_value(WireError::method_not_allowed(&["GET"]).body()).unwrap();
        assert_eq!(allowed["allowed_methods"], serde_json::json!(["GET"]));
    }
}
