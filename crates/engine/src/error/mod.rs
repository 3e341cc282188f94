//! Everything that can go wrong in the engine, with its cause. Code of this crate decides by matching on
//! [`Error`]; it never reads what callers are shown. That is made in one place, [`Error::to_wire`], at the
//! edge: by the server's routes, by the command line, and where an error is stored for a caller who reads it
//! later.

mod stored;
mod to_wire;

pub use stored::StoredError;

use crate::allowed_urls::{AllowedUrls, RefusedUrl};
use crate::wall::Wall;
use access::CallerError;
use browser::{NavigationError, VisitError};
use budget::OutOfBudget;
use document_process::ParseError;
use model::chat::ChatError;
use model::chat::structured::StructuredError;
use net::{EgressError, FetchError, Phase};
use outbox::webhooks::signing_secrets::SigningSecretError;
use page_data::injection::Sign;
use serde_json::Value;
use sites::scope::PatternError;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use store::StoreError;
use uuid::Uuid;
use wire::{Issue, Kind, PathPart};

/// The phase that a timeout names when it happens while a page is parsed or written.
pub(crate) const READING: &str = "reading the page";
/// Why a crawl or a run ended whose request the store could not decrypt.
pub(crate) const REQUEST_LOST: &str =
    "The stored request cannot be read: the secret key that it was encrypted with is missing.";

