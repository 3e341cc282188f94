//! The page cache: pages as they were fetched, per team, so that a second scrape need not go out.
//!
//! The store knows neither what makes two requests the same page (the caller's key says so) nor what
//! the bytes mean. Pages share one byte ceiling with the results of scrapes ([`crate::scrapes`]).

use crate::rows::Columns;
use crate::search::NewSearchPage;
use crate::{Millis, StoreError, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// A hash of everything that makes two requests the same page.
pub type PageKey = [u8; 32];

/// A page to keep, as it was fetched just now.
#[derive(Debug, Clone)]
pub struct NewPage {
    pub key: PageKey,
    pub url: String,
    /// After redirects.
    pub final_url: String,
    pub status: u16,
    pub content_type: String,
    /// A small JSON object: what revalidation and metadata need.
    pub headers: String,
    /// How the page was fetched.
    pub rung: String,
    /// Compressed by the caller.
    pub body: Vec<u8>,
    /// Counted from the last time the page was fetched or found unchanged.
    pub keep_for: Duration,
}

/// What is kept of a page that was read. One value, so that nobody keeps a page for other requests and
/// forgets search.
#[derive(Debug, Clone, Default)]
pub struct KeptPage {
    pub cached: Option<NewPage>,
    pub search: Option<NewSearchPage>,
}

impl From<NewPage> for KeptPage {
    fn from(page: NewPage) -> Self {
        Self { cached: Some(page), search: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPage {
    pub url: String,
    pub final_url: String,
    pub status: u16,
    pub content_type: String,
    pub headers: String,
    pub rung: String,
    pub body: Vec<u8>,
    /// When it was fetched, or last found unchanged.
    pub fetched_at: Millis,
    /// The time since then by the store's clock, which the caller's own need not agree with.
    pub age: Duration,
}

/// What one round of making room did. All zero: there was nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheSweep {
    /// Pages and scrapes past their time.
    pub expired: u64,
    /// Pages and scrapes deleted before their time, to stay under the ceiling.
    pub evicted: u64,
}

#[async_trait::async_trait]
pub trait PageStore: Send + Sync + 'static {
    /// The page of this key, unless it is past its time.
    async fn cached_page(&self, team: Uuid, key: &PageKey) -> StoreResult<Option<CachedPage>>;

    /// Keeps a page, in place of an older one with the same key. The pages of scrapes come with their
    /// records instead ([`crate::scrapes::NewScrape::page`]).
    async fn put_page(&self, team: Uuid, page: KeptPage) -> StoreResult<()>;

    /// The site said that the page is unchanged: it counts as fetched now. `false` when it is gone.
    async fn touch_page(&self, team: Uuid, key: &PageKey) -> StoreResult<bool>;

    /// Bytes of all pages and results of scrapes; kept as a running total, not counted anew.
    async fn cache_bytes(&self) -> StoreResult<i64>;

    /// Deletes up to `limit` pages and up to `limit` scrapes that are past their time; then, when more
    /// than `ceiling` bytes are left, up to `limit` of those fetched or made longest ago, no more than
    /// needed. Never waits for or undoes what is being written. Call again while it does something.
    async fn sweep_cache(&self, ceiling: u64, limit: u32) -> StoreResult<CacheSweep>;
}

pub(crate) fn cached_page_from_row(row: &impl Columns) -> StoreResult<CachedPage> {
    let status = row.int("status")?;
    Ok(CachedPage {
        url: row.text("url")?,
        final_url: row.text("final_url")?,
        status: u16::try_from(status)
            .map_err(|_| StoreError::Database(format!("there is no status {status}")))?,
        content_type: row.text("content_type")?,
        headers: row.text("headers")?,
        rung: row.text("rung")?,
        body: row.bytes("body")?,
        fetched_at: row.int("fetched_at")?,
        age: clock::span(row.int("age")?),
    })
}
