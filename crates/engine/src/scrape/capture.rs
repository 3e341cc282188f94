//! A page as it was had, with how it was had.

use super::failure;
use super::memory::BodyPlace;
use super::plan::AllowedUrls;
use browser::{ActionResult, Picture, StorageState};
use bytes::Bytes;
use content::Limits;
use content::page::{Page, Source};
use content::verdict::Verdict;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;
use url::Url;
use wire::WireError;

/// The ways to a page, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    Cache,
    Http,
    Browser,
}

impl Rung {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Http => "http",
            Self::Browser => "browser",
        }
    }
}

/// One step on the ladder, for the caller to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub rung: Rung,
    /// Why this rung was tried.
    pub reason: &'static str,
    /// `content`, or what stood in its way.
    pub outcome: String,
    pub ms: u64,
}

/// What came back for an address.
#[derive(Debug)]
pub struct Answer {
    /// After redirects.
    pub url: Url,
    pub status: u16,
    pub content_type: Option<String>,
    /// What later questions to the same site can be made conditional by.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// When the site wants to be asked again.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
    /// A limit cut the body.
    pub cut: bool,
    /// What the body holds of the process's memory for pages.
    pub place: BodyPlace,
}

/// What only a visit in a browser leaves.
#[derive(Debug, Default)]
pub struct Souvenirs {
    pub screenshot: Option<Picture>,
    pub results: Vec<ActionResult>,
    /// Computed styles, for branding.
    pub styles: Option<Value>,
    /// The browser's state at the end, for a profile.
    pub state: Option<StorageState>,
}

/// An answer, read and judged.
#[derive(Debug)]
pub struct Capture {
    pub answer: Answer,
    pub page: Page,
    pub verdict: Verdict,
    pub rung: Rung,
    pub steps: Vec<Step>,
    pub souvenirs: Souvenirs,
    /// When the page was fetched, where it was stored.
    pub stored: Option<Stored>,
}

/// How a stored page came into use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub fetched_at: store::Millis,
    /// The site said that it is unchanged.
    pub revalidated: bool,
}

/// Parses and judges an answer for a request that accepts pages from `allowed`. Every page passes here, however it was obtained: over HTTP,
/// revalidated, from the browser, stored. So no page is used whose final address the request does not accept. Work for a
/// [`super::workbench::Workbench`].
pub fn read(answer: Answer, allowed: &AllowedUrls) -> Result<(Answer, Page, Verdict), WireError> {
    allowed.check(&answer.url).map_err(|refused| failure::of_refused(&refused))?;
    let source = Source {
        bytes: &answer.body,
        content_type: answer.content_type.as_deref(),
        url: Some(&answer.url),
        status: Some(answer.status),
    };
    let page = Page::read(&source, &Limits::default());
    let verdict = page.verdict();
    Ok((answer, page, verdict))
}
