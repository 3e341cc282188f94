//! Why a page could not be had, in the words of the contract. The one place where errors of the ways out become answers.

use super::capture::Step;
use super::plan::{AllowedUrls, RefusedUrl};
use browser::{NavigationError, VisitError};
use content::verdict::Verdict;
use net::{FetchError, Phase, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::{Kind, WireError};

/// What a fetch over plain HTTP ended with.
pub fn of_fetch(error: &FetchError) -> WireError {
    let kind = match error {
        FetchError::Timeout { phase: Phase::Room, .. } => return no_room(),
        FetchError::Timeout { phase, .. } => return WireError::scrape_timeout(&phase.to_string(), None),
        FetchError::BadUrl(_) => Kind::InvalidUrl,
        FetchError::BadRequest(_) => Kind::BadRequest,
        FetchError::Refused(Refusal::Rule { url }) => {
            return WireError::because(Kind::UnsafeDomain, &error.to_string())
                .with_details(&json!({ "refused": url }));
        }
        FetchError::Refused(_) => Kind::UnsafeDomain,
        FetchError::NameNotFound { .. } | FetchError::NameLookupFailed { .. } => Kind::ScrapeDns,
        FetchError::Tls { .. } => Kind::ScrapeSsl,
        FetchError::Proxy(_) => Kind::ScrapeProxy,
        FetchError::Connect { .. } | FetchError::Incomplete(_) => {
            return WireError::because(Kind::ScrapeSite, &error.to_string())
                .with_details(&json!({ "mayPass": true }));
        }
        _ => Kind::ScrapeSite,
    };
    WireError::because(kind, &error.to_string())
}

/// The same for a request with rules of its own about addresses: the answer names the rule.
pub fn of_fetch_within(error: &FetchError, allowed: &AllowedUrls) -> WireError {
    match error {
        FetchError::Refused(Refusal::Rule { url }) => {
            allowed.refusal(url).map_or_else(|| of_fetch(error), |refused| of_refused(&refused))
        }
        _ => of_fetch(error),
    }
}

/// The page is at an address that the request does not accept.
pub fn of_refused(refused: &RefusedUrl) -> WireError {
    let details = json!({ "refused": refused.url, "rule": refused.rule.name() });
    WireError::because(Kind::UnsafeDomain, &refused.to_string()).with_details(&details)
}

/// No memory for the page came free before its deadline.
pub fn no_room() -> WireError {
    const NEXT_TRY: u64 = 5;
    WireError::unavailable("too many large pages are being read at once", NEXT_TRY)
}

/// Whether a page that ended with this may come a moment later.
pub fn may_pass(error: &WireError) -> bool {
    let said = || error.details().is_some_and(|details| details["mayPass"] == true);
    match error.kind {
        Kind::ScrapeTimeout | Kind::ScrapeDns | Kind::ScrapeProxy | Kind::Unavailable => true,
        Kind::ScrapeSite => said(),
        _ => false,
    }
}

/// What a visit in the browser ended with, for a request that accepts pages from `allowed`.
pub fn of_visit(error: &VisitError, allowed: &AllowedUrls) -> WireError {
    let text = error.to_string();
    match error {
        VisitError::Timeout { phase } => WireError::scrape_timeout(&phase.to_string(), None),
        VisitError::Busy => WireError::scrape_timeout("waiting for a free browser page", None),
        VisitError::Action { index, selector, message } => {
            let details = json!({ "index": index, "selector": selector, "message": message });
            WireError::because(Kind::ScrapeAction, &text).with_details(&details)
        }
        VisitError::Navigation(NavigationError::Network(error)) => of_fetch_within(error, allowed),
        VisitError::Navigation(NavigationError::Filtered(url))
            if let Some(refused) = allowed.refusal(url) =>
        {
            of_refused(&refused)
        }
        VisitError::Navigation(problem) => {
            let kind = match problem {
                NavigationError::Scheme(_) | NavigationError::Filtered(_) => Kind::UnsafeDomain,
                NavigationError::Tls(_) => Kind::ScrapeSsl,
                NavigationError::Download { .. } => Kind::ScrapeUnsupportedFile,
                _ => Kind::ScrapeSite,
            };
            WireError::because(kind, &text)
        }
        VisitError::Invalid(_) => WireError::because(Kind::BadRequest, &text),
        _ => WireError::because(Kind::ScrapeAllFailed, &text),
    }
}

/// Every way ended at something that is no content.
pub fn of_wall(verdict: &Verdict, status: u16, steps: &[Step]) -> WireError {
    let what = word(verdict);
    let details = json!({
        "verdict": verdict.kind,
        "evidence": verdict.evidence,
        "statusCode": status,
        "ladder": steps,
    });
    WireError::because(Kind::ScrapeAllFailed, &format!("the site answered with {what}"))
        .with_details(&details)
}

/// The file is of a kind nothing here reads.
pub fn of_file(verdict: &Verdict) -> WireError {
    let kind = verdict.evidence.first().map_or("binary data", |evidence| evidence.detail.as_str());
    WireError::because(
        Kind::ScrapeUnsupportedFile,
        &format!("it is {kind}; `parsers: []` returns it as base64"),
    )
}

/// A verdict in words.
pub fn word(verdict: &Verdict) -> &'static str {
    use content::verdict::VerdictKind;
    match verdict.kind {
        VerdictKind::Content => "content",
        VerdictKind::Blocked => "a block page",
        VerdictKind::Captcha => "a captcha",
        VerdictKind::LoginWall => "a login wall",
        VerdictKind::ConsentWall => "a consent wall",
        VerdictKind::Parked => "a parked domain",
        VerdictKind::SoftNotFound => "a page that says it was not found",
        VerdictKind::AppShell => "an empty shell that waits for scripts",
        VerdictKind::Binary => "binary data",
        VerdictKind::Empty => "an empty page",
    }
}

/// A failure as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub struct Failed {
    code: String,
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
}

impl Failed {
    pub fn of(error: &WireError) -> Self {
        let name = error.kind.name().to_owned();
        Self { code: name, error: error.text().to_owned(), details: error.details().cloned() }
    }

    pub fn into_error(self) -> WireError {
        let kind = Kind::by_name(&self.code).unwrap_or(Kind::Internal);
        let error = WireError::with_text(kind, self.error);
        match self.details {
            Some(details) => error.with_details(&details),
            None => error,
        }
    }
}
