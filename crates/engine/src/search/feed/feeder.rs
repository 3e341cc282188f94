//! Keeps the index of this process up to date with the store: pulls the feed, hands it to the index, commits.
//! What is committed knows how far the feed was read, so a process that is killed goes on where the last
//! commit was.

use super::local::{LocalError, LocalIndex, blocking};
use super::rest;
use crate::storage::Storage;
use futures_util::future::BoxFuture;
use imports::search_page::unpacked;
use index::{Index, IndexEntry};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::search::{DELETED_PAGE_RETENTION, Feed, FeedEntry};
use store::{Millis, SearchStore};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Lines of the feed that are read at once, and lines after which a long way through it is committed.
const BATCH: u32 = 1_000;
const COMMIT_AFTER: u64 = 20_000;
/// After how long an index is tried again that could not be written to, and one that another process writes to.
const RETRY: Duration = Duration::from_secs(3);
const RETRY_ELSEWHERE: Duration = Duration::from_secs(10);
/// How often it is noted when the feed was read to its end.
const NOTE_EVERY: Millis = 10 * 60_000;
/// Read to its end longer ago than this, the feed may have lost what went since; with a margin for clocks and
/// slow starts.
const MAX_REST: Duration = DELETED_PAGE_RETENTION.saturating_sub(Duration::from_hours(12));
const NOTE: &str = "feed.json";

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error(transparent)]
    Local(#[from] LocalError),
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[error("{}: {source}", path.display())]
    Note { path: PathBuf, source: io::Error },
}

impl FeedError {
    /// Another process of this machine writes to the folder, which is as good.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Local(LocalError::Index(index::IndexError::Busy { .. })))
    }
}

/// What one way through the feed did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fed {
    /// Lines that were taken in.
    pub lines: u64,
    /// Lines that could not be read; their pages cannot be found.
    pub unreadable: u64,
    /// It began at the start of the feed, with an empty index.
    pub afresh: bool,
}

/// Which feed the index follows, and when it was last at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    feed: Uuid,
    at_end: Millis,
}

#[derive(Clone)]
pub struct Feeder {
    local: Arc<LocalIndex>,
    store: Arc<dyn SearchStore>,
    storage: Option<Arc<Storage>>,
}

impl std::fmt::Debug for Feeder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Feeder").field("local", &self.local).finish_non_exhaustive()
    }
}

impl Feeder {
    pub fn new(local: Arc<LocalIndex>, store: Arc<dyn SearchStore>) -> Self {
        Self { local, store, storage: None }
    }

    /// The same, writing nothing while there is no room on the disks.
    #[must_use]
    pub fn with_storage(self, storage: Arc<Storage>) -> Self {
        Self { storage: Some(storage), ..self }
    }

