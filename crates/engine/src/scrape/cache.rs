//! The page cache: how a response is stored and read back.

use super::fetched_page::PageResponse;
use super::keys::page_key;
use super::plan::ScrapePlan;
use crate::Error;
use crate::page_memory::BodyMemory;
use crate::wall::Rung;
use serde::{Deserialize, Serialize};
use std::io;
use std::time::Duration;
use store::pages::{CachedPage, NewPage, PageKey};
pub(super) use stored_data::compression::{pack, unpack};
use stored_data::stored_json;
use url::Url;
use wire::scrape::Document;

/// How long a page is stored: lockdown accepts pages of up to two years.
const PAGE_RETENTION: Duration = Duration::from_hours(2 * 365 * 24);
/// What errors about [`StoredHeaders`] call them.
const HEADERS: &str = "the headers of a cached page";
/// Larger pages are not cached.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// The headers that are stored with a page.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredHeaders {
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    robots_tags: Vec<String>,
    #[serde(default)]
    cut: bool,
    #[serde(default)]
    chosen_markdown: bool,
}

/// The address without the anchor in its page. A fragment that names a page of its own (`#/settings`,
/// `#!about`) stays: scripts show another page for it.
pub fn without_anchor(url: &Url) -> Url {
    let mut url = url.clone();
    if url.fragment().is_some_and(|fragment| !fragment.starts_with(['/', '!'])) {
        url.set_fragment(None);
    }
    url
}

/// The place of a response among what others of the team may see, in the cache and by search; none where it
/// is too large, an error, or only for its own request.
pub fn shared_key(plan: &ScrapePlan, response: &PageResponse) -> Option<PageKey> {
    if !plan.cache.store || response.status >= 400 || response.body.len() > MAX_PAGE_BYTES {
        return None;
    }
    page_key(plan)
}

/// A response as it is cached under its [`shared_key`].
pub fn to_new_page(plan: &ScrapePlan, key: PageKey, response: &PageResponse, rung: Rung) -> Option<NewPage> {
    let headers = StoredHeaders {
        etag: response.etag.clone(),
        last_modified: response.last_modified.clone(),
        robots_tags: response.robots_tags.clone(),
        cut: response.cut,
        chosen_markdown: response.chosen_markdown,
    };
    Some(NewPage {
        key,
        url: plan.url.to_string(),
        final_url: response.url.to_string(),
        status: response.status,
        content_type: response.content_type.clone().unwrap_or_default(),
        headers: stored_json::or_log(stored_json::to_text(HEADERS, &headers))?,
        rung: rung.name().to_owned(),
        body: pack(&response.body).inspect_err(log_error).ok()?,
        keep_for: PAGE_RETENTION,
    })
}

/// A response from the cache.
#[derive(Debug)]
pub struct CachedResponse {
    pub response: PageResponse,
    /// How it was fetched.
    pub rung: Rung,
    pub fetched_at: store::Millis,
    /// Search finds it.
    pub is_indexed: bool,
}

impl CachedResponse {
    /// Whether the site can be asked with a conditional request.
    pub fn can_be_revalidated(&self) -> bool {
        self.rung == Rung::Http && (self.response.etag.is_some() || self.response.last_modified.is_some())
    }
}

/// The likely size of a cached body once it is decompressed: text shrinks to about an eighth.
pub fn estimate_size(page: &CachedPage) -> usize {
    page.body.len().saturating_mul(8)
}

/// Reads a cached page; none where it cannot be read, which counts as not cached.
pub fn from_cached_page(page: &CachedPage) -> Option<CachedResponse> {
    let headers: StoredHeaders = stored_json::or_log(stored_json::from_text(HEADERS, &page.headers))?;
    let rung = if page.rung == Rung::Browser.name() { Rung::Browser } else { Rung::Http };
    let response = PageResponse {
        url: Url::parse(&page.final_url).ok()?,
        status: page.status,
        content_type: Some(page.content_type.clone()).filter(|kind| !kind.is_empty()),
        etag: headers.etag,
        last_modified: headers.last_modified,
        robots_tags: headers.robots_tags,
        retry_after: None,
        body: unpack(&page.body).inspect_err(log_error).ok()?.into(),
        cut: headers.cut,
        chosen_markdown: headers.chosen_markdown,
        held_memory: BodyMemory::default(),
    };
    Some(CachedResponse { response, rung, fetched_at: page.fetched_at, is_indexed: false })
}

/// A document as it is stored: JSON, compressed.
pub fn pack_document(document: &Document) -> Result<Vec<u8>, Error> {
    let json = serde_json::to_vec(document).map_err(Error::internal)?;
    pack(&json).map_err(Error::internal)
}

fn log_error(error: &io::Error) {
    tracing::error!(%error, "the body of a cached page cannot be compressed or decompressed");
}
