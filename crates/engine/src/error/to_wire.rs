//! What callers see of an error: the one place where errors of the engine become those of the contract.

use super::{BrowserNeed, Error, READING, Rejection, RejectionText};
use access::store_to_wire;
use browser::{NavigationError, VisitError};
use document_process::{INSTALL_OCR_MODELS, ParseError};
use model::chat::ChatError;
use net::{EgressError, FetchError, Phase};
use serde_json::json;
use wire::{Kind, WireError};

/// Bytes of what a model says when it declines that callers are shown.
const MAX_DECLINED_BYTES: usize = 500;
/// Seconds after which a page may be asked for again that found no memory.
const MEMORY_RETRY_SECONDS: u64 = 5;
/// Seconds after which a file may be sent again that no process could be started for.
const FILE_RETRY_SECONDS: u64 = 5;
/// The phase that a timeout names when it happens while a file is read.
const READING_FILE: &str = "reading the file";
const NO_BROWSER: &str = "this needs a browser, and this machine has none (`gannet doctor` says why)";

impl From<Error> for WireError {
    fn from(error: Error) -> Self {
        error.to_wire()
    }
}

impl Error {
    pub fn to_wire(&self) -> WireError {
        match self {
            Self::Fetch(error) => from_fetch(error),
            Self::Visit(error) => from_visit(error),
            Self::RefusedUrl(refused) => {
                let details = json!({ "refused": refused.url, "rule": refused.rule.name() });
                WireError::because(Kind::UnsafeDomain, &refused.to_string()).with_details(&details)
            }
            Self::Wall(wall) => {
                let mut details = json!({
                    "verdict": wall.verdict.kind,
                    "evidence": wall.verdict.evidence,
                    "statusCode": wall.status,
                    "ladder": wall.steps,
                });
                if wall.lacks_browser {
                    details["browser"] = "missing".into();
                }
                let kind = if wall.ends_safe_mode { Kind::SiteRestricted } else { Kind::ScrapeAllFailed };
                WireError::because(kind, &self.to_string()).with_details(&details)
            }
            Self::RobotsForbid { url, .. } => WireError::because(Kind::SiteRestricted, &self.to_string())
                .with_details(&json!({ "refused": url, "rule": "robots.txt" })),
            Self::SiteStatus(_) => WireError::because(Kind::ScrapeSite, &self.to_string()),
            Self::UnsupportedFile(format) => unsupported_file(format),
            Self::File(error) => from_file(error),
            Self::NoBrowser(BrowserNeed::Actions) => Kind::ScrapeActionsUnsupported.into(),
            Self::NoBrowser(BrowserNeed::Branding) => Kind::ScrapeBrandingUnsupported.into(),
            Self::NoBrowser(BrowserNeed::Page) => WireError::because(Kind::ScrapeAllFailed, NO_BROWSER)
                .with_details(&json!({ "browser": "missing" })),
            Self::Timeout { phase, resumes_in } => WireError::scrape_timeout(phase, *resumes_in),
            Self::Cancelled => WireError::scrape_timeout(READING, None),
            Self::NoMemory => no_memory(),
            Self::TooMuchWork { option: None } => {
                let why = "the page takes more work than one request may ask for; ask for less of it at once";
                WireError::because(Kind::UnprocessableEntity, why)
            }
            Self::TooMuchWork { option: Some(option) } => {
                let why = format!("`{option}` takes more work on this page than one request may ask for");
                WireError::because(Kind::UnprocessableEntity, &why)
            }
            Self::PromptInjection(signs) => {
                WireError::from(Kind::PromptInjection).with_details(&json!({ "signs": signs }))
            }
            Self::NoText => WireError::because(Kind::UnprocessableEntity, &self.to_string()),
            Self::SchemaNotFilled { reason, missing, partial } => {
                let details = json!({ "missing": missing, "partial": partial });
                WireError::because(Kind::UnprocessableEntity, reason).with_details(&details)
            }
            Self::Model(error) => from_chat(error),
            Self::ModelOutput(error) => WireError::because(Kind::UnprocessableEntity, &error.to_string()),
            Self::ModelDeclined(why) => {
                let why = &why[..why.floor_char_boundary(MAX_DECLINED_BYTES)];
                WireError::because(Kind::UnprocessableEntity, &format!("the model declined: {why}"))
            }
            Self::ModelNotConfigured { format } => WireError::because(
                Kind::ModelNotConfigured,
                &format!(
                    "`{format}` works with a language model only; set model_url and model_name to use one"
                ),
            ),
            Self::SearchTimeout(said) => {
                WireError::because(Kind::RequestTimeout, &self.to_string()).with_details(said)
            }
            Self::UnknownPaper(_) => WireError::from(Kind::NotFound).with_details(&self.to_string()),
            Self::Rejected(rejection) => from_rejection(rejection),
            Self::InField { field, error } => error.to_wire().within(field),
            Self::Feedback { code, error } => error.to_wire().with_extra("feedbackErrorCode", (*code).into()),
            Self::Caller(error) => error.to_wire(),
            Self::ThreadBusy(run) => WireError::thread_busy(*run),
            Self::Conflict(reason) => WireError::conflict(reason),
            Self::Store(error) => store_to_wire(error),
            Self::OutOfSpace(reason) => WireError::out_of_space(reason),
            Self::Unavailable { reason, retry_after } => WireError::unavailable(reason, *retry_after),
            Self::Internal(_) => Kind::Internal.into(),
            Self::Stored(error) => error.to_wire(),
        }
    }
}