    /// Follows the feed until told to stop. Errors are logged and tried again.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let (mut pause, mut failed) = (Duration::ZERO, false);
            while stop.run_until_cancelled(self.local.rest.rest(pause, failed)).await.is_some() {
                if self.storage.as_ref().is_some_and(|storage| !storage.has_room()) {
                    pause = rest::MIN_PAUSE;
                    continue;
                }
                let begun = Instant::now();
                // What was taken in and not committed is read again next time.
                let Some(fed) = stop.run_until_cancelled(self.catch_up(&mut |_| {})).await else { break };
                let took = begun.elapsed();
                self.local.rest.round_ended();
                failed = fed.is_err();
                pause = self.report(fed, took).await;
            }
        })
    }

    /// Says what came of a round, and how long to wait for the next.
    async fn report(&self, fed: Result<Fed, FeedError>, took: Duration) -> Duration {
        match fed {
            Ok(Fed { lines: 0, afresh: false, .. }) => rest::MIN_PAUSE,
            Ok(fed) => {
                if fed.unreadable > 0 {
                    tracing::error!(pages = fed.unreadable, "pages that are kept for search cannot be read");
                }
                if let Ok(status) = self.local.status().await {
                    gauge("gannet_search_index_documents", status.documents);
                    gauge("gannet_search_index_bytes", status.bytes);
                    tracing::debug!(
                        lines = fed.lines,
                        documents = status.documents,
                        "the local index was fed"
                    );
                }
                rest::after(took)
            }
            Err(error) if error.is_elsewhere() => {
                // Answers come from what the other process writes.
                if let Err(error) = self.local.open_to_read() {
                    tracing::debug!(%error, "the local index is written by another process and not there yet");
                }
                RETRY_ELSEWHERE
            }
            Err(error) => {
                tracing::warn!(%error, "the local index could not be fed");
                RETRY
            }
        }
    }

    /// Reads the feed to its end; `told` hears of every batch. Fails with [`index::IndexError::Busy`] when another
    /// process does this.
    pub fn catch_up<'a>(
        &'a self,
        told: &'a mut (dyn FnMut(Fed) + Send),
    ) -> BoxFuture<'a, Result<Fed, FeedError>> {
        Box::pin(async move {
            let local = self.local.clone();
            let opened = tokio::task::spawn_blocking(move || local.open_to_write());
            let index = opened.await.map_err(|_| LocalError::Panicked)??;
            let mut fed = Fed::default();
            let (mut feed, mut note) = self.begin(&index, &mut fed).await?;
            let mut uncommitted = 0;
            loop {
                let (now, full) = (feed.now, feed.entries.len() >= BATCH as usize);
                let lines = feed.entries.len() as u64;
                let last = feed.entries.last().map(|entry| entry.seq);
                let entries = std::mem::take(&mut feed.entries);
                let writer = index.clone();
                let feeding = async move {
                    if entries.is_empty() {
                        return Ok(0);
                    }
                    blocking(move || take_in(&writer, entries)).await
                };
                // The next part is on its way while this one is taken in.
                let next = async {
                    match last.filter(|_| full) {
                        Some(after) => self.store.search_feed(after, BATCH).await.map(Some),
                        None => Ok(None),
                    }
                };
                let (taken, next) = tokio::join!(feeding, next);
                fed.unreadable += taken?;
                fed.lines += lines;
                uncommitted += lines;
                if uncommitted >= COMMIT_AFTER || (!full && uncommitted > 0) {
                    let writer = index.clone();
                    blocking(move || writer.commit()).await?;
                    uncommitted = 0;
                }
                if lines > 0 {
                    told(fed);
                }
                let Some(next) = next? else {
                    note.reached_end(self.local.folder(), now)?;
                    return Ok(fed);
                };
                feed = next;
            }
        })
    }

    /// The first part of the feed to take in: after what the index has, or from the start with an empty index
    /// when what it has is of another feed or too old.
    async fn begin(&self, index: &Arc<Index>, fed: &mut Fed) -> Result<(Feed, Note), FeedError> {
        let folder = self.local.folder();
        let reader = index.clone();
        let after = blocking(move || reader.last_seq()).await?;
        let feed = self.store.search_feed(after, BATCH).await?;
        let note = Note::load(folder);
        match note {
            Some(note) if note.fits(&feed) => return Ok((feed, note)),
            _ => fed.afresh = true,
        }
        let feed = if after == 0 {
            feed
        } else {
            tracing::info!("the local index is filled again from the store");
            let writer = index.clone();
            blocking(move || writer.wipe()).await?;
            self.store.search_feed(0, BATCH).await?
        };
        let note = Note { feed: feed.id, at_end: feed.now };
        note.save(folder)?;
        Ok((feed, note))
    }

    /// Empties the index and fills it again; how long that took.
    pub fn rebuild<'a>(
        &'a self,
        told: &'a mut (dyn FnMut(Fed) + Send),
    ) -> BoxFuture<'a, Result<(Fed, Duration), FeedError>> {
        Box::pin(async move {
            let begun = Instant::now();
            let index = self.local.open_to_write()?;
            blocking(move || index.wipe()).await?;
            let fed = self.catch_up(told).await?;
            Ok((fed, begun.elapsed()))
        })
    }
}

impl Note {
    fn load(folder: &Path) -> Option<Self> {
        // What cannot be read is as good as none: the index is filled again.
        serde_json::from_slice(&std::fs::read(folder.join(NOTE)).ok()?).ok()
    }

    fn save(&self, folder: &Path) -> Result<(), FeedError> {
        let path = folder.join(NOTE);
        let draft = folder.join("feed.json.new");
        let text = serde_json::to_vec(self).map_err(io::Error::from);
        let written = text.and_then(|text| std::fs::write(&draft, text));
        let written = written.and_then(|()| std::fs::rename(&draft, &path));
        written.map_err(|source| FeedError::Note { path, source })
    }

    /// Whether an index with this note may go on with a feed.
    fn fits(&self, feed: &Feed) -> bool {
        let longest = Millis::try_from(MAX_REST.as_millis()).unwrap_or(Millis::MAX);
        self.feed == feed.id && !feed.ahead && feed.now - self.at_end < longest
    }

    fn reached_end(&mut self, folder: &Path, now: Millis) -> Result<(), FeedError> {
        if now - self.at_end < NOTE_EVERY {
            return Ok(());
        }
        self.at_end = now;
        self.save(folder)
    }
}

/// Hands lines of the feed to the index; how many could not be read.
fn take_in(index: &Index, lines: Vec<FeedEntry>) -> index::Result<u64> {
    let mut unreadable = 0;
    let entries = lines.into_iter().map(|line| {
        let document = line.document.as_deref().and_then(unpacked);
        unreadable += u64::from(line.document.is_some() && document.is_none());
        IndexEntry {
            seq: line.seq,
            key: line.key,
            team: line.team,
            collection: line.collection,
            seen_at: line.seen_at,
            document,
        }
    });
    index.feed(entries.collect())?;
    Ok(unreadable)
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floating-point; exact below 2^53")]
fn gauge(name: &'static str, value: u64) {
    metrics::gauge!(name).set(value as f64);
}

#[cfg(test)]
#[path = "feeder_tests.rs"]
mod tests;