/// An error of the engine. Its text is for logs; callers get [`Error::to_wire`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The page could not be fetched over HTTP.
    #[error("could not fetch the page: {0}")]
    Fetch(#[source] FetchError),
    /// The page could not be visited in the browser.
    #[error("could not visit the page: {0}")]
    Visit(#[source] VisitError),
    /// A rule of the request does not accept the address: its host lists, the crawl's scope, or strict URLs.
    #[error("{0}")]
    RefusedUrl(RefusedUrl),
    /// Every rung of the ladder ended at something that is not content.
    #[error("the site answered with {}", .0.describe())]
    Wall(Box<Wall>),
    /// In safe mode: robots.txt forbids the page, or could not be read, which forbids every page.
    #[error("{}", robots_refusal(.url, *.is_unreachable))]
    RobotsForbid { url: String, is_unreachable: bool },
    /// The site answered a page of a crawl with an error status.
    #[error("the site answered with status {0}")]
    SiteStatus(u16),
    /// The address holds a file of a format that is not supported.
    #[error("the file is {0}, which is not supported")]
    UnsupportedFile(String),
    /// The page is a file, or a file was uploaded, that could not be read.
    #[error("could not read the file: {0}")]
    File(#[source] ParseError),
    /// The request needs a browser, and no Chromium was found.
    #[error("the request needs a browser, and there is none")]
    NoBrowser(BrowserNeed),
    /// The request's deadline passed. Where the work goes on, `resumes_in` says in how many seconds to ask
    /// again.
    #[error("timed out while {phase}")]
    Timeout { phase: &'static str, resumes_in: Option<u64> },
    /// The caller left, so the work was stopped.
    #[error("cancelled")]
    Cancelled,
    /// No memory for the page came free before its deadline.
    #[error("no memory to read the page into")]
    NoMemory,
    /// The page takes more work than one request may use; `option` is the one that asked for it, where one
    /// did.
    #[error("the page takes too much work (option: {option:?})")]
    TooMuchWork { option: Option<&'static str> },
    /// `checkPromptInjection` found an attempt.
    #[error("the page tries to give instructions to its reader")]
    PromptInjection(Vec<Sign>),
    /// The page has no text that could be summarised or asked about.
    #[error("the page has no text to read")]
    NoText,
    /// The page does not state what the schema requires; `partial` is what it states.
    #[error("{reason}")]
    SchemaNotFilled { reason: String, missing: Vec<String>, partial: Box<Value> },
    /// The language model's server failed.
    #[error("the language model failed: {0}")]
    Model(#[source] ChatError),
    /// The language model answered, but not with what was asked for.
    #[error("the language model's output cannot be used: {0}")]
    ModelOutput(#[source] StructuredError),
    /// The language model will not do it.
    #[error("the language model declined: {0}")]
    ModelDeclined(String),
    /// The format needs a language model, and none is configured.
    #[error("{format} needs a language model, and none is configured")]
    ModelNotConfigured { format: String },
    /// No source of a search answered in time; what each of them said.
    #[error("no search source answered in time")]
    SearchTimeout(Vec<String>),
    /// The research index has no such paper.
    #[error("no paper {0} in the research index")]
    UnknownPaper(String),
    /// The request cannot be accepted as it is, or what it names does not exist or is in another state.
    #[error("{0}")]
    Rejected(Box<Rejection>),
    /// An error in what a field of a larger request holds.
    #[error("{field}: {error}")]
    InField { field: &'static str, error: Box<Error> },
    /// An error of the feedback endpoint, which has codes of its own.
    #[error("{error}")]
    Feedback { code: &'static str, error: Box<Error> },
    /// The caller may not do it, or not now: rights, plan, credits, idempotency keys. Never an error of the
    /// store.
    #[error(transparent)]
    Caller(CallerError),
    #[error("the thread's run {0} has not ended")]
    ThreadBusy(Uuid),
    #[error("conflict: {0}")]
    Conflict(&'static str),
    /// The database or the object storage failed.
    #[error("the store failed: {0}")]
    Store(#[source] Arc<StoreError>),
    /// There is no space left to store more; the text says where.
    #[error("{0}")]
    OutOfSpace(String),
    #[error("{reason}")]
    Unavailable { reason: &'static str, retry_after: u64 },
    /// A fault of our own. Made by [`Error::internal`], which logs the cause.
    #[error("internal error: {0}")]
    Internal(#[source] Arc<dyn StdError + Send + Sync>),
    /// An error that was stored earlier and is told again.
    #[error("{0}")]
    Stored(Box<StoredError>),
}

fn robots_refusal(url: &str, is_unreachable: bool) -> String {
    if is_unreachable {
        format!("the robots.txt of {url} could not be read, and then nothing may be")
    } else {
        format!("robots.txt does not allow {url}")
    }
}

/// What a request needs the browser for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserNeed {
    Actions,
    Branding,
    /// Anything else, such as a page that is written by its scripts.
    Page,
}

/// A row of the catalogue that says what is wrong with a request, and the details of this case.
#[derive(Debug, Clone)]
pub struct Rejection {
    pub kind: Kind,
    pub text: RejectionText,
    /// What is wrong with which field; none where the error is not about fields.
    pub issues: Option<Vec<Issue>>,
}

/// The text of a rejection.
#[derive(Debug, Clone)]
pub enum RejectionText {
    /// That of the catalogue.
    Catalogue,
    /// That of the catalogue, followed by the reason.
    Reason(String),
    /// Instead of that of the catalogue.
    Exact(String),
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.kind.entry().text;
        match &self.text {
            RejectionText::Catalogue => out.write_str(text),
            RejectionText::Reason(reason) => write!(out, "{text}: {reason}"),
            RejectionText::Exact(exact) => out.write_str(exact),
        }
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::InsufficientCredits => CallerError::InsufficientCredits.into(),
            Kind::Internal => Self::internal("no cause is known"),
            kind => Self::rejected(kind, RejectionText::Catalogue, None),
        }
    }
}

impl From<Vec<Issue>> for Error {
    fn from(issues: Vec<Issue>) -> Self {
        Self::invalid(&issues)
    }
}

impl From<FetchError> for Error {
    fn from(error: FetchError) -> Self {
        Self::Fetch(error)
    }
}

impl From<CallerError> for Error {
    fn from(error: CallerError) -> Self {
        match error {
            CallerError::Store(error) => Self::Store(error),
            error => Self::Caller(error),
        }
    }
}

impl From<SigningSecretError> for Error {
    fn from(error: SigningSecretError) -> Self {
        match error {
            SigningSecretError::Store(error) => from_store(error),
            SigningSecretError::Randomness(error) => Self::already_logged(error),
        }
    }
}

/// Logs what the store said, which callers do not see, and keeps it.
pub fn from_store(error: StoreError) -> Error {
    access::from_store(error).into()
}

impl Error {
    fn rejected(kind: Kind, text: RejectionText, issues: Option<Vec<Issue>>) -> Self {
        Self::Rejected(Box::new(Rejection { kind, text, issues }))
    }

    /// Fields that are not valid, each with where, what and a code.
    pub fn invalid(issues: &[Issue]) -> Self {
        let text =
            issues.first().map_or(RejectionText::Catalogue, |first| RejectionText::Reason(first.to_string()));
        Self::rejected(Kind::BadRequest, text, Some(issues.to_vec()))
    }

    /// A row of the catalogue with the reason why.
    pub fn because(kind: Kind, reason: &str) -> Self {
        Self::rejected(kind, RejectionText::Reason(reason.to_owned()), None)
    }

    /// A row of the catalogue with a text of its own.
    pub fn with_text(kind: Kind, text: &str) -> Self {
        Self::rejected(kind, RejectionText::Exact(text.to_owned()), None)
    }

    /// The same rejection with the fields it is about.
    #[must_use]
    pub fn with_issues(mut self, issues: &[Issue]) -> Self {
        if let Self::Rejected(rejection) = &mut self {
            rejection.issues = Some(issues.to_vec());
        }
        self
    }

    /// The same error, of what a field of a larger request holds.
    #[must_use]
    pub fn within(self, field: &'static str) -> Self {
        Self::InField { field, error: Box::new(self) }
    }

    /// A fault of our own: logs the cause, which callers do not see, and keeps it.
    #[track_caller]
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let (cause, at) = (cause.into(), std::panic::Location::caller());
        tracing::error!(error = %cause, %at, "internal error");
        Self::Internal(cause.into())
    }

    /// The same where the cause was logged already, with more about it.
    pub fn already_logged(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Internal(cause.into().into())
    }

    /// The deadline of a page passed.
    pub fn timeout(phase: &'static str) -> Self {
        Self::Timeout { phase, resumes_in: None }
    }

    /// An error of the language model's server. What it said is for the operator's log.
    pub fn from_chat(error: ChatError) -> Self {
        if error != ChatError::Timeout {
            tracing::warn!(%error, "the language model failed");
        }
        Self::Model(error)
    }

    pub fn from_structured(error: StructuredError) -> Self {
        match error {
            StructuredError::Chat(error) => Self::from_chat(error),
            error => Self::ModelOutput(error),
        }
    }

    /// An error of a fetch for a request with rules about addresses: where one of them refused, it is named.
    pub fn from_fetch(error: FetchError, allowed: &AllowedUrls) -> Self {
        let refused = match &error {
            FetchError::Refused(EgressError::Rule { url }) => allowed.refusal(url),
            _ => None,
        };
        refused.map_or(Self::Fetch(error), Self::RefusedUrl)
    }

    /// The same for a visit in the browser.
    pub fn from_visit(error: VisitError, allowed: &AllowedUrls) -> Self {
        match error {
            VisitError::Navigation(NavigationError::Network(error)) => Self::from_fetch(error, allowed),
            VisitError::Navigation(NavigationError::Filtered(url)) => match allowed.refusal(&url) {
                Some(refused) => Self::RefusedUrl(refused),
                None => Self::Visit(VisitError::Navigation(NavigationError::Filtered(url))),
            },
            error => Self::Visit(error),
        }
    }

    /// An error of reading a file. What is not the file's fault, and what it did to its process, is for the
    /// operator's log.
    pub fn from_file(error: ParseError) -> Self {
        match &error {
            ParseError::Unavailable(why) => tracing::error!(why, "files cannot be read"),
            ParseError::Crashed(why) => tracing::warn!(why, "a file made its process crash"),
            _ => {}
        }
        Self::File(error)
    }

    /// The row of the catalogue that callers see.
    pub fn kind(&self) -> Kind {
        self.to_wire().kind
    }

    /// The text that callers see.
    pub fn text(&self) -> String {
        self.to_wire().text().to_owned()
    }

    /// What is wrong with the first field, where the error is about fields.
    pub fn first_issue(&self) -> Option<&Issue> {
        match self {
            Self::Rejected(rejection) => rejection.issues.as_ref()?.first(),
            _ => None,
        }
    }

    /// The address that a rule of the request refused: the page's own, or one that a redirect led to.
    pub fn refused_url(&self) -> Option<&str> {
        match self {
            Self::RefusedUrl(refused) => Some(&refused.url),
            Self::Fetch(FetchError::Refused(EgressError::Rule { url })) => Some(url),
            _ => None,
        }
    }

    /// Whether the page was not there before its deadline.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Timeout { .. }
            | Self::Cancelled
            | Self::File(ParseError::TimedOut)
            | Self::Visit(VisitError::Timeout { .. } | VisitError::Busy) => true,
            Self::Fetch(FetchError::Timeout { phase, .. }) => *phase != Phase::Room,
            _ => false,
        }
    }

    /// Whether something that this service needs is not available now: its store, space, or memory.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Store(error) => error.is_retryable(),
            Self::OutOfSpace(_)
            | Self::Unavailable { .. }
            | Self::NoMemory
            | Self::File(ParseError::Unavailable(_)) => true,
            Self::Fetch(FetchError::Timeout { phase, .. }) => *phase == Phase::Room,
            Self::Rejected(rejection) => rejection.kind == Kind::Unavailable,
            Self::Caller(error) => matches!(error, CallerError::NoTeam),
            _ => false,
        }
    }

    /// Whether a page that ended with this may come a moment later.
    pub fn is_transient(&self) -> bool {
        // A file that takes too long takes as long a second time, and its host is not to blame.
        if matches!(self, Self::File(ParseError::TimedOut)) {
            return false;
        }
        self.is_timeout()
            || self.is_unavailable()
            || matches!(
                self,
                Self::Fetch(
                    FetchError::NameNotFound { .. }
                        | FetchError::NameLookupFailed { .. }
                        | FetchError::Proxy(_)
                        | FetchError::Connect { .. }
                        | FetchError::Incomplete(_)
                        | FetchError::CutOff(_)
                )
            )
    }

    /// Whether the cause lies in this service and not in the site, so that the page deserves another attempt.
    pub fn is_own_fault(&self) -> bool {
        self.is_unavailable()
            || matches!(
                self,
                Self::Store(_)
                    | Self::Internal(_)
                    | Self::Caller(CallerError::ConcurrencyLimited { .. } | CallerError::QueueFull { .. })
                    | Self::Model(_)
            )
    }
}

impl From<OutOfBudget> for Error {
    fn from(out: OutOfBudget) -> Self {
        match out {
            OutOfBudget::Steps => Self::TooMuchWork { option: None },
            OutOfBudget::Time => Self::timeout(READING),
            OutOfBudget::Stopped => Self::Cancelled,
        }
    }
}

/// Reports a regex that cannot be used, with its place in the request.
pub(crate) fn bad_pattern(bad: &PatternError) -> Issue {
    let (list, index) = match bad {
        PatternError::One { list, index, .. } => (list, Some(*index)),
        PatternError::All { list, .. } => (list, None),
    };
    let list = PathPart::Key(list.to_string());
    let path = std::iter::once(list).chain(index.map(PathPart::Index)).collect();
    Issue::new(path, &bad.reason(), "invalid_value")
}

#[cfg(test)]
mod tests;
