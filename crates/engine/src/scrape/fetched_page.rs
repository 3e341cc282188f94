//! A fetched page together with how it was obtained: from the cache, over HTTP or in the browser.

use super::file;
use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::page_memory::{BodyMemory, MAX_SMALL_BODY_BYTES};
use crate::wall::{LadderStep, Rung};
use browser::{ActionResult, ScreenshotImage, StorageState};
use bytes::Bytes;
use content::Limits;
use content::page::{Page, PageSource};
use content::verdict::{PageVerdict, VerdictKind};
use document_process::ParsedFile;
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
    /// The `X-Robots-Tag` headers.
    pub robots_tags: Vec<String>,
    /// The `Retry-After` header.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
    /// The body was cut at a limit.
    pub cut: bool,
    /// The site chose to send markdown because it was preferred; others get HTML from the same address.
    pub chosen_markdown: bool,
    /// The part of the memory for pages that the body uses.
    pub held_memory: BodyMemory,
}

/// The `X-Robots-Tag` headers of a response; more and longer ones are no rules.
pub fn robots_tags<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    const MAX_TAGS: usize = 20;
    const MAX_TAG_BYTES: usize = 1024;
    values.filter(|value| value.len() <= MAX_TAG_BYTES).take(MAX_TAGS).map(str::to_owned).collect()
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
    /// What the response holds where it is a file that was read; the page is then made from it.
    pub file: Option<Arc<ParsedFile>>,
    /// The name of an uploaded file, which has no address.
    pub uploaded_name: Option<String>,
    pub rung: Rung,
    pub steps: Vec<LadderStep>,
    pub browser_outputs: BrowserOutputs,
    /// Set where the page came from the cache.
    pub stored: Option<CacheHit>,
}

impl FetchedPage {
    /// Credits that it costs beyond those of a page.
    pub fn extra_credits(&self) -> i64 {
        self.file.as_deref().map_or(0, file::extra_credits)
    }

    /// How long the text is that its documents are written of.
    pub fn text_bytes(&self) -> usize {
        self.file.as_deref().map_or(self.response.body.len(), |file| documents::text_bytes(&file.document))
    }

    /// Whether a document of it takes so much memory that there must be room for it first.
    pub fn is_large(&self) -> bool {
        self.text_bytes() > MAX_SMALL_BODY_BYTES
    }
}

/// How a cached page was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHit {
    pub fetched_at: store::Millis,
    /// The site confirmed that it is unchanged.
    pub revalidated: bool,
    /// Search finds it: whoever cached it, or took it from the cache since, had it indexed.
    pub is_indexed: bool,
}

/// A response that was parsed and judged.
#[derive(Debug)]
pub struct ReadPage {
    pub response: PageResponse,
    pub page: Arc<Page>,
    pub verdict: PageVerdict,
    pub file: Option<Arc<ParsedFile>>,
}

impl ReadPage {
    /// The page together with how it was obtained.
    pub fn obtained(self, rung: Rung, steps: Vec<LadderStep>, stored: Option<CacheHit>) -> FetchedPage {
        let Self { response, page, verdict, file } = self;
        let (uploaded_name, browser_outputs) = (None, BrowserOutputs::default());
        FetchedPage { response, page, verdict, file, uploaded_name, rung, steps, browser_outputs, stored }
    }
}

/// Parses and judges an answer for a request that accepts pages from `allowed`; `file` is what was read of
/// it where it is a file. Every page passes here, however it was obtained: over HTTP, revalidated, from the
/// browser, stored. So no page is used whose final address the request does not accept. Work for a
/// [`crate::cpu_pool::CpuPool`].
pub fn parse_response(
    response: PageResponse,
    file: Option<Arc<ParsedFile>>,
    allowed: &AllowedUrls,
) -> Result<ReadPage, Error> {
    allowed.check(&response.url).map_err(Error::RefusedUrl)?;
    let (page, verdict) = if let Some(file) = &file {
        (file::to_page(file, Some(&response.url), response.status), file_verdict())
    } else {
        let page = parse_page(&response, Some(&response.url));
        let verdict = page.verdict();
        (page, verdict)
    };
    Ok(ReadPage { response, page: Arc::new(page), verdict, file })
}

/// The body as a page; `url` is what its links are relative to.
pub fn parse_page(response: &PageResponse, url: Option<&Url>) -> Page {
    let source = PageSource {
        bytes: &response.body,
        content_type: response.content_type.as_deref(),
        url,
        status: Some(response.status),
    };
    Page::parse(&source, &Limits::default())
}

/// A file is content, whatever it says: walls are pages.
pub fn file_verdict() -> PageVerdict {
    PageVerdict { kind: VerdictKind::Content, evidence: Vec::new() }
}

#[cfg(test)]
impl FetchedPage {
    /// A page as if it had been fetched over HTTP.
    pub fn for_test(url: &str, content_type: &str, body: &str) -> Self {
        Self::read_for_test(url, content_type, body.as_bytes(), None)
    }

    /// A file as if it had been fetched over HTTP and read.
    pub fn file_for_test(url: &str, content_type: &str, body: &[u8]) -> Self {
        let hint = documents::FileHint { name: None, content_type: Some(content_type) };
        let kind = documents::detect(body, hint).unwrap();
        let document = documents::parse(body, hint, &documents::ParseOptions::default()).unwrap();
        let (pages_needing_ocr, pages_read_by_ocr) = (Vec::new(), Vec::new());
        let file = ParsedFile { kind, document, pages_needing_ocr, pages_read_by_ocr };
        Self::read_for_test(url, content_type, body, Some(Arc::new(file)))
    }

    fn read_for_test(url: &str, content_type: &str, body: &[u8], file: Option<Arc<ParsedFile>>) -> Self {
        let response = PageResponse {
            url: Url::parse(url).unwrap(),
            status: 200,
            content_type: Some(content_type.to_owned()),
            etag: None,
            last_modified: None,
            robots_tags: Vec::new(),
            retry_after: None,
            body: body.to_vec().into(),
            cut: false,
            chosen_markdown: false,
            held_memory: BodyMemory::default(),
        };
        let read = parse_response(response, file, &AllowedUrls::default()).unwrap();
        read.obtained(Rung::Http, Vec::new(), None)
    }
}