fn unsupported_file(format: &str) -> WireError {
    let why = format!("it is {format}; `parsers: []` returns it as base64");
    WireError::because(Kind::ScrapeUnsupportedFile, &why)
}

fn from_file(error: &ParseError) -> WireError {
    let why = error.to_string();
    let why = why.trim_end_matches('.');
    match error {
        ParseError::Unsupported(format) => unsupported_file(format),
        ParseError::OcrRequired { pages } if pages.is_empty() => {
            let ocr = "which is off or not installed here; the operator installs it with";
            let format = format!("a picture, and pictures are read with OCR, {ocr} `{INSTALL_OCR_MODELS}`");
            unsupported_file(&format)
        }
        ParseError::OcrRequired { pages } => {
            WireError::from(Kind::ScrapeOcrRequired).with_details(&json!({ "pages": pages }))
        }
        ParseError::TimedOut => WireError::scrape_timeout(READING_FILE, None),
        ParseError::Unavailable(_) => WireError::unavailable("files cannot be read", FILE_RETRY_SECONDS),
        _ => WireError::because(Kind::ScrapeUnreadableFile, why),
    }
}

fn from_rejection(rejection: &Rejection) -> WireError {
    let kind = rejection.kind;
    let error = match &rejection.text {
        RejectionText::Catalogue => kind.into(),
        RejectionText::Reason(reason) => WireError::because(kind, reason),
        RejectionText::Exact(text) => WireError::with_text(kind, text.clone()),
    };
    match &rejection.issues {
        Some(issues) => error.with_details(issues),
        None => error,
    }
}

fn from_fetch(error: &FetchError) -> WireError {
    let kind = match error {
        FetchError::Timeout { phase: Phase::Room, .. } => return no_memory(),
        FetchError::Timeout { phase, .. } => return WireError::scrape_timeout(&phase.to_string(), None),
        FetchError::BadUrl(_) => Kind::InvalidUrl,
        FetchError::BadRequest(_) => Kind::BadRequest,
        FetchError::Refused(EgressError::Rule { url }) => {
            return WireError::because(Kind::UnsafeDomain, &error.to_string())
                .with_details(&json!({ "refused": url }));
        }
        FetchError::Refused(EgressError::Address { .. } | EgressError::LocalName { .. }) => {
            let why = format!("{error}; the setting egress_allow opens it");
            return WireError::because(Kind::UnsafeDomain, &why);
        }
        FetchError::Refused(_) => Kind::UnsafeDomain,
        FetchError::NameNotFound { .. } | FetchError::NameLookupFailed { .. } => Kind::ScrapeDns,
        FetchError::Tls { .. } => Kind::ScrapeSsl,
        FetchError::Proxy(_) => Kind::ScrapeProxy,
        FetchError::Connect { .. } | FetchError::Incomplete(_) | FetchError::CutOff(_) => {
            return WireError::because(Kind::ScrapeSite, &error.to_string())
                .with_details(&json!({ "mayPass": true }));
        }
        _ => Kind::ScrapeSite,
    };
    WireError::because(kind, &error.to_string())
}

fn from_visit(error: &VisitError) -> WireError {
    let text = error.to_string();
    let kind = match error {
        VisitError::Timeout { phase } => return WireError::scrape_timeout(&phase.to_string(), None),
        VisitError::Busy => return WireError::scrape_timeout("waiting for a free browser page", None),
        VisitError::Action { index, selector, message } => {
            let details = json!({ "index": index, "selector": selector, "message": message });
            let at = selector.as_ref().map_or_else(String::new, |selector| format!(" ({selector})"));
            let what = format!("number {}{at}: {message}", index + 1);
            return WireError::because(Kind::ScrapeAction, &what).with_details(&details);
        }
        VisitError::Navigation(NavigationError::Network(error)) => return from_fetch(error),
        VisitError::Navigation(problem) => match problem {
            NavigationError::Scheme(_) | NavigationError::Filtered(_) => Kind::UnsafeDomain,
            NavigationError::Tls(_) => Kind::ScrapeSsl,
            NavigationError::Download { .. } => Kind::ScrapeUnsupportedFile,
            _ => Kind::ScrapeSite,
        },
        VisitError::Invalid(_) => Kind::BadRequest,
        _ => Kind::ScrapeAllFailed,
    };
    WireError::because(kind, &text)
}

fn from_chat(error: &ChatError) -> WireError {
    let reason = match error {
        ChatError::Timeout => {
            let details = json!({ "while": "waiting for the language model" });
            let why = "the language model took longer than the request's timeout";
            return WireError::because(Kind::ModelTimeout, why).with_details(&details);
        }
        ChatError::Unreachable(_) => "its server cannot be reached",
        ChatError::RateLimited { .. } => "its server asks to wait",
        ChatError::InvalidResponse(_) => "its server answered nonsense",
        ChatError::Refused(_) => "its server refused the request",
    };
    let mut wire = WireError::because(Kind::ModelUnavailable, reason);
    if let ChatError::RateLimited { retry_after } = error {
        wire.retry_after = *retry_after;
    }
    wire
}

fn no_memory() -> WireError {
    WireError::unavailable("too many large pages are being read at once", MEMORY_RETRY_SECONDS)
}
