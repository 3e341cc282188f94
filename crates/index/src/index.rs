//! The index as others see it: opened, fed, asked.

use crate::error::{Error, Result};
use crate::folder::{self, Ground, Opened};
use crate::parts::{Entry, Found, Query};
use crate::schema::{Fields, Mark};
use crate::search::{self, Weights};
use crate::writer::{Progress, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::Searcher;

/// Collections that `status` counts.
const COLLECTIONS: [&str; 3] = ["web", "developer", "gov"];

/// How an index is kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes of memory for documents that are being indexed, over all threads.
    pub memory: usize,
    /// Threads that index.
    pub threads: usize,
    /// Bytes on disk. Past them the documents that were seen longest ago go. While segments are merged, those they replace stay
    /// for a moment longer.
    pub max_bytes: u64,
    pub weights: Weights,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: 64 << 20, threads: 2, max_bytes: 20 << 30, weights: Weights::default() }
    }
}

/// What an index holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub documents: u64,
    /// Documents by collection.
    pub collections: BTreeMap<String, u64>,
    pub bytes: u64,
    pub max_bytes: u64,
    pub last_seq: i64,
    /// Documents that had to go because the index was full, since it was made.
    pub evicted: u64,
    pub segments: usize,
    pub version: u32,
    /// Milliseconds since the Unix epoch.
    pub created: i64,
}

/// A search index in a folder. One process writes to it; others may read beside it.
pub struct Index {
    folder: PathBuf,
    fields: Fields,
    options: Options,
    // The writer ends before the lock of the folder is let go.
    /// None in a process that only reads. Its inside is empty after a failure, until the next write opens it again: a writer that
    /// failed in the middle (a full disk) may refuse everything for ever.
    writer: Option<Mutex<Option<Writer>>>,
    ground: Ground,
    counts: Mutex<Option<Arc<search::Census>>>,
}

impl Index {
    /// Opens a folder to write to it, makes it where there is none. What cannot be used is set aside: see [`Index::opened`].
    pub fn open(folder: &Path, options: Options) -> Result<Self> {
        let fields = Fields::new();
        let ground = folder::to_write(folder, &fields)?;
        let writer = Some(Mutex::new(Some(Writer::new(&ground, &options)?)));
        Ok(Self { folder: folder.to_owned(), fields, options, writer, ground, counts: Mutex::default() })
    }

    /// Opens a folder to ask it only, beside a process that writes to it.
    pub fn open_read_only(folder: &Path, options: Options) -> Result<Self> {
        let ground = folder::to_read(folder)?;
        let fields = Fields::new();
        Ok(Self {
            folder: folder.to_owned(),
            fields,
            options,
            writer: None,
            ground,
            counts: Mutex::default(),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How the folder was found.
    pub fn opened(&self) -> &Opened {
        &self.ground.opened
    }

    /// Takes entries in the order of the feed. They are found once they are committed. When this fails, everything since the last
    /// commit is forgotten: the feed goes on from [`Index::last_seq`].
    pub fn feed(&self, entries: Vec<Entry>) -> Result<()> {
        self.write(|writer| writer.feed(&self.ground, &self.fields, entries))
    }

    /// Makes what was fed last, and visible. Returns how many documents had to go to stay within `max_bytes`.
    pub fn commit(&self) -> Result<u64> {
        self.write(|writer| writer.commit(&self.ground, &self.fields, self.options.max_bytes))
    }

    /// Empties the index; the feed starts again.
    pub fn wipe(&self) -> Result<()> {
        self.write(|writer| writer.wipe(&self.ground))
    }

    /// The number of the last entry that is committed; 0 before the first.
    pub fn last_seq(&self) -> Result<i64> {
        Ok(Progress::committed(&self.ground)?.seq)
    }

    pub fn search(&self, query: &Query) -> Result<Found> {
        let searcher = self.ground.reader.searcher();
        let census = self.census(&searcher)?;
        search::search(
            &search::View { searcher: &searcher, fields: &self.fields, census: &census },
            query,
            &self.options.weights,
        )
    }

    pub fn status(&self) -> Result<Status> {
        let searcher = self.ground.reader.searcher();
        let progress = Progress::committed(&self.ground)?;
        let mut collections = BTreeMap::new();
        for name in COLLECTIONS {
            let count = search::count(&searcher, &self.fields.mark(&Mark::Collection(name.to_owned())))?;
            collections.insert(name.to_owned(), count);
        }
        Ok(Status {
            documents: searcher.num_docs(),
            collections,
            bytes: self.ground.bytes()?,
            max_bytes: self.options.max_bytes,
            last_seq: progress.seq,
            evicted: progress.evicted,
            segments: searcher.segment_readers().len(),
            version: self.ground.about.version,
            created: self.ground.about.created,
        })
    }

    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let slot = self.writer.as_ref().ok_or(Error::ReadOnly)?;
        let mut slot = match slot.lock() {
            Ok(slot) => slot,
            Err(poisoned) => {
                // Whoever held it panicked in the middle.
                slot.clear_poison();
                let mut slot = poisoned.into_inner();
                *slot = None;
                slot
            }
        };
        let mut writer = match slot.take() {
            Some(writer) => writer,
            None => Writer::new(&self.ground, &self.options)?,
        };
        let done = work(&mut writer);
        if done.is_ok() {
            *slot = Some(writer);
        }
        done
    }

    /// What is counted once for each state of the index.
    fn census(&self, searcher: &Searcher) -> Result<Arc<search::Census>> {
        let generation = searcher.generation().generation_id();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(census) = counts.as_ref().filter(|census| census.generation == generation) {
            return Ok(census.clone());
        }
        let census = Arc::new(search::Census::take(searcher, &self.fields)?);
        *counts = Some(census.clone());
        Ok(census)
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("folder", &self.folder).finish_non_exhaustive()
    }
}
