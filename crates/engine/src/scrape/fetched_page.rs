//! A fetched page together with how it was obtained: from the cache, over HTTP or in the browser.

use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::page_memory::BodyMemory;
use crate::wall::{LadderStep, Rung};
use browser::{ActionResult, ScreenshotImage, StorageState};
use bytes::Bytes;
use content::Limits;
use content::page::{Page, PageSource};
use content::verdict::PageVerdict;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A response to the request for a page.
#[derive(Debug)]
pub struct PageResponse {
    /// After redirects.
    pub url: Url,
    pub status: u16,
    pub content_type: Option<String>,
    /// Validators for a later conditional request.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// The `Retry-After` header.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
    /// The body was cut at a limit.
    pub cut: bool,
    /// The part of the memory for pages that the body uses.
    pub held_memory: BodyMemory,
}

/// What a visit in the browser returns besides the page.
#[derive(Debug, Default)]
pub struct BrowserOutputs {
    pub screenshot: Option<ScreenshotImage>,
    pub results: Vec<ActionResult>,
    /// Computed styles, for branding.
    pub styles: Option<Value>,
    /// Cookies and storage at the end of the visit, for a profile.
    pub state: Option<StorageState>,
}

/// An answer, read and judged.
#[derive(Debug)]
pub struct FetchedPage {
    pub response: PageResponse,
    /// Shared with those who keep it after the response and its memory are given back.
    pub page: Arc<Page>,
    pub verdict: PageVerdict,
    pub rung: Rung,
    pub steps: Vec<LadderStep>,
    pub browser_outputs: BrowserOutputs,
    /// Set where the page came from the cache.
    pub stored: Option<CacheHit>,
}

/// How a cached page was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHit {
    pub fetched_at: store::Millis,
    /// The site confirmed that it is unchanged.
    pub revalidated: bool,
}

/// Parses and judges an answer for a request that accepts pages from `allowed`. Every page passes here,
/// however it was obtained: over HTTP, revalidated, from the browser, stored. So no page is used whose final
/// address the request does not accept. Work for a [`crate::cpu_pool::CpuPool`].
pub fn parse_response(
    response: PageResponse,
    allowed: &AllowedUrls,
) -> Result<(PageResponse, Arc<Page>, PageVerdict), Error> {
    allowed.check(&response.url).map_err(Error::RefusedUrl)?;
    let source = PageSource {
        bytes: &response.body,
        content_type: response.content_type.as_deref(),
        url: Some(&response.url),
        status: Some(response.status),
    };
    let page = Page::parse(&source, &Limits::default());
    let verdict = page.verdict();
    Ok((response, Arc::new(page), verdict))
}

#[cfg(test)]
impl FetchedPage {
    /// A page as if it had been fetched over HTTP.
    pub fn for_test(url: &str, content_type: &str, body: &str) -> Self {
        let response = PageResponse {
            url: Url::parse(url).unwrap(),
            status: 200,
            content_type: Some(content_type.to_owned()),
            etag: None,
            last_modified: None,
            retry_after: None,
            body: body.to_owned().into(),
            cut: false,
            held_memory: BodyMemory::default(),
        };
        let (response, page, verdict) = parse_response(response, &AllowedUrls::default()).unwrap();
        let (rung, browser_outputs) = (Rung::Http, BrowserOutputs::default());
        Self { response, page, verdict, rung, steps: Vec::new(), browser_outputs, stored: None }
    }
}
