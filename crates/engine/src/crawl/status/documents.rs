//! Documents page by page, passed on as they are stored, without parsing them.

use super::path;
use crate::crawl::start::Crawler;
use crate::{Error, from_store};
use store::crawls::{Crawl, CrawlDocument};
use stored_data::compression::unpack;
use wire::Kind;
use wire::crawl::PageQuery;

/// A page of documents is cut here.
pub(super) const MAX_PAGE_BYTES: usize = 10 << 20;
const MAX_DOCUMENTS_PER_PAGE: u64 = 1_000;
/// What is read of the store in one go, as it is stored there.
const DOCUMENTS_PER_READ: u32 = 200;
const BYTES_PER_READ: u64 = 1 << 20;
/// The largest number that every store and every JSON client holds exactly.
pub(super) const MAX_SKIP: u64 = 9_007_199_254_740_991;

/// Documents as they stand in an answer: JSON texts with commas between them.
#[derive(Debug, Default)]
pub struct Documents {
    pub json: Vec<u8>,
    /// The number of the last of them, or of the last one passed over.
    pub last: u64,
}

impl Crawler {
    /// A page of documents. Only those that the numbers of `crawl` count, so that the two agree.
    pub(in crate::crawl) async fn documents(
        &self,
        crawl: &Crawl,
        window: Window,
    ) -> Result<Documents, Error> {
        let end = crawl.counts.completed.min(window.skip.saturating_add(window.limit.unwrap_or(u64::MAX)));
        let mut page = Documents { json: Vec::new(), last: window.skip };
        while page.last < end && page.json.len() < MAX_PAGE_BYTES {
            let wanted = u32::try_from(end - page.last)
                .map_or(DOCUMENTS_PER_READ, |left| left.min(DOCUMENTS_PER_READ));
            let kept = self.store.crawl_documents(crawl.id, page.last, wanted, BYTES_PER_READ).await;
            let kept = kept.map_err(from_store)?;
            if kept.is_empty() {
                break;
            }
            // Megabytes to unpack: not on the threads that serve.
            let filled = tokio::task::spawn_blocking(move || page.fill(&kept));
            page = filled.await.map_err(Error::internal)??;
        }
        Ok(page)
    }
}

/// Which documents to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    pub skip: u64,
    pub limit: Option<u64>,
}

impl Window {
    pub(super) fn from_query(asked: &PageQuery) -> Result<Self, Error> {
        let number = |name: &str, text: Option<&str>, least: u64, most: u64| match text.map(str::parse) {
            None => Ok(None),
            Some(Ok(number)) if (least..=most).contains(&number) => Ok(Some(number)),
            Some(_) => {
                let why = format!("{name} must be a whole number from {least} to {most}");
                Err(Error::because(Kind::InvalidPagination, &why))
            }
        };
        Ok(Self {
            skip: number("skip", asked.skip.as_deref(), 0, MAX_SKIP)?.unwrap_or(0),
            limit: number("limit", asked.limit.as_deref(), 1, MAX_DOCUMENTS_PER_PAGE)?,
        })
    }

    /// Only when there is more by now: clients follow it at once, and ask again and again for what is not
    /// there yet.
    pub(super) fn next(self, crawl: &Crawl, page: &Documents, base_url: &str) -> Option<String> {
        let more = page.last > self.skip && page.last < crawl.counts.completed;
        more.then(|| {
            let (path, id, last) = (path(crawl.kind), crawl.id, page.last);
            let limit = self.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
            format!("{base_url}{path}/{id}?skip={last}{limit}")
        })
    }
}

impl Documents {
    pub(super) fn fill(mut self, kept: &[CrawlDocument]) -> Result<Self, Error> {
        for document in kept {
            if self.json.len() >= MAX_PAGE_BYTES {
                break;
            }
            let json = unpacked(document)?;
            if !self.json.is_empty() {
                self.json.push(b',');
            }
            self.json.extend_from_slice(&json);
            self.last = document.number;
        }
        Ok(self)
    }
}

/// A document as JSON.
pub(in crate::crawl) fn unpacked(document: &CrawlDocument) -> Result<Vec<u8>, Error> {
    unpack(&document.body).map_err(|error| {
        tracing::error!(%error, url = document.url, "a stored document cannot be read");
        Error::already_logged(error)
    })
}
