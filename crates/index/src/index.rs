//! The public interface: open, feed and search an index.

use crate::error::{IndexError, Result};
use crate::folder::{self, OpenIndex, OpenState};
use crate::options::Options;
use crate::schema::{Fields, FilterTerm};
use crate::search;
use crate::types::{IndexEntry, IndexResults, Query};
use crate::writer::{FeedProgress, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::Searcher;

/// Collections that `status` counts.
const COLLECTIONS: [&str; 3] = ["web", "developer", "gov"];

/// Statistics of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub documents: u64,
    /// Documents by collection.
    pub collections: BTreeMap<String, u64>,
    pub bytes: u64,
    pub max_bytes: u64,
    pub last_seq: i64,
    /// Documents removed because the index was full, since it was created.
    pub evicted: u64,
    pub segments: usize,
    pub version: u32,
    /// Milliseconds since the Unix epoch.
    pub created: i64,
}

/// A search index in a folder. One process writes to it; others may read it at the same time.
pub struct Index {
    folder: PathBuf,
    fields: Fields,
    options: Options,
    // Declared before `storage`, so that the writer is dropped before the folder's lock is released.
    /// None in a process that only reads. The inner value is empty after an error until the next write opens
    /// a new writer: a writer that failed half-way (a full disk) may reject every later call.
    writer: Option<Mutex<Option<Writer>>>,
    storage: OpenIndex,
    cached_stats: Mutex<Option<Arc<search::CollectionStats>>>,
}

impl Index {
    /// Opens a folder for writing and creates it if it is missing. An index that cannot be opened is set
    /// aside: see [`Index::opened`].
    pub fn open(folder: &Path, options: Options) -> Result<Self> {
        let fields = Fields::new();
        let storage = folder::open_for_writing(folder, &fields)?;
        let writer = Some(Mutex::new(Some(Writer::new(&storage, &options)?)));
        Ok(Self {
            folder: folder.to_owned(),
            fields,
            options,
            writer,
            storage,
            cached_stats: Mutex::default(),
        })
    }

    /// Opens a folder for searching only; another process may write to it.
    pub fn open_read_only(folder: &Path, options: Options) -> Result<Self> {
        let storage = folder::open_for_reading(folder)?;
        let fields = Fields::new();
        Ok(Self {
            folder: folder.to_owned(),
            fields,
            options,
            writer: None,
            storage,
            cached_stats: Mutex::default(),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The state of the folder when it was opened.
    pub fn opened(&self) -> &OpenState {
        &self.storage.opened
    }

    /// Adds entries in the order of the feed. They are found after a commit. If this fails, everything since
    /// the last commit is discarded: the feed continues from [`Index::last_seq`].
    pub fn feed(&self, entries: Vec<IndexEntry>) -> Result<()> {
        self.write(|writer| writer.feed(&self.storage, &self.fields, entries))
    }

    /// Makes added entries durable and visible. Returns how many documents were removed to stay within
    /// `max_bytes`.
    pub fn commit(&self) -> Result<u64> {
        self.write(|writer| writer.commit(&self.storage, &self.fields, self.options.max_bytes))
    }

    /// Deletes everything; the feed starts again.
    pub fn wipe(&self) -> Result<()> {
        self.write(|writer| writer.wipe(&self.storage))
    }

    /// The number of the last committed entry; 0 before the first.
    pub fn last_seq(&self) -> Result<i64> {
        Ok(FeedProgress::committed(&self.storage)?.seq)
    }

    pub fn search(&self, query: &Query) -> Result<IndexResults> {
        let searcher = self.storage.reader.searcher();
        let stats = self.stats(&searcher)?;
        search::search(
            &search::IndexView { searcher: &searcher, fields: &self.fields, stats: &stats },
            query,
            &self.options.weights,
        )
    }

    pub fn status(&self) -> Result<Status> {
        let searcher = self.storage.reader.searcher();
        let progress = FeedProgress::committed(&self.storage)?;
        let mut collections = BTreeMap::new();
        for name in COLLECTIONS {
            let count = search::count_documents(
                &searcher,
                &self.fields.filter_term(&FilterTerm::Collection(name.to_owned())),
            )?;
            collections.insert(name.to_owned(), count);
        }
        Ok(Status {
            documents: searcher.num_docs(),
            collections,
            bytes: self.storage.bytes()?,
            max_bytes: self.options.max_bytes,
            last_seq: progress.seq,
            evicted: progress.evicted,
            segments: searcher.segment_readers().len(),
            version: self.storage.meta.version,
            created: self.storage.meta.created,
        })
    }

    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let slot = self.writer.as_ref().ok_or(IndexError::ReadOnly)?;
        let mut slot = match slot.lock() {
            Ok(slot) => slot,
            Err(poisoned) => {
                // A thread panicked while it held the writer.
                slot.clear_poison();
                let mut slot = poisoned.into_inner();
                *slot = None;
                slot
            }
        };
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => Writer::new(&self.storage, &self.options)?,
        };
        let done = work(&mut writer);
        if done.is_ok() {
            *slot = Some(writer);
        }
        done
    }

    /// Statistics, computed once for each committed state of the index.
    fn stats(&self, searcher: &Searcher) -> Result<Arc<search::CollectionStats>> {
        let generation = searcher.generation().generation_id();
        let mut cached_stats = self.cached_stats.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stats) = cached_stats.as_ref().filter(|stats| stats.generation == generation) {
            return Ok(stats.clone());
        }
        let stats = Arc::new(search::CollectionStats::compute(searcher, &self.fields)?);
        *cached_stats = Some(stats.clone());
        Ok(stats)
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("folder", &self.folder).finish_non_exhaustive()
    }
}
