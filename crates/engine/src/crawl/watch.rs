//! Watching a crawl or a batch: the documents it has, those that come, and its end. Each watcher reads the
//! crawl about once a second, and the number of watchers is limited.

use super::start::{Crawler, is_live};
use super::status::{Window, head, unpacked};
use crate::watchers::WatcherPermit;
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use store::crawls::{Crawl, CrawlKind};
use tokio::time::Instant;
use uuid::Uuid;
use wire::Kind;
use wire::crawl::JobHead;

/// A short crawl may be over before a client's patience is, so the first checks follow each other quickly.
const CHECK_EVERY_AT_FIRST: Duration = Duration::from_millis(250);
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How long a watch is new.
const AT_FIRST: Duration = Duration::from_secs(10);
/// Documents that one update has at most, and their bytes.
const DOCUMENTS_PER_UPDATE: u32 = 64;
const BYTES_PER_UPDATE: u64 = 1 << 20;

/// A caller that watches a crawl.
#[derive(Debug)]
pub struct Watch {
    crawler: Arc<Crawler>,
    crawl: Crawl,
    /// The number of the last document that was handed over.
    after: u64,
    /// The version of the crawl in the last update.
    told_version: Option<u64>,
    checked_at: Instant,
    /// When it is no longer new.
    settled_at: Instant,
    every: Option<Duration>,
    _permit: WatcherPermit,
}

/// A document as JSON, with its number.
pub type NumberedDocument = (u64, Vec<u8>);

/// What changed since the last update.
#[derive(Debug)]
pub struct WatchUpdate {
    pub head: JobHead,
    pub documents: Vec<NumberedDocument>,
    /// The crawl has ended, and every document was handed over.
    pub ended: bool,
}

/// What was there when the watch began.
#[derive(Debug)]
pub struct CatchUp {
    /// The status with its documents, as JSON.
    pub status: Vec<u8>,
    pub live: bool,
    /// The documents are all there are by now.
    pub whole: bool,
}

impl Crawler {
    /// Begins to watch, from the document after `after`.
    pub fn watch<'a>(
        self: &'a Arc<Self>,
        caller: &'a Caller,
        kind: CrawlKind,
        id: Uuid,
        after: u64,
    ) -> BoxFuture<'a, Result<Watch, Error>> {
        Box::pin(async move {
            let crawl = self.find(caller, kind, id).await?;
            let permit = self.watchers.acquire(caller.team)?;
            let checked_at = Instant::now();
            Ok(Watch {
                crawler: self.clone(),
                crawl,
                after,
                told_version: None,
                checked_at,
                settled_at: checked_at + AT_FIRST,
                every: None,
                _permit: permit,
            })
        })
    }
}

impl Watch {
    /// Checks more often, for a command that has the store to itself.
    #[must_use]
    pub fn checking_every(self, every: Duration) -> Self {
        Self { every: Some(every), ..self }
    }

    /// What is there already; documents that do not fit come with the updates that follow.
    pub fn catch_up(&mut self) -> BoxFuture<'_, Result<CatchUp, Error>> {
        Box::pin(async move {
            let window = Window { skip: self.after, limit: None };
            let documents = self.crawler.documents(&self.crawl, window).await?;
            self.after = documents.last;
            self.told_version = Some(self.crawl.version);
            Ok(CatchUp {
                status: head(&self.crawl).with_documents(&documents.json),
                live: is_live(&self.crawl),
                whole: self.has_all(),
            })
        })
    }

    /// Hands over every document again, from the first.
    pub fn start_over(&mut self) {
        self.after = 0;
    }

    /// Waits for something new: documents, other numbers, or the end.
    pub fn next_update(&mut self) -> BoxFuture<'_, Result<WatchUpdate, Error>> {
        Box::pin(async move {
            while self.has_all() && self.told_version == Some(self.crawl.version) && is_live(&self.crawl) {
                tokio::time::sleep_until(self.checked_at + self.interval()).await;
                let (team, id) = (self.crawl.team_id, self.crawl.id);
                let crawl = self.crawler.store.crawl(team, id).await.map_err(from_store)?;
                self.checked_at = Instant::now();
                self.crawl = crawl.ok_or(Kind::JobNotFound)?;
            }
            let documents = self.next_documents().await?;
            self.told_version = Some(self.crawl.version);
            Ok(WatchUpdate {
                head: head(&self.crawl),
                documents,
                ended: self.has_all() && !is_live(&self.crawl),
            })
        })
    }

    /// Documents that are there already, in order and in pieces of bounded size; none after the last.
    pub fn next_documents(&mut self) -> BoxFuture<'_, Result<Vec<NumberedDocument>, Error>> {
        Box::pin(async move {
            if self.has_all() {
                return Ok(Vec::new());
            }
            let wanted = u32::try_from(self.crawl.counts.completed - self.after)
                .map_or(DOCUMENTS_PER_UPDATE, |left| left.min(DOCUMENTS_PER_UPDATE));
            let kept =
                self.crawler.store.crawl_documents(self.crawl.id, self.after, wanted, BYTES_PER_UPDATE).await;
            let kept = kept.map_err(from_store)?;
            // Gone since: nothing more will come.
            let last = kept.last().ok_or(Kind::JobNotFound)?.number;
            let unpack = move || kept.iter().map(|one| Ok((one.number, unpacked(one)?))).collect();
            let unpacked = tokio::task::spawn_blocking(unpack).await;
            let documents: Result<Vec<_>, Error> = unpacked.map_err(Error::internal)?;
            self.after = last;
            documents
        })
    }

    fn interval(&self) -> Duration {
        let settled = self.checked_at >= self.settled_at;
        self.every.unwrap_or(if settled { CHECK_EVERY } else { CHECK_EVERY_AT_FIRST })
    }

    fn has_all(&self) -> bool {
        self.after >= self.crawl.counts.completed
    }
}
